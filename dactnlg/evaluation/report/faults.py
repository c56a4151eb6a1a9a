"""Slot errors for a report: what is missing, redundant or has a wrong value, by act and by slot.

The references are checked as well, so that cues which find faults in gold sentences are noticed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from dactnlg._utils.terminal import printable
from dactnlg.acts import Turn
from dactnlg.metrics.slot_error import Breakdown, breakdown
from dactnlg.text.placeholders import is_placeholder
from dactnlg.text.slots import SlotChecker
from dactnlg.text.surface import strip_joiner
from dactnlg.text.tallies import SlotReport

Spelling = tuple[str, ...]
SHOWN = 5
"""Names that a line lists; the rest are only counted."""


@dataclass(frozen=True, slots=True)
class SlotFaults:
    """The slot errors of a system's sentences.

    Attributes:
        system: those of the scored sentences.
        gold: those of all references.
        sentences: the faults of each segment; None if there are none, or its act is unknown.
        unchecked: special values that no cue could check -> how often, the most frequent first.
    """

    system: Breakdown
    gold: Breakdown
    sentences: list[SentenceFaults | None]
    unchecked: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class SentenceFaults:
    """The slot faults of one sentence, slots as in the act (`food=thai`).

    Attributes:
        missing: slots that the sentence leaves out.
        extra: slots that occur too often or are not in the act.
        wrong: some of the missing slots -> the value that the sentence has instead.
    """

    missing: tuple[str, ...]
    extra: tuple[str, ...]
    wrong: dict[str, str]


def find_faults(
    checker: SlotChecker,
    turns: Sequence[Turn | None],
    hypotheses: Sequence[str],
    references: Sequence[Sequence[str]],
) -> SlotFaults:
    """Check sentences and their references against their turns; segments without a turn are skipped."""
    substitutes = Substitutions(checker, (turn for turn in turns if turn is not None))
    rows = list(zip(turns, hypotheses, references, strict=True))
    system = [(turn, text) for turn, text, _ in rows if turn is not None]
    gold = [(turn, text) for turn, _, texts in rows if turn is not None for text in texts]
    broken, faults = _break_down(checker, system, substitutes)
    each = iter(faults)
    sentences = [None if turn is None else next(each) for turn in turns]
    # Questions have no cues.
    unchecked = counted(name for turn, _ in system for name in checker.unchecked(turn) if "=" in name)
    return SlotFaults(broken, _break_down(checker, gold, substitutes)[0], sentences, unchecked)


def counted(names: Iterable[str]) -> dict[str, int]:
    """Return how often each name occurs, the most frequent first."""
    return dict(Counter(names).most_common())


def named(counts: Mapping[str, int]) -> str:
    """Return the most frequent names with their counts, and the number of others, in a line."""
    shown = [f"{printable(name)} ({count})" for name, count in list(counts.items())[:SHOWN]]
    others = len(counts) - len(shown)
    return ", ".join([*shown, *([f"and {others} others"] if others else [])])


class Substitutions:
    """Finds wrong values: values of a missing slot in other turns that a sentence has instead.

    Args:
        checker: knows how values are worded.
        turns: the source of the other values.
    """

    def __init__(self, checker: SlotChecker, turns: Iterable[Turn]) -> None:
        self._checker = checker
        self._values: dict[str, dict[Spelling, str]] = {}
        self._longest = 1
        slots = {slot for turn in turns for _, slot in checker.delexicalizer.prepared(turn).slots()}
        for slot in sorted(slots, key=str):
            if slot.delexicalizable and slot.value is not None:
                # Single characters occur in too many sentences with another meaning.
                spellings = [s for s in checker.delexicalizer.spellings(slot) if len("".join(s)) > 1]
                self._values.setdefault(slot.name, {}).update(dict.fromkeys(spellings, slot.value))
                self._longest = max([self._longest, *map(len, spellings)])

    def find(self, turn: Turn, sentence: str, missing: Sequence[str]) -> dict[str, str]:
        """Return, for those of the missing slots (`food=thai`) that have one, the value in the sentence instead."""
        if not missing:
            return {}
        tokens = [strip_joiner(t) for t in self._checker.delexicalizer.delexicalize(turn, sentence).tokens]
        folded = ["" if is_placeholder(token) else token.casefold() for token in tokens]
        found = {}
        for entry in missing:
            name, _, value = entry.partition("=")
            cues = [cue for cue in self._checker.shown_cues(name, sentence) if cue != value]
            if other := self._other(folded, self._values.get(name, {})) or next(iter(cues), ""):
                found[entry] = other
        return found

    def _other(self, tokens: Sequence[str], values: dict[Spelling, str]) -> str:
        for length in range(min(self._longest, len(tokens)), 0, -1):
            for start in range(len(tokens) - length + 1):
                if value := values.get(tuple(tokens[start : start + length])):
                    return value
        return ""


def _break_down(
    checker: SlotChecker, rows: Sequence[tuple[Turn, str]], substitutes: Substitutions
) -> tuple[Breakdown, list[SentenceFaults | None]]:
    known: dict[tuple[Turn, str], tuple[SlotReport, dict[str, str]]] = {}
    for row in rows:
        if row not in known:
            report = checker.check(*row)
            known[row] = report, substitutes.find(*row, report.missing)
    found = [known[row] for row in rows]
    turns = [turn for turn, _ in rows]
    broken = breakdown(turns, [r for r, _ in found], map(checker.required, turns), [wrong for _, wrong in found])
    faults = [None if report.ok else SentenceFaults(report.missing, report.extra, wrong) for report, wrong in found]
    return broken, faults
