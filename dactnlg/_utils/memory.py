"""Bounded caches: what is remembered never takes more than so many bytes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import lru_cache, wraps
from threading import Lock
from typing import Generic, TypeVar

T = TypeVar("T")
ENTRIES, LONGEST = 1 << 13, 64
"""What `remembered` keeps of a function: results for so many texts of so many characters at most, a few megabytes."""
ENTRY = 250
"""Bytes that an entry of a `Memory` takes beside its key and value."""


class Memory(Generic[T]):
    """A cache that drops the entry used longest ago when it is full; several threads may use it at once.

    Args:
        size: entries at most.
        limit: bytes at most, by the sizes given to `put`.
    """

    def __init__(self, size: int, limit: int) -> None:
        self._size, self._limit, self._lock = size, limit, Lock()
        self._found: OrderedDict[Hashable, tuple[T, int]] = OrderedDict()
        self.held = 0

    def get(self, key: Hashable) -> T | None:
        """Return the value of a key, or None."""
        with self._lock:
            found = self._found.get(key)
            if found is None:
                return None
            self._found.move_to_end(key)
            return found[0]

    def put(self, key: Hashable, value: T, size: int) -> T:
        """Keep a value, and return it; what is larger than all that may be kept is not kept.

        Args:
            key: its key.
            value: the value.
            size: about how many bytes key and value take.
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
    """Make a function of short texts remember its results; those of long texts, which seldom come again, it does not.

    Its results should be no larger than a few times the text.
    """
    short = lru_cache(maxsize=ENTRIES)(function)

    @wraps(function)
    def call(text: str) -> T:
        return short(text) if len(text) <= LONGEST else function(text)

    return call
