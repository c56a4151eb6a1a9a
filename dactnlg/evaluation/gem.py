"""GEM's JSON: submissions of outputs and files of references, as GEM-metrics reads them (Gehrmann et al. 2021)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TextIO

from dactnlg._utils.reading import short
from dactnlg.errors import MetricError

_GENERATED, _TARGETS, _ACTS = ("generated",), ("references", "target"), ("act", "meaning_representation", "mr")
FORM = (
    '{"submission_name": ..., "tasks": {NAME: {"values": [text, ...], "keys": [...]}}}, or {"values": [...]} of texts'
    ' or of objects with "generated", "target" and "gem_id"'
)
"""The accepted forms, for messages."""


class Values(NamedTuple):
    """The contents of a file, by segment; None for what it does not contain.

    Attributes:
        hypotheses: the outputs, (N,).
        references: the references of each segment, (N,).
        acts: the act of each segment as written, (N,).
        keys: GEM's identifier of each segment, (N,).
    """

    hypotheses: list[str] | None
    references: list[tuple[str, ...]] | None
    acts: list[Any] | None
    keys: list[str] | None


def task_names(document: Any) -> list[str]:
    """Return the tasks of a submission, or of a file with references of several data sets; none for other documents."""
    return list(_tasks(document))


def own_task(document: Any) -> str | None:
    """Return the task named by a file of a single task, if any."""
    found = document.get("task") if isinstance(document, dict) else None
    return found if isinstance(found, str) else None


def read_values(document: Any, where: str, task: str | None = None, *, texts_are: str = "hypotheses") -> Values:
    """Return the values of one task.

    Args:
        document: the data of the file.
        where: what messages call the file.
        task: the task, if there are several.
        texts_are: whether values that are plain texts are `hypotheses` or `references`.

    Raises:
        MetricError: the document is not of this form, or it has several tasks and none was named.
    """
    tasks = _tasks(document)
    if tasks:
        # GEM-metrics reads dashes as underscores, "a common error".
        alike = {name.replace("-", "_"): name for name in tasks}
        name = next(iter(tasks)) if task is None and len(tasks) == 1 else alike.get((task or "").replace("-", "_"))
        if name is None:
            asked = f"no task '{task:.60}'" if task else "several tasks"
            raise MetricError(f"{where}: {asked}; choose with --task: {', '.join(tasks):.300}")
        document, where = tasks[name], f"{where}, task '{name}'"
    rows = document.get("values") if isinstance(document, dict) else document
    if not isinstance(rows, list):
        raise MetricError(f"{where}: JSON, but not GEM's; expected {FORM}")
    if not rows:
        raise MetricError(f"{where}: 'values' is an empty list")
    keys = document.get("keys") if isinstance(document, dict) else None
    if keys is not None and (not isinstance(keys, list) or len(keys) != len(rows)):
        raise MetricError(f"{where}: 'keys' must be a list of as many items as 'values'")
    given = [row if isinstance(row, dict) else {"target" if texts_are == "references" else "generated": row}
             for row in rows]  # fmt: skip
    hypotheses = _column(given, _GENERATED, where)
    references = _column(given, _TARGETS, where)
    found = _column(given, ("gem_id",), where) if keys is None else keys
    return Values(
        None if hypotheses is None else [_text(value, where, place) for place, value in enumerate(hypotheses)],
        None if references is None else [_texts(value, where, place) for place, value in enumerate(references)],
        _column(given, _ACTS, where),
        None if found is None else list(map(str, found)),
    )


def write_submission(
    target: TextIO, name: str, task: str, hypotheses: Iterable[str], keys: Sequence[str] | None = None
) -> None:
    """Write outputs as a GEM submission.

    Args:
        target: the file to write to.
        name: the system's name.
        task: the data set and split, such as `e2e_nlg_test`.
        hypotheses: the outputs, in the data set's order.
        keys: GEM's identifiers of the segments, if known.
    """
    entry = {"values": list(hypotheses), **({} if keys is None else {"keys": list(keys)})}
    json.dump({"submission_name": name, "tasks": {task: entry}}, target, ensure_ascii=False, indent=1)
    target.write("\n")


def _tasks(document: Any) -> Mapping[str, Any]:
    if not isinstance(document, dict):
        return {}
    found = document.get("tasks")
    if isinstance(found, dict):
        return found
    whole = document and all(isinstance(part, dict) and "values" in part for part in document.values())
    return document if whole else {}


def _column(rows: Sequence[Mapping[str, Any]], names: Sequence[str], where: str) -> list[Any] | None:
    """Return the values under the first of these names that the first row has; None if it has none of them."""
    name = next((name for name in names if rows and name in rows[0]), None)
    if name is None:
        return None
    for place, row in enumerate(rows):
        if name not in row:
            raise MetricError(f"{where}, values[{place}]: no '{name}', which values[0] has")
    return [row[name] for row in rows]


def _text(value: Any, where: str, place: int) -> str:
    if not isinstance(value, str):
        raise MetricError(f"{where}, values[{place}]: expected a text, not {short(value)}")
    return value


def _texts(value: Any, where: str, place: int) -> tuple[str, ...]:
    return tuple(_text(text, where, place) for text in (value if isinstance(value, list) else [value]))
