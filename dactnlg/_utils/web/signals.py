"""Signals of worker processes."""

from __future__ import annotations

from types import FrameType


def left_to_supervisor(_number: int, _frame: FrameType | None) -> None:
    """Handle Ctrl-C in a worker: do nothing.

    A terminal sends it to the supervisor as well, whose SIGTERM ends the worker. Behind that, it would count as a
    second Ctrl-C, which ends requests at once.
    """
