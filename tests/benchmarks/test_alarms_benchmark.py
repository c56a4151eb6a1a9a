"""Alarms to be read: verdicts stay with their sentences, and what was not asked for stays as it is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks import alarms
from benchmarks.alarms import HEADER
from benchmarks.reading import read


def test_verdicts_of_alarms_are_kept(
    run_benchmark: Callable[..., str],
    repository: Path,
    data_dir: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("DACTNLG_DATA", str(data_dir))
    file = tmp_path / "alarms.md"
    text = (repository / "benchmarks/alarms.md").read_text(encoding="utf-8")
    file.write_text(text.replace("| false |\n", "| false: so it is |\n"), encoding="utf-8")
    before = read(file, HEADER)
    assert {len(row) for row in before} == {5}
    assert {row[-1].partition(":")[0] for row in before} == {"right", "false"}
    assert "false: so it is" in {row[-1] for row in before}
    run_benchmark(alarms, "--corpus", "dstc2", "--verdicts", file)
    assert read(file, HEADER) == before
