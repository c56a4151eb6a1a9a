"""Shared by all readers: reading text and CSV, parsing acts, and messages that name file and line."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from dactnlg._utils.reading import parse_json, regular_file, short, table_rows, utf16_hint
from dactnlg.acts import Turn, parse, turn_from_json
from dactnlg.errors import ActError, CorpusError

_NO_CHARACTER = re.compile("[\ud800-\udfff]")


def read_text(path: Path, other: str = "") -> str:
    """Return a file's text with its line endings unchanged.

    Args:
        path: the file.
        other: the encoding to fall back to if the file is not UTF-8; none if empty.

    Raises:
        CorpusError: the file cannot be opened, is not UTF-8, or contains a NUL.
    """
    try:
        data = regular_file(path).read_bytes()
    except OSError as error:
        raise CorpusError(f"cannot read {path}: {error.strerror or error}") from None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if not other:
            line = error.object.count(b"\n", 0, error.start) + 1
            raise row_error(path, f"line {line}", f"not UTF-8 ({error.reason}){utf16_hint(data)}") from None
        text = data.decode(other, errors="replace")
    if (at := text.find("\0")) >= 0:
        raise row_error(path, f"line {text.count(chr(10), 0, at) + 1}", "a NUL, which is no text; is it UTF-16?")
    return text


def read_lines(path: Path, other: str = "") -> Iterator[tuple[str, str]]:
    """Yield (place, line) for every non-blank line of a file; only a line feed, or CR LF, ends a line.

    Args:
        path: the file.
        other: see `read_text`.

    Raises:
        CorpusError: as `read_text`.
    """
    for number, line in enumerate(read_text(path, other).split("\n"), start=1):
        if line.strip():
            yield f"line {number}", line.rstrip("\r")


def read_json(text: str, path: Path, place: str = "") -> Any:
    """Return the data of a JSON text.

    Args:
        text: the text.
        path: the file, for messages.
        place: the place in it, for messages; by default the line inside `text`.

    Raises:
        CorpusError: it is not JSON, or a string in it contains a lone surrogate.
    """
    try:
        data = parse_json(text)
    except json.JSONDecodeError as error:
        raise row_error(path, place or f"line {error.lineno}", f"not JSON ({error.msg})") from None
    check_characters(text, data, path, place or "line 1")
    return data


def check_characters(text: str, data: Any, path: Path, place: str) -> None:
    """Refuse data with a lone surrogate, which JSON can express by an escape.

    Args:
        text: the JSON text.
        data: its data.
        path: the file, for messages.
        place: the place in it, for messages.

    Raises:
        CorpusError: there is such a character.
    """
    # Escapes are rare: only if there is one are the data searched.
    if "\\u" in text and (found := _NO_CHARACTER.search(json.dumps(data, ensure_ascii=False))):
        raise row_error(path, place, f"U+{ord(found.group()):04X} is no character but half of a surrogate pair")


def read_turn(act: object, path: Path, place: str) -> Turn:
    """Return the turn of one row.

    Args:
        act: an act string, or DSTC2's JSON.
        path: the file, for messages.
        place: the place in it, for messages ("line 12").

    Raises:
        CorpusError: the act cannot be parsed; the message names file and place.
    """
    where = f"{path}, {place}"
    try:
        return parse(act, where) if isinstance(act, str) else turn_from_json(act, where)
    except ActError as error:
        message = str(error)
        raise CorpusError(message if message.startswith(where) else f"{where}: {message}") from None


def check_sentences(sentences: Iterable[str], path: Path, place: str) -> None:
    """Refuse blank sentences, which can be neither learned nor scored.

    Args:
        sentences: the sentences of one row.
        path: the file, for messages.
        place: the place in it, for messages.

    Raises:
        CorpusError: one is blank.
    """
    if not all(map(str.strip, sentences)):
        raise row_error(path, place, "the sentence is blank; take the row out, or write what is to be said")


def read_context(row: Mapping[str, object], key: str, path: Path, place: str) -> str:
    """Return the preceding user utterance of a row; empty if the row has none.

    Args:
        row: an object of a JSON file.
        key: its key in the object.
        path: the file, for messages.
        place: the place in it, for messages.

    Raises:
        CorpusError: it is not a string.
    """
    said = row.get(key)
    if said is not None and not isinstance(said, str):
        raise row_error(path, place, f"'{key}' is a text or null, not {short(said)}")
    return said or ""


def row_error(path: Path, place: str, reason: str) -> CorpusError:
    """Return the error about a row that cannot be read."""
    return CorpusError(f"{path}, {place}: {reason}")


def read_header(path: Path) -> list[str]:
    """Return the names of a table's columns.

    Raises:
        CorpusError: the table cannot be read.
    """
    try:
        return next(([cell.strip() for cell in row] for _, row in _rows(path)), [])
    except csv.Error as error:
        raise row_error(path, "line 1", f"not CSV ({error})") from None


def _rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Return the rows of a table as `table_rows` does: separated by tabs in a `.tsv`, else by what the header has.

    Lines may end with LF, CR LF or CR, and CSV may have semicolons, as spreadsheets write them.
    """
    lines = io.StringIO(read_text(path), newline=None)
    header = lines.readline()
    lines.seek(0)
    delimiters = "\t" if path.suffix.lower() == ".tsv" else ",;\t"
    return table_rows(lines, next((sign for sign in delimiters if sign in header), delimiters[0]))


def read_csv(path: Path, columns: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    """Yield (first line number, the cells of `columns`) for every row of a CSV or TSV file with a header.

    Args:
        path: the file.
        columns: names of the wanted columns.

    Raises:
        CorpusError: a column is missing or occurs twice, a row has too few or too many cells, or a quote is never
            closed.
    """
    reader = _rows(path)
    line = 1
    try:
        end, cells = next(reader, (0, list[str]()))
        header = [cell.strip() for cell in cells]
        wanted = [_column(name, header, path) for name in columns]
        line = end + 1
        for end, row in reader:
            # Spreadsheets write empty rows below a table.
            if any(cell.strip() for cell in row):
                if len(row) != len(header):
                    raise row_error(path, f"line {line}", f"{len(row)} cells where the header has {len(header)}")
                yield line, [row[index] for index in wanted]
            line = end + 1
    except csv.Error as error:
        raise row_error(path, f"line {line}", f"not CSV ({error})") from None


def _column(name: str, header: Sequence[str], path: Path) -> int:
    """Return the index of the column with this name.

    Raises:
        CorpusError: no column, or more than one, has this name.
    """
    if header.count(name) == 1:
        return header.index(name)
    if name in header:
        raise row_error(path, "line 1", f"{header.count(name)} columns are called '{name}'")
    raise row_error(path, "line 1", f"no column '{name}'; the header is {', '.join(header) or 'empty':.200}")
