"""Ctrl-C in training: a request to stop after the current batch, on which all processes agree."""

from __future__ import annotations

import contextlib
import signal
from types import FrameType
from typing import Any

from dactnlg.training.devices.process_group import ProcessGroup

ASK_EVERY = 10
"""Processes exchange whether Ctrl-C was pressed once in so many batches."""


class Interrupt:
    """Turns the first Ctrl-C into a request to stop; the second one interrupts at once.

    Args:
        group: the processes, which all stop after the same batch when one of them is interrupted.

    Attributes:
        asked: whether to stop.
    """

    def __init__(self, group: ProcessGroup) -> None:
        self.asked = False
        self._asked_here = False
        self._group, self._batches = group, 0
        self._before: Any = None

    def __enter__(self) -> Interrupt:
        # Signals can only be caught in the main thread; in others (a notebook's worker) Ctrl-C is not ours to handle.
        with contextlib.suppress(ValueError):
            self._before = signal.signal(signal.SIGINT, self._ask)
        return self

    def _ask(self, number: int, frame: FrameType | None) -> None:
        if self._asked_here:
            raise KeyboardInterrupt
        self._asked_here = True

    def agreed(self) -> bool:
        """Return whether to stop after this batch."""
        self._batches += 1
        # Asking the others can take as long as a small batch.
        if self._group.cluster.workers == 1 or self._batches % ASK_EVERY == 0:
            self.asked = self._group.agree(self._asked_here)
        return self.asked

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
