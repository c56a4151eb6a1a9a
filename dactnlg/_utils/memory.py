"""Remembering what was found, within bounds."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from threading import Lock
from typing import Generic, TypeVar

T = TypeVar("T")


class Memory(Generic[T]):
    """Remembers what was used last; several threads may ask.

    Args:
        size: how many entries at most.
    """

    def __init__(self, size: int) -> None:
        self._size, self._lock = size, Lock()
        self._found: OrderedDict[Hashable, T] = OrderedDict()

    def get(self, key: Hashable) -> T | None:
        """Return what is remembered for a key, or None."""
        with self._lock:
            found = self._found.get(key)
            if found is not None:
                self._found.move_to_end(key)
            return found

    def put(self, key: Hashable, value: T) -> T:
        """Remember a value and return it; what was not asked for longest is forgotten."""
        with self._lock:
            self._found[key] = value
            self._found.move_to_end(key)
            while len(self._found) > self._size:
                self._found.popitem(last=False)
        return value

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._found.clear()

    def __len__(self) -> int:
        return len(self._found)
