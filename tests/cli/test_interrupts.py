"""Ctrl-C and SIGTERM in any command: exit code 130 and one line, wherever they fall."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import pytest

from dactnlg._utils import cluster
from dactnlg.cli.main import main


def at_once(number: signal.Signals) -> NoReturn:
    signal.raise_signal(number)
    raise AssertionError("not heard")


def twice(number: signal.Signals) -> NoReturn:
    try:
        at_once(number)
    finally:
        signal.raise_signal(number)


class Dropped:
    """Is interrupted where Python drops exceptions."""

    def __init__(self, number: signal.Signals) -> None:
        self.number = number

    def __del__(self) -> None:
        signal.raise_signal(self.number)


def in_vain(number: signal.Signals) -> NoReturn:
    Dropped(number)
    time.sleep(20)
    raise AssertionError("not heard")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("moment", [at_once, twice, in_vain])
@pytest.mark.parametrize(
    ("words", "place"),
    [
        (["score", "--input", "pairs.jsonl", "--json", "new.json"], "dactnlg.evaluation.protocols.score_pairs"),
        (["evaluate", "--model", "run", "--json", "new.json"], "dactnlg.evaluation.evaluate.evaluate"),
        (["generate", "--model", "run", "goodbye()"], "dactnlg.generation.files.worker.GenerationWorker.load"),
    ],
    ids=["score", "evaluate", "generate"],
)
def test_a_command_ends_with_130_and_one_line(
    words: list[str],
    place: str,
    moment: Callable[[signal.Signals], NoReturn],
    number: signal.Signals,
    random_run: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    def interrupted(*_: Any, **__: Any) -> NoReturn:
        moment(number)

    monkeypatch.chdir(tmp_path)
    Path("run").symlink_to(random_run)
    monkeypatch.setattr(place, interrupted)
    Path("pairs.jsonl").write_text('{"hypothesis": "a", "references": ["a"]}\n')
    before = [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)]
    assert main(words) == 130
    assert capfd.readouterr() == ("", "dactnlg: interrupted\n")
    assert [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)] == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["pairs.jsonl", "run"]


def test_sigterm_while_ray_starts_is_an_interrupt(monkeypatch: pytest.MonkeyPatch) -> None:
    import ray

    def start(**options: object) -> None:
        # As Ray does while it starts.
        signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(number))
        signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr(ray, "init", start)
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(KeyboardInterrupt), cluster.started(1):
        pass
    assert signal.getsignal(signal.SIGTERM) == before


def test_without_signals_of_threads_the_main_thread_is_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    # As on Windows.
    monkeypatch.delattr(signal, "pthread_kill")
    with pytest.raises(KeyboardInterrupt):
        sys.modules["dactnlg.cli.main"]._interrupt_soon()
        time.sleep(5)
