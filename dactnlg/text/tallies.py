"""Tallies: how many slots a sentence should express, and which of them are at fault."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Tally:
    """Required slots and the faults found, one entry per fault (`food=thai`).

    Attributes:
        required: the number of slots checked.
        missing: slots that are not expressed.
        extra: slots expressed too often or not asked for.
    """

    required: int = 0
    missing: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()

    @property
    def errors(self) -> int:
        """The number of missing and redundant slots; two redundant copies count twice."""
        return len(self.missing) + len(self.extra)


@dataclass(frozen=True, slots=True)
class SlotReport:
    """The slots of one sentence.

    Attributes:
        values: delexicalisable slots.
        cues: special values that the data card's cues can check.
        unsaid: further slots that should be expressed and are not: lost questions.
    """

    values: Tally
    cues: Tally = Tally()
    unsaid: tuple[str, ...] = ()

    @classmethod
    def together(cls, reports: Sequence[SlotReport]) -> SlotReport:
        """Return the report of a text that consists of several reported ones."""
        values, cues = (_sum([getattr(each, name) for each in reports]) for name in ("values", "cues"))
        return cls(values, cues, tuple(name for each in reports for name in each.unsaid))

    @property
    def missing(self) -> tuple[str, ...]:
        """Slots that should be expressed and are not."""
        return self.values.missing + self.cues.missing + self.unsaid

    @property
    def extra(self) -> tuple[str, ...]:
        """Slots expressed too often, or not asked for."""
        return self.values.extra + self.cues.extra

    @property
    def required(self) -> int:
        """The number of slots that could be checked."""
        return self.values.required + self.cues.required + len(self.unsaid)

    @property
    def ok(self) -> bool:
        """Whether nothing is missing and nothing is extra."""
        return not self.missing and not self.extra


def _sum(tallies: Sequence[Tally]) -> Tally:
    missing, extra = ([name for each in tallies for name in getattr(each, kind)] for kind in ("missing", "extra"))
    return Tally(sum(each.required for each in tallies), tuple(missing), tuple(extra))
