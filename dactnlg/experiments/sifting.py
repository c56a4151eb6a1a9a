"""Sifting pairs: which sentences express their acts faithfully, and what is wrong with the others."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tqdm import tqdm

from dactnlg._utils.files import written
from dactnlg.acts import Turn
from dactnlg.fidelity.checker import FidelityChecker
from dactnlg.fidelity.inventions import KnownValues, Words, values_of, words_of
from dactnlg.fidelity.reports import FidelityReport
from dactnlg.fidelity.samples import known_values
from dactnlg.text.surface import strip_joiner

STRAY = 0.34
"""A value is an ordinary word if more than this share of its occurrences are in sentences whose acts lack it."""
SEVERAL = 3
"""The fewest such occurrences for that: a single one of a rare value may be a fault."""
SHORTEST = 3
"""The fewest letters of a value that is looked for in other sentences; numbers may be shorter."""
FREQUENT = 0.1
"""Numbers are ignored if more than this share of the sentences have some that their acts lack."""
Row = tuple[Turn, str, str]
"""An act, a sentence, and where they were read."""
_LEFTOVER = re.compile(r"[{}]|\bSLOT_[A-Z]|<[a-z_]+>|\[[a-z_ ]+\]")


@dataclass(frozen=True, slots=True)
class Judged:
    """A pair and the verdict on it.

    Attributes:
        turn: the act.
        text: the sentence.
        reasons: what is wrong with it, one phrase each; empty if nothing is.
        origin: where it was read, for messages.
    """

    turn: Turn
    text: str
    reasons: tuple[str, ...] = ()
    origin: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the pair's line of a report as JSON data."""
        return {"act": str(self.turn), "text": self.text, "reasons": list(self.reasons), "origin": self.origin}


@dataclass(slots=True)
class _Use:
    """How often a value occurs: in acts (`own`), and in sentences whose acts lack it (`stray`)."""

    own: int = 0
    stray: int = 0


class Inventory:
    """The values of all pairs, to find them in sentences whose acts lack them: "it is by the river", without a river.

    Values that are also ordinary words (`good`, `city`) are recognised by how often they occur when the act lacks them.

    Args:
        pairs: the pairs with the values.
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
        """Return the values and numbers in a sentence that its act lacks, as `slot=value` or `the number N`."""
        asked = {slot.name for _, slot in turn.slots() if slot.special is not None or slot.value is None}
        left, found = self._left(turn, text), []
        for words in dict.fromkeys(self._strays(turn, text, left)):
            slots = self._values[words]
            # A sentence about a slot that is asked for, or has a special value, may name one of its values.
            if words not in self._usual and not slots & asked:
                found.append(f"{min(slots)}={' '.join(words)}")
        known = [token for each in found for token in each.split()]
        numbers = [token for token in left if _is_number(token) and not any(token in each for each in known)]
        return found + ([f"the number {token}" for token in numbers] if self._numbers and not asked else [])

    def _left(self, turn: Turn, text: str) -> list[str]:
        """Return the tokens of a sentence, with placeholders for the values of its act."""
        return [strip_joiner(token).casefold() for token in self._delexicalizer.delexicalize(turn, text).tokens]

    def _strays(self, turn: Turn, text: str, left: Sequence[str]) -> list[Words]:
        """Return the known values in a sentence other than those of its act; the longest one at every position."""
        # "A or B" may be two values of the act.
        parts = {"or", "and", *(word for _, slot in turn.slots() for word in words_of(slot.value or ""))}
        found = self._known.strays(values_of(turn), words_of(text))
        return [each for each in found if any(word in left for word in each) and not parts.issuperset(each)]


def judge(
    pairs: Iterable[Row],
    checker: FidelityChecker,
    inventory: Inventory,
    *,
    progress: bool = False,
) -> list[Judged]:
    """Check (turn, sentence, origin) pairs.

    Args:
        pairs: the pairs.
        checker: finds missing, contradicted and misplaced values.
        inventory: finds values that the act lacks.
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
            # An invented value is more precise than an "extra" slot, and replaces it.
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
    """Whether a reason is more than the mere mention of a slot that the act lacks."""
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


def write_pairs(path: Path, pairs: Sequence[tuple[Turn, str]]) -> None:
    """Write pairs as JSONL, one line per act with all its sentences."""
    grouped: dict[Turn, list[str]] = {}
    for turn, text in pairs:
        grouped.setdefault(turn, []).append(text)
    with written(path) as file:
        for turn, texts in grouped.items():
            file.write(json.dumps({"act": str(turn), "references": texts}, ensure_ascii=False) + "\n")
