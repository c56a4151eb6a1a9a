"""Reads what is to be scored: JSON Lines, plain text, tables, GEM's JSON, or sequences in Python."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from itertools import zip_longest
from pathlib import Path

from dactnlg.acts import DialogueAct, Turn
from dactnlg.errors import MetricError
from dactnlg.evaluation import json_lines
from dactnlg.evaluation.columns import NAMES, read_rows
from dactnlg.evaluation.files import read_whole
from dactnlg.evaluation.lines import (
    JSON,
    LINES,
    PLAIN,
    TABLE,
    TextPair,
    begun,
    read_lines,
    read_turn,
    seen_format,
    shown,
)

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
        hypotheses: a file of hypotheses: plain text, a table, JSON Lines or GEM's JSON.
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
            yield json_lines.pair(line, f"{shown(path)}, line {number}")


def read_checked(path: str | Path) -> Iterator[tuple[Turn, str]]:
    """Yield the turns and hypotheses of a JSON Lines file, or of a table with columns of both.

    As `read_pairs`, but references are ignored, and the sentence may be called `text`, as in corpora. What has neither
    is a corpus with several sentences an act: its references are checked, one by one.

    Raises:
        MetricError: the file cannot be read, or a line is not of that form; the message names file and line.
    """
    form, lines = begun(line for line in read_lines(path) if line[1].strip())
    if form == TABLE:
        for row in read_rows(lines, shown(path)):
            where = f"{shown(path)}, line {row.line}"
            turn = read_turn(row.act, where)
            texts = row.references if row.hypothesis is None else (row.hypothesis,)
            if turn is None or texts is None:
                raise MetricError(f"{shown(path)}: a table to check has columns of acts and of sentences: {NAMES}")
            yield from json_lines.each(turn, texts, where)
        return
    for number, line in lines:
        yield from json_lines.checked(line, f"{shown(path)}, line {number}")


def read_parallel(hypotheses: str | Path, references: Sequence[str | Path]) -> Iterator[TextPair]:
    """Yield the pairs of plain text files with one segment per line.

    A blank line in a file of references means that the segment has no reference in it.

    Raises:
        MetricError: a file cannot be read, a stream begins as JSON does, or the files differ in length.
    """
    paths = [hypotheses, *references]
    if paths.count("-") > 1:
        raise MetricError("standard input (-) can be only one of the files")
    for rows in zip_longest(*map(_plain, paths)):
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
        MetricError: a text, a set or a mapping instead of a sequence, sequences of different lengths, an item of the
            wrong type, or an act that cannot be read; the message has the item's index.
    """
    given = {"hypotheses": hypotheses, "references": references, **({} if acts is None else {"acts": acts})}
    for name, values in given.items():
        # Of a mapping the keys would be scored, and a set has no order in which to pair its items.
        if isinstance(values, str | Mapping | Set) or not isinstance(values, Collection):
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
        if isinstance(own, Mapping) or not isinstance(own, Collection) or not all(isinstance(t, str) for t in own):
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


def _plain(path: str | Path) -> Iterator[tuple[int, str]]:
    """Yield the lines of plain text; a stream, whose format has not been seen before, must not be JSON.

    Raises:
        MetricError: it is.
    """
    form, lines = begun(read_lines(path))
    if form in (LINES, JSON):
        raise MetricError(f"{shown(path)} is {form}, not plain text; give it as a file")
    yield from lines


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
