"""The results of checking generated sentences: faults, what could not be checked, and unseen acts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from dactnlg.acts import Turn
from dactnlg.evaluation.report.faults import counted, named
from dactnlg.generation.generation import Generation
from dactnlg.text.slots import SlotChecker


class CueCount(NamedTuple):
    """Special values (yes, no, dontcare) as checked by the data card's cues, which specify their wording.

    Attributes:
        required: how many could be checked.
        wrong: how many of these were worded wrongly.
        unchecked: how many could not be checked for lack of cues.
        extra: how many were worded that are not in the acts.
    """

    required: int
    wrong: int
    unchecked: int = 0
    extra: int = 0

    def __str__(self) -> str:
        """Return the counts in words: "not checked" if nothing was, never "0 of 0"."""
        extra = f"{self.extra} that the acts do not have" if self.extra else ""
        if not self.required:
            rest = f"not checked: no cues for any of {self.unchecked}" if self.unchecked else "none to check"
            return f"{extra}; {rest}" if extra else rest
        rest = f"; {self.unchecked} more that cues cannot check" if self.unchecked else ""
        return f"{self.wrong} of {self.required}{', and ' if extra else ''}{extra}{rest}"


@dataclass(frozen=True, slots=True)
class Checks:
    """The results of checking generated sentences, as numbers of sentences.

    Attributes:
        sentences: all sentences.
        value_faults: those with a fault in values, the only ones that the slot error rate counts.
        slot_faults: those with any fault: values, special values, questions, act types (`Generation.slots_ok`).
        faults: missing or extra slot -> how often, the most frequent first.
        cues: special values, by the data card's cues alone.
        with_unchecked: those for which a part of the act could not be checked at all.
        unchecked: special value or question that could not be checked -> how often, the most frequent first.
        unseen: those for acts whose combination of act types and slots is not in the training data.
        doubtful: those that do not resemble the training data (`Generation.doubts`).
    """

    sentences: int
    value_faults: int
    slot_faults: int
    faults: Mapping[str, int]
    cues: CueCount
    with_unchecked: int
    unchecked: Mapping[str, int]
    unseen: int
    doubtful: int

    def lines(self) -> list[str]:
        """Return the results in words, one per line; zero counts are left out, except of faults."""
        number = self.sentences
        most = f"; most often {named(self.faults)}" if self.faults else ""
        found = [
            f"special values worded wrongly, by the data card's cues: {self.cues}",
            f"sentences with a fault in values, which SER counts: {self.value_faults} of {number}",
            f"sentences with any slot fault, special values, questions and act types included: {self.slot_faults} of "
            f"{number}{most}",
        ]
        if self.unchecked:
            found.append(
                f"sentences of which something could not be checked: {self.with_unchecked} of {number}; most often "
                f"{named(self.unchecked)}"
            )
        if self.unseen:
            found.append(f"sentences for combinations of slots that training never had: {self.unseen} of {number}")
        if self.doubtful:
            found.append(
                f"sentences for new combinations, special values included, that do not read like training: "
                f"{self.doubtful} of {number}"
            )
        return found

    def to_json(self) -> dict[str, Any]:
        """Return the results as JSON, named like the attributes."""
        return {**asdict(self), "cues": self.cues._asdict()}


def count_checks(checker: SlotChecker, turns: Sequence[Turn], generations: Sequence[Generation]) -> Checks:
    """Count the faults of generated sentences.

    Args:
        checker: the corpus's checker; finds values, and cues of special values, in finished sentences.
        turns: the acts.
        generations: one sentence per act.
    """
    reports = [checker.check(turn, said.raw) for turn, said in zip(turns, generations, strict=True)]
    # Questions have no cues; the reader checks them.
    without = sum("=" in name for turn in turns for name in checker.unchecked(turn))
    required, wrong, extra = (
        sum(counts)
        for counts in zip(*((r.cues.required, len(r.cues.missing), len(r.cues.extra)) for r in reports), strict=True)
    )
    cues = CueCount(required, wrong, without, extra)
    return Checks(
        sentences=len(generations),
        value_faults=sum(bool(report.values.errors) for report in reports),
        slot_faults=sum(not said.slots_ok for said in generations),
        faults=counted(name for said in generations for name in (*said.missing, *said.extra)),
        cues=cues,
        with_unchecked=sum(bool(said.unchecked) for said in generations),
        unchecked=counted(name for said in generations for name in said.unchecked),
        unseen=sum(said.seen is False for said in generations),
        doubtful=sum(bool(said.doubts) for said in generations),
    )
