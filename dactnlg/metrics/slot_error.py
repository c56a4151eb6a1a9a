"""Slot error rate (Wen et al. 2015a, section 5.1) as a metric, and as a report by act and by slot.

SER = (missing + redundant) / required, summed over the corpus. What a sentence says is found by a checker that the
caller brings (`dactnlg.slots.SlotChecker`), so that this file knows nothing of corpora.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from dactnlg.acts import Turn
from dactnlg.metrics.base import Array, Metric, Segment, divide


class Report(Protocol):
    """What a checker finds; an entry of `missing` and `extra` is a slot, `food` or `food=thai`."""

    @property
    def required(self) -> int:
        """How many slots could be checked."""

    @property
    def missing(self) -> Sequence[str]:
        """Slots not said."""

    @property
    def extra(self) -> Sequence[str]:
        """Slots said too often or never asked for."""


class Checker(Protocol):
    """Finds the slots of a turn in a sentence."""

    def check(self, turn: Turn, sentence: str) -> Report:
        """Return the report of one sentence."""


class SlotErrorRate(Metric):
    """SER over segments whose turn is known; S = 3: required, missing, redundant.

    The sentence is checked as it was given, not as the preset reads it: lower-casing and respacing lose values.
    """

    names = ("SER",)

    def __init__(self, checker: Checker, label: str = "") -> None:
        self._checker = checker
        self.settings = {"cues": label} if label else {}

    def statistics(self, segments: Sequence[Segment]) -> Array:
        """Return the counts of each segment, (N, 3); zeros without a turn."""
        rows = np.zeros((len(segments), 3))
        for row, segment in zip(rows, segments, strict=True):
            if segment.turn is not None:
                report = self._checker.check(segment.turn, segment.text)
                row[:] = [report.required, len(report.missing), len(report.extra)]
        return rows

    def score(self, sums: Array) -> Array:
        """Return the rate, (..., 3) -> (..., 1); NaN where nothing was required."""
        return divide(sums[..., 1:2] + sums[..., 2:3], sums[..., :1])


@dataclass(slots=True)
class Count:
    """Sums for one act or one slot; `sentences` is how many of them have a fault."""

    required: int = 0
    missing: int = 0
    extra: int = 0
    sentences: int = 0

    @property
    def rate(self) -> float | None:
        """The slot error rate, None where nothing was required."""
        return (self.missing + self.extra) / self.required if self.required else None


@dataclass(slots=True)
class Breakdown:
    """Slot errors by act (`offer&inform` for a turn of two) and by slot, and the sentences at fault.

    For a slot `required` counts the turns' slots of that name that have something to say, special values included.
    """

    total: Count = field(default_factory=Count)
    acts: dict[str, Count] = field(default_factory=dict)
    slots: dict[str, Count] = field(default_factory=dict)
    faults: list[tuple[int, Report]] = field(default_factory=list)


def breakdown(turns: Iterable[Turn], reports: Iterable[Report]) -> Breakdown:
    """Return the slot errors of a corpus by act and by slot; `faults` holds the index of each faulty sentence."""
    found = Breakdown()
    for index, (turn, report) in enumerate(zip(turns, reports, strict=True)):
        faulty = bool(report.missing or report.extra)
        act = found.acts.setdefault("&".join(a.act_type for a in turn), Count())
        for count in (found.total, act):
            count.required += report.required
            count.missing += len(report.missing)
            count.extra += len(report.extra)
            count.sentences += faulty
        if report.required:
            for _, slot in turn.slots():
                if slot.value is not None:
                    found.slots.setdefault(slot.name, Count()).required += 1
        missing, extra = _names(report.missing), _names(report.extra)
        for name in missing:
            found.slots.setdefault(name, Count()).missing += 1
        for name in extra:
            found.slots.setdefault(name, Count()).extra += 1
        for name in {*missing, *extra}:
            found.slots[name].sentences += 1
        if faulty:
            found.faults.append((index, report))
    return found


def _names(entries: Iterable[str]) -> list[str]:
    return [entry.split("=", 1)[0] for entry in entries]
