"""The number of processors that this process may use."""

from __future__ import annotations

import os


def usable_processors() -> int:
    """Return the number of processors that this process may use, which may be fewer than the machine has.

    OMP_NUM_THREADS lowers it: Ray and batch systems set it for processes that share a machine.
    """
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    asked = os.environ.get("OMP_NUM_THREADS", "")
    return min(usable, max(1, int(asked))) if asked.isdecimal() else usable
