"""Reading what is to be scored: JSON Lines, or plain text files with one segment a line."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from itertools import zip_longest
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from dactnlg._utils.reading import LONGEST_LINE, parse_json, short
from dactnlg.acts import DialogueAct, Turn, parse, turn_from_json
from dactnlg.errors import ActError, MetricError


class TextPair(NamedTuple):
    """One hypothesis, its references (any number, none included), and its turn where the input gives the act."""

    hypothesis: str
    references: tuple[str, ...]
    turn: Turn | None = None


def read_input(
    jsonl: str | Path | None = None,
    hypotheses: str | Path | None = None,
    references: Sequence[str | Path] = (),
) -> Iterator[TextPair]:
    """Yield the pairs of one JSON Lines file, or of plain text files.

    Raises:
        MetricError: neither or both kinds of input were given; and as `read_pairs` and `read_parallel`.
    """
    if jsonl is not None and (hypotheses is not None or references):
        raise MetricError("give --input, or --hypotheses with --references, not both")
    if jsonl is not None:
        return read_pairs(jsonl)
    if hypotheses is None:
        raise MetricError("nothing to score: give --input PAIRS.jsonl, or --hypotheses FILE --references FILE")
    return read_parallel(hypotheses, references)


def read_pairs(path: str | Path) -> Iterator[TextPair]:
    """Yield the pairs of a JSON Lines file, `-` for standard input; blank lines are passed over.

    A line is `{"hypothesis": text, "references": [text, ...], "act": act}`; the act may be left out, and may be a
    string in any notation or DSTC2's JSON.

    Raises:
        MetricError: the file cannot be read, or a line is not of that form; the message names file and line.
    """
    for number, line in _lines(path):
        if line.strip():
            yield _pair(line, f"{_shown(path)}, line {number}")


def read_checked(path: str | Path) -> Iterator[tuple[Turn, str]]:
    """Yield the turns and hypotheses of a JSON Lines file; as `read_pairs`, but the act alone is required.

    Raises:
        MetricError: the file cannot be read, or a line is not of that form; the message names file and line.
    """
    for number, line in _lines(path):
        if line.strip():
            where = f"{_shown(path)}, line {number}"
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
    if not references:
        raise MetricError("plain-text hypotheses need at least one file of references")
    paths = [hypotheses, *references]
    if paths.count("-") > 1:
        raise MetricError("standard input (-) can be only one of the files")
    for rows in zip_longest(*map(_lines, paths)):
        if None in rows:
            raise MetricError(_unequal(paths))
        texts = [text for _, text in rows]
        yield TextPair(texts[0], tuple(text for text in texts[1:] if text.strip()))


def read_sentences(path: str | Path) -> Iterator[str]:
    """Yield the lines of a plain text file, blank ones left out.

    Raises:
        MetricError: the file cannot be read, or a line is not UTF-8.
    """
    return (text for _, text in _lines(path) if text.strip())


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
    return _turn(act, f"acts[{index}]")


def count(path: str | Path | None) -> int | None:
    """Return the number of lines of a file, for a progress bar; None for standard input and for what is no file."""
    if path in (None, "-") or not Path(str(path)).is_file():
        return None
    with Path(str(path)).open("rb") as file:
        return sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b""))


def _unequal(paths: Sequence[str | Path]) -> str:
    """Say how many lines each file has; standard input has been read and cannot be counted again."""
    # Nor can a pipe.
    counts = [f"{path} has {sum(1 for _ in _lines(path))} lines" for path in paths if Path(path).is_file()]
    return ": ".join(["the files must have one line a segment each", *filter(None, [", ".join(counts)])])


def _pair(line: str, where: str, *, referenced: bool = True) -> TextPair:
    try:
        row = parse_json(line)
    except json.JSONDecodeError as error:
        raise MetricError(f"{where}: not JSON ({error.msg})") from None
    form = '{"hypothesis": text, "references": [text, ...]}, with "act" if it is known'
    if not isinstance(row, dict):
        raise MetricError(f"{where}: expected {form}")
    unknown = sorted(set(row) - {"hypothesis", "references", "act"})
    missing = [key for key in ("hypothesis", "references") if key not in row and (referenced or key == "hypothesis")]
    if missing:
        hint = f" (it has {', '.join(unknown):.200})" if unknown else ""
        raise MetricError(f"{where}: no '{missing[0]}'{hint}; expected {form}")
    hypothesis, references = row["hypothesis"], row.get("references", [])
    if isinstance(references, str):
        references = [references]
    if not isinstance(hypothesis, str):
        raise MetricError(f"{where}: 'hypothesis' must be text, not {short(hypothesis)}")
    if not isinstance(references, list) or not all(isinstance(text, str) for text in references):
        raise MetricError(f"{where}: 'references' must be a list of texts, not {short(references)}")
    return TextPair(hypothesis, tuple(references), _turn(row.get("act"), where))


def _turn(act: Any, where: str) -> Turn | None:
    if act is None:
        return None
    try:
        return _parse(act) if isinstance(act, str) else turn_from_json(act)
    except ActError as error:
        raise MetricError(f"{where}: {error}") from None


# Systems say the same acts over and over.
_parse = lru_cache(maxsize=1 << 14)(parse)


def _lines(path: str | Path) -> Iterator[tuple[int, str]]:
    """Yield (line number, text) of a UTF-8 file; only the line feed ends a line."""
    with contextlib.ExitStack() as stack:
        try:
            stream: BinaryIO = sys.stdin.buffer if path == "-" else stack.enter_context(Path(path).open("rb"))
            for number, raw in enumerate(iter(lambda: stream.readline(LONGEST_LINE + 1), b""), start=1):
                if len(raw) > LONGEST_LINE:
                    raise MetricError(f"{_shown(path)}, line {number} has more than {LONGEST_LINE:,} bytes")
                yield number, _decode(raw, path, number)
        except OSError as error:
            raise MetricError(f"cannot read {_shown(path)}: {error.strerror or error}") from None


def _decode(raw: bytes, path: str | Path, number: int) -> str:
    try:
        text = raw.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError as error:
        raise MetricError(f"{_shown(path)}, line {number}: not UTF-8 (byte {error.start + 1} of the line)") from None
    return text.removesuffix("\n").removesuffix("\r")


def _shown(path: str | Path) -> str:
    return "standard input" if path == "-" else str(path)
