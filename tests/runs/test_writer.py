"""Run folders whose writing is stopped or whose files are damaged: complete in the end, or refused in one line."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from helpers import few_acts

from dactnlg import models
from dactnlg.cli.main import main
from dactnlg.errors import RunError
from dactnlg.evaluation.evaluate import evaluate
from dactnlg.generation.generator import Generator
from dactnlg.runs.config import Config, load_config
from dactnlg.runs.run import Run
from dactnlg.runs.writer import RunWriter
from dactnlg.training.train import train

EPOCHS = 3
SMALL = ["training.epochs=2", "model.hidden_size=16", "model.embedding_size=16", "training.batch_size=128"]


class _Stop(BaseException):
    """A kill: nothing but the operating system's clean-up comes after it."""


class Stopping:
    """Stops before or after the call number `left` of those that change a folder.

    Args:
        patch: undone at the end of a test.
    """

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.left, self.stopped = 10**6, False
        # Nothing here depends on what has reached the disk, which is slow.
        patch.setattr(os, "fsync", self._counted(lambda _: None))
        for name in ("replace", "rename", "unlink", "mkdir"):
            patch.setattr(Path, name, self._counted(getattr(Path, name)))

    def _counted(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*arguments: Any, **more: Any) -> Any:
            self._pass()
            result = function(*arguments, **more)
            self._pass()
            return result

        return counted

    def _pass(self) -> None:
        # A killed process does nothing more, so every later call is stopped, too.
        self.left -= 1
        if self.left < 0:
            self.stopped = True
            raise _Stop


@cache
def lstm() -> Config:
    return load_config("trails-lstm", [], models)


def write_run(folder: Path, *, resume: bool, overwrite: bool = False) -> None:
    """Write a run whose weights are the numbers of its epochs; the best are those of the last but one."""
    writer = RunWriter(Run(folder))
    with writer.opened(resume=resume, overwrite=overwrite):
        writer.begin(lstm(), lambda path: path.write_text('{"vocabulary": ["a"]}') and None, resume=resume)
        kept = writer.load_state()
        state: dict[str, Any] = kept.state if kept else {"epoch": 0, "best_epoch": 0, "history": []}
        if kept:
            writer.mend(kept, lambda path: path.write_text(f"weights {state['epoch']}") and None)
        for epoch in range(state["epoch"] + 1, EPOCHS + 1):
            better = epoch < EPOCHS
            best = epoch if better else state["best_epoch"]
            state = {"epoch": epoch, "best_epoch": best, "history": [*state["history"], {"epoch": epoch, "loss": 1.0}]}

            def save(path: Path, epoch: int = epoch) -> None:
                path.write_text(f"weights {epoch}")

            writer.save_epoch(state, save, save if better else None)
        writer.finish({"epochs": EPOCHS}, {})


def contents(folder: Path) -> dict[str, Any]:
    """Return the files of a run folder, without the times and processes that a manifest names."""
    found: dict[str, Any] = {path.name: path.read_text() for path in folder.iterdir() if path.name[0] != "."}
    manifest = json.loads(found["manifest.json"])
    return {**found, "manifest.json": {key: manifest[key] for key in ("config", "files", "training", "vocabulary")}}


@pytest.mark.parametrize("before", [False, True], ids=["new", "over an older run"])
def test_a_kill_between_any_two_changes_leaves_a_run_that_ends_whole(
    before: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_run(tmp_path / "whole", resume=False)
    wanted = contents(tmp_path / "whole")
    monkeypatch.setattr("dactnlg.runs.provenance.code", lambda: {"commit": None})
    monkeypatch.setattr("dactnlg.runs.provenance.packages", dict)
    monkeypatch.setattr("dactnlg.runs.provenance.hardware", dict)
    stopping = Stopping(monkeypatch)
    for limit in range(400):
        folder = tmp_path / str(limit)
        if before:
            shutil.copytree(tmp_path / "whole", folder)
        stopping.left, stopping.stopped = limit, False
        with contextlib.suppress(_Stop):
            write_run(folder, resume=False, overwrite=before)
        stopped, stopping.left = stopping.stopped, 10**6
        if folder.exists():
            # No half-written file has a name that is read.
            for path in folder.glob("*.json"):
                json.loads(path.read_text())
        write_run(folder, resume=True, overwrite=before)
        assert contents(folder) == wanted, limit
        assert not before or [path.name for path in tmp_path.iterdir() if str(limit) in path.name] == [folder.name]
        if not stopped:
            break
    else:
        pytest.fail("never ran through")


@pytest.fixture(scope="module")
def stopped_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run after the first of two epochs, which can be used and resumed."""

    class Once:
        def on_epoch_end(self, row: Any) -> bool:
            return False

    folder = tmp_path_factory.mktemp("stopped")
    small = [*SMALL, f"corpus.name={few_acts(folder / 'few.jsonl', 120)}"]
    config = load_config("trails-lstm", small, models)
    return train(config, folder / "run", progress=False, callbacks=[Once()]).path


WRONG = {
    "empty": lambda data: b"",
    "truncated": lambda data: data[: len(data) // 2],
    "a list": lambda data: b"[]",
    "an empty object": lambda data: b"{}",
    "not UTF-8": lambda data: b"\xff" + data,
    "nested": lambda data: b"[" * 100_000,
    "no time": lambda data: data.replace(b'"begun": "', b'"begun": "../'),
    "another type": lambda data: data.replace(b'"epoch": 1', b'"epoch": "1"').replace(
        b'"begun": "', b'"begun": 1, "x": "'
    ),
}


DAMAGED = [
    (name, kind)
    for name in ("state.json", "manifest.json", "begun.json", "preprocessor.json")
    for kind in WRONG
    # These have no such keys.
    if not (name == "preprocessor.json" and kind == "another type")
    and not (name in ("state.json", "preprocessor.json") and kind == "no time")
]


@pytest.mark.parametrize(("name", "kind"), DAMAGED)
def test_a_damaged_file_is_refused_in_one_line(
    name: str, kind: str, stopped_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = Path(shutil.copytree(stopped_run, tmp_path / "run"))
    if name == "begun.json":
        (run / "manifest.json").rename(run / name)
    data = (run / name).read_bytes()
    wrong = WRONG[kind](data)
    assert wrong != data
    (run / name).write_bytes(wrong)
    commands = [["train", str(run / "config.yaml"), "--output", str(run), "--resume"]]
    if name == "manifest.json":
        commands += [["leaderboard", str(run)], ["publish", str(run)], ["reproduce", str(run)]]
    if name in ("manifest.json", "preprocessor.json"):
        commands.append(["generate", "--model", str(run), "goodbye()"])
    if kind == "truncated" and len(commands) > 1:
        commands.append(["evaluate", "--model", str(run), "--split", "valid", "--preset", "single"])
    before = {path.name: path.read_bytes() for path in run.iterdir()}
    for command in commands:
        code = main(command)
        told = capsys.readouterr()
        if code == 0:
            # An empty object is a manifest that lacks all that generation has no use for.
            assert (name, kind, command[0]) in {("manifest.json", "an empty object", each) for each in LENIENT}
            continue
        assert code == 2, (command, told)
        assert told.out == "" and told.err.startswith("dactnlg: ") and told.err.count("\n") == 1, command
    assert (run / name).read_bytes() == before[name] or kind == "an empty object"


LENIENT = ("generate", "evaluate")


@pytest.mark.parametrize("name", ["checkpoint-1.safetensors", "weights.safetensors", "state.json", "preprocessor.json"])
def test_one_flipped_bit_is_noticed(
    name: str, stopped_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = Path(shutil.copytree(stopped_run, tmp_path / "run"))
    data = bytearray((run / name).read_bytes())
    # In the middle of a number or a word, so that the file is still of its format.
    place = data.index(b'"best": ') + 10 if name == "state.json" else len(data) * 3 // 4
    data[place] ^= 1
    (run / name).write_bytes(data)
    code = main(["train", str(run / "config.yaml"), "--output", str(run), "--resume"])
    told = capsys.readouterr()
    if name == "weights.safetensors":
        # They are written again from the checkpoint.
        assert code == 0 and (run / name).read_bytes() != data
        return
    assert code == 2 and told.err.count("\n") == 1, told
    if name == "preprocessor.json":
        assert main(["generate", "--model", str(run), "goodbye()"]) == 2
        assert "damaged" in capsys.readouterr().err


def test_changed_weights_are_noticed_when_files_are_checked(stopped_run: Path, tmp_path: Path) -> None:
    run = Path(shutil.copytree(stopped_run, tmp_path / "run"))
    weights = bytearray((run / "weights.safetensors").read_bytes())
    weights[-3] ^= 4
    (run / "weights.safetensors").write_bytes(weights)
    with pytest.raises(RunError, match="not the file that training wrote"):
        Run(run).check_files()
    Run(stopped_run).check_files()


def test_a_run_is_not_resumed_with_a_changed_corpus(stopped_run: Path, tmp_path: Path) -> None:
    run = Run(shutil.copytree(stopped_run, tmp_path / "run"))
    writer, small = RunWriter(run), load_config(run.config_path, (), models)
    with (
        writer.opened(resume=True),
        pytest.raises(RunError, match=r"preprocessor\.json is not what the corpus gives now"),
    ):
        writer.begin(small, lambda path: path.write_text("{}") and None, resume=True)


def test_resuming_a_run_removes_the_scores_of_its_older_weights(tmp_path: Path, stopped_run: Path) -> None:
    run = Run(shutil.copytree(stopped_run, tmp_path / "run"))
    entry = {"corpus": "c", "split": "test", "options": {}, "scores": {}, "code": {}}
    assert run.add_evaluation(entry, run.state())
    train(load_config(run.config_path, (), models), run.path, resume=True, progress=False)
    assert "evaluations" not in run.manifest() and len(run.manifest()["resumed"]) == 1
    assert run.add_evaluation(entry, run.state())
    train(load_config(run.config_path, (), models), run.path, resume=True, progress=False)
    assert len(run.manifest()["evaluations"]) == 1


def test_scores_of_a_run_that_was_replaced_meanwhile_are_not_recorded(
    tmp_path: Path, stopped_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Run(shutil.copytree(stopped_run, tmp_path / "run"))
    load = Generator.load

    def load_and_replace(*words: Any) -> Generator:
        generator = load(*words)
        train(load_config(run.config_path, (), models), run.path, overwrite=True, progress=False)
        return generator

    monkeypatch.setattr(Generator, "load", load_and_replace)
    assert not evaluate(run, presets=["single"], metrics=["BLEU-4"]).recorded
    assert "evaluations" not in run.manifest()


@pytest.mark.parametrize("data", [b"epoch,loss\n1,abc\n", b"epoch,loss\n1\n", b"loss\n1\n", b"\xff", b"epoch\ninf\n"])
def test_a_damaged_history_is_refused(data: bytes, tmp_path: Path) -> None:
    run = Run(tmp_path)
    assert run.history() == []
    run.history_path.write_bytes(data)
    with pytest.raises(RunError, match=r"history\.csv is damaged"):
        run.history()
    run.history_path.write_text("epoch,loss\n1,0.5\n")
    assert run.history() == [{"epoch": 1.0, "loss": 0.5}]
