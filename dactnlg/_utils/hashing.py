"""SHA-256 hashes of data, the same for equal data on every machine.

No hash depends on the order of sets or dictionaries, or on `PYTHONHASHSEED`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any

from dactnlg._utils.reading import regular_file

SHORT = 8
"""Hexadecimal digits of a hash shown in tables; JSON has all 64."""
_MODULUS = 1 << 256


def digest(value: Any) -> str:
    """Return the SHA-256 of JSON data: lists, strings, numbers, and dictionaries with string keys in any order."""
    return hashlib.sha256(_canonical(value)).hexdigest()


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with regular_file(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class MultisetHash:
    """A hash of a multiset, updated one item at a time: the order of the items is ignored, their repetitions count.

    Args:
        items: the first items, each of a type that `digest` accepts.
    """

    def __init__(self, items: Iterable[Any] = ()) -> None:
        self._sum, self._count = 0, 0
        for item in items:
            self.add(item)

    def add(self, item: Any) -> None:
        """Add one item of a type that `digest` accepts."""
        # The sum of the digests modulo 2^256 ignores order, so a million of them need not be kept and sorted.
        number = _known_number(item) if item is None or isinstance(item, str) else _number(item)
        self._sum, self._count = (self._sum + number) % _MODULUS, self._count + 1

    def hexdigest(self, *context: Any) -> str:
        """Return the hash of the items so far combined with a context, such as a signature or a vocabulary."""
        return digest([*context, self._count, f"{self._sum:064x}"])


def _number(item: Any) -> int:
    return int.from_bytes(hashlib.sha256(_canonical(item)).digest(), "big")


# Cached, since the acts of a corpus recur many times.
_known_number = lru_cache(maxsize=1 << 12)(_number)
# ASCII with escapes can represent every character, even lone surrogates.
_ENCODER = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"), sort_keys=True)


def _canonical(value: Any) -> bytes:
    return _ENCODER.encode(value).encode("ascii")
