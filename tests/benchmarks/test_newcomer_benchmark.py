"""The newcomer's benchmark: from a table to a report with defaults alone, every value of 50 unseen acts said once."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from benchmarks import newcomer


def test_from_a_table_to_a_report(run_benchmark: Callable[..., str], tmp_path: Path) -> None:
    printed = run_benchmark(newcomer, tmp_path, "--corpus", "flights")
    assert "50 of 50 unseen acts say every value once; slots_ok 50" in printed
    assert len(re.findall(r" min  dactnlg ", printed)) == 5
    assert (tmp_path / "flights.html").stat().st_size > 10_000
