"""Slot error rate (Wen et al. 2015a, section 5.1) as a metric, and as a report by act and by slot.

SER = (missing + redundant) / required, summed over the corpus. Slots are found in sentences by a checker that the
caller supplies (`dactnlg.text.slots.SlotChecker`), so that this file does not depend on corpora.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from dactnlg.acts import Turn
from dactnlg.metrics.base import Array, Metric, Segment, divide


class Report(Protocol):
    """What a checker finds; the entries of `missing` and `extra` are slots, `food` or `food=thai`."""

    @property
    def required(self) -> int:
        """How many slots could be checked."""

    @property
    def missing(self) -> Sequence[str]:
        """Slots that the sentence leaves out."""

    @property
    def extra(self) -> Sequence[str]:
        """Slots that occur too often or are not in the act."""


class Checker(Protocol):
    """Checks the slots of a turn in a sentence."""

    def check(self, turn: Turn, sentence: str) -> Report:
        """Return the report of one sentence."""


class SlotErrorRate(Metric):
    """SER over segments whose turn is known; S = 3: required, missing, redundant.

    Sentences are checked as given, not as normalised by the preset: lower-casing and respacing lose values.
    """

    names = ("SER",)

    def __init__(self, checker: Checker, label: str = "") -> None:
        self._checker = checker
        self.settings = {"cues": label} if label else {}
        self._turns = self._required = 0

    def statistics(self, segments: Sequence[Segment]) -> Array:
        """Return the counts of each segment, (N, 3); zeros for one without a turn."""
        rows = np.zeros((len(segments), 3))
        for row, segment in zip(rows, segments, strict=True):
            if segment.turn is not None:
                report = self._checker.check(segment.turn, segment.text)
                row[:] = [report.required, len(report.missing), len(report.extra)]
                self._turns += 1
                self._required += report.required
        return rows

    def warnings(self) -> list[str]:
        """Say why the rate is undefined."""
        if not self._turns:
            return ["SER is undefined: no segment has an act"]
        return [] if self._required else ["SER is undefined: no act has a slot whose value could be looked for"]

    def score(self, sums: Array) -> Array:
        """Return the rate, (..., 3) -> (..., 1); NaN where nothing was required."""
        return combine(sums)


def combine(sums: Array) -> Array:
    """Return the rate of summed counts, (..., 3) -> (..., 1); see `SlotErrorRate.score`."""
    return divide(sums[..., 1:2] + sums[..., 2:3], sums[..., :1])


@dataclass(slots=True)
class Count:
    """Sums for one act or one slot.

    Attributes:
        required: slots that could be checked.
        missing: required slots that the sentence leaves out.
        wrong: missing slots for which the sentence has another value instead.
        extra: slots that occur too often or are not in the act.
        sentences: how many sentences have a fault.
    """

    required: int = 0
    missing: int = 0
    wrong: int = 0
    extra: int = 0
    sentences: int = 0

    @property
    def rate(self) -> float | None:
        """The slot error rate; None if nothing was required."""
        return (self.missing + self.extra) / self.required if self.required else None


@dataclass(slots=True)
class Breakdown:
    """Slot errors by act (`offer&inform` for a turn of two) and by slot."""

    total: Count = field(default_factory=Count)
    acts: dict[str, Count] = field(default_factory=dict)
    slots: dict[str, Count] = field(default_factory=dict)


def breakdown(
    turns: Iterable[Turn],
    reports: Iterable[Report],
    required: Iterable[Sequence[str]],
    wrong: Iterable[Collection[str]],
) -> Breakdown:
    """Return the slot errors of a corpus by act and by slot.

    Args:
        turns: the turn of each sentence.
        reports: what a checker found.
        required: the slots that were checked.
        wrong: the missing slots for which there is another value instead.
    """
    found = Breakdown()
    for turn, report, checked, replaced in zip(turns, reports, required, wrong, strict=True):
        act = found.acts.setdefault("&".join(a.act_type for a in turn), Count())
        for count in (found.total, act):
            _add(count, report.required, len(report.missing), len(replaced), len(report.extra))
        by_slot = [Counter(_names(names)) for names in (checked, report.missing, replaced, report.extra)]
        for name in dict.fromkeys(name for names in by_slot for name in names):
            _add(found.slots.setdefault(name, Count()), *(names[name] for names in by_slot))
    return found


def _add(count: Count, required: int, missing: int, wrong: int, extra: int) -> None:
    count.required += required
    count.missing += missing
    count.wrong += wrong
    count.extra += extra
    count.sentences += bool(missing or extra)


def _names(entries: Iterable[str]) -> list[str]:
    return [entry.split("=", 1)[0] for entry in entries]
