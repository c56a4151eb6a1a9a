"""Acts as lines: read in chunks, so that a file of any size passes through, each with its place for messages."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple, Protocol, TypeVar

from dactnlg.acts import Turn, parse
from dactnlg.errors import ActError, UserError

T = TypeVar("T")
PlacedTurn = tuple[Turn, str]
"""A turn and the place it was read from, for messages."""

CHUNK = 256
"""Most acts handed on at once: enough to fill a batch, few enough to answer soon."""


class Line(NamedTuple):
    """One act as text, and where it stands ("acts.txt, line 3")."""

    text: str
    where: str


def read_chunks(source: BinaryIO, name: str, size: int = CHUNK) -> Iterator[list[Line]]:
    """Yield the lines of a binary stream, at most `size` at once.

    A pipe's lines are handed on as they come, so a program may write one act and wait for its sentence.

    Raises:
        ActError: a line is blank or not UTF-8. The lines before it have been handed on.
    """
    chunk: list[Line] = []
    number = 0
    try:
        for lines in _raw_lines(source):
            for raw in lines:
                number += 1
                chunk.append(read_line(raw, name, number))
                if len(chunk) == size:
                    yield chunk
                    chunk = []
            if chunk:
                yield chunk
                chunk = []
    except ActError:
        if chunk:
            yield chunk
        raise
    if chunk:
        yield chunk


@contextlib.contextmanager
def open_acts(name: str) -> Iterator[BinaryIO]:
    """Open a file of acts; `-` is standard input."""
    if name == "-":
        yield sys.stdin.buffer
        return
    with Path(name).open("rb") as file:
        yield file


def parsed_chunks(source: BinaryIO, name: str) -> Iterator[list[PlacedTurn]]:
    """Parse a stream chunk by chunk; the acts before one that cannot be read are handed on first."""
    for lines in read_chunks(source, "standard input" if name == "-" else name):
        yield from parsed(lines)


def parsed(lines: Iterable[Line]) -> Iterator[list[PlacedTurn]]:
    """Parse lines and yield them as one chunk; the acts before one that cannot be read are handed on first."""
    chunk: list[PlacedTurn] = []
    try:
        for line in lines:
            chunk.append((parse(line.text, where=line.where), line.where))
    except UserError:
        if chunk:
            yield chunk
        raise
    if chunk:
        yield chunk


class Answer(Protocol[T]):
    """Says turns; `first` is the place of the first one in the whole input."""

    def __call__(self, turns: list[Turn], /, *, first: int) -> list[T]:
        """Return one result a turn, in order."""


def answer_each(answer: Answer[T], chunk: list[PlacedTurn], first: int) -> Iterator[T]:
    """Answer a chunk; where one of its turns is refused, the message names the line it came from."""
    try:
        answers = answer([turn for turn, _ in chunk], first=first)
    except UserError:
        for place, (turn, where) in enumerate(chunk, start=first):
            try:
                yield from answer([turn], first=place)
            except UserError as error:
                raise UserError(f"{where}: {error}") from None
        return
    yield from answers


def _raw_lines(source: BinaryIO) -> Iterator[list[bytes]]:
    """Yield the lines that each read brought to an end, then the last one if nothing ended it."""
    rest: list[bytes] = []
    # os.read returns what a pipe holds; the methods of file objects wait until a buffer is full.
    while block := os.read(source.fileno(), 1 << 16):
        first, *others = block.split(b"\n")
        rest.append(first)
        if others:
            yield [b"".join(rest), *others[:-1]]
            rest = [others[-1]]
    if any(rest):
        yield [b"".join(rest)]


def read_line(raw: bytes, name: str, number: int) -> Line:
    """Decode a line of the file `name`, its end with it or without.

    Raises:
        ActError: it is blank or not UTF-8.
    """
    where = f"{name}, line {number}"
    try:
        text = raw.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise ActError(f"{where}: not UTF-8 (byte {error.start + 1} of the line)") from None
    if not text.strip():
        # Skipping it would shift every later sentence against its act.
        raise ActError(f"{where}: blank; every line must hold an act, since every line gets a sentence")
    return Line(text, where)


def checked(argument: str, where: str) -> str:
    """Return an argument of the command line as it is.

    Raises:
        ActError: its bytes were not UTF-8, which Python hands on as lone surrogates.
    """
    try:
        argument.encode()
    except UnicodeEncodeError as error:
        raise ActError(f"{where}: not UTF-8 (character {error.start + 1})") from None
    return argument
