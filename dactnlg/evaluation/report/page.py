"""A report as one self-contained HTML page: the values for the template `report.html.j2`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from dactnlg.evaluation.report import html
from dactnlg.evaluation.report.content import ActRow, Content
from dactnlg.evaluation.report.differences import marked
from dactnlg.evaluation.report.faults import named
from dactnlg.evaluation.scores import LOWER_IS_BETTER, Score
from dactnlg.metrics.slot_error import Count

ROWS = 60
"""Acts and slots shown at first; rarer ones are collapsed."""
FAULTY = 50
"""The most sentences with slot faults that are listed."""
LESSER = ("BLEU-1", "BLEU-2", "BLEU-3")
"""Scores that are not shown for single sentences."""
Bounds = tuple[float, float] | None


class SlotRow(NamedTuple):
    """The slot errors of one slot or act, in the system's sentences and in the references."""

    name: str
    system: Count
    gold: Count


class Part(NamedTuple):
    """One kind of slot error: how many there are, its name, and its class in the style sheet."""

    number: int
    word: str
    style: str


def page(content: Content) -> str:
    """Return the report as HTML."""
    functions = (full_width, score_remarks, act_scale, rate_scale, slot_rows, kinds, summary, marked, named)
    values: dict[str, object] = {function.__name__: function for function in functions}
    values |= {"content": content, "ROWS": ROWS, "FAULTY": FAULTY, "LESSER": LESSER}
    return html.page(content.title, "report.html.j2", values)


def full_width(score: Score, bounds: Bounds) -> float:
    """Return the value at which a score's bar has full width: 1; 10 for CIDEr; 1.25 times values above 1."""
    if score.name == "CIDEr":
        return 10.0
    top: float = max([1.0, score.value or 0.0, *(bounds or ())])
    return top * 1.25 if top > 1 else top


def score_remarks(score: Score, top: float) -> list[str]:
    """Return remarks on how to read a score's bar."""
    remarks = ["lower is better"] if score.name in LOWER_IS_BETTER else []
    # Readers compare bars, most of which end at 1, so other scales are noted.
    return remarks + ([f"full width: {top:.4g}"] if top != 1 and score.value is not None else [])


def act_scale(rows: Sequence[ActRow]) -> float:
    """Return the value at which an act's bar has full width."""
    return max([1.0, *(row.value or 0.0 for row in rows)])


def rate_scale(system: Mapping[str, Count], gold: Mapping[str, Count]) -> float:
    """Return the rate at which a bar of slot errors has full width: the worst rate, since faults are rare."""
    return max([0.01, *(count.rate or 0.0 for counts in (system, gold) for count in counts.values())])


def slot_rows(system: Mapping[str, Count], gold: Mapping[str, Count]) -> list[SlotRow]:
    """Return the slot errors by name, highest rate first."""
    names = sorted(system, key=lambda name: (-(system[name].rate or 0.0), -system[name].required, name))
    return [SlotRow(name, system[name], gold.get(name, Count())) for name in names]


def kinds(count: Count) -> list[Part]:
    """Return the kinds of slot errors that occur."""
    parts = (
        Part(count.missing - count.wrong, "missing", "missing"),
        Part(count.wrong, "wrong value", "wrong"),
        Part(count.extra, "redundant", "extra"),
    )
    return [part for part in parts if part.number]


def summary(count: Count) -> str:
    """Return slot errors in words: how many of each kind, of how many slots."""
    if not count.required:
        return "no slot could be checked"
    words = {"wrong value": "with a wrong value"}
    parts = [f"{part.number:,} {words.get(part.word, part.word)}" for part in kinds(count)]
    return f"{', '.join(parts) or 'no fault'} of {count.required:,} required slots ({count.rate or 0.0:.2%})"
