"""Alarms to be read: verdicts stay with their sentences, and what was not asked for stays as it is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from benchmarks.alarms import HEADER
from benchmarks.reading import read


def test_verdicts_of_alarms_are_kept(repository: Path, data_dir: Path, tmp_path: Path) -> None:
    file = tmp_path / "alarms.md"
    before = read(repository / "benchmarks/alarms.md", HEADER)
    assert {len(row) for row in before} == {5} and {row[-1].partition(":")[0] for row in before} == {"right", "false"}
    file.write_text((repository / "benchmarks/alarms.md").read_text(encoding="utf-8"), encoding="utf-8")
    command = [sys.executable, str(repository / "benchmarks/alarms.py"), "--corpus", "dstc2", "--verdicts", str(file)]
    environment = {**os.environ, "PYTHONPATH": str(repository), "DACTNLG_DATA": str(data_dir)}
    for again in (False, True):
        if again:
            file.write_text(file.read_text(encoding="utf-8").replace("| false |\n", "| false: so it is |\n"))
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)
        assert done.returncode == 0, done.stderr
        after = read(file, HEADER)
        assert [row[:4] for row in after] == [row[:4] for row in before]
        said = [row[-1].replace("false: so it is", "false") for row in after]
        assert said == [row[-1] for row in before] and ("false: so it is" in {row[-1] for row in after}) == again
