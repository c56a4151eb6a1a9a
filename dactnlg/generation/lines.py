"""Reading acts from lines, in chunks, so that a file may be of any size; each act keeps its place for messages."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from dactnlg._utils.reading import LONGEST_LINE
from dactnlg.acts import Turn, parse
from dactnlg.errors import ActError, UserError

CHUNK = 256
"""Most acts yielded at once: enough to fill a batch, few enough to answer soon."""


class ActLine(NamedTuple):
    """One act as text, and where it stands ("acts.txt, line 3")."""

    text: str
    where: str


class PlacedTurn(NamedTuple):
    """A turn, and the place it was read from, for messages."""

    turn: Turn
    where: str


def read_chunks(source: BinaryIO, name: str, size: int = CHUNK) -> Iterator[list[ActLine]]:
    """Yield the lines of a binary stream, at most `size` at once.

    A pipe's lines are yielded as they come, so that a program may write one act and wait for its sentence.

    Args:
        source: the acts; it must have a file number.
        name: what messages call the source.
        size: lines of a chunk at most.

    Raises:
        ActError: a line is blank or not UTF-8. The lines before it have been yielded.
    """
    chunk: list[ActLine] = []
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
    """Parse a stream chunk by chunk; those before a line that is no act are yielded first."""
    for lines in read_chunks(source, "standard input" if name == "-" else name):
        yield from parsed(lines)


def parsed(lines: Iterable[ActLine]) -> Iterator[list[PlacedTurn]]:
    """Parse lines and yield them as one chunk; those before a line that is no act are yielded first."""
    chunk: list[PlacedTurn] = []
    try:
        for line in lines:
            chunk.append(PlacedTurn(parse(line.text, where=line.where), line.where))
    except UserError:
        if chunk:
            yield chunk
        raise
    if chunk:
        yield chunk


def _raw_lines(source: BinaryIO) -> Iterator[list[bytes]]:
    """Yield the lines that each read has completed, then the last one if it has no end of line."""
    rest: list[bytes] = []
    size = 0  # bytes of `rest`
    # os.read returns what a pipe holds; the methods of file objects wait until a buffer is full.
    while block := os.read(source.fileno(), 1 << 16):
        first, *others = block.split(b"\n")
        rest.append(first)
        size += len(first)
        if size > LONGEST_LINE:
            raise ActError(f"a line has more than {LONGEST_LINE:,} bytes")
        if others:
            yield [b"".join(rest), *others[:-1]]
            rest, size = [others[-1]], len(others[-1])
    if any(rest):
        yield [b"".join(rest)]


def read_line(raw: bytes, name: str, number: int) -> ActLine:
    """Decode a line.

    Args:
        raw: the line, with or without its end.
        name: what messages call its file.
        number: its number there, from 1; the first line may begin with a byte order mark.

    Raises:
        ActError: the line is blank or not UTF-8.
    """
    where = f"{name}, line {number}"
    try:
        text = raw.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise ActError(f"{where}: not UTF-8 (byte {error.start + 1} of the line)") from None
    if not text.strip():
        # Skipping it would shift every later sentence against its act.
        raise ActError(f"{where}: blank; every line must hold an act, since every line gets a sentence")
    return ActLine(text, where)


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
