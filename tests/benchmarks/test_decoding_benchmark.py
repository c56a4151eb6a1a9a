"""The profile of decoding: it counts time by files that exist."""

from __future__ import annotations

from pathlib import Path

from benchmarks.decoding import ROOMS


def test_the_profile_counts_time_by_files_that_exist(repository: Path) -> None:
    names = [name for names in ROOMS.values() for name in names]
    assert not [name for name in names if not (repository / "dactnlg" / name).exists()]
