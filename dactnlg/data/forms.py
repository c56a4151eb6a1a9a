"""Inflected forms of values, in the format of the Czech restaurant corpus (Dušek and Jurčíček 2019)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from dactnlg._utils.reading import short
from dactnlg.data.readers.reading import read_json, read_text, row_error

Table = dict[str, dict[str, list[str]]]
"""Value -> form -> its tags."""


def read_forms(path: Path, slots: Mapping[str, str]) -> dict[str, Table]:
    """Read a file of forms: slot -> value -> form -> tags.

    Args:
        path: a JSON file, `{table: {value: ["lemma\\tform\\ttag", ...]}}`.
        slots: slot -> table, for slots whose table has another name; `street _` appends ` _` to values and forms, for
            a number.

    Raises:
        CorpusError: the file is not of this kind, or lacks a table named by a slot.
    """
    data = read_json(read_text(path), path)
    if not isinstance(data, dict) or not all(isinstance(table, dict) for table in data.values()):
        raise row_error(path, "line 1", 'expected {"table": {"value": ["lemma\\tform\\ttag", ...]}}')
    tables = {name: _table(path, name, values) for name, values in data.items()}
    found = dict(tables)
    for slot, pattern in slots.items():
        name = pattern.removesuffix(" _")
        if name not in tables:
            raise row_error(path, f"table {name!r}", f"there is none for the slot '{slot}'; there are {sorted(tables)}")
        number = pattern[len(name) :]
        found[slot] = {
            value + number: {form + number: tags for form, tags in forms.items()}
            for value, forms in tables[name].items()
        }
    return found


def _table(path: Path, name: str, values: Mapping[str, object]) -> Table:
    table: Table = {}
    for value, rows in values.items():
        forms = table.setdefault(value, {})
        for row in rows if isinstance(rows, list) else [rows]:
            parts = row.split("\t") if isinstance(row, str) else []
            if len(parts) != 3:
                raise row_error(path, f"{name}, {value}", f'a form is "lemma\\tform\\ttag", not {short(row)}')
            forms.setdefault(parts[1], []).append(parts[2])
    return table
