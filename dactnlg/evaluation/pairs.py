"""Reads what is to be scored: JSON Lines, plain text, tables, GEM's JSON, or sequences in Python."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

from dactnlg._utils.reading import parse_json, short
from dactnlg.acts import DialogueAct, Turn
from dactnlg.errors import MetricError
from dactnlg.evaluation.columns import NAMES, read_rows
from dactnlg.evaluation.files import FORMS, read_whole
from dactnlg.evaluation.lines import LINES, PLAIN, TABLE, TextPair, read_lines, read_turn, seen_format, shown

__all__ = ["TextPair", "count", "make_pairs", "read_checked", "read_files", "read_input", "read_pairs"]
__all__ += ["read_parallel", "read_sentences"]


def read_input(
    jsonl: str | Path | None = None,
    hypotheses: str | Path | None = None,
    references: Sequence[str | Path] = (),
    files: Sequence[str | Path] = (),
    task: str | None = None,
) -> Iterator[TextPair]:
    """Yield the pairs of one file of hypotheses and references, or of separate files.

    Args:
        jsonl: a file of both: JSON Lines, a table or GEM's JSON.
        hypotheses: a file of hypotheses: plain text, a table or GEM's JSON.
        references: its files of references.
        files: further files of references; if nothing else is given, files as for `read_files`.
        task: the task, for a GEM file of several.

    Raises:
        MetricError: neither or both kinds of input are given, or as in `read_files`.
    """
    references = [*references, *files]
    if jsonl is not None and (hypotheses is not None or references):
        raise MetricError("give --input, or files of hypotheses and references, not both")
    if jsonl is not None:
        return read_files([jsonl], task)
    if hypotheses is None and files and len(references) == len(files):
        return read_files(files, task)
    if hypotheses is None:
        raise MetricError("nothing to score: give --input PAIRS.jsonl, or files: HYPOTHESES REFERENCES...")
    if not references:
        raise MetricError("plain-text hypotheses need at least one file of references")
    return read_files([hypotheses, *references], task)


def read_files(paths: Sequence[str | Path], task: str | None = None) -> Iterator[TextPair]:
    """Yield the pairs of files whose formats are detected: hypotheses first, followed by references.

    Args:
        paths: one file of both (JSON Lines, a table, GEM's JSON), or a file of hypotheses and files of references; `-`
            is standard input, read as JSON Lines if it is the only file, else as plain text.
        task: the task, for a GEM file of several.

    Raises:
        MetricError: a file cannot be read or is of the wrong format, or the files do not fit together.
    """
    if len(paths) == 1 and (paths[0] == "-" or not Path(paths[0]).is_file() or seen_format(paths[0]) == LINES):
        return read_pairs(paths[0])
    if len(paths) > 1 and all(seen_format(path) == PLAIN for path in paths) and not _grouped(paths):
        return read_parallel(paths[0], paths[1:])
    return read_whole(paths, task)


def read_pairs(path: str | Path) -> Iterator[TextPair]:
    """Yield the pairs of a JSON Lines file, `-` for standard input; blank lines are skipped.

    A line is `{"hypothesis": text, "references": [text, ...], "act": act}`; the act is optional, and may be a string in
    any notation or DSTC2's JSON.

    Raises:
        MetricError: the file cannot be read, or a line is not of that form; the message names file and line.
    """
    for number, line in read_lines(path):
        if line.strip():
            yield _pair(line, f"{shown(path)}, line {number}")


def read_checked(path: str | Path) -> Iterator[tuple[Turn, str]]:
    """Yield the turns and hypotheses of a JSON Lines file, or of a table with columns of both.

    As `read_pairs`, but references are ignored, and the sentence may be called `text`, as in corpora. What has neither
    is a corpus with several sentences an act: its references are checked, one by one.

    Raises:
        MetricError: the file cannot be read, or a line is not of that form; the message names file and line.
    """
    if seen_format(path) == TABLE:
        for row in read_rows(read_lines(path), shown(path)):
            where = f"{shown(path)}, line {row.line}"
            turn = read_turn(row.act, where)
            texts = row.references if row.hypothesis is None else (row.hypothesis,)
            if turn is None or texts is None:
                raise MetricError(f"{shown(path)}: a table to check has columns of acts and of sentences: {NAMES}")
            yield from _each(turn, texts, where)
        return
    for number, line in read_lines(path):
        if line.strip():
            yield from _checked(line, f"{shown(path)}, line {number}")


def read_parallel(hypotheses: str | Path, references: Sequence[str | Path]) -> Iterator[TextPair]:
    """Yield the pairs of plain text files with one segment per line.

    A blank line in a file of references means that the segment has no reference in it.

    Raises:
        MetricError: a file cannot be read, or the files differ in length.
    """
    paths = [hypotheses, *references]
    if paths.count("-") > 1:
        raise MetricError("standard input (-) can be only one of the files")
    for rows in zip_longest(*map(read_lines, paths)):
        if None in rows:
            raise MetricError(_unequal(paths))
        texts = [text for _, text in rows]
        yield TextPair(texts[0], tuple(text for text in texts[1:] if text.strip()))


def read_sentences(path: str | Path) -> Iterator[str]:
    """Yield the lines of a plain text file that are not blank.

    Raises:
        MetricError: the file cannot be read, or a line is not UTF-8.
    """
    return (text for _, text in read_lines(path) if text.strip())


def make_pairs(
    hypotheses: Sequence[str],
    references: Sequence[str | Sequence[str]],
    acts: Sequence[str | DialogueAct | Turn | None] | None = None,
) -> list[TextPair]:
    """Return the pairs of N hypotheses, their references (one or more texts each) and, if known, their acts.

    Raises:
        MetricError: a text instead of a sequence, sequences of different lengths, an item of the wrong type, or an act
            that cannot be read; the message has the item's index.
    """
    given = {"hypotheses": hypotheses, "references": references, **({} if acts is None else {"acts": acts})}
    for name, values in given.items():
        if isinstance(values, str) or not isinstance(values, Collection):
            raise MetricError(f"{name} must be a sequence with an item for each segment, not {values!r:.60}")
    if len({len(values) for values in given.values()}) > 1:
        counts = ", ".join(f"{len(values)} {name}" for name, values in given.items())
        raise MetricError(f"there must be as many of each: {counts}")
    pairs = []
    rows = zip(hypotheses, references, [None] * len(hypotheses) if acts is None else acts, strict=True)
    for index, (hypothesis, texts, act) in enumerate(rows):
        if not isinstance(hypothesis, str):
            raise MetricError(f"hypotheses[{index}] must be text, not {hypothesis!r:.60}")
        own = (texts,) if isinstance(texts, str) else texts
        if not isinstance(own, Collection) or not all(isinstance(text, str) for text in own):
            raise MetricError(f"references[{index}] must be text or a sequence of texts, not {texts!r:.60}")
        pairs.append(TextPair(hypothesis, tuple(own), _given_turn(act, index)))
    return pairs


def _given_turn(act: object, index: int) -> Turn | None:
    if isinstance(act, DialogueAct):
        return Turn((act,))
    if act is None or isinstance(act, Turn):
        return act
    if not isinstance(act, str):
        raise MetricError(f"acts[{index}] must be an act, not {act!r:.60}")
    return read_turn(act, f"acts[{index}]")


def count(path: str | Path | None) -> int | None:
    """Return the number of lines of a file, for a progress bar; None for standard input and anything but a file."""
    if path in (None, "-") or not Path(str(path)).is_file():
        return None
    with Path(str(path)).open("rb") as file:
        return sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b""))


def _grouped(paths: Sequence[str | Path]) -> bool:
    """Whether a file of references has groups of lines, separated by blank lines, instead of one line per segment."""
    # A stream can be read only once, so its lines cannot be counted first.
    if not all(Path(path).is_file() for path in paths):
        return False
    size = sum(1 for _ in read_lines(paths[0]))
    return any(
        sum(1 for _ in read_lines(path)) != size and any(not text.strip() for _, text in read_lines(path))
        for path in paths[1:]
    )


def _unequal(paths: Sequence[str | Path]) -> str:
    """Return a message with the number of lines of each file; streams have been read and cannot be counted again."""
    counts = [f"{path} has {sum(1 for _ in read_lines(path))} lines" for path in paths if Path(path).is_file()]
    return ": ".join(["the files must have one line a segment each", *filter(None, [", ".join(counts)])])


def _pair(line: str, where: str) -> TextPair:
    form = '{"hypothesis": text, "references": [text, ...]}, with "act" if it is known'
    row = _object(line, where, form, f"plain text needs its references beside it: {FORMS}")
    for key in ("hypothesis", "references"):
        if key not in row:
            raise _lacking(row, where, form, key)
    return TextPair(_text(row, "hypothesis", where), _texts(row, where), read_turn(row.get("act"), where))


def _checked(line: str, where: str) -> Iterator[tuple[Turn, str]]:
    """Yield the turn of a line with its hypothesis, text, or each of its references: the first of them that it has."""
    form = '{"act": act, "hypothesis": text}, or "text", or "references", for "hypothesis"'
    row = _object(line, where, form, f"expected {form}, one per line, or a table with the columns act and hypothesis")
    said = next((key for key in ("hypothesis", "text", "references") if key in row), None)
    if said is None:
        raise _lacking(row, where, form, "hypothesis")
    texts = _texts(row, where) if said == "references" else (_text(row, said, where),)
    turn = read_turn(row.get("act"), where)
    if turn is None:
        raise MetricError(f"{where}: no 'act' to check the sentence against")
    yield from _each(turn, texts, where)


def _each(turn: Turn, texts: Sequence[str], where: str) -> Iterator[tuple[Turn, str]]:
    if not texts:
        raise MetricError(f"{where}: no sentence to check")
    yield from ((turn, text) for text in texts)


def _object(line: str, where: str, form: str, hint: str) -> dict[str, Any]:
    """Return the JSON object of a line; `hint` is added to the message about one that looks like plain text."""
    try:
        row = parse_json(line)
    except json.JSONDecodeError as error:
        more = "" if line.lstrip()[:1] in ("{", "[") else f"; {hint}"
        raise MetricError(f"{where}: not JSON ({error.msg}){more}") from None
    if not isinstance(row, dict):
        raise MetricError(f"{where}: expected {form}")
    return row


def _lacking(row: Mapping[str, Any], where: str, form: str, key: str) -> MetricError:
    unknown = sorted(set(row) - {"hypothesis", "references", "act"})
    hint = f" (it has {', '.join(unknown):.200})" if unknown else ""
    return MetricError(f"{where}: no '{key}'{hint}; expected {form}")


def _text(row: Mapping[str, Any], key: str, where: str) -> str:
    text = row[key]
    if not isinstance(text, str):
        raise MetricError(f"{where}: '{key}' must be text, not {short(text)}")
    return text


def _texts(row: Mapping[str, Any], where: str) -> tuple[str, ...]:
    references = row.get("references", [])
    if isinstance(references, str):
        references = [references]
    if not isinstance(references, list) or not all(isinstance(text, str) for text in references):
        raise MetricError(f"{where}: 'references' must be a list of texts, not {short(references)}")
    return tuple(references)
