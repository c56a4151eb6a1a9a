"""What all readers share: reading text and CSV, parsing acts, and messages that name file and line."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import Path

from dactnlg.acts import Turn, parse, turn_from_json
from dactnlg.errors import ActError, CorpusError


def read_text(path: Path) -> str:
    """Return a file's text.

    Raises:
        CorpusError: the file cannot be opened, or is not UTF-8.
    """
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise CorpusError(f"{path} is not UTF-8: byte {error.start}") from None
    except OSError as error:
        raise CorpusError(f"cannot read {path}: {error.strerror or error}") from None


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


def row_error(path: Path, place: str, reason: str) -> CorpusError:
    """Return the error about a row that cannot be read."""
    return CorpusError(f"{path}, {place}: {reason}")


def read_csv(path: Path, columns: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    """Yield (line number, the cells of `columns`) for every row of a CSV file with a header.

    Raises:
        CorpusError: a column is missing, a row has too few or too many cells, or a quote is never closed.
    """
    reader = csv.reader(io.StringIO(read_text(path), newline=""), strict=True)
    line = 1
    try:
        header = [cell.strip() for cell in next(reader, [])]
        absent = [name for name in columns if name not in header]
        if absent:
            raise row_error(path, "line 1", f"no column '{absent[0]}'; the header is {', '.join(header) or 'empty'}")
        wanted = [header.index(name) for name in columns]
        line = reader.line_num + 1
        for row in reader:
            if row and len(row) != len(header):
                raise row_error(path, f"line {line}", f"{len(row)} cells where the header has {len(header)}")
            if row:
                yield line, [row[index] for index in wanted]
            line = reader.line_num + 1
    except csv.Error as error:
        raise row_error(path, f"line {line}", f"not CSV ({error})") from None
