"""From a file of acts to a file of sentences, however long, and whole whatever stops the work.

Sentences are written block by block. When those of a block are on disk, the state file beside them (`FILE.state`) is
replaced by one that says up to where input and output belong together. Whoever resumes cuts the output off there and
goes on; a block is always said from its beginning and without memories of the ones before it, so that a score's last
digit, too, is the one that an unbroken run would have written.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import portalocker

from dactnlg._utils.hashing import digest
from dactnlg.errors import UserError
from dactnlg.generation.lines import PlacedTurn, parsed, read_line
from dactnlg.runs.run import Run

BLOCK = 8192
"""Acts between two states: a kill costs no more, and equal acts within it are searched for once."""
CHUNK = 1024
"""Acts said, and written, at once."""

Say = Callable[[list[PlacedTurn], int], Iterable[str]]
"""(acts, the place of the first in the whole input) -> a line for each, without its end."""


class Stretch(NamedTuple):
    """Where a block of acts is.

    Attributes:
        first: the place of its first act in the whole input.
        start: of its first byte.
        size: in bytes.
    """

    first: int
    start: int
    size: int


class SaidBlock(NamedTuple):
    """A block that was said elsewhere.

    Attributes:
        data: its sentences as they stand in the file.
        sentences: how many.
        error: the message about the act that could not be said, those before which they are.
    """

    data: bytes
    sentences: int
    error: str | None


class SentenceFile:
    """A file of sentences, and beside it how far it has come.

    Args:
        path: the file.
        settings: what its sentences depend on beside the acts, under the names that a user knows them by.

    Attributes:
        lines: sentences in the file, all of them whole.
    """

    def __init__(self, path: Path, settings: Mapping[str, Any]) -> None:
        self.path, self.state_path = path, path.with_name(f"{path.name}.state")
        self.settings, self.lines = dict(settings), 0
        self._size = 0
        self._read, self._written = hashlib.sha256(), hashlib.sha256()
        self._file: BinaryIO

    @contextlib.contextmanager
    def opened(self, source: BinaryIO, name: str, resume: bool) -> Iterator[None]:
        """Hold the file open and locked, the source standing at the first act that has no sentence yet.

        Args:
            source: the acts.
            name: what messages call it.
            resume: go on where an earlier process was stopped, if there was one.

        Raises:
            UserError: the file exists and is not to be resumed, is another process's, or goes with other acts or
                settings.
        """
        if self.path.exists() and not resume:
            raise UserError(f"{self.path} exists already: go on with it with --resume, or name another file")
        # Unbuffered: what is written is written, and a kill can only tear the last of it.
        with self.path.open("r+b" if self.path.exists() else "xb", buffering=0) as self._file:
            try:
                portalocker.lock(self._file, portalocker.LOCK_EX | portalocker.LOCK_NB)
            except portalocker.LockException:
                raise UserError(f"{self.path} is being written by another process") from None
            if self.state_path.exists() and self.path.stat().st_size:
                self._go_on(source, name)
            elif self.path.stat().st_size:
                raise UserError(f"{self.path} cannot be resumed: there is no {self.state_path.name} beside it")
            self._save()
            try:
                yield
            finally:
                # Also after Ctrl-C in the middle of a write: what is left is whole lines.
                self._file.truncate(self._size)

    def write(self, source: BinaryIO, name: str, say: Say, begin_block: Callable[[], None]) -> Iterator[int]:
        """Say the rest of the acts; yield the number of sentences after each write.

        Args:
            source: the acts, as `opened` left them.
            name: what messages call it.
            say: says acts.
            begin_block: called before each block.

        Raises:
            UserError: a line that is no act; the sentences before it have been written.
        """
        while block := list(islice(source, BLOCK)):
            begin_block()
            for turns in _turns(block, self.lines, name):
                self._append(say(turns, self.lines))
                yield self.lines
            self._hash_lines(block)
            self._save()

    def write_said(self, source: BinaryIO, name: str, blocks: Iterable[SaidBlock]) -> Iterator[int]:
        """Write what others have said; yield the number of sentences after each block.

        Args:
            source: the acts, as `opened` left them.
            name: what messages call it.
            blocks: those from here on (`stretches`), in order.

        Raises:
            UserError: an act that could not be said; the sentences before it have been written.
        """
        for data, count, error in blocks:
            self._append_bytes(data, count)
            yield self.lines
            if error is not None:
                raise UserError(error)
            lines = list(islice(source, count))
            if len(lines) < count:
                raise UserError(f"{name} has become shorter while it was read")
            self._hash_lines(lines)
            self._save()

    def _append(self, texts: Iterable[str]) -> None:
        said: list[str] = []
        try:
            for text in texts:
                said.append(text)
        finally:
            # Where one cannot be said, those before it are kept.
            self._append_bytes(_encoded(said), len(said))

    def _append_bytes(self, data: bytes, count: int) -> None:
        try:
            written = 0
            while written < len(data):
                written += self._file.write(data[written:])
        except OSError as error:
            # A full disk is told without the file's name; whoever reads the message needs it.
            raise OSError(error.errno, error.strerror, str(self.path)) from None
        self._written.update(data)
        self._size, self.lines = self._size + len(data), self.lines + count

    def _hash_lines(self, lines: Iterable[bytes]) -> None:
        # An end of line that was missing, or has become another, is no other act.
        self._read.update(b"".join(raw.rstrip(b"\r\n") + b"\n" for raw in lines))

    def _state(self) -> dict[str, Any]:
        hashes = {"input": self._read.hexdigest(), "output": self._written.hexdigest()}
        return {"lines": self.lines, "bytes": self._size, **hashes, "settings": self.settings}

    def _save(self) -> None:
        # The sentences first: a state never tells of more than there is.
        os.fsync(self._file.fileno())
        partial = self.state_path.with_name(f"{self.state_path.name}.tmp")
        partial.write_text(json.dumps(self._state(), indent=1), encoding="utf-8")
        partial.replace(self.state_path)

    def _go_on(self, source: BinaryIO, name: str) -> None:
        """Check that the file goes with acts and settings, and set both to where the next block begins."""
        try:
            known = json.loads(self.state_path.read_text(encoding="utf-8"))
            settings, self.lines, self._size = known["settings"], int(known["lines"]), int(known["bytes"])
            changed = [key for key in {**settings, **self.settings} if settings.get(key) != self.settings.get(key)]
        except (ValueError, KeyError, TypeError, AttributeError):
            raise UserError(f"{self.path} cannot be resumed: {self.state_path} is damaged") from None
        if changed:
            raise UserError(
                f"{self.path} was begun with another {' and another '.join(changed)}: resume it with what it was "
                "begun with, or name another file"
            )
        done = islice(source, self.lines)
        while lines := list(islice(done, BLOCK)):
            self._hash_lines(lines)
        left = self._size
        while left and (data := self._file.read(min(left, 1 << 20))):
            self._written.update(data)
            left -= len(data)
        state = self._state()
        if state["input"] != known["input"]:
            raise UserError(f"{self.path} was begun with other acts: {name} has changed, or is another file")
        if state["output"] != known["output"]:
            raise UserError(f"{self.path} cannot be resumed: somebody has changed the sentences in it")
        self._file.truncate(self._size)


def stretches(path: Path, start: int, first: int) -> list[Stretch]:
    """Return where the blocks of a file are.

    Args:
        path: the file.
        start: the byte to begin at.
        first: the place of the act there in the whole input.
    """
    found = []
    with path.open("rb") as file:
        file.seek(start)
        while sizes := [len(line) for line in islice(file, BLOCK)]:
            found.append(Stretch(first, start, sum(sizes)))
            first, start = first + len(sizes), start + sum(sizes)
    return found


def say_block(lines: Sequence[bytes], first: int, name: str, say: Say) -> SaidBlock:
    """Say a block of acts, up to the first that cannot be said.

    Args:
        lines: the acts as they were read.
        first: the place of the first in the whole input.
        name: what messages call that.
        say: says acts.
    """
    said: list[str] = []
    try:
        for turns in _turns(lines, first, name):
            for text in say(turns, first + len(said)):
                said.append(text)
    except UserError as error:
        return SaidBlock(_encoded(said), len(said), str(error))
    return SaidBlock(_encoded(said), len(said), None)


def _turns(lines: Sequence[bytes], first: int, name: str) -> Iterator[list[PlacedTurn]]:
    """Parse a block of lines chunk by chunk; the acts before one that cannot be read are handed on first."""
    for start in range(0, len(lines), CHUNK):
        numbered = enumerate(lines[start : start + CHUNK], start=first + start + 1)
        yield from parsed(read_line(raw, name, number) for number, raw in numbered)


def _encoded(said: Iterable[str]) -> bytes:
    # A lone surrogate in a value is no reason to lose the rest.
    return "".join(f"{text}\n" for text in said).encode("utf-8", "backslashreplace")


def count_lines(path: Path) -> int:
    """Return how many lines a file has; what follows the last line's end is one more."""
    count, last = 0, b"\n"
    with path.open("rb") as file:
        while data := file.read(1 << 20):
            count, last = count + data.count(b"\n"), data[-1:]
    return count + (last != b"\n")


def model_hash(path: Path) -> str:
    """Return the SHA-256 of what a run says sentences with: configuration, preprocessor and weights."""
    run = Run(path)
    files = [file for file in (run.config_path, run.preprocessor_path, run.weights_path) if file.exists()]
    return digest([hashlib.sha256(file.read_bytes()).hexdigest() for file in files])
