"""RNNLG's files: `[act, human sentence, handcrafted sentence]` in one JSON list after lines that begin with `#`."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dactnlg._utils.reading import parse_json_at, short
from dactnlg.data.readers.reading import check_characters, check_sentences, read_text, read_turn, row_error
from dactnlg.text.example import Example

# One published row has `goodformeal=dinner'`: a closing quote without an opening one.
_STRAY_QUOTE = re.compile(r"(=[^'\"=;()]+)'(?=[;)])")
_BETWEEN = re.compile(r"\s*")
_FIRST_ROW = re.compile(r"(?:#[^\n]*\n)*\s*\[\s*\[")


def is_rnnlg(path: Path) -> bool:
    """Return whether a file is a JSON list of lists, after `#` lines if there are any.

    Raises:
        CorpusError: the file cannot be read.
    """
    return path.suffix.lower() == ".json" and _FIRST_ROW.match(read_text(path)) is not None


def read(path: Path, notes: Counter[str]) -> list[Example]:
    """Read one split, one example per row, in file order.

    Raises:
        CorpusError: the file is not of this kind, or a row is malformed (the message names the line).
    """
    examples = []
    for line, row in _rows(path):
        place = f"line {line}"
        if not isinstance(row, list) or len(row) not in (2, 3) or not all(isinstance(cell, str) for cell in row):
            raise row_error(path, place, f"a row is [act, sentence, handcrafted sentence], not {short(row)}")
        check_sentences(row[1:], path, place)
        act, mended = _STRAY_QUOTE.subn(r"\1", row[0])
        if mended:
            notes["stray quote stripped from a value"] += mended
        turn = read_turn(act, path, place)
        examples.append(Example(turn, (row[1],), tuple(row[2:]), f"{path.name}, {place}"))
    return examples


def _rows(path: Path) -> Iterator[tuple[int, Any]]:
    """Yield (line number, row), decoding rows one by one so that an error message can name the line."""
    text = read_text(path)
    lines = text.splitlines(keepends=True)
    header = 0
    while header < len(lines) and lines[header].startswith("#"):
        header += 1
    # The header is blanked rather than removed, to keep line numbers right.
    text = "\n" * header + "".join(lines[header:])
    at, line, counted = _skip(text, 0), 1, 0
    if text[at : at + 1] != "[":
        raise row_error(path, f"line {header + 1}", "expected a JSON list of rows after the '#' lines")
    at = _skip(text, at + 1)
    while text[at : at + 1] != "]":
        line, counted = line + text.count("\n", counted, at), at
        begin = at
        try:
            row, at = parse_json_at(text, at)
        except json.JSONDecodeError as error:
            raise row_error(path, f"line {error.lineno}", f"not JSON ({error.msg})") from None
        check_characters(text[begin:at], row, path, f"line {line}")
        yield line, row
        at = _skip(text, at)
        if text[at : at + 1] == ",":
            at = _skip(text, at + 1)
        elif text[at : at + 1] != "]":
            raise row_error(path, f"line {line}", "expected ',' or ']' after this row; is the file cut short?")
    if text[at + 1 :].strip():
        raise row_error(path, f"line {text.count(chr(10), 0, at) + 1}", "text after the end of the list")


def _skip(text: str, at: int) -> int:
    match = _BETWEEN.match(text, at)
    return match.end() if match else at
