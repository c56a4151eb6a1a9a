"""The user's own data: JSONL or CSV with `act` and `text` (or, in JSONL, `references`).

A JSONL line is `{"act": "inform(food=thai)", "text": "..."}`, or `"references": ["...", "..."]` for several
sentences; `act` may also be DSTC2's JSON. A CSV file has the columns `act` and `text`; rows with the same act that
follow each other are one example. Other keys and columns are ignored.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from dactnlg._utils.reading import short
from dactnlg.data.readers.reading import read_csv, read_json, read_lines, read_turn, row_error
from dactnlg.text.example import Example


def read(path: Path, notes: Counter[str]) -> list[Example]:
    """Read one split from a `.jsonl` or `.csv` file.

    Raises:
        CorpusError: not such a file, or a malformed row (the message names the line).
    """
    if path.suffix == ".csv":
        return _read_csv(path)
    return [_read_line(line, path, place) for place, line in read_lines(path)]


def _read_line(line: str, path: Path, place: str) -> Example:
    row = read_json(line, path, place)
    if not isinstance(row, dict) or "act" not in row or ("text" in row) == ("references" in row):
        raise row_error(path, place, f'a row is {{"act": ..., "text": ...}} or has "references", not {short(row)}')
    references = row["references"] if "references" in row else [row["text"]]
    handcrafted = row.get("handcrafted", [])
    for name, sentences in (("references", references), ("handcrafted", handcrafted)):
        if not isinstance(sentences, list) or not all(isinstance(sentence, str) for sentence in sentences):
            raise row_error(path, place, f"'{name}' is a list of sentences, not {short(sentences)}")
    if not references:
        raise row_error(path, place, "'references' is empty")
    turn = read_turn(row["act"], path, place)
    return Example(turn, tuple(references), tuple(handcrafted), f"{path.name}, {place}")


def _read_csv(path: Path) -> list[Example]:
    examples: list[Example] = []
    previous = None
    for line, (act, text) in read_csv(path, ("act", "text")):
        if act == previous:
            last = examples[-1]
            examples[-1] = Example(last.turn, (*last.references, text), origin=last.origin)
        else:
            turn = read_turn(act, path, f"line {line}")
            examples.append(Example(turn, (text,), origin=f"{path.name}, line {line}"))
        previous = act
    return examples
