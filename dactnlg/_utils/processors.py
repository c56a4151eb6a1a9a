"""How many processors there are to use."""

from __future__ import annotations

import os


def usable_processors() -> int:
    """Return not how many the machine has, but how many this process may use.

    OMP_NUM_THREADS is how Ray and batch systems, too, say that there are others beside it.
    """
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    asked = os.environ.get("OMP_NUM_THREADS", "")
    return min(usable, max(1, int(asked))) if asked.isdecimal() else usable
