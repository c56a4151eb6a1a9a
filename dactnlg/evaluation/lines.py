"""Reads lines of text files, and guesses a file's format from its beginning."""

from __future__ import annotations

import contextlib
import json
import re
import sys
from collections.abc import Iterator
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from dactnlg._utils.reading import LONGEST_LINE, parse_json, regular_file, utf16_hint
from dactnlg.acts import Turn, parse, turn_from_json
from dactnlg.errors import ActError, ActSyntaxError, MetricError
from dactnlg.evaluation.columns import delimiter, known_header

_JSON_START = re.compile(r'\{\s*(?:["}]|$)|\[\s*(?:["{\]]|\[\s*["{\[\]]|\[?$)')
JSON, LINES, TABLE, PLAIN = "JSON", "JSON Lines", "a table", "plain text"
FORMS = "dactnlg score HYPOTHESES REFERENCES [REFERENCES ...]"
"""How hypotheses and references in files of their own are scored, for messages."""


class TextPair(NamedTuple):
    """One hypothesis, its references (zero or more), and its turn if the input has the act."""

    hypothesis: str
    references: tuple[str, ...]
    turn: Turn | None = None


def seen_format(path: str | Path) -> str:
    """Guess the format of a file from its first line: `JSON`, `LINES`, `TABLE` or `PLAIN`.

    A stream can be read only once, so it is assumed to be plain text; `begun` sees the format of one that is read on.

    Raises:
        MetricError: the file cannot be read, or its first line is not UTF-8.
    """
    if not Path(path).is_file():
        return PLAIN
    return begun(line for line in read_lines(path) if line[1].strip())[0]


def begun(lines: Iterator[tuple[int, str]]) -> tuple[str, Iterator[tuple[int, str]]]:
    """Guess the format of lines from the first; return it, and all lines, so that a stream can be read on."""
    first = next(lines, None)
    return (PLAIN, lines) if first is None else (_format(first[1].strip()), chain([first], lines))


def _format(first: str) -> str:
    if first[:1] in ("{", "["):
        try:
            row = parse_json(first)
        except json.JSONDecodeError:
            if not _JSON_START.match(first):
                # For example "[name] serves [food] food."
                return PLAIN
            # A document over several lines begins with a bracket alone; anything else is a malformed line.
            return JSON if first[1:].strip() in ("", "{", "[") or not first.endswith(("}", "]")) else LINES
        if isinstance(row, list) and row and not any(isinstance(part, (dict, list, str)) for part in row):
            # For example "[1]", a footnote.
            return PLAIN
        parts = [] if isinstance(row, list) else row.values()
        whole = isinstance(row, list) or {"values", "tasks"} & row.keys()
        return JSON if whole or any(isinstance(part, dict) and "values" in part for part in parts) else LINES
    return TABLE if delimiter(first) and known_header(first) else PLAIN


def read_lines(path: str | Path) -> Iterator[tuple[int, str]]:
    """Yield (line number, text) of a UTF-8 file, `-` for standard input; only line feeds end a line.

    Raises:
        MetricError: the file cannot be read, or a line is too long or not UTF-8; the message names file and line.
    """
    with contextlib.ExitStack() as stack:
        try:
            stream: BinaryIO = sys.stdin.buffer if path == "-" else stack.enter_context(Path(path).open("rb"))
            for number, raw in enumerate(iter(lambda: stream.readline(LONGEST_LINE + 1), b""), start=1):
                if len(raw) > LONGEST_LINE:
                    raise MetricError(f"{shown(path)}, line {number} has more than {LONGEST_LINE:,} bytes")
                yield number, _decode(raw, path, number)
        except OSError as error:
            raise MetricError(f"cannot read {shown(path)}: {error.strerror or error}") from None


def read_document(path: str | Path) -> Any:
    """Return the data of a file that contains one JSON document.

    Raises:
        MetricError: the file cannot be read, or is not JSON; the message names file and line.
    """
    try:
        return parse_json(regular_file(path).read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise MetricError(f"cannot read {path}: {error.strerror or error}") from None
    except json.JSONDecodeError as error:
        raise MetricError(f"{path}, line {error.lineno}: not JSON ({error.msg})") from None
    except UnicodeDecodeError as error:
        raise MetricError(f"{path} is not JSON (not UTF-8 at byte {error.start + 1})") from None


def read_turn(act: Any, where: str) -> Turn | None:
    """Return the turn of an act in any notation, or None for None.

    Raises:
        MetricError: it is not an act; the message begins with `where`.
    """
    if act is None:
        return None
    try:
        return _parse(act) if isinstance(act, str) else turn_from_json(act)
    except ActSyntaxError as error:
        # The line is that of the file, not of the act.
        placed = ActSyntaxError(error.reason, error.text, error.position, where)
        raise MetricError(str(placed)) from None
    except ActError as error:
        raise MetricError(f"{where}: {error}") from None


def shown(path: str | Path) -> str:
    """Return what messages call a file."""
    return "standard input" if path == "-" else str(path)


# Acts are repeated many times.
_parse = lru_cache(maxsize=1 << 14)(parse)


def _decode(raw: bytes, path: str | Path, number: int) -> str:
    try:
        text = raw.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError as error:
        what = f"not UTF-8 (byte {error.start + 1} of the line){utf16_hint(raw)}"
        raise MetricError(f"{shown(path)}, line {number}: {what}") from None
    return text.removesuffix("\n").removesuffix("\r")
