"""The newcomer's benchmark: from a table to a report with defaults alone, every value of 50 unseen acts said once."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path


def test_from_a_table_to_a_report(repository: Path, tmp_path: Path) -> None:
    command = [sys.executable, "benchmarks/newcomer.py", str(tmp_path), "--corpus", "flights"]
    environment = {**os.environ, "PYTHONPATH": str(repository)}
    done = subprocess.run(command, cwd=repository, env=environment, capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "50 of 50 unseen acts say every value once; slots_ok 50" in done.stdout
    assert len(re.findall(r" min  dactnlg ", done.stdout)) == 5
    assert (tmp_path / "flights.html").stat().st_size > 10_000
