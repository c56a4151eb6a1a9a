"""Training as users meet it: run folders, the same weights again, divergence, and what is refused."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras
import pytest
from small_trainings import SETS, checkpoint, config, same

from dactnlg import models
from dactnlg.cli.main import main
from dactnlg.errors import ConfigError, RunError, UserError
from dactnlg.generation.generator import Generator
from dactnlg.models.numpy.learner import NumpyLearner
from dactnlg.models.weights import load_arrays
from dactnlg.runs.config import RANDOM, load_config
from dactnlg.runs.run import Run
from dactnlg.training.keras_learner import KerasLearner
from dactnlg.training.train import train


def test_a_configuration_read_without_models_is_checked_against_its_model(tmp_path: Path) -> None:
    """Keys that it leaves out have their defaults, and unknown keys are rejected."""
    with pytest.raises(ConfigError, match="model.hiden_size"):
        train(load_config("trails-sclstm", ["model.hiden_size=16"]), tmp_path / "run", progress=False)
    given = load_config("trails-lstm", ["training.epochs=1", "model.hidden_size=16"])
    run = train(given, tmp_path / "run", progress=False)
    assert load_config(run.config_path, models=models).model.model_dump()["embedding_size"] > 0


def test_corpora_of_the_same_name_are_refused(tmp_path: Path) -> None:
    """They would share a feature of the model and an entry of the manifest."""
    files = [tmp_path / folder / "data.jsonl" for folder in "ab"]
    for file in files:
        file.parent.mkdir()
        file.write_text('{"act": "inform(food=thai)", "text": "Thai food."}\n')
    given = {"corpus": {"name": str(files[0]), "also": [str(files[1])]}, "model": {"name": RANDOM}}
    with pytest.raises(ConfigError, match="corpus.also: several corpora are called 'data'"):
        train(given, tmp_path / "run", progress=False)
    assert not (tmp_path / "run").exists()


def test_a_run_folder_has_all_its_files(tmp_path: Path) -> None:
    run = train(config("lstm"), tmp_path / "run", progress=False).path
    names = {path.name for path in run.iterdir()}
    assert {"config.yaml", "preprocessor.json", "weights.safetensors", "history.csv", "manifest.json"} <= names
    assert not [name for name in names if "partial" in name or name.endswith(".tmp")]
    manifest = json.loads((run / "manifest.json").read_text())
    assert manifest["seed"] == config("lstm").training.seed
    assert len(manifest["corpora"]["trails"]["train"]) == 64
    assert manifest["packages"]["keras"] == keras.__version__
    with (run / "history.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["epoch"] for row in rows] == ["1", "2", "3"]
    assert float(rows[-1]["valid_loss"]) < float(rows[0]["valid_loss"])
    assert load_config(run / "config.yaml", models=models) == config("lstm")
    # Weights have their names in the model; the checkpoint also holds the optimizer's state.
    names = set(load_arrays(run / "weights.safetensors"))
    assert {"embedding", "cell/recurrent", "act_projection"} < names
    kinds = {f"{kind}/{name}" for kind in ("weights", "mean", "square") for name in names}
    assert set(checkpoint(run)) == kinds | {"steps", "learning_rate"}
    first, again = (Generator.load(run).generate(["goodbye()", "?request(region)"]) for _ in range(2))
    assert first == again


@pytest.mark.parametrize("model", ["lstm", "hierarchical"])
def test_the_same_seed_gives_the_same_weights(model: str, poor_run: Callable[[str], Path], tmp_path: Path) -> None:
    one = poor_run(model)
    two = train(load_config(one / "config.yaml"), tmp_path / "run", progress=False).path
    assert same(one, two)


def test_another_seed_gives_other_weights(poor_run: Callable[[str], Path], tmp_path: Path) -> None:
    one = poor_run("lstm")
    two = train(load_config(one / "config.yaml", ["training.seed=2"]), tmp_path / "run", progress=False).path
    assert not same(one, two)


@pytest.mark.parametrize("backend", ["numpy", "keras"])
def test_a_loss_that_is_not_finite_stops_training(
    backend: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(NumpyLearner if backend == "numpy" else KerasLearner, "learn", lambda *_: float("inf"))
    sets = [*SETS, "--set", f"training.backend={backend}"]
    assert main(["train", "trails-lstm", "--output", str(tmp_path / "run"), *sets]) == 2
    out, errors = capsys.readouterr()
    assert out == "" and "Traceback" not in errors
    (line,) = [line for line in errors.splitlines() if line.startswith("dactnlg")]
    assert line.startswith("dactnlg: the loss is inf in epoch 1")
    assert "lower training.learning_rate (" in line and "no weights yet" in line
    assert not (tmp_path / "run" / "weights.safetensors").exists()
    assert not (tmp_path / "run" / "manifest.json").exists()


def test_the_best_weights_before_a_divergence_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = train(config("lstm", "training.epochs=2"), tmp_path / "whole", progress=False).path
    learn = NumpyLearner.learn

    def diverge(learner: NumpyLearner, batch: Any) -> float:
        kept = (tmp_path / "run" / "state.json").exists() and Run(tmp_path / "run").history()
        return float("nan") if kept and len(kept) == 2 else learn(learner, batch)

    monkeypatch.setattr(NumpyLearner, "learn", diverge)
    with pytest.raises(UserError, match="the loss is nan in epoch 3: .*keeps the best weights before"):
        train(config("lstm"), tmp_path / "run", progress=False)
    assert (tmp_path / "run" / "weights.safetensors").read_bytes() == (whole / "weights.safetensors").read_bytes()
    assert Generator.load(tmp_path / "run").generate(["goodbye()"])[0].text


def test_a_run_of_the_old_format_is_refused_and_can_be_overwritten(tmp_path: Path) -> None:
    run = train(config("random"), tmp_path / "run", progress=False).path
    (run / "preprocessor.json").rename(run / "codec.json")
    (run / "model.keras").write_bytes(b"a zip file")
    (run / "checkpoint-3.keras").write_bytes(b"a zip file")
    line = f"{run} was trained by an older version of dactnlg; train the model anew"
    for backend in ("auto", "numpy", "keras"):
        with pytest.raises(RunError) as caught:
            Generator.load(run, backend=backend)
        assert str(caught.value) == line
    # Its configuration has keys that no longer exist, which is not what the message is about.
    text = (run / "config.yaml").read_text()
    (run / "config.yaml").write_text(text.replace("training:", "training:\n  micro_batch_size: 32"))
    with pytest.raises(RunError) as caught:
        train(config("random"), run, resume=True, progress=False)
    assert str(caught.value) == line
    command = [sys.executable, "-m", "dactnlg", "generate", "--model", str(run), "goodbye()"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines() == [f"dactnlg: {line}"]
    # Trained again in the same folder, it is a run of the new format.
    train(config("random"), run, overwrite=True, progress=False)
    assert not [path.name for path in run.iterdir() if path.suffix == ".keras" or path.stem == "codec"]
    assert Generator.load(run).generate(["goodbye()"])[0].text


def test_folders_that_are_no_runs_are_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter1.tex").write_text("years of work")
    with pytest.raises(RunError, match="holds other files"):
        train(config("random"), tmp_path / "thesis", progress=False)
    train(config("random"), tmp_path / "run", progress=False)
    with pytest.raises(RunError, match="another configuration"):
        train(config("random", "training.seed=7"), tmp_path / "run", resume=True, progress=False)
    with pytest.raises(RunError, match="not a run folder"):
        Generator.load(tmp_path / "thesis")
    with pytest.raises(RunError, match="does not exist"):
        Generator.load(tmp_path / "nowhere")
