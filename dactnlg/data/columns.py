"""Finds the columns of a data file, or the keys of its objects, that hold the acts and the sentences."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path

from dactnlg.acts import parse
from dactnlg.data.readers import pairs, rnnlg
from dactnlg.data.readers.reading import read_csv, read_header
from dactnlg.errors import ActError, CorpusError

SAMPLE = 50
"""Number of rows examined."""
RENAME = "Call the columns of acts and sentences act and text"
"""The remedy where a command has no options for the columns."""


def choose_columns(
    path: Path, act: str | None = None, text: str | None = None, *, nameable: bool = True
) -> tuple[str, str] | None:
    """Return the columns of acts and sentences; None if the reader needs no names, or uses these by default.

    Args:
        path: a CSV, TSV, JSON or JSONL file.
        act: the column of acts, if known.
        text: the column of sentences, if known.
        nameable: whether the user can name them with --act and --text, which messages then advise.

    Raises:
        CorpusError: there is no such file, it is of another kind, `act` and `text` are the same column, or no column
            looks like acts or sentences; the message names the columns.
    """
    if path.suffix.lower() not in pairs.SUFFIXES:
        kinds = ", ".join(pairs.SUFFIXES)
        raise CorpusError(f"{path}: data are in a file whose name ends in one of {kinds}")
    if rnnlg.is_rnnlg(path):
        if act is not None or text is not None:
            raise CorpusError(f"{path}: its rows are [act, sentence], as in RNNLG; leave --act and --text out")
        return None
    header = _header(path)
    for name in (act, text):
        if name is not None and name not in header:
            raise CorpusError(f"{path} has no column '{name}'; it has {_listed(header)}")
    if act is not None and act == text:
        raise CorpusError(f"--act and --text both name the column '{act}': acts and sentences are in two columns")
    if act is None and text is None:
        objects = path.suffix.lower() not in pairs.TABLES
        for name, sentences in (pairs.COLUMNS, pairs.MR_COLUMNS):
            if name in header and (sentences in header or (objects and pairs.REFERENCES in header)):
                return None
    # Spreadsheets leave unnamed columns.
    names = [name for name in header if name and (header.count(name) == 1 or name in (act, text))]
    rows = _rows(path, names)
    named = act is not None
    if act is None:
        cells = {name: [row[place] for row in rows] for place, name in enumerate(names) if name != text}
        act = next((name for name in cells if _are_acts(cells[name])), None)
    if act is None:
        where = f"no column of {path} looks like dialogue acts such as inform(name='The Eagle')"
        remedy = "Name them: --act COLUMN --text COLUMN" if nameable else RENAME
        raise CorpusError(f"{where}; it has {_listed(header)}. {remedy}")
    if not named and _is_act(act):
        raise CorpusError(f"{path}: the first row names the columns, as in act,text; it holds an act, {act:.200}")
    if text is None:
        text = _sentences({name: [row[place] for row in rows] for place, name in enumerate(names)}, act)
    if not text or (rows and not any(row[names.index(text)].strip() for row in rows)):
        remedy = "Name it: --text COLUMN" if nameable else RENAME
        raise CorpusError(f"no column of {path} looks like sentences; it has {_listed(header)}. {remedy}")
    return act, text


def _header(path: Path) -> list[str]:
    if path.suffix.lower() in pairs.TABLES:
        return read_header(path)
    first = next((row for _, row in pairs.objects(path)), None)
    if not isinstance(first, dict) or not first:
        raise CorpusError(f'{path} holds no rows such as {{"act": "inform(name=Ark)", "text": "This is Ark."}}')
    return [str(key) for key in first]


def _rows(path: Path, header: Sequence[str]) -> list[list[str]]:
    """Return the cells of the first rows; a value that is no string, list of strings or JSON act becomes empty."""
    if path.suffix.lower() in pairs.TABLES:
        return [cells for _, cells in islice(read_csv(path, header), SAMPLE)]
    objects = [row for _, row in islice(pairs.objects(path), SAMPLE) if isinstance(row, dict)]
    return [[_text(row.get(name)) for name in header] for row in objects]


def _text(value: object) -> str:
    acts = json.dumps(value) if isinstance(value, list | dict) else ""
    if _is_act(acts):
        return acts
    return " ".join(part for part in (value if isinstance(value, list) else [value]) if isinstance(part, str))


def _sentences(columns: Mapping[str, Sequence[str]], act: str) -> str | None:
    """Return the longest column in which the acts' values are found; None if there is no column but that of the acts.

    Args:
        columns: the cells of each column.
        act: the column of the acts.
    """
    values = [_values(cell) for cell in columns[act]]
    found = {
        name: sum(value in cell.casefold() for cell, own in zip(cells, values, strict=True) for value in own)
        for name, cells in columns.items()
        if name != act
    }
    # Comments may be longer than sentences, but have no values.
    likely = [name for name, count in found.items() if 2 * count >= max(found.values())]
    return max(likely, key=lambda name: sum(len(cell.split()) for cell in columns[name]), default=None)


def _values(cell: str) -> list[str]:
    """Return the ordinary values of an act, folded; none if the cell is no act."""
    slots = parse(cell).slots() if _is_act(cell) else ()
    return [slot.value.casefold() for _, slot in slots if slot.delexicalizable and slot.value]


def _are_acts(cells: Sequence[str]) -> bool:
    """Return whether at least 90% of the non-blank cells are acts."""
    given = [cell for cell in cells if cell.strip()]
    return bool(given) and sum(map(_is_act, given)) >= 0.9 * len(given)


def _is_act(cell: str) -> bool:
    try:
        parse(cell)
    except ActError:
        return False
    return True


def _listed(header: Sequence[str]) -> str:
    return f"the columns {', '.join(header) or '(none)':.300}"
