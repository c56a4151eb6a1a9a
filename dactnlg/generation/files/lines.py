"""Reading acts from lines, in chunks, so that a file may be of any size; each act keeps its location for messages.

A line is an act, or a JSON object `{"act": ..., "context": ...}` that includes what the user has said before.

A line that is not an act becomes a `BadAct` row: the generating code decides whether to stop there or skip it.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from dactnlg._utils.reading import LONGEST_LINE, parse_json, short, utf16_hint
from dactnlg.acts import Turn, parse, turn_from_json
from dactnlg.acts.notation import is_act_type
from dactnlg.errors import ActError, UserError

CHUNK = 256
"""Maximum number of acts yielded at once: enough to fill a batch, few enough to answer soon."""


class PlacedTurn(NamedTuple):
    """A turn, and the location it was read from ("acts.txt, line 3"), for messages.

    Attributes:
        context: what the user has said before; empty if the line does not include it.
    """

    turn: Turn
    where: str
    context: str = ""


class BadAct(NamedTuple):
    """A line for which no sentence can be generated: not an act, or one with names that the model does not know.

    Attributes:
        text: the act as it was given.
        where: the location it was read from.
        error: what is wrong with it; the message begins with the location.
    """

    text: str
    where: str
    error: UserError

    @property
    def message(self) -> str:
        """What is wrong, in one line, without the location."""
        return str(self.error).partition("\n")[0].removeprefix(self.where).lstrip(",: ")


ActRow = PlacedTurn | BadAct


@contextlib.contextmanager
def open_acts(name: str) -> Iterator[BinaryIO]:
    """Open a file of acts; `-` means standard input."""
    if name == "-":
        yield sys.stdin.buffer
        return
    with Path(name).open("rb") as file:
        yield file


def act_chunks(source: BinaryIO, name: str) -> Iterator[list[ActRow]]:
    """Yield the acts of a binary stream, at most `CHUNK` at once.

    Acts from a pipe are yielded as they arrive, so that a program may write one act and wait for its sentence.

    Args:
        source: the acts, one per line; it must have a file descriptor.
        name: the source's name in messages; `-` means standard input.

    Raises:
        ActError: a line is longer than any act.
    """
    number, shown = 0, "standard input" if name == "-" else name
    for lines in _raw_lines(source):
        for start in range(0, len(lines), CHUNK):
            part = lines[start : start + CHUNK]
            yield [read_act(raw, shown, place) for place, raw in enumerate(part, start=number + 1)]
            number += len(part)


def bounded_lines(file: BinaryIO) -> Iterator[bytes]:
    """Yield the lines of a file, including line ends.

    Raises:
        ActError: a line is longer than any act.
    """
    while line := file.readline(LONGEST_LINE + 1):
        if len(line) > LONGEST_LINE:
            raise _too_long()
        yield line


def _too_long() -> ActError:
    return ActError(f"a line has more than {LONGEST_LINE:,} bytes")


def _raw_lines(source: BinaryIO) -> Iterator[list[bytes]]:
    """Yield the lines completed by each read, then the last one if it has no line end."""
    rest: list[bytes] = []
    size = 0  # bytes of `rest`
    # os.read returns what a pipe has; the methods of file objects wait until a buffer is full.
    while block := os.read(source.fileno(), 1 << 16):
        first, *others = block.split(b"\n")
        rest.append(first)
        size += len(first)
        if size > LONGEST_LINE:
            raise _too_long()
        if others:
            yield [b"".join(rest), *others[:-1]]
            rest, size = [others[-1]], len(others[-1])
    if any(rest):
        yield [b"".join(rest)]


def read_act(raw: bytes, name: str, number: int) -> ActRow:
    """Parse a line; blank lines, and lines that are not UTF-8 or not an act, give a `BadAct`.

    Args:
        raw: the line, with or without line end.
        name: the file's name in messages.
        number: the line number, from 1; the first line may begin with a byte order mark.
    """
    where, encoding = f"{name}, line {number}", "utf-8-sig" if number == 1 else "utf-8"
    try:
        text = raw.decode(encoding).rstrip("\r\n")
    except UnicodeDecodeError as error:
        bad = ActError(f"{where}: not UTF-8 (byte {error.start + 1} of the line){utf16_hint(raw)}")
        return BadAct(raw.decode(encoding, "backslashreplace").rstrip("\r\n"), where, bad)
    if not text.strip():
        # Skipping it would misalign all following sentences and acts.
        blank = "blank; every line must hold an act, since every line gets a sentence"
        return BadAct(text, where, ActError(f"{where}: {blank}"))
    return parsed(text, where)


def parsed(text: str, where: str) -> ActRow:
    """Parse a line of text: an act, or a JSON object with an act and what the user has said before."""
    try:
        checked(text, where)
        row = _row(text) if text.lstrip().startswith("{") else None
        if row is None:
            return PlacedTurn(parse(text, where=where), where)
        act, context = row["act"], row.pop("context", None)
        if context is not None and not isinstance(context, str):
            raise ActError(f"{where}: 'context' is a text or null, not {short(context)}")
        if isinstance(act, str) and "slots" not in row and not is_act_type(act):
            return PlacedTurn(parse(act, where), where, context or "")
        # Either the object is an act, or its `act` holds one, or a list of them.
        whole = row if isinstance(act, str) or "slots" in row else act
        return PlacedTurn(turn_from_json(whole, where), where, context or "")
    except UserError as error:
        return BadAct(text, where, error)


def _row(text: str) -> dict[str, Any] | None:
    """Return a line's JSON object; None if it is not JSON, or has no `act`."""
    try:
        data = parse_json(text)
    except ValueError:
        return None
    return data if isinstance(data, dict) and "act" in data else None


def checked(argument: str, where: str) -> str:
    """Return an act unchanged, after checking that it is valid text, which command-line arguments may not be.

    Raises:
        ActError: its bytes were not UTF-8; Python represents them as lone surrogates.
    """
    try:
        argument.encode()
    except UnicodeEncodeError as error:
        raise ActError(f"{where}: not UTF-8 (character {error.start + 1})") from None
    return argument
