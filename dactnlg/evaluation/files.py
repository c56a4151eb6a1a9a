"""Reads files of hypotheses and references that must be read whole: tables, GEM's JSON, groups of lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dactnlg._utils.reading import short
from dactnlg.acts import Turn
from dactnlg.errors import MetricError
from dactnlg.evaluation import gem, json_lines
from dactnlg.evaluation.columns import NAMES, SentenceRow, read_rows
from dactnlg.evaluation.lines import (
    FORMS,
    JSON,
    LINES,
    PLAIN,
    TextPair,
    read_document,
    read_lines,
    read_turn,
    seen_format,
    shown,
)


@dataclass(slots=True)
class _Outputs:
    """The hypotheses of a file and what else it contains for them; None for what it does not contain."""

    hypotheses: list[str]
    references: list[tuple[str, ...]] | None = None
    turns: list[Turn | None] | None = None
    keys: list[str] | None = None
    task: str | None = None


def read_whole(paths: Sequence[str | Path], task: str | None = None) -> Iterator[TextPair]:
    """Yield the pairs of one file of both, or of hypotheses and files of references; see `pairs.read_files`.

    Raises:
        MetricError: a file cannot be read or is of the wrong format, or the files do not fit together.
    """
    path, others = paths[0], paths[1:]
    documents = {other: read_document(other) for other in paths if seen_format(other) == JSON}
    if task is None:
        task = next((found for other in others if (found := gem.own_task(documents.get(other)))), None)
    outputs = _outputs(path, documents.get(path), task, alone=not others)
    if not others and outputs.references is None:
        raise MetricError(f"{path} has hypotheses and no references; give these too: {FORMS}")
    for other in others:
        more = _references(other, documents.get(other), outputs, task)
        # At once, so that the keys of a further file reorder these as well.
        before = outputs.references or [()] * len(more)
        outputs.references = [own + further for own, further in zip(before, more, strict=True)]
    turns = outputs.turns or [None] * len(outputs.hypotheses)
    for hypothesis, turn, texts in zip(outputs.hypotheses, turns, outputs.references or (), strict=True):
        yield TextPair(hypothesis, tuple(text for text in texts if text.strip()), turn)


def check_task(task: str, paths: Sequence[str | Path]) -> None:
    """Refuse a task that none of the files to be scored has.

    Raises:
        MetricError: the message lists the tasks that they have, if any; or a file cannot be read.
    """
    documents = [read_document(path) for path in paths if seen_format(path) == JSON]
    names = [name for document in documents for name in (*gem.task_names(document), gem.own_task(document)) if name]
    # A file that is not there is a mistake of its own, named when it is read.
    absent = any(path != "-" and not Path(path).exists() for path in paths)
    if not absent and task.replace("-", "_") not in [name.replace("-", "_") for name in names]:
        tasks = f"choose with --task: {', '.join(dict.fromkeys(names)):.300}" if names else "only GEM's JSON has tasks"
        raise MetricError(f"no file has the task '{task:.60}'; {tasks}")


def groups(path: str | Path) -> list[tuple[str, ...]]:
    """Return the lines of a file in groups separated by blank lines, the e2e-metrics format of several references.

    Two successive blank lines enclose an empty group, except at the end of the file.
    """
    found: list[list[str]] = [[]]
    for _, text in read_lines(path):
        if text.strip():
            found[-1].append(text)
        else:
            found.append([])
    while found and not found[-1]:
        found.pop()
    return [tuple(group) for group in found]


def _outputs(path: str | Path, document: Any, task: str | None, *, alone: bool) -> _Outputs:
    """Return the contents of a file of hypotheses; `alone` is whether it is the only file, for messages."""
    form = seen_format(path)
    if form == PLAIN:
        texts = [text for _, text in read_lines(path)]
        if alone and texts:
            raise MetricError(f"{shown(path)} is plain text; its references are expected beside it: {FORMS}")
        return _Outputs(texts, [] if alone else None)
    if form == LINES:
        lines = [json_lines.output(line, f"{path}, line {n}") for n, line in read_lines(path) if line.strip()]
        if any(line.references for line in lines):
            raise MetricError(f"{path} is JSON Lines and holds its references; expected it alone: dactnlg score {path}")
        acts = [line.turn for line in lines]
        return _Outputs([line.hypothesis for line in lines], None, acts if any(acts) else None)
    if form == JSON:
        names = gem.task_names(document)
        values = gem.read_values(document, str(path), task if task in names or len(names) != 1 else None)
        if values.hypotheses is None:
            raise MetricError(f"{path} is GEM's JSON without outputs; expected {gem.FORM}")
        turns = values.acts and [read_turn(act, f"{path}, values[{n}]") for n, act in enumerate(values.acts)]
        return _Outputs(values.hypotheses, values.references, turns or None, values.keys, task)
    rows = read_rows(read_lines(path), shown(path))
    if rows[0].hypothesis is None:
        raise MetricError(f"{path} is a table without a column of hypotheses; expected columns: {NAMES}")
    references = None if rows[0].references is None else [row.references or () for row in rows]
    return _Outputs([row.hypothesis or "" for row in rows], references, _turns(rows, path))


def _references(path: str | Path, document: Any, outputs: _Outputs, task: str | None) -> list[tuple[str, ...]]:
    """Return the references in a file, by hypothesis; the file's acts are added to the outputs."""
    form, size = seen_format(path), len(outputs.hypotheses)
    if form == PLAIN:
        lines: list[tuple[str, ...]] = [(text,) for _, text in read_lines(path)]
        return _fitting(path, size, {"lines": lines, "groups between blank lines": groups(path)})
    if form == LINES:
        raise MetricError(f"{path} is JSON Lines; expected references as plain text, as a table or as GEM's JSON")
    if form == JSON:
        return _gem_references(path, document, outputs, task)
    rows = read_rows(read_lines(path), shown(path))
    if rows[0].references is None:
        raise MetricError(f"{path} is a table without a column of references; expected columns: {NAMES}")
    turns = _turns(rows, path)
    by_row = [row.references or () for row in rows]
    if turns is None:
        return _fitting(path, size, {"rows": by_row})
    # One row per reference, as in E2E's files: rows of the same act belong together.
    by_act: dict[Turn | None, list[str]] = {}
    for turn, row in zip(turns, rows, strict=True):
        by_act.setdefault(turn, []).extend(row.references or ())
    if outputs.turns is not None:
        missing = [turn for turn in outputs.turns if turn not in by_act]
        if missing:
            raise MetricError(f"{path} has no reference for the act {short(str(missing[0]))}")
        return [tuple(by_act[turn]) for turn in outputs.turns]
    found = _fitting(path, size, {"rows": by_row, "different acts": [tuple(texts) for texts in by_act.values()]})
    outputs.turns = turns if len(rows) == size else list(by_act)
    return found


def _gem_references(path: str | Path, document: Any, outputs: _Outputs, task: str | None) -> list[tuple[str, ...]]:
    names = gem.task_names(document)
    chosen = task if task in names or len(names) != 1 else None
    values = gem.read_values(document, str(path), chosen, texts_are="references")
    if values.references is None:
        raise MetricError(f"{path} is GEM's JSON without references ('target'); expected {gem.FORM}")
    if values.keys is not None and outputs.keys is not None:
        _reorder(outputs, values.keys, path)
    found = _fitting(path, len(outputs.hypotheses), {"values": values.references})
    if outputs.turns is None and values.acts is not None:
        outputs.turns = [read_turn(act, f"{path}, values[{n}]") for n, act in enumerate(values.acts)]
    return found


def _reorder(outputs: _Outputs, keys: list[str], path: str | Path) -> None:
    """Reorder the outputs like the references, by GEM's keys; outputs without references are left out."""
    places = {key: place for place, key in enumerate(outputs.keys or ())}
    if len(places) < len(outputs.hypotheses):
        raise MetricError(f"{path} cannot be matched by key: two outputs have the same key")
    missing = next((key for key in keys if key not in places), None)
    if missing is not None:
        raise MetricError(f"{path}: there is no output with the key '{missing:.60}'")
    order = [places[key] for key in keys]
    outputs.hypotheses = [outputs.hypotheses[place] for place in order]
    outputs.turns = outputs.turns and [outputs.turns[place] for place in order]
    outputs.references = outputs.references and [outputs.references[place] for place in order]
    outputs.keys = keys


def _fitting(path: str | Path, size: int, readings: dict[str, list[tuple[str, ...]]]) -> list[tuple[str, ...]]:
    """Return the first reading of a file that has as many segments as there are hypotheses."""
    for found in readings.values():
        if len(found) == size:
            return found
    counts = ", ".join(f"{len(found)} {what}" for what, found in readings.items())
    raise MetricError(f"{shown(path)} does not fit {size} hypotheses: it has {counts}")


def _turns(rows: Sequence[SentenceRow], path: str | Path) -> list[Turn | None] | None:
    if rows[0].act is None:
        return None
    return [read_turn(row.act, f"{shown(path)}, line {row.line}") for row in rows]
