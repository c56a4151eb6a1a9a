"""A bounded cache for several threads."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from threading import Lock
from typing import Generic, TypeVar

T = TypeVar("T")


class Memory(Generic[T]):
    """A cache that drops the entry used longest ago when it is full; several threads may use it at once.

    Args:
        size: entries at most.
    """

    def __init__(self, size: int) -> None:
        self._size, self._lock = size, Lock()
        self._found: OrderedDict[Hashable, T] = OrderedDict()

    def get(self, key: Hashable) -> T | None:
        """Return the value of a key, or None."""
        with self._lock:
            found = self._found.get(key)
            if found is not None:
                self._found.move_to_end(key)
            return found

    def put(self, key: Hashable, value: T) -> T:
        """Keep a value, and return it."""
        with self._lock:
            self._found[key] = value
            self._found.move_to_end(key)
            while len(self._found) > self._size:
                self._found.popitem(last=False)
        return value

    def clear(self) -> None:
        """Drop all entries."""
        with self._lock:
            self._found.clear()

    def __len__(self) -> int:
        return len(self._found)
