"""Reports: the faults of a sentence with respect to its act, by kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any


@dataclass(frozen=True, slots=True)
class Findings:
    """The faults of a delexicalised sentence, apart from its ordinary values.

    Attributes:
        missing: special values and act types that it does not express.
        extra: special values that the turn does not have.
        contradicted: special value of the turn -> what the sentence says instead.
        misplaced: slot whose value is assigned to another slot -> that slot; value assigned to another thing -> that
            thing.
        questions: slots that it should ask for but does not.
        acts: act type that it does not express -> the one that it seems to express instead.
    """

    missing: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()
    contradicted: Mapping[str, str] = field(default_factory=dict)
    misplaced: Mapping[str, str] = field(default_factory=dict)
    questions: tuple[str, ...] = ()
    acts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FidelityReport:
    """How a sentence expresses its act.

    Attributes:
        missing: values, special values and act types that it does not express, nor anything else instead.
        extra: values and special values that the act does not have, and slots or kinds of special values that it lacks
            but words of the sentence indicate: `powerconsumption`, `dontcare`.
        contradicted: value of the act -> what the sentence says instead (`kidsallowed=no` -> `kidsallowed=yes`).
        misplaced: slot whose value is assigned to another slot -> that slot; if an act compares things, value assigned
            to another thing -> that thing (`price='699 dollars'` -> `name='satellite 4'`).
        questions: missing questions.
        acts: act type that it does not express -> the one that it seems to express instead.
        unchecked: special values without cues, questions and act types, of which the reader has seen too little to
            check them. They are not faults: `ok` refers only to what could be checked.
    """

    missing: tuple[str, ...]
    extra: tuple[str, ...]
    contradicted: Mapping[str, str]
    misplaced: Mapping[str, str]
    questions: tuple[str, ...]
    acts: Mapping[str, str]
    unchecked: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether no fault was found in what could be checked."""
        return not (self.missing or self.extra or self.contradicted or self.misplaced or self.questions or self.acts)

    def to_json(self) -> dict[str, Any]:
        """Return the fields of the command line's JSON output."""
        return {
            "slots_ok": self.ok,
            "missing": list(self.missing),
            "extra": list(self.extra),
            "contradicted": dict(self.contradicted),
            "misplaced": dict(self.misplaced),
            "questions": list(self.questions),
            "acts": dict(self.acts),
            "unchecked": list(self.unchecked),
        }


def together(reports: Sequence[FidelityReport]) -> FidelityReport:
    """Merge the reports on the parts of a text, one per act, into one report."""
    missing, extra, questions, unchecked = (
        tuple(chain.from_iterable(parts))
        for parts in zip(*((each.missing, each.extra, each.questions, each.unchecked) for each in reports), strict=True)
    )
    contradicted, misplaced, acts = (
        dict(chain.from_iterable(part.items() for part in parts))
        for parts in zip(*((each.contradicted, each.misplaced, each.acts) for each in reports), strict=True)
    )
    return FidelityReport(missing, extra, contradicted, misplaced, questions, acts, tuple(dict.fromkeys(unchecked)))
