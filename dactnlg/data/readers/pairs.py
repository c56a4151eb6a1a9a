"""The user's own data: JSONL, JSON, CSV or TSV with `act` and `text` (or, in JSON, `references`).

A JSONL line, or an object of a JSON file's list, is `{"act": "inform(food=thai)", "text": "..."}`, or `"references":
["...", "..."]` for several sentences; `act` may also be DSTC2's JSON. A table has the columns `act` and `text`;
consecutive rows with the same act form one example. Without these columns, `mr` and `ref` are used as in E2E's files,
where all rows with the same act form one example. The optional `context` is the preceding user utterance, the same for
all rows of an example. Other keys and columns are ignored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from dactnlg._utils.reading import short
from dactnlg.data.readers import bracket
from dactnlg.data.readers.reading import (
    check_sentences,
    read_context,
    read_csv,
    read_header,
    read_json,
    read_lines,
    read_text,
    read_turn,
    row_error,
)
from dactnlg.runs.sections import DATA
from dactnlg.text.example import Example

SUFFIXES = DATA
"""Suffixes of such files."""
TABLES = (".csv", ".tsv")
COLUMNS = ("act", "text")
MR_COLUMNS = ("mr", "ref")
CONTEXT_COLUMN = "context"
REFERENCES = "references"
"""The key for several sentences in one object."""


def read(path: Path, notes: Counter[str], columns: tuple[str, str] | None = None) -> list[Example]:
    """Read one split from a `.jsonl`, `.json`, `.csv` or `.tsv` file.

    Args:
        path: the file.
        notes: counts repairs.
        columns: the columns or keys of acts and sentences; by default act and text, or else mr and ref.

    Raises:
        CorpusError: the file is not of this kind, or a row is malformed (the message names the line).
    """
    if path.suffix.lower() in TABLES:
        header = read_header(path)
        columns = columns or table_columns(header)
        if CONTEXT_COLUMN in {*header} - {*columns}:
            return _read_table(path, (*columns, CONTEXT_COLUMN))
        return bracket.read(path, notes) if columns == MR_COLUMNS else _read_table(path, columns)
    return [_read_object(row, path, place, columns) for place, row in objects(path)]


def table_columns(header: Iterable[str]) -> tuple[str, str]:
    """Return the default columns of acts and sentences for a table with these columns."""
    names = {*header}
    return MR_COLUMNS if not {*COLUMNS} & names and {*MR_COLUMNS} <= names else COLUMNS


def object_keys(row: Any) -> tuple[str, str]:
    """Return the default keys of act and sentence for an object."""
    return MR_COLUMNS if isinstance(row, dict) and COLUMNS[0] not in row and MR_COLUMNS[0] in row else COLUMNS


def objects(path: Path) -> Iterator[tuple[str, Any]]:
    """Yield (place, row) for every row of a JSONL file, or of a JSON file with a list of objects.

    Raises:
        CorpusError: the file is neither.
    """
    text = read_text(path) if path.suffix.lower() == ".json" else ""
    first, _, more = text.strip().partition("\n")
    # Some programs write JSONL into files called .json.
    if path.suffix.lower() != ".json" or (more and first.startswith("{") and first.rstrip().endswith("}")):
        yield from ((place, read_json(line, path, place)) for place, line in read_lines(path))
        return
    data = read_json(text, path)
    if not isinstance(data, list):
        raise row_error(path, "line 1", f"a JSON file holds a list of objects, not {short(data)}")
    yield from ((f"object {number}", row) for number, row in enumerate(data, start=1))


def _read_object(row: Any, path: Path, place: str, columns: tuple[str, str] | None) -> Example:
    act, text = columns or object_keys(row)
    keys = [key for key in (text, REFERENCES) if isinstance(row, dict) and key in row]
    # GEM's objects have `target` and `references`, an empty list in training: the key that was named is meant.
    if not keys or act not in row or (len({*keys}) > 1 and not columns):
        reason = f'a row is {{"{act}": ..., "{text}": ...}} or has "references", not {short(row)}'
        raise row_error(path, place, reason)
    key = keys[0]
    references, handcrafted = (
        _sentences(given, name, path, place)
        for name, given in ((key, row[key]), ("handcrafted", row.get("handcrafted", [])))
    )
    if not references:
        raise row_error(path, place, f"'{key}' is empty")
    turn = read_turn(row[act], path, place)
    # A key called `context` that holds the acts or sentences is not a context.
    context = "" if CONTEXT_COLUMN in (act, text) else read_context(row, CONTEXT_COLUMN, path, place)
    return Example(turn, references, handcrafted, f"{path.name}, {place}", context)


def _sentences(given: object, key: str, path: Path, place: str) -> tuple[str, ...]:
    sentences = [given] if isinstance(given, str) else given
    if not isinstance(sentences, list) or not all(isinstance(sentence, str) for sentence in sentences):
        raise row_error(path, place, f"'{key}' is a sentence, or a list of sentences, not {short(given)}")
    check_sentences(sentences, path, place)
    return tuple(sentences)


def _read_table(path: Path, columns: Iterable[str]) -> list[Example]:
    examples: list[Example] = []
    previous: tuple[str, list[str]] | None = None
    for line, (act, text, *context) in read_csv(path, tuple(columns)):
        check_sentences([text], path, f"line {line}")
        if (act, context) == previous:
            last = examples[-1]
            examples[-1] = replace(last, references=(*last.references, text))
        else:
            turn = read_turn(act, path, f"line {line}")
            examples.append(Example(turn, (text,), origin=f"{path.name}, line {line}", context="".join(context)))
        previous = act, context
    return examples
