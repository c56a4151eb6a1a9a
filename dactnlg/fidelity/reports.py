"""Reports: what a sentence says wrong of its act, by the kinds of faults."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any


@dataclass(frozen=True, slots=True)
class Findings:
    """What a delexicalised sentence says wrong, its values aside.

    Attributes:
        missing: special values that it does not say.
        extra: special values that the turn does not have.
        contradicted: what the turn has -> what the sentence says instead.
        misplaced: slots whose value is said of another slot -> that slot; values that are said of another thing than
            theirs -> that thing.
        questions: slots that it should ask for and does not.
        acts: act types that it does not do -> the one that it seems to do instead.
    """

    missing: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()
    contradicted: Mapping[str, str] = field(default_factory=dict)
    misplaced: Mapping[str, str] = field(default_factory=dict)
    questions: tuple[str, ...] = ()
    acts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FidelityReport:
    """What a sentence says of what its act says.

    Attributes:
        missing: values and special values that it does not say, nor anything else in their place.
        extra: values said too often, special values that the act does not have, and slots, or kinds of special values,
            that it does not have either and that words name: `powerconsumption`, `dontcare`.
        contradicted: what the act has -> what the sentence says instead (`kidsallowed=no` -> `kidsallowed=yes`).
        misplaced: slots whose value is said of another slot -> that slot; where an act compares things, values that are
            said of another one -> that thing (`price='699 dollars'` -> `name='satellite 4'`).
        questions: questions that are lost.
        acts: act types that it does not do -> the one that it seems to do instead.
        unchecked: what nothing could show: special values without cues, and questions, of which the reader has seen too
            little. They are no faults: `ok` is about what could be checked.
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
        """Whether nothing that could be checked was found at fault."""
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
    """Return what the sentences of a text say of an act each as what it says of all of them."""
    missing, extra, questions, unchecked = (
        tuple(chain.from_iterable(parts))
        for parts in zip(*((each.missing, each.extra, each.questions, each.unchecked) for each in reports), strict=True)
    )
    contradicted, misplaced, acts = (
        dict(chain.from_iterable(part.items() for part in parts))
        for parts in zip(*((each.contradicted, each.misplaced, each.acts) for each in reports), strict=True)
    )
    return FidelityReport(missing, extra, contradicted, misplaced, questions, acts, tuple(dict.fromkeys(unchecked)))
