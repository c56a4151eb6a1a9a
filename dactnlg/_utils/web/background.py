"""Work of a request in a thread, beside other requests, which ends when nobody waits for it any longer."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterable
from itertools import takewhile
from typing import TypeVar

Item = TypeVar("Item")


async def in_thread(items: Iterable[Item]) -> list[Item]:
    """Return items as a list; they are computed in one of the threads that all requests share.

    A thread cannot be stopped. If the caller is cancelled, as at the time limit of a request, the thread finishes the
    item that it is at and leaves the others.
    """
    cancelled = threading.Event()
    try:
        return await asyncio.to_thread(lambda: list(takewhile(lambda _: not cancelled.is_set(), items)))
    finally:
        cancelled.set()
