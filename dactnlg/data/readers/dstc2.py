"""DSTC2: the publishers' release (a folder for each call), or its system turns joined into a JSONL file for each split.

Release: `scripts/config/dstc2_train.flist` lists the call folders under `data/`; each call's `log.json` has
`turns[].output.transcript` and `turns[].output."dialog-acts"` (Henderson et al., 2014, handbook, section 5). The
preceding user utterance is `turns[].transcription` of the previous turn in `label.json`; a call may lack that file.
Joined: a line is `{"da": "offer(name=x;) inform(food=y;)", "text": ...}`, with the preceding user utterance as
`user_before` if it is known; `da` is null if the act of a turn is unknown.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from dactnlg._utils.reading import short
from dactnlg.data.readers.reading import read_context, read_json, read_lines, read_text, read_turn, row_error
from dactnlg.text.example import Example


def read(path: Path, notes: Counter[str]) -> list[Example]:
    """Read one split from a JSONL file, or from the release if `path` is one of its flists.

    Turns whose act is unknown are left out and counted in `notes`.

    Raises:
        CorpusError: a file is missing or damaged, or a turn is malformed (the message names it).
    """
    return _read_release(path, notes) if path.suffix.lower() == ".flist" else _read_joined(path, notes)


def _read_joined(path: Path, notes: Counter[str]) -> list[Example]:
    examples = []
    for place, line in read_lines(path):
        row = read_json(line, path, place)
        if not isinstance(row, dict) or "da" not in row or not isinstance(row.get("text"), str):
            raise row_error(path, place, f'a row is {{"da": act, "text": sentence, ...}}, not {short(row)}')
        if row["da"] is None:
            notes["turns without a known act left out"] += 1
            continue
        if not isinstance(row["da"], str):
            raise row_error(path, place, f"'da' is an act string or null, not {short(row['da'])}")
        turn, context = read_turn(row["da"], path, place), read_context(row, "user_before", path, place)
        examples.append(Example(turn, (row["text"],), origin=f"{path.name}, {place}", context=context))
    return examples


def _read_release(flist: Path, notes: Counter[str]) -> list[Example]:
    data = flist.parents[2] / "data"
    examples = []
    for place, line in read_lines(flist):
        session = line.strip()
        log = data / session / "log.json"
        if not log.is_file():
            raise row_error(flist, place, f"the call {session} has no {log}")
        examples.extend(_read_call(log, session, notes))
    return examples


def _read_call(log: Path, session: str, notes: Counter[str]) -> list[Example]:
    call = read_json(read_text(log), log)
    turns = call.get("turns") if isinstance(call, dict) else None
    if not isinstance(turns, list):
        raise row_error(log, "'turns'", "a call has a list of turns")
    examples, said = [], _transcriptions(log.with_name("label.json"))
    for index, item in enumerate(turns):
        place = f"turn {index}"
        output = item.get("output") if isinstance(item, dict) else None
        if not isinstance(output, dict) or not isinstance(output.get("transcript"), str):
            raise row_error(log, place, "a turn has output.transcript, a string")
        acts = output.get("dialog-acts")
        if not isinstance(acts, list):
            raise row_error(log, place, "a turn has output.dialog-acts, a list")
        if not acts or not output["transcript"].strip():
            notes["turns without a known act left out"] += 1
            continue
        turn = read_turn(acts, log, place)
        # The system speaks first: in each turn it answers the user's utterance of the previous turn.
        context = said.get(index - 1, "")
        examples.append(Example(turn, (output["transcript"],), origin=f"{session}, {place}", context=context))
    return examples


def _transcriptions(label: Path) -> dict[int, str]:
    """Return turn number -> user utterance of a call."""
    if not label.is_file():
        return {}
    data = read_json(read_text(label), label)
    turns = data.get("turns") if isinstance(data, dict) else None
    if not isinstance(turns, list):
        raise row_error(label, "'turns'", "a call has a list of turns")
    rows = (item if isinstance(item, dict) else {} for item in turns)
    return {index: read_context(row, "transcription", label, f"turn {index}") for index, row in enumerate(rows)}
