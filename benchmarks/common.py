"""What several benchmarks share: folders, the line about versions above a table, memory and CPU time of processes."""

from __future__ import annotations

import os
import platform
from datetime import date
from importlib.metadata import version
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("DACTNLG_DATA") or REPOSITORY.parent / "shared" / "data")
"""The folder of the corpora."""


def versions(*packages: str) -> str:
    """Return the date and the versions of Python and of some packages."""
    names = [f"{name} {version(name)}" for name in packages]
    return ", ".join([f"{date.today()}", f"Python {platform.python_version()}", *names])


def resident(pid: int) -> float:
    """Return the resident memory of a process in MiB, 0 once it has ended (Linux)."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return 0.0
    # A zombie's status has no such line.
    return next((int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmRSS")), 0.0)


def children_cpu() -> float:
    """Return the CPU seconds, user and system, of all child processes that have been waited for."""
    times = os.times()
    return times.children_user + times.children_system
