"""Existing runs are never lost: refused without `--overwrite`, and replaced only by a complete one."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from small_trainings import SETS, SMALL

from dactnlg import models
from dactnlg.cli.main import main
from dactnlg.errors import ConfigError, CorpusError, RunError
from dactnlg.models.numpy.learner import NumpyLearner
from dactnlg.runs.config import load_config
from dactnlg.runs.place import opened
from dactnlg.runs.run import Run
from dactnlg.training.train import train


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def finished(random_run: Path, tmp_path: Path) -> Path:
    """A finished run, of the random baseline."""
    return Path(shutil.copytree(random_run, tmp_path / "run"))


def stop_after(batches: int, patch: pytest.MonkeyPatch) -> None:
    """Send Ctrl-C after so many batches."""
    learn, count = NumpyLearner.learn, 0

    def counted(learner: NumpyLearner, batch: Any) -> float:
        nonlocal count
        count += 1
        if count == batches:
            signal.raise_signal(signal.SIGINT)
        return learn(learner, batch)

    patch.setattr(NumpyLearner, "learn", counted)


def test_a_run_is_not_overwritten(finished: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = contents(finished)
    assert main(["train", "trails-lstm", *SETS, "--output", str(finished)]) == 2
    out, told = capsys.readouterr()
    assert out == "" and told.splitlines()[-1] == (
        f"dactnlg: {finished} holds a run already: go on with it by --resume, replace it by --overwrite, or name "
        "another folder with --output"
    )
    assert contents(finished) == before


def test_the_default_folder_is_not_overwritten(finished: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(finished.parent)
    (finished.parent / "runs").mkdir()
    finished.rename("runs/trails-random")
    before = contents(Path("runs"))
    assert main(["train", "trails-random"]) == 2
    with pytest.raises(RunError, match="runs/trails-random holds a run already"):
        train("trails-random", progress=False)
    assert contents(Path("runs")) == before
    assert main(["train", "trails-random", "--overwrite"]) == 0
    # An evaluation may have left a lock.
    assert set(contents(Path("runs"))) == set(before) - {"trails-random/.lock"}


def test_an_unfinished_training_is_not_started_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = load_config("trails-lstm", [*SMALL, "training.epochs=3"], models)
    with monkeypatch.context() as patch:
        stop_after(30, patch)
        with pytest.raises(KeyboardInterrupt):
            train(config, tmp_path / "run", progress=False)
    assert Run(tmp_path / "run").manifest()["training"]["interrupted"]
    before = contents(tmp_path / "run")
    with pytest.raises(RunError, match="--resume"):
        train(config, tmp_path / "run", progress=False)
    assert contents(tmp_path / "run") == before
    # Both options together resume an unfinished training if there is no replacement.
    train(config, tmp_path / "run", resume=True, overwrite=True, progress=False)
    assert [row["epoch"] for row in Run(tmp_path / "run").history()] == [1, 2, 3]
    assert len(Run(tmp_path / "run").manifest()["resumed"]) == 1


def test_an_overwritten_run_is_replaced_once_the_new_one_is_complete(finished: Path) -> None:
    (finished / "notes.txt").write_text("mine")
    link = finished.parent / "link"
    link.symlink_to(finished)
    run = train(load_config("trails-lstm", SMALL, models), link, overwrite=True, progress=False)
    assert run.path == link and link.is_symlink()
    names = {path.name for path in finished.iterdir()}
    assert {"weights.safetensors", "history.csv", "manifest.json", "notes.txt"} <= names
    assert (finished / "notes.txt").read_text() == "mine"
    assert run.manifest()["config"]["model"]["name"] == "lstm"
    assert {path.name for path in finished.parent.iterdir()} == {"run", "link"}
    Run(finished).check_files()


def test_ctrl_c_keeps_the_older_run(
    finished: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(finished.parent)
    before = contents(finished)
    words = ["train", "trails-lstm", *SETS, "--output", "run", "--overwrite"]
    for batches in (3, 15):
        with monkeypatch.context() as patch:
            stop_after(batches, patch)
            assert main([*words, "--resume"]) == 130
        told = capsys.readouterr().err.splitlines()[-1]
        start, _, command = told.partition("go on with: ")
        assert start == "dactnlg: interrupted; run is as it was; "
        assert shlex.split(command) == ["dactnlg", *words[:-1], "--overwrite", "--resume"]
        assert contents(finished) == before
    assert main(shlex.split(command)[1:]) == 0
    whole = train(load_config("trails-lstm", SMALL, models), finished.parent / "whole", progress=False)
    assert (finished / "weights.safetensors").read_bytes() == whole.weights_path.read_bytes()
    assert {path.name for path in finished.parent.iterdir()} == {"run", "whole"}


def test_a_failed_training_keeps_the_older_run(finished: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = contents(finished)
    config = load_config("trails-lstm", [*SMALL, f"model.initialize_from={finished}/nowhere"], models)
    with pytest.raises(RunError, match="does not exist"):
        train(config, finished, overwrite=True, progress=False)
    assert contents(finished) == before
    assert [path.name for path in finished.parent.iterdir()] == ["run"]


def test_a_folder_that_is_no_run_is_not_overwritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("config.yaml").write_text("corpus: {name: trails}\nmodel: {name: random}\n")
    for more in ([], ["--overwrite"], ["--resume"]):
        assert main(["train", "config.yaml", "--output", ".", *more]) == 2
    assert Path("config.yaml").read_text().startswith("corpus: {name: trails}")
    assert [path.name for path in tmp_path.iterdir()] == ["config.yaml"]


def refused(folder: Path) -> dict[str, Callable[[], Any]]:
    lstm = [*SMALL, f"model.initialize_from={folder}/nowhere"]
    return {
        "run": lambda: train(load_config("trails-lstm", lstm, models), folder / "runs" / "a", progress=False),
        "corpus": lambda: train({"corpus": {"name": "e2e"}, "model": {"name": "lstm"}}, folder / "runs" / "a"),
        "key": lambda: train("trails-lstm", folder / "runs" / "a", overrides=["training.epoch=3"]),
    }


@pytest.mark.parametrize("why", ["run", "corpus", "key"])
def test_a_refused_training_leaves_no_folder(why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DACTNLG_DATA", os.devnull)
    if why == "corpus":
        # Without the corpora that the user has fetched. The other cases need the readers in that cache.
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with pytest.raises((RunError, CorpusError, ConfigError)):
        refused(tmp_path)[why]()
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize("name", ["state.json", "preprocessor.json"])  # after an epoch, and before the first
def test_a_replacement_that_another_process_trains_is_left_alone(finished: Path, name: str) -> None:
    other = finished.parent / ".run.new"
    with opened(Run(finished), resume=False, overwrite=True) as place:
        assert place.path == other
        (other / name).write_text("{}")
        with pytest.raises(RunError, match="another process"):
            train("trails-random", finished, overwrite=True, progress=False)
        assert (other / name).exists()
    Run(finished).check_files()


def test_a_run_that_is_being_replaced_is_left_alone(finished: Path) -> None:
    old = finished.parent / ".run.old"
    with opened(Run(finished), resume=False, overwrite=True):
        # Between the two renamings.
        finished.rename(old)
        with pytest.raises(RunError, match="another process"), opened(Run(finished), resume=False, overwrite=True):
            pass
        assert old.exists() and not finished.exists()
    # After that process has ended, the older run is restored.
    with opened(Run(finished), resume=False, overwrite=True):
        assert not old.exists()
    Run(finished).check_files()


@pytest.mark.parametrize("resume", [False, True])
def test_a_training_before_its_first_epoch_is_left_alone(tmp_path: Path, *, resume: bool) -> None:
    run = Run(tmp_path / "run")
    with opened(run, resume=False, overwrite=False):
        for path in (run.begun_path, run.preprocessor_path):
            path.write_text("{}")
        with pytest.raises(RunError, match="another process"):
            train("trails-random", run.path, resume=resume, progress=False)
        assert run.begun_path.exists() and run.preprocessor_path.exists()
