"""Caches of bounded size."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import lru_cache, wraps
from threading import Lock
from typing import Generic, TypeVar

T = TypeVar("T")
ENTRIES, LONGEST = 1 << 13, 64
"""Limits of `remembered`: results cached per function, and characters of a text; together a few megabytes."""
ENTRY = 250
"""Overhead of an entry of a `Memory` in bytes, besides its key and value."""


class Memory(Generic[T]):
    """A thread-safe LRU cache: when it is full, it drops the least recently used entry.

    Args:
        size: maximum number of entries.
        limit: maximum number of bytes, by the sizes given to `put`.
    """

    def __init__(self, size: int, limit: int) -> None:
        self._size, self._limit, self._lock = size, limit, Lock()
        self._found: OrderedDict[Hashable, tuple[T, int]] = OrderedDict()
        self.held = 0

    def get(self, key: Hashable) -> T | None:
        """Return the value of a key, or None if it is not cached."""
        with self._lock:
            found = self._found.get(key)
            if found is None:
                return None
            self._found.move_to_end(key)
            return found[0]

    def put(self, key: Hashable, value: T, size: int) -> T:
        """Cache a value and return it; a value larger than the whole limit is not cached.

        Args:
            key: the key.
            value: the value.
            size: approximate size of key and value in bytes.
        """
        size += ENTRY
        with self._lock:
            self._drop(key)
            if size <= self._limit:
                self._found[key] = (value, size)
                self.held += size
            while len(self._found) > self._size or self.held > self._limit:
                self.held -= self._found.popitem(last=False)[1][1]
        return value

    def _drop(self, key: Hashable) -> None:
        found = self._found.pop(key, None)
        if found is not None:
            self.held -= found[1]

    def clear(self) -> None:
        """Drop all entries."""
        with self._lock:
            self._found.clear()
            self.held = 0

    def __len__(self) -> int:
        return len(self._found)


def remembered(function: Callable[[str], T]) -> Callable[[str], T]:
    """Decorate a function of a text to cache its results for short texts; long texts seldom recur and are not cached.

    Its results should be no larger than a few times the text.
    """
    short = lru_cache(maxsize=ENTRIES)(function)

    @wraps(function)
    def call(text: str) -> T:
        return short(text) if len(text) <= LONGEST else function(text)

    return call
