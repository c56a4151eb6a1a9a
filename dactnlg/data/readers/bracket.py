"""E2E and ViGGO: CSV files with the columns `mr` and `ref`; several rows may have the same meaning representation."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from dactnlg.acts import Turn
from dactnlg.data.readers.reading import check_sentences, read_csv, read_turn
from dactnlg.text.example import Example


def read(path: Path, notes: Counter[str]) -> list[Example]:
    """Read one split; equal meaning representations become one example, in order of first appearance.

    Raises:
        CorpusError: the file is not of this kind, or a row is malformed (the message names the line).
    """
    groups: dict[Turn, tuple[list[str], str]] = {}
    parsed: dict[str, Turn] = {}
    for line, (mr, ref) in read_csv(path, ("mr", "ref")):
        check_sentences([ref], path, f"line {line}")
        if mr not in parsed:
            parsed[mr] = read_turn(mr, path, f"line {line}")
        references, _ = groups.setdefault(parsed[mr], ([], f"{path.name}, line {line}"))
        references.append(ref)
    return [Example(turn, tuple(references), origin=origin) for turn, (references, origin) in groups.items()]
