"""Training as users meet it: run folders, the same weights again, resuming after a kill, Ctrl-C."""

from __future__ import annotations

import csv
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest

from dactnlg import models
from dactnlg.cli.main import main
from dactnlg.errors import ConfigError, RunError, UserError
from dactnlg.generation.generator import Generator
from dactnlg.models.weights import load_arrays
from dactnlg.runs.config import RANDOM, Config, load_config
from dactnlg.runs.run import Run
from dactnlg.training.train import train

SMALL = ["training.epochs=3", "model.hidden_size=16", "model.embedding_size=16", "training.batch_size=128"]
SETS = [word for each in SMALL for word in ("--set", each)]


def config(model: str, *overrides: str) -> Config:
    keys = models.section(model).model_fields
    small = [one for one in SMALL if not one.startswith("model.") or one.split("=")[0].removeprefix("model.") in keys]
    return load_config(f"trails-{model}", [*small, *overrides] if model != RANDOM else overrides, models)


def checkpoint(run: Path) -> dict[str, np.ndarray]:
    """Return all that the last checkpoint of a run holds: weights and the optimizer's state."""
    (path,) = run.glob("checkpoint-*.safetensors")
    return load_arrays(path)


def same(one: Path, two: Path) -> bool:
    """Return whether two runs have exactly the same weights and state of the optimizer."""
    ours, theirs = checkpoint(one), checkpoint(two)
    assert list(ours) == list(theirs) and any(name.startswith("weights/") for name in ours)
    return all(np.array_equal(array, theirs[name]) for name, array in ours.items())


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


def start(run: Path, *extra: str, model: str = "sclstm") -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "dactnlg", "train", f"trails-{model}", "--output", str(run), *SETS, *extra]
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    return subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)


def wait_for(path: Path, process: subprocess.Popen[str]) -> None:
    while not path.exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)


@pytest.mark.parametrize("backend", ["numpy", "keras"])
def test_resuming_after_a_kill_ends_with_the_same_weights(backend: str, few_pairs: Path, tmp_path: Path) -> None:
    # Long enough to be killed: with NumPy, few pairs would not be.
    own = [f"corpus.name={few_pairs}", "training.batch_size=32"] if backend == "keras" else []
    many = (*own, "training.epochs=5", "model.dropout=0.2", f"training.backend={backend}")
    process = start(tmp_path / "broken", *(word for each in many for word in ("--set", each)))
    wait_for(tmp_path / "broken" / "state.json", process)
    process.kill()
    process.communicate()
    done = json.loads((tmp_path / "broken" / "state.json").read_text())["epoch"]
    assert 1 <= done < 5
    assert not (tmp_path / "broken" / "manifest.json").exists()
    for name, resume in (("broken", True), ("whole", False)):
        train(config("sclstm", *many), tmp_path / name, resume=resume, progress=False)
    assert same(tmp_path / "broken", tmp_path / "whole")
    losses = []
    for run in ("broken", "whole"):
        with (tmp_path / run / "history.csv").open() as file:
            losses.append([(row["epoch"], row["loss"], row["valid_loss"]) for row in csv.DictReader(file)])
    assert losses[0] == losses[1]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_ends_with_130_and_says_how_to_resume(number: signal.Signals, tmp_path: Path) -> None:
    many = ("--set", "training.epochs=500", "--set", "training.patience=500")
    process = start(tmp_path / "a run", *many, model="lstm")
    wait_for(tmp_path / "a run" / "history.csv", process)
    process.send_signal(number)
    out, errors = process.communicate(timeout=200)
    assert (process.returncode, out) == (130, "")
    assert "Traceback" not in errors
    (line,) = [line for line in errors.splitlines() if line.startswith("dactnlg")]
    told, command = line.split("go on with: ")
    assert told.startswith("dactnlg: interrupted")
    words = shlex.split(command)
    assert words[:3] == ["dactnlg", "train", "trails-lstm"] and words[-3:] == [
        "--output",
        str(tmp_path / "a run"),
        "--resume",
    ]
    # The run can be used as it is.
    assert json.loads((tmp_path / "a run" / "manifest.json").read_text())["training"]["interrupted"] is True
    assert Generator.load(tmp_path / "a run").generate(["goodbye()"])[0].text


class Signals:
    """Sends this process Ctrl-C in the middle of training.

    Args:
        patch: undone at the end of a test.
        learner: its class.
        at: the batches, counted from 1, after which it comes; twice where a number stands twice.
    """

    def __init__(self, patch: pytest.MonkeyPatch, learner: type, at: list[int]) -> None:
        self.at, self.count, self.learn = at, 0, learner.learn
        patch.setattr(learner, "learn", lambda *arguments: self.counted(*arguments))

    def counted(self, *arguments: Any) -> float:
        loss: float = self.learn(*arguments)
        self.count += 1
        for _ in range(self.at.count(self.count)):
            signal.raise_signal(signal.SIGINT)
        return loss


@pytest.fixture(scope="module")
def unbroken(few_pairs: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], tuple[Config, Path]]:
    """Train with a backend, once, and return the configuration and the run."""

    @cache
    def run(backend: str) -> tuple[Config, Path]:
        own = ["sclstm"]
        if backend == "keras":
            # The Transformer has many layers that draw random numbers.
            own = ["transformer", "model.layers=1", "training.epochs=2", f"corpus.name={few_pairs}"]
        chosen = config(*own, "model.dropout=0.2", f"training.backend={backend}", "training.batch_size=90")
        return chosen, train(chosen, tmp_path_factory.mktemp("unbroken") / "run", progress=False).path

    return run


@pytest.mark.parametrize(("backend", "at"), [("numpy", [1]), ("numpy", [9, 30, 50, 50]), ("keras", [2, 2])], ids=str)
def test_an_interrupted_training_ends_as_one_that_was_not(
    backend: str,
    at: list[int],
    unbroken: Callable[[str], tuple[Config, Path]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # In NumPy fourteen batches an epoch, in Keras three: in the first epoch, in later ones, twice in one batch.
    chosen, whole = unbroken(backend)
    from dactnlg.models.numpy.learner import NumpyLearner
    from dactnlg.training.keras_learner import KerasLearner

    with monkeypatch.context() as patch:
        Signals(patch, NumpyLearner if backend == "numpy" else KerasLearner, at)
        for _ in set(at):
            with pytest.raises(KeyboardInterrupt):
                train(chosen, tmp_path / "broken", resume=True, progress=False)
    assert len(at) == 4 or not (tmp_path / "broken" / "state.json").exists()
    train(chosen, tmp_path / "broken", resume=True, progress=False)
    assert same(tmp_path / "broken", whole)
    weights = [(run / "weights.safetensors").read_bytes() for run in (tmp_path / "broken", whole)]
    assert weights[0] == weights[1]


@pytest.mark.parametrize("backend", ["numpy", "keras"])
def test_a_loss_that_is_not_finite_stops_training(
    backend: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from dactnlg.models.numpy.learner import NumpyLearner
    from dactnlg.training.keras_learner import KerasLearner

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
    from dactnlg.models.numpy.learner import NumpyLearner

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


def test_a_folder_in_training_is_refused_to_another_process(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    many = ("--set", "training.epochs=500", "--set", "training.patience=500")
    first = start(tmp_path / "run", *many, model="lstm")
    wait_for(tmp_path / "run" / "history.csv", first)
    for more in ((), ("--resume",)):
        assert main(["train", "trails-lstm", "--output", str(tmp_path / "run"), *SETS, *many, *more]) == 2
        told = f"dactnlg: {tmp_path / 'run'} is being trained by another process\n"
        assert tuple(capsys.readouterr()) == ("", told)
    assert first.poll() is None
    first.kill()
    first.communicate()
    # The operating system has released the lock.
    train(config("random"), tmp_path / "run", overwrite=True, progress=False)


class Until:
    """Ends training after an epoch, and keeps the epochs that it was called for.

    Args:
        last: the epoch.
        seen: the epochs so far.
    """

    def __init__(self, last: int, seen: list[int]) -> None:
        self.last, self.seen = last, seen

    def on_epoch_end(self, row: Mapping[str, Any]) -> bool:
        self.seen.append(row["epoch"])
        return bool(row["epoch"] < self.last)


def test_a_callback_that_returns_false_ends_training_with_a_whole_run(tmp_path: Path) -> None:
    seen: list[int] = []
    others: list[int] = []
    for last, stopped in ((2, True), (9, False)):
        # All are called, whatever the previous ones return.
        callbacks = [Until(last, seen), Until(9, others)]
        run = train(config("lstm"), tmp_path / "run", resume=True, progress=False, callbacks=callbacks).path
        assert json.loads((run / "manifest.json").read_text())["training"]["stopped"] is stopped
    # After resuming, callbacks are called with the last epoch again.
    assert seen == others == [1, 2, 2, 3]
    whole = train(config("lstm"), tmp_path / "whole", progress=False).path
    assert same(run, whole)


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
