"""Reading what is to be scored: JSON Lines, plain text, tables, GEM's JSON, or sequences in Python."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from itertools import zip_longest
from pathlib import Path

from dactnlg._utils.reading import parse_json, short
from dactnlg.acts import DialogueAct, Turn
from dactnlg.errors import MetricError
from dactnlg.evaluation.files import FORMS, read_whole
from dactnlg.evaluation.lines import LINES, PLAIN, TextPair, read_lines, read_turn, seen_format, shown

__all__ = ["TextPair", "count", "make_pairs", "read_checked", "read_files", "read_input", "read_pairs"]
__all__ += ["read_parallel", "read_sentences"]


def read_input(
    jsonl: str | Path | None = None,
    hypotheses: str | Path | None = None,
    references: Sequence[str | Path] = (),
    files: Sequence[str | Path] = (),
    task: str | None = None,
) -> Iterator[TextPair]:
    """Yield the pairs of one file that holds hypotheses and references, or of a file of each.

    Args:
        jsonl: the one file: JSON Lines, a table or GEM's JSON.
        hypotheses: a file of hypotheses: plain text, a table, GEM's JSON.
        references: the files of references to it.
        files: further files of references; without any of the others, files as `read_files` takes them.
        task: the task of a GEM file of several.

    Raises:
        MetricError: neither or both kinds of input were given; and as `read_files`.
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
    """Yield the pairs of files whose format is seen from how they begin: hypotheses first, references behind them.

    Args:
        paths: one file that holds both (JSON Lines, a table, GEM's JSON), or hypotheses and files of references; `-`
            is standard input, as JSON Lines where it is the only one, else as plain text.
        task: the task of a GEM file of several.

    Raises:
        MetricError: a file cannot be read, is of another format than its place asks for, or they do not fit together.
    """
    if len(paths) == 1 and (paths[0] == "-" or not Path(paths[0]).is_file() or seen_format(paths[0]) == LINES):
        return read_pairs(paths[0])
    if len(paths) > 1 and all(seen_format(path) == PLAIN for path in paths) and not _grouped(paths):
        return read_parallel(paths[0], paths[1:])
    return read_whole(paths, task)


def read_pairs(path: str | Path) -> Iterator[TextPair]:
    """Yield the pairs of a JSON Lines file, `-` for standard input; blank lines are passed over.

    A line is `{"hypothesis": text, "references": [text, ...], "act": act}`; the act may be left out, and may be a
    string in any notation or DSTC2's JSON.

    Raises:
        MetricError: the file cannot be read, or a line is not of that form; the message names file and line.
    """
    for number, line in read_lines(path):
        if line.strip():
            yield _pair(line, f"{shown(path)}, line {number}")


def read_checked(path: str | Path) -> Iterator[tuple[Turn, str]]:
    """Yield the turns and hypotheses of a JSON Lines file.

    As `read_pairs`, but without references; and a sentence may be the `text`, as corpora have it.

    Raises:
        MetricError: the file cannot be read, or a line is not of that form; the message names file and line.
    """
    for number, line in read_lines(path):
        if line.strip():
            where = f"{shown(path)}, line {number}"
            pair = _pair(line, where, referenced=False)
            if pair.turn is None:
                raise MetricError(f"{where}: no 'act' to check the sentence against")
            yield pair.turn, pair.hypothesis


def read_parallel(hypotheses: str | Path, references: Sequence[str | Path]) -> Iterator[TextPair]:
    """Yield the pairs of plain text files, one segment a line in each.

    A blank line in a reference file is a reference that this segment does not have.

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
    """Yield the lines of a plain text file, blank ones left out.

    Raises:
        MetricError: the file cannot be read, or a line is not UTF-8.
    """
    return (text for _, text in read_lines(path) if text.strip())


def make_pairs(
    hypotheses: Sequence[str],
    references: Sequence[str | Sequence[str]],
    acts: Sequence[str | DialogueAct | Turn | None] | None = None,
) -> list[TextPair]:
    """Return the pairs of N hypotheses, their references (one text or several each) and, where known, their acts.

    Raises:
        MetricError: one text in the place of a sequence, sequences of different lengths, an item of another type, or an
            act that cannot be read; the message has the item's index.
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
    """Return the number of lines of a file, for a progress bar; None for standard input and for what is no file."""
    if path in (None, "-") or not Path(str(path)).is_file():
        return None
    with Path(str(path)).open("rb") as file:
        return sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b""))


def _grouped(paths: Sequence[str | Path]) -> bool:
    """Whether a file of references has not a line a segment, but a group of lines, with blank lines between them."""
    # Lines of a stream cannot be counted before they are read.
    if not all(Path(path).is_file() for path in paths):
        return False
    size = sum(1 for _ in read_lines(paths[0]))
    return any(
        sum(1 for _ in read_lines(path)) != size and any(not text.strip() for _, text in read_lines(path))
        for path in paths[1:]
    )


def _unequal(paths: Sequence[str | Path]) -> str:
    """Say how many lines each file has; standard input has been read and cannot be counted again."""
    # Nor can a pipe.
    counts = [f"{path} has {sum(1 for _ in read_lines(path))} lines" for path in paths if Path(path).is_file()]
    return ": ".join(["the files must have one line a segment each", *filter(None, [", ".join(counts)])])


def _pair(line: str, where: str, *, referenced: bool = True) -> TextPair:
    form = '{"hypothesis": text, "references": [text, ...]}, with "act" if it is known'
    if not referenced:
        form = '{"act": act, "hypothesis": text}, or "text" for "hypothesis"'
    try:
        row = parse_json(line)
    except json.JSONDecodeError as error:
        if line.lstrip()[:1] in ("{", "["):
            hint = ""
        elif referenced:
            hint = f"; plain text needs its references beside it: {FORMS}"
        else:
            hint = f"; expected {form}, one a line"
        raise MetricError(f"{where}: not JSON ({error.msg}){hint}") from None
    if not isinstance(row, dict):
        raise MetricError(f"{where}: expected {form}")
    said = "text" if not referenced and "hypothesis" not in row and "text" in row else "hypothesis"
    unknown = sorted(set(row) - {said, "references", "act"})
    missing = [key for key in (said, "references") if key not in row and (referenced or key == said)]
    if missing:
        hint = f" (it has {', '.join(unknown):.200})" if unknown else ""
        raise MetricError(f"{where}: no '{missing[0]}'{hint}; expected {form}")
    hypothesis, references = row[said], row.get("references", [])
    if isinstance(references, str):
        references = [references]
    if not isinstance(hypothesis, str):
        raise MetricError(f"{where}: '{said}' must be text, not {short(hypothesis)}")
    if not isinstance(references, list) or not all(isinstance(text, str) for text in references):
        raise MetricError(f"{where}: 'references' must be a list of texts, not {short(references)}")
    return TextPair(hypothesis, tuple(references), read_turn(row.get("act"), where))
