"""The benchmark of self-play, on a small run."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from helpers import table_rows

from benchmarks import selfplay


@pytest.fixture
def runs(neural_run: Path, tmp_path: Path) -> Path:
    (tmp_path / "trails-sclstm").symlink_to(neural_run)
    return tmp_path


def test_planted_faults_cost_and_speed_is_measured(
    runs: Path, run_benchmark: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # A step that is not significant is not played with a thousand conversations here, and users learn to listen once.
    monkeypatch.setattr(selfplay, "MANY", 10)
    monkeypatch.setattr(selfplay, "player", cache(selfplay.player))
    arguments = ["--corpus", "trails", "--conversations", "20", "--runs", runs]
    header, *found = table_rows(run_benchmark(selfplay, "faults", *arguments))
    assert header[:3] == ["corpus", "fault", "success"]
    assert [row[1] for row in found] == [f"{fault} {share}%" for fault in ("drop", "swap") for share in (0, 5, 10, 20)]
    # What planted faults add, users read.
    rates = [float(row[4]) for row in found]
    assert rates[0] == rates[4] < rates[3] and rates[4] < rates[7]
    printed = run_benchmark(selfplay, "speed", "--corpus", "trails", "--runs", runs)
    _, (corpus, conversations, *_, together) = table_rows(printed)
    assert (corpus, conversations) == ("trails", "100")
    assert float(together) > 0
