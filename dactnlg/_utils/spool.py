"""Long sequences in temporary files: scoring a million segments takes no more memory than a few thousand."""

from __future__ import annotations

import io
import json
import tempfile
import weakref
from array import array
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO, overload

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
IN_MEMORY = 1 << 16
"""Rows held in memory before they are written to the file."""
_BYTES = 1 << 24
"""Bytes of records held in memory before they are written to a file."""


class SpooledRows:
    """Rows of numbers, (N, S), appended a chunk at a time."""

    def __init__(self) -> None:
        self._parts: list[Array] = []
        self._file: BinaryIO | None = None
        self._count = self._waiting = self._width = 0

    def append(self, rows: Array) -> None:
        """Add rows, (n, S), with the same S in every call."""
        self._width = rows.shape[1]
        self._parts.append(np.ascontiguousarray(rows, dtype=np.float64))
        self._count += len(rows)
        self._waiting += len(rows)
        if self._waiting >= IN_MEMORY:
            self._flush()

    def blocks(self) -> Iterator[Array]:
        """Yield all rows in order, (n, S) with n at most `IN_MEMORY`."""
        if self._file is None:
            yield self.array()
            return
        self._flush()
        self._file.seek(0)
        size = IN_MEMORY * self._width * 8
        while data := self._file.read(size):
            yield np.frombuffer(data).reshape(-1, self._width)

    def sum(self) -> Array:
        """Return the sum of all rows, (S,)."""
        total: Array = sum((block.sum(axis=0) for block in self.blocks()), np.zeros(self._width))
        return total

    def array(self) -> Array:
        """Return all rows so far as one array, (N, S); a long sequence is memory-mapped from the file.

        Rows appended later are not part of it.
        """
        if self._file is None:
            self._parts = [np.concatenate(self._parts)] if self._parts else [np.zeros((0, self._width))]
            return self._parts[0]
        self._flush()
        return np.memmap(self._file, dtype=np.float64, mode="r", shape=(self._count, self._width))

    def _flush(self) -> None:
        if self._file is None:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the rows
            weakref.finalize(self, self._file.close)
        # Not all `blocks` may have been read.
        self._file.seek(0, io.SEEK_END)
        for part in self._parts:
            self._file.write(part.data)
        self._file.flush()
        self._parts, self._waiting = [], 0


class SpooledRecords(Sequence[Any]):
    """A sequence of JSON values, appended one at a time; each is read from the file when it is accessed."""

    def __init__(self) -> None:
        self._file: tempfile.SpooledTemporaryFile[bytes] = tempfile.SpooledTemporaryFile(max_size=_BYTES)  # noqa: SIM115
        # Python warns about files that are never closed.
        weakref.finalize(self, self._file.close)
        self._starts = array("q", [0])

    def __reduce__(self) -> tuple[Any, ...]:
        # The file cannot be pickled or copied, but its contents can.
        self._file.seek(0)
        return _records, (self._file.read(), array("q", self._starts))

    def append(self, value: Any) -> None:
        """Add a value."""
        data = json.dumps(value, separators=(",", ":")).encode("ascii")
        self._file.seek(self._starts[-1])
        self._file.write(data)
        self._starts.append(self._starts[-1] + len(data))

    def __len__(self) -> int:
        return len(self._starts) - 1

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> list[Any]: ...
    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return [self[at] for at in range(*index.indices(len(self)))]
        at = range(len(self))[index]
        self._file.seek(self._starts[at])
        return json.loads(self._file.read(self._starts[at + 1] - self._starts[at]))


def _records(data: bytes, starts: array[int]) -> SpooledRecords:
    """Return unpickled records, from what `__reduce__` gives."""
    records = SpooledRecords()
    records._file.write(data)
    records._starts = starts
    return records
