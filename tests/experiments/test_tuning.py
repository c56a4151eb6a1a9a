"""Tuning of a run's search: what is found is the best that is faithful, stands in the run, and is used by default."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dactnlg import models
from dactnlg.cli.main import main
from dactnlg.evaluation.evaluate import evaluate
from dactnlg.experiments.tuning import LEEWAY, TRIED, tune
from dactnlg.generation.generator import Generator
from dactnlg.generation.options import GenerationOptions
from dactnlg.runs.config import load_config
from dactnlg.runs.run import Run
from dactnlg.training.train import train

ACTS = 40


@pytest.fixture
def run(poor_run: Callable[[str], Path], tmp_path: Path) -> Path:
    """A copy of a poor run, which says short sentences: there is something to be found."""
    return Path(shutil.copytree(poor_run("sclstm"), tmp_path / "run"))


def read(run: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((run / "manifest.json").read_text())
    return found


def test_the_best_faithful_setting_is_chosen_and_used(run: Path) -> None:
    evaluate(run, split="valid", presets=["single"])
    result = tune(run, acts=ACTS)
    assert len({each.setting for each in result.tried}) == len(result.tried)
    for name, values in TRIED.items():
        tried = {getattr(each.setting, name) for each in result.tried}
        assert tried >= set(values), name
    fewest = min(each.ser for each in result.tried)
    faults = min(each.faults for each in result.tried) + LEEWAY * ACTS
    eligible = [each for each in result.tried if each.ser <= fewest and each.faults <= faults]
    assert result.chosen.score == max(each.score or 0.0 for each in eligible)
    assert result.chosen.score > (result.before.score or 0.0)

    config, manifest = load_config(run / "config.yaml"), read(run)
    assert {name: getattr(config.decoding, name) for name in TRIED} == result.chosen.setting._asdict()
    assert manifest["config"] == config.model_dump()
    assert manifest["tuned"]["chosen"]["score"] == result.chosen.score
    assert manifest["tuned"]["split"] == "valid"
    assert "evaluations" not in manifest, "they were of other sentences"

    # By default it now says what it says with the settings given one by one.
    acts = ["inform_count(count=12;difficulty=easy)", "?request(region)"]
    given = GenerationOptions(**result.chosen.setting._asdict())
    assert Generator.load(run).generate(acts) == Generator.load(run).generate(acts, given)


def test_a_tuned_run_is_resumed_with_its_own_configuration(run: Path) -> None:
    before = load_config(run / "config.yaml")
    tune(run, acts=ACTS)
    weights = (run / "weights.safetensors").read_bytes()
    with pytest.raises(Exception, match=r"resume it with its own config\.yaml"):
        train(before, run, resume=True, progress=False)
    train(load_config(run / "config.yaml", models=models), run, resume=True, progress=False)
    assert (run / "weights.safetensors").read_bytes() == weights
    assert read(run)["setting"] != ""


def test_tuning_twice_changes_nothing_more(run: Path) -> None:
    first = tune(run, acts=ACTS)
    config = (run / "config.yaml").read_bytes()
    again = tune(run, acts=ACTS)
    assert again.before.setting == first.chosen.setting
    assert again.chosen.score == first.chosen.score
    assert (run / "config.yaml").read_bytes() == config


def test_by_one_command(run: Path, repository: Path) -> None:
    command = [sys.executable, "-m", "dactnlg", "tune", str(run), "--acts", "12", "--metric", "rouge-l"]
    files = [path.read_bytes() for path in (run / "config.yaml", run / "manifest.json")]
    done = subprocess.run([*command, "--dry-run"], capture_output=True, text=True, cwd=repository)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("ROUGE-L (nlg-eval) of 12 acts of the validation split")
    assert sum(line.startswith(">") for line in done.stdout.splitlines()) == 1
    assert files == [path.read_bytes() for path in (run / "config.yaml", run / "manifest.json")]
    done = subprocess.run([*command, "--json", "-"], capture_output=True, text=True, cwd=repository)
    found = json.loads(done.stdout)
    assert found["metric"] == "ROUGE-L" and found["acts"] == 12
    assert found["chosen"] in found["tried"] and found["before"] in found["tried"]
    assert load_config(run / "config.yaml").decoding.beam_width == found["chosen"]["beam_width"]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--metric", "BLEU-5"], "unknown metric 'BLEU-5'; did you mean 'BLEU-"),
        (["--preset", "e3e"], "unknown preset 'e3e'"),
        (["--metric", "diversity"], "diversity is no single score, but distinct-1"),
    ],
)
def test_mistakes(more: list[str], message: str, run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tune", str(run), *more]) == 2
    told = capsys.readouterr()
    assert (told.out, told.err.count("\n")) == ("", 1)
    assert message in told.err


def test_runs_that_have_nothing_to_tune(
    run: Path, random_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder, message in (
        (random_run, "it is the random baseline"),
        (tmp_path / "none", "does not exist; make one with"),
    ):
        assert main(["tune", str(folder)]) == 2
        assert message in capsys.readouterr().err
    Run(run).manifest_path.unlink()
    assert main(["tune", str(run)]) == 2
    assert "its training has not ended" in capsys.readouterr().err
