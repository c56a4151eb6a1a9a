"""Safe reading of untrusted files: regular files only, tables, and JSON without overflow or NaN."""

from __future__ import annotations

import csv
import errno
import json
import math
import os
import reprlib
import stat
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from dactnlg.errors import UserError

LONGEST_LINE = 1 << 24
"""Maximum bytes of a line of acts or sentences: a device may never send a line break."""


def regular_file(path: str | os.PathLike[str]) -> Path:
    """Return the path of a file that can be read to its end.

    A pipe may never be written to, and a device may never end: a reader that needs the whole file would wait forever.

    Raises:
        OSError: there is no such file, or it is a folder, a pipe, a device or a socket; `strerror` says which.
    """
    mode = Path(path).stat().st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "it is a folder", str(path))
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "it is a pipe, a device or a socket, not a file", str(path))
    return Path(path)


def read_text(path: Path) -> str:
    """Return the text of a file named by the user, without surrounding white space.

    Raises:
        UserError: the file is not UTF-8.
        OSError: the file cannot be read.
    """
    try:
        return regular_file(path).read_text(encoding="utf-8").strip()
    except UnicodeDecodeError:
        raise UserError(f"{path}: it is not text in UTF-8") from None


def utf16_hint(data: bytes) -> str:
    """Return what to add to the message about data that are not UTF-8: a hint if they begin like UTF-16."""
    return "; is it UTF-16?" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else ""


def table_rows(lines: Iterable[str], delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield for each row of a table the number of its last line, from 1, and its cells.

    In a tab-separated table quotation marks are literal, unless a cell begins and ends with one and doubles those
    inside, as spreadsheets write it. A cell of a CSV table may span several lines, and begins after the spaces that
    follow a delimiter: `act, "text"` has no quotes in it.

    Args:
        lines: the lines of the table.
        delimiter: a tab, a comma or a semicolon.

    Raises:
        csv.Error: a quote is never closed, or something follows it in its cell.
    """
    if delimiter != "\t":
        reader = csv.reader(lines, strict=True, delimiter=delimiter, skipinitialspace=True)
        yield from ((reader.line_num, row) for row in reader)
        return
    for number, line in enumerate(lines, start=1):
        row = line.rstrip("\r\n")
        yield number, [_unquoted(cell) for cell in row.split("\t")] if row else []


def _unquoted(cell: str) -> str:
    inner = cell[1:-1] if len(cell) > 1 and cell[0] == cell[-1] == '"' else None
    return cell if inner is None or '"' in inner.replace('""', "") else inner.replace('""', '"')


def parse_json(text: str, *, lenient: bool = False) -> Any:
    """Return the data of a JSON text.

    Args:
        text: the text.
        lenient: read NaN and infinity, which Python's `json` writes, as null.

    Raises:
        json.JSONDecodeError: the text is not JSON, contains NaN or infinity or an integer of more digits than Python
            converts, or is nested too deeply; `msg` says what is wrong, in a few words, `lineno` where.
    """
    return _within_bounds(text, 0, lambda: (_LENIENT if lenient else _DECODER).decode(text))


def parse_json_at(text: str, at: int) -> tuple[Any, int]:
    """Return the JSON value that begins at an index of a text, and the index after it; see `parse_json`."""
    found: tuple[Any, int] = _within_bounds(text, at, lambda: _DECODER.raw_decode(text, at))
    return found


def short(value: object) -> str:
    """Return data as messages show them: at most 60 characters, however long or deep the data are."""
    return f"{_SHORT.repr(value):.60}"


class _Short(reprlib.Repr):
    def repr_int(self, x: int, level: int) -> str:
        """Return an integer, or a note of its length: Python refuses to write out thousands of digits."""
        return repr(x) if x.bit_length() < 200 else f"a number of {int(x.bit_length() * math.log10(2)) + 1} digits"


_SHORT = _Short()
_SHORT.maxlevel, _SHORT.maxstring, _SHORT.maxother = 4, 60, 60


def _within_bounds(text: str, at: int, decode: Callable[[], Any]) -> Any:
    try:
        return decode()
    except json.JSONDecodeError:
        raise
    except RecursionError:
        reason = "nested too deeply"
    except ValueError as error:
        # The decoder's own message about digits names a Python function.
        reason = str(error) if isinstance(error, _NotANumber) else "a number of too many digits"
    raise json.JSONDecodeError(reason, text, at) from None


class _NotANumber(ValueError):
    """NaN or infinity, which Python accepts although JSON has neither."""


def _refuse(name: str) -> Any:
    raise _NotANumber(f"{name} is no number in JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse)
_LENIENT = json.JSONDecoder(parse_constant=lambda _: None)
