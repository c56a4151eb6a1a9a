"""Readers of dialogues, `read(path, notes) -> list[Dialogue]`: DailyDialog, Cornell, Reddit, OpenSubtitles, Ubuntu.

The last four are read in the formats of their publishers and of the dialogue systems trained on them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dactnlg._utils.reading import short
from dactnlg.data.readers.reading import read_csv, read_header, read_json, read_lines, read_text, row_error

SEPARATOR = " +++$+++ "
"""Separator of the fields in Cornell's files."""
CORNELL_ENCODING = "cp1252"
"""Encoding of Cornell's published files; some copies are in UTF-8."""
END_OF_TURN, END_OF_UTTERANCE = "__eot__", "__eou__"
"""Markers in the Ubuntu corpus."""
_LABELS = {"1": True, "1.0": True, "0": False, "0.0": False}
"""Labels in Ubuntu's training files."""


@dataclass(frozen=True)
class Dialogue:
    """A dialogue of alternating speakers.

    Attributes:
        turns: the utterances, in order.
        emotions: a label for each turn, if the corpus has them.
        acts: labels for each turn, if the corpus has them.
        id: the corpus's own identifier.
    """

    turns: tuple[str, ...]
    emotions: tuple[str, ...] = ()
    acts: tuple[tuple[str, ...], ...] = ()
    id: str = ""


DialogueReader = Callable[[Path, "Counter[str]"], list[Dialogue]]


def read_dailydialog(path: Path, notes: Counter[str]) -> list[Dialogue]:
    """Read JSONL with lines `{"id", "turns", "emotions", "acts"}`; the labels may be missing (Li et al. 2017).

    The acts of a turn are a list of labels, or a single label, as in the published files.

    Raises:
        CorpusError: a line is malformed; the message has its number.
    """
    found = []
    for place, line in read_lines(path):
        row = read_json(line, path, place)
        turns = row.get("turns") if isinstance(row, dict) else None
        if not isinstance(turns, list) or not all(isinstance(turn, str) for turn in turns):
            raise row_error(path, place, f'a dialogue is {{"turns": [text, ...]}}, not {short(row)}')
        labels = {name: row.get(name, []) for name in ("emotions", "acts")}
        for name, values in labels.items():
            if not isinstance(values, list) or len(values) not in (0, len(turns)):
                raise row_error(path, place, f"'{name}' has a label for each of {len(turns)} turns, or none")
        acts = tuple(tuple(map(str, each if isinstance(each, list) else [each])) for each in labels["acts"])
        found.append(Dialogue(tuple(turns), tuple(map(str, labels["emotions"])), acts, str(row.get("id", ""))))
    return found


def read_cornell(path: Path, notes: Counter[str]) -> list[Dialogue]:
    """Read `movie_conversations.txt` and `movie_lines.txt` beside it (Danescu-Niculescu-Mizil and Lee 2011).

    Conversations with a missing or empty line are left out and counted.

    Raises:
        CorpusError: a line is malformed, or `movie_lines.txt` is missing.
    """
    lines = path.with_name("movie_lines.txt")
    said = {}
    for place, line in read_lines(lines, CORNELL_ENCODING):
        fields = line.rstrip("\n").split(SEPARATOR)
        if len(fields) == 4 and line.rstrip().endswith(SEPARATOR.strip()):
            fields = [*fields, ""]
        if len(fields) != 5:
            raise row_error(lines, place, f"a line has 5 fields between '{SEPARATOR.strip()}', not {len(fields)}")
        said[fields[0]] = fields[4].strip()
    found = []
    for place, line in read_lines(path, CORNELL_ENCODING):
        fields = line.rstrip("\n").split(SEPARATOR)
        if len(fields) != 4 or not fields[3].strip().startswith("["):
            raise row_error(path, place, "a conversation has 4 fields, the last one a list such as ['L1', 'L2']")
        names = [name.strip().strip("'\"") for name in fields[3].strip().strip("[]").split(",")]
        turns = tuple(said.get(name, "") for name in names)
        if all(turns):
            found.append(Dialogue(turns, id=names[0]))
        else:
            notes["conversations with a missing line left out"] += 1
    return found


def read_reddit(path: Path, notes: Counter[str]) -> list[Dialogue]:
    """Read one conversation `{"lines": [{"text": ...}, ...]}` per line, or a JSON list of them, as published.

    A conversation ends at a removed or empty comment: this turn and those after it are left out and counted.

    Raises:
        CorpusError: a line is malformed; the message has its number.
    """
    found = []
    for place, row in _reddit_rows(path):
        items = row.get("lines") if isinstance(row, dict) else None
        if not isinstance(items, list) or not all(isinstance(each, dict) for each in items):
            raise row_error(path, place, f'a conversation is {{"lines": [{{"text"}}, ...]}}, not {short(row)}')
        texts = [each["text"] for each in items if isinstance(each.get("text"), str)]
        if len(texts) < len(items):
            raise row_error(path, place, f"every line of a conversation has a 'text': {short(row)}")
        gone = next((i for i, text in enumerate(texts) if text.strip() in ("", "[deleted]", "[removed]")), len(texts))
        if gone < len(texts):
            notes["turns from a removed comment on left out"] += len(texts) - gone
        if gone > 1:
            found.append(Dialogue(tuple(texts[:gone]), id=str(row.get("id", ""))))
    return found


def _reddit_rows(path: Path) -> Iterator[tuple[str, Any]]:
    text = read_text(path)
    if text.lstrip().startswith("["):
        yield from ((f"conversation {number}", row) for number, row in enumerate(read_json(text, path), start=1))
    else:
        yield from ((place, read_json(line, path, place)) for place, line in read_lines(path))


def read_opensubtitles(path: Path, notes: Counter[str]) -> list[Dialogue]:
    """Read `SPLIT.post`, one post per line; `SPLIT.response` beside it has the responses, line by line.

    Pairs with a blank line are left out and counted.

    Raises:
        CorpusError: the two files differ in length.
    """
    answers = path.with_suffix(".response")
    # Blank lines are kept, since skipping them would shift the responses.
    posts, responses = (
        [line.strip() for line in read_text(each).removesuffix("\n").split("\n")] for each in (path, answers)
    )
    if len(posts) != len(responses):
        raise row_error(path, f"line {len(posts)}", f"{answers.name} has {len(responses)} lines, not {len(posts)}")
    found = [Dialogue(pair) for pair in zip(posts, responses, strict=True) if all(pair)]
    if len(found) < len(posts):
        notes["pairs with a blank line left out"] += len(posts) - len(found)
    return found


def read_ubuntu(path: Path, notes: Counter[str]) -> list[Dialogue]:
    """Read CSV with `Context` and `Utterance` (training; rows with `Label` 0 are left out) or `Ground Truth Utterance`.

    Turns end with `__eot__`, sentences within them with `__eou__` (Lowe et al. 2015).

    Raises:
        CorpusError: a column is missing, or a label is neither 0 nor 1.
    """
    truth = "Ground Truth Utterance" in read_header(path)
    columns = ("Context", "Ground Truth Utterance") if truth else ("Context", "Utterance", "Label")
    found = []
    for line, row in read_csv(path, columns):
        if not truth and row[2].strip() not in _LABELS:
            raise row_error(path, f"line {line}", f"Label is 1 or 0, not {short(row[2])}")
        if not truth and not _LABELS[row[2].strip()]:
            notes["wrong answers left out"] += 1
            continue
        texts = [part.replace(END_OF_UTTERANCE, " ") for part in (*row[0].split(END_OF_TURN), row[1])]
        turns = tuple(" ".join(text.replace(END_OF_TURN, " ").split()) for text in texts if text.strip())
        found.append(Dialogue(turns))
    return found


FORMATS: dict[str, DialogueReader] = {
    "dailydialog": read_dailydialog,
    "cornell": read_cornell,
    "reddit": read_reddit,
    "opensubtitles": read_opensubtitles,
    "ubuntu": read_ubuntu,
}
