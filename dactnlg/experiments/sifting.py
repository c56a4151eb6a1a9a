"""Sifting pairs: which sentences, whoever wrote them, say what their acts say, and why the others do not."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tqdm import tqdm

from dactnlg.acts import Turn
from dactnlg.fidelity.checker import FidelityChecker
from dactnlg.fidelity.inventions import KnownValues, Words, words_of
from dactnlg.fidelity.reports import FidelityReport
from dactnlg.fidelity.samples import known_values
from dactnlg.text.surface import strip_joiner

STRAY = 0.34
"""A value whose words stand in more than this share of their sentences without the act having it is a usual word."""
SEVERAL = 3
"""Sentences in which they stand so, at least: of a rare value one may be a fault."""
SHORTEST = 3
"""Letters of a value that is looked for in other sentences; a number may be shorter."""
FREQUENT = 0.1
"""Where more sentences than this share have numbers that no act has, they are not looked at."""
_LEFTOVER = re.compile(r"[{}]|\bSLOT_[A-Z]|<[a-z_]+>|\[[a-z_ ]+\]")


@dataclass(frozen=True, slots=True)
class Judged:
    """A pair and what was found.

    Attributes:
        turn: the act.
        text: the sentence.
        reasons: what is wrong with it, a phrase each; none where nothing is.
        origin: where it was read, for messages.
    """

    turn: Turn
    text: str
    reasons: tuple[str, ...] = ()
    origin: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the line of a report."""
        return {"act": str(self.turn), "text": self.text, "reasons": list(self.reasons), "origin": self.origin}


@dataclass(slots=True)
class _Use:
    """How often the words of a value stand in a sentence: of acts that have the value, and of others."""

    own: int = 0
    stray: int = 0


class Inventory:
    """The values that pairs have, to find them where an act does not: "it is by the river", said of no river.

    What is a usual word besides (`good`, `city`) is told by how often it stands where no act asks for it.

    Args:
        pairs: with the values.
        checker: finds values in sentences.
    """

    def __init__(self, pairs: Sequence[tuple[Turn, str]], checker: FidelityChecker) -> None:
        self._delexicalizer = checker.delexicalizer
        self._values: dict[Words, set[str]] = defaultdict(set)
        for name, value in known_values(pairs):
            self._add(name, value)
        for name, values in ({} if checker.reader is None else checker.reader.parts.values).items():
            for value in values:
                self._add(name, value)
        self._known = KnownValues(self._values)
        uses: dict[Words, _Use] = defaultdict(_Use)
        numbers = 0
        for turn, text in pairs:
            for _, slot in turn.slots():
                if slot.delexicalizable:
                    uses[words_of(slot.value or "")].own += 1
            left = self._left(turn, text)
            numbers += any(map(_is_number, left))
            for words in self._strays(turn, text, left):
                uses[words].stray += 1
        self._usual = {
            words for words, use in uses.items() if use.stray >= SEVERAL and use.stray > STRAY * (use.own + use.stray)
        }
        self._numbers = numbers <= FREQUENT * len(pairs)

    def _add(self, slot: str, value: str) -> None:
        words = words_of(value)
        if sum(map(len, words)) >= SHORTEST or any(map(str.isdigit, words)):
            self._values[words].add(slot)

    def invented(self, turn: Turn, text: str) -> list[str]:
        """Return the values that a sentence holds and its act does not have, as `slot=value`."""
        asked = {slot.name for _, slot in turn.slots() if slot.special is not None or slot.value is None}
        left, found = self._left(turn, text), []
        for words in dict.fromkeys(self._strays(turn, text, left)):
            slots = self._values[words]
            # What is said of a slot that is asked for or indifferent may name a value of it.
            if words not in self._usual and not slots & asked:
                found.append(f"{min(slots)}={' '.join(words)}")
        known = [token for each in found for token in each.split()]
        numbers = [token for token in left if _is_number(token) and not any(token in each for each in known)]
        return found + ([f"the number {token}" for token in numbers] if self._numbers and not asked else [])

    def _left(self, turn: Turn, text: str) -> list[str]:
        """Return the tokens of a sentence, placeholders in the place of the values of its act."""
        return [strip_joiner(token).casefold() for token in self._delexicalizer.delexicalize(turn, text).tokens]

    def _strays(self, turn: Turn, text: str, left: Sequence[str]) -> list[Words]:
        """Return the known values that a sentence holds beside those of its act; the longest one at every place."""
        # "A or B" may be two values of the act.
        parts = {"or", "and", *(word for _, slot in turn.slots() for word in words_of(slot.value or ""))}
        found = self._known.strays(turn, text)
        return [each for each in found if any(word in left for word in each) and not parts.issuperset(each)]


def judge(
    pairs: Iterable[tuple[Turn, str, str]],
    checker: FidelityChecker,
    inventory: Inventory,
    *,
    progress: bool = False,
) -> list[Judged]:
    """Check (turn, sentence, origin) pairs.

    Args:
        pairs: the pairs.
        checker: finds what is missing, contradicted, or said of the wrong slot.
        inventory: finds values that the act does not have.
        progress: show a progress bar on standard error.
    """
    hidden = None if progress else True
    found: list[Judged] = []
    seen: dict[tuple[Turn, str], str] = {}
    for turn, text, origin in tqdm(pairs, desc="checking", unit=" pairs", delay=2, leave=False, disable=hidden):
        if (first := seen.get((turn, text))) is not None:
            reasons = [f"repeated: the same as {first}"]
        else:
            reasons = _unusable(text) or [*_reasons(checker.check(turn, text))]
            invented = () if any(map(_certain, reasons)) else inventory.invented(turn, text)
            # A slot that is named is as good as invented, and with a value it is told more exactly.
            reasons = [f"invented: {each}" for each in invented] or reasons
        seen.setdefault((turn, text), origin)
        found.append(Judged(turn, text, tuple(reasons), origin))
    return found


def counted(judged: Iterable[Judged]) -> Mapping[str, int]:
    """Return how often each kind of reason occurs, the most frequent first."""
    return dict(Counter(reason.partition(":")[0] for j in judged for reason in j.reasons).most_common())


def _unusable(text: str) -> list[str]:
    if not text.strip():
        return ["empty"]
    if "\n" in text.strip():
        return ["lines: more than one"]
    return [f"placeholder: {match[0]} is left in it"] if (match := _LEFTOVER.search(text)) else []


def _certain(reason: str) -> bool:
    """Whether a reason is more than that words name a slot which the act lacks."""
    return not reason.startswith("extra: ") or "=" in reason


def _reasons(report: FidelityReport) -> Iterable[str]:
    yield from (f"missing: {name}" for name in report.missing)
    yield from (f"extra: {name}" for name in report.extra)
    yield from (f"contradicted: {name} is {other}" for name, other in report.contradicted.items())
    yield from (f"misplaced: {name} is said of {other}" for name, other in report.misplaced.items())
    yield from (f"question: {name} is not asked" for name in report.questions)
    yield from (f"act: {name} is {other}" for name, other in report.acts.items())


def _is_number(token: str) -> bool:
    return token.replace(".", "").replace(",", "").isdigit() and len(token) > 1
