"""Blocks of a file of acts: the units in which a long file is generated, by one process or several.

A block is always generated from its beginning and with empty caches, so that its lines are the same, to a score's last
digit, whichever process generates it and whatever came before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from dactnlg.errors import UserError
from dactnlg.generation.files.lines import ActRow, bounded_lines, read_act

BLOCK = 8192
"""Acts per block: killing the process loses at most one block, and equal acts within a block are searched for once."""
CHUNK = 1024
"""Acts generated and written at a time."""

Generate = Callable[[list[ActRow], int], Iterable[str]]
"""(acts, position of the first in the whole input) -> a line for each, without line end."""


class ActBlock(NamedTuple):
    """The location of a block of acts in its file.

    Attributes:
        first: position of its first act in the whole input, from 0.
        start: offset of its first byte.
        size: in bytes.
    """

    first: int
    start: int
    size: int


class GeneratedBlock(NamedTuple):
    """The sentences of a block, or of its first part if an act was rejected.

    Attributes:
        data: the encoded output lines.
        sentences: number of lines.
        error: message about the act that ended the block early; None if the block is complete.
    """

    data: bytes
    sentences: int
    error: str | None


def find_blocks(path: Path, start: int, first: int) -> list[ActBlock]:
    """Return the blocks of a file of acts.

    Args:
        path: the file.
        start: offset to begin at, in bytes.
        first: position of the act there in the whole input.

    Raises:
        ActError: a line is longer than any act.
    """
    found = []
    with path.open("rb") as file:
        file.seek(start)
        lines = bounded_lines(file)
        while sizes := [len(line) for line in islice(lines, BLOCK)]:
            found.append(ActBlock(first, start, sum(sizes)))
            first, start = first + len(sizes), start + sum(sizes)
    return found


def generate_block(lines: Sequence[bytes], first: int, name: str, generate: Generate) -> GeneratedBlock:
    """Generate a block, up to the first act that is rejected.

    Args:
        lines: the raw lines of acts.
        first: position of the first in the whole input.
        name: the input's name in messages.
        generate: generates output lines.
    """
    generated: list[str] = []
    try:
        for acts in act_rows(lines, first, name):
            for text in generate(acts, first + len(generated)):
                generated.append(text)
    except UserError as error:
        return GeneratedBlock(encode_lines(generated), len(generated), str(error))
    return GeneratedBlock(encode_lines(generated), len(generated), None)


def act_rows(lines: Sequence[bytes], first: int, name: str) -> Iterator[list[ActRow]]:
    """Parse a block's lines and yield its acts, `CHUNK` at a time.

    Args:
        lines: the raw lines of acts.
        first: position of the first in the whole input.
        name: the input's name in messages.
    """
    for start in range(0, len(lines), CHUNK):
        numbered = enumerate(lines[start : start + CHUNK], start=first + start + 1)
        yield [read_act(raw, name, number) for number, raw in numbered]


def encode_lines(texts: Iterable[str]) -> bytes:
    """Encode texts as lines of UTF-8; lone surrogates in values are replaced by escapes."""
    return "".join(f"{text}\n" for text in texts).encode("utf-8", "backslashreplace")


def count_lines(path: Path) -> int:
    """Return the number of lines in a file, including a last line without line end."""
    count, last = 0, b"\n"
    with path.open("rb") as file:
        while data := file.read(1 << 20):
            count, last = count + data.count(b"\n"), data[-1:]
    return count + (last != b"\n")
