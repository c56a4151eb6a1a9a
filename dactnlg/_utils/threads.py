"""Threads for matrix products that are too small for a linear algebra library to split between its own threads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from threading import Lock
from typing import Any

from threadpoolctl import ThreadpoolController

from dactnlg._utils.processors import usable_processors

Map = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]


class _OneThread:
    """A re-entrant context that limits BLAS to one thread while any thread of the process is inside it."""

    def __init__(self) -> None:
        self._lock, self._users = Lock(), 0
        self._limit: AbstractContextManager[Any] | None = None

    def __enter__(self) -> None:
        with self._lock:
            self._users += 1
            if self._users == 1:
                self._limit = _libraries().limit(limits=1, user_api="blas")
                self._limit.__enter__()

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0 and self._limit is not None:
                self._limit.__exit__(None, None, None)
                self._limit = None


one_blas_thread = _OneThread()
"""A context in which each matrix product is computed by the thread that calls it."""


@contextmanager
def parallel_map(tasks: int) -> Iterator[Map]:
    """Yield a `map` that runs `tasks` calls in as many threads as there are processors, each product in one thread.

    The results come in the order of the tasks. Long tasks should come first.
    """
    with one_blas_thread:
        threads = min(tasks, usable_processors())
        if threads <= 1:
            yield map
            return
        with ThreadPoolExecutor(threads) as pool:
            yield pool.map


@cache
def _libraries() -> ThreadpoolController:
    return ThreadpoolController()
