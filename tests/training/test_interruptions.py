"""Trainings that are killed, interrupted or ended early: resumed, they end as those that were not."""

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

import pytest
from small_trainings import SETS, config, same

from dactnlg.cli.main import main
from dactnlg.generation.generator import Generator
from dactnlg.models.numpy.learner import NumpyLearner
from dactnlg.runs.config import Config
from dactnlg.training.keras_learner import KerasLearner
from dactnlg.training.train import train


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
