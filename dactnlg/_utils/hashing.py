"""Hash codes: the one place where data become SHA-256, so that equal things have equal codes everywhere.

Nothing here depends on the order of sets or dictionaries, on `PYTHONHASHSEED` or on the machine.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

SHORT = 8
"""Digits of a hash that a table shows; JSON has all 64."""
_MODULUS = 1 << 256


def digest(value: Any) -> str:
    """Return the SHA-256 of lists, texts, numbers and dictionaries with text keys, whose order is none."""
    return hashlib.sha256(_canonical(value)).hexdigest()


class MultisetHash:
    """The SHA-256 of items in any order, built one item at a time; an item said twice is not an item said once."""

    def __init__(self, items: Iterable[Any] = ()) -> None:
        self._sum, self._count = 0, 0
        for item in items:
            self.add(item)

    def add(self, item: Any) -> None:
        """Add one item: anything that `digest` takes."""
        # Digests are added up modulo 2^256: no list of a million of them has to be kept and sorted.
        number = _known_number(item) if item is None or isinstance(item, str) else _number(item)
        self._sum, self._count = (self._sum + number) % _MODULUS, self._count + 1

    def hexdigest(self, *context: Any) -> str:
        """Return the hash of the items so far under a context (a signature, a vocabulary)."""
        return digest([*context, self._count, f"{self._sum:064x}"])


def _number(item: Any) -> int:
    return int.from_bytes(hashlib.sha256(_canonical(item)).digest(), "big")


# The acts of a corpus come again and again.
_known_number = lru_cache(maxsize=1 << 12)(_number)
# ASCII with escapes: a lone surrogate has a code like every other character.
_ENCODER = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"), sort_keys=True)


def _canonical(value: Any) -> bytes:
    return _ENCODER.encode(value).encode("ascii")
