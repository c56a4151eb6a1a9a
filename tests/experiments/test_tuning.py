"""Tuning of a run's search: the best faithful setting is found, written to the run, and used by default."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dactnlg import models
from dactnlg.cli.main import main
from dactnlg.errors import RunError
from dactnlg.evaluation.evaluate import evaluate
from dactnlg.experiments.tuning import LEEWAY, TRIED, TuningResult, tune
from dactnlg.generation.generator import Generator
from dactnlg.generation.options import GenerationOptions
from dactnlg.runs.config import load_config
from dactnlg.runs.run import Run
from dactnlg.training.train import train

ACTS = 24


@pytest.fixture
def run(poor_run: Callable[[str], Path], tmp_path: Path) -> Path:
    """A copy of a poor run, whose sentences are short, so that other settings are better."""
    return Path(shutil.copytree(poor_run("sclstm"), tmp_path / "run"))


@pytest.fixture(scope="module")
def tuning(poor_run: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, TuningResult]:
    """Another copy, evaluated and then tuned, and the result of tuning."""
    run = Path(shutil.copytree(poor_run("sclstm"), tmp_path_factory.mktemp("tuned") / "run"))
    evaluate(run, split="valid", presets=["single"])
    assert "evaluations" in read(run)
    return run, tune(run, acts=ACTS)


@pytest.fixture
def tuned(tuning: tuple[Path, TuningResult], tmp_path: Path) -> Path:
    """A copy of the tuned run."""
    return Path(shutil.copytree(tuning[0], tmp_path / "tuned"))


def read(run: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((run / "manifest.json").read_text())
    return found


def test_the_best_faithful_setting_is_chosen_and_used(tuning: tuple[Path, TuningResult]) -> None:
    run, result = tuning
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

    # Its default sentences are those of the chosen settings.
    acts = ["inform_count(count=12;difficulty=easy)", "?request(region)"]
    given = GenerationOptions(**result.chosen.setting._asdict())
    assert Generator.load(run).generate(acts) == Generator.load(run).generate(acts, given)


def test_a_tuned_run_is_resumed_with_its_own_configuration(run: Path, tuned: Path) -> None:
    weights, setting = (tuned / "weights.safetensors").read_bytes(), read(tuned)["setting"]
    with pytest.raises(RunError, match=r"resume it with its own config\.yaml"):
        train(load_config(run / "config.yaml", models=models), tuned, resume=True, progress=False)
    train(load_config(tuned / "config.yaml", models=models), tuned, resume=True, progress=False)
    assert (tuned / "weights.safetensors").read_bytes() == weights
    assert read(tuned)["setting"] == setting


def test_tuning_a_tuned_run_changes_nothing(tuning: tuple[Path, TuningResult], tuned: Path) -> None:
    config = (tuned / "config.yaml").read_bytes()
    again = tune(tuned, acts=ACTS)
    assert again.before.setting == tuning[1].chosen.setting
    assert again.chosen.score == tuning[1].chosen.score
    assert (tuned / "config.yaml").read_bytes() == config


def test_tune_writes_the_chosen_setting_unless_it_is_a_dry_run(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["tune", str(run), "--acts", "6", "--metric", "rouge-l"]
    files = [path.read_bytes() for path in (run / "config.yaml", run / "manifest.json")]
    assert main([*command, "--dry-run"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("ROUGE-L (nlg-eval) of 6 acts of the validation split")
    assert sum(line.startswith(">") for line in shown.splitlines()) == 1
    assert files == [path.read_bytes() for path in (run / "config.yaml", run / "manifest.json")]
    assert main([*command, "--json", "-"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["metric"] == "ROUGE-L" and found["acts"] == 6
    assert found["chosen"] in found["tried"] and found["before"] in found["tried"]
    assert load_config(run / "config.yaml").decoding.beam_width == found["chosen"]["beam_width"]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--metric", "BLEU-5"], "unknown metric 'BLEU-5'; did you mean 'BLEU-"),
        (["--preset", "e3e"], "unknown preset 'e3e'"),
        (["--metric", "diversity"], "diversity is no single score, but distinct-1"),
        (["--metric", "mean-length"], "mean-length ranks nothing"),
        (["--metric", "novelty", "--acts", "1"], "novelty is undefined here"),
    ],
)
def test_tune_refuses_scores_that_cannot_decide_in_one_line(
    more: list[str], message: str, run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["tune", str(run), *more]) == 2
    told = capsys.readouterr()
    assert (told.out, told.err.count("\n")) == ("", 1)
    assert message in told.err


def test_runs_without_a_search_or_unfinished_are_not_tuned(
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
