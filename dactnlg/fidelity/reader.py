"""The reader: says of a delexicalised sentence which facts it states, and whose values its placeholders are.

Linear: the logit of a fact such as `food=dontcare` is the sum of the weights that its n-grams have for this fact, for
the special value whatever the slot, and, around the words that name the slot, for the special value of the slot named
(one model with shared and own features; Daume 2007, "Frustratingly easy domain adaptation").
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np

from dactnlg.fidelity.facts import ACT, Fact
from dactnlg.fidelity.features import UNNAMED, SlotWords, around_name, around_placeholders, n_grams
from dactnlg.fidelity.table import Table, Weights
from dactnlg.text.placeholders import placeholder_name

INFORM = "inform()"
"""The act type of plain statements, in whatever words."""
NEVER = -1e6
"""A threshold below which no logit is: nothing is ever surely unsaid."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The logits of a fact below which it is surely unsaid, and above which it is surely said."""

    least: float
    most: float


@dataclass(frozen=True, slots=True)
class Evidence:
    """A sentence as the reader takes it.

    Attributes:
        words: delexicalised and folded; see `features.folded`.
        shown: slot -> its special values whose cues match; slots without any are left out.
        acts: the act types of its turn.
    """

    words: tuple[str, ...]
    shown: Mapping[str, Sequence[str]]
    acts: str


@dataclass(frozen=True, slots=True)
class Misplacing:
    """By how much more another place has to suit a placeholder, in logits, before its own is surely wrong.

    Attributes:
        alone: placeholder -> where another one would suit its place better.
        swapped: where two placeholders would suit each other's places better.
    """

    alone: Mapping[str, float]
    swapped: float


@dataclass(frozen=True, slots=True)
class ReaderParts:
    """All that a reader has learned.

    Attributes:
        facts: that it knows, in the order of the columns.
        kinds: kinds of facts that share weights, each a column behind those of the facts.
        bias: of each fact, (facts,).
        limits: of each fact.
        grams: weights of n-grams, (n-grams, facts + kinds).
        names: weights of what stands around a slot's words, (features, kinds).
        slot_words: slot -> the words that show that a sentence is about it.
        places: weights of what stands around a placeholder, (features, slots).
        place_slots: the placeholders of the columns of `places`.
        place_bias: of each of them.
        misplacing: when a placeholder is in the wrong place.
        margins: act type or question -> another -> by how much the other's logit has to be larger before the sentence
            surely says the other instead.
        triggers: fact -> words of which a sentence that states it has at least one.
        telling: word -> the slot, or the kind of special values, without which hardly an act's sentence has it.
        values: slot -> the values that training had for it.
        told: slot -> those that training says of nothing else.
    """

    facts: tuple[Fact, ...]
    kinds: tuple[str, ...]
    bias: Weights
    limits: tuple[Limits, ...]
    grams: Table
    names: Table
    slot_words: Mapping[str, Sequence[str]]
    places: Table
    place_slots: tuple[str, ...]
    place_bias: Weights
    misplacing: Misplacing
    margins: Mapping[str, Mapping[str, float]]
    triggers: Mapping[str, Sequence[str]]
    telling: Mapping[str, str]
    values: Mapping[str, Sequence[str]]
    told: Mapping[str, Sequence[str]]


class Places(NamedTuple):
    """How well the placeholders of a sentence suit their places and others.

    Attributes:
        at: the word that each is.
        columns: of each placeholder; None where training has too few of it.
        logits: of each place, those of all placeholders.
    """

    at: list[int]
    columns: list[int | None]
    logits: list[Weights]

    def moves(self) -> Iterator[tuple[int, int, float]]:
        """Yield each placeholder, the one that suits its place best, and by how much more (0: itself)."""
        for own, logits in zip(self.columns, self.logits, strict=True):
            if own is not None:
                best = int(logits.argmax())
                yield own, best, float(logits[best] - logits[own])

    def swaps(self) -> Iterator[tuple[int, int, float]]:
        """Yield where each two placeholders are, and by how much more they would suit each other's places.

        Of two next to each other either may be first: "an Italian pub", "laptop Satellite 4". Of one that training
        hardly has nothing is known; the other may still suit its place better.
        """
        rows = list(zip(self.at, self.columns, self.logits, strict=True))
        for (left, first, here), (right, second, there) in combinations(rows, 2):
            if first != second and right > left + 1:
                gain = 0.0 if second is None else here[second] - there[second]
                gain += 0.0 if first is None else there[first] - here[first]
                yield left, right, float(gain)


class Reader:
    """Reads delexicalised sentences. Several threads may use one.

    Args:
        parts: what it has learned.
    """

    def __init__(self, parts: ReaderParts) -> None:
        self.parts = parts
        self.facts = {fact.name: fact for fact in parts.facts}
        self.limits = dict(zip(self.facts, parts.limits, strict=True))
        kinds = {kind: column for column, kind in enumerate(parts.kinds)}
        # Of each fact of a slot that shares weights: its column, and its kind's.
        self._shared: dict[str, list[tuple[int, int]]] = {}
        for column, fact in enumerate(parts.facts):
            if fact.kind in kinds and fact.slot:
                self._shared.setdefault(fact.slot, []).append((column, kinds[fact.kind]))
        self._acts = [(n, fact.name) for n, fact in enumerate(parts.facts) if fact.kind == ACT]
        self._unnamed = parts.names.sum([UNNAMED])
        self._slots = sorted(self._shared)
        self._numbers = {placeholder_name(slot) for slot, each in parts.values.items() if all(map(str.isdigit, each))}
        self._words = {slot: SlotWords.of(slot, parts.slot_words.get(slot, ())) for slot in self._slots}
        self._naming = {slot: each.words | {each.placeholder} for slot, each in self._words.items()}

    def logits(self, sentence: Evidence) -> dict[str, float]:
        """Return the logit of every known fact, by name."""
        return dict(zip(self.facts, self._logits(sentence, self._slots).tolist(), strict=True))

    def slot_logits(self, sentence: Evidence, slot_name: str) -> dict[str, float]:
        """Return the logits of the facts about one slot, by name: of all logits those found soon."""
        found = self._logits(sentence, [slot_name] if slot_name in self._words else [])
        return {name: float(found[n]) for n, (name, fact) in enumerate(self.facts.items()) if fact.slot == slot_name}

    def _logits(self, sentence: Evidence, slots: Iterable[str]) -> Weights:
        """Return the logits of all facts, (facts,); of those that share weights the ones about some slots alone."""
        parts, count, words = self.parts, len(self.parts.facts), sentence.words
        sums = parts.grams.sum(n_grams(words))
        found = sums[:count] + parts.bias
        for slot in slots:
            features = around_name(words, self._words[slot], sentence.shown.get(slot, ()), sentence.acts)
            about = self._unnamed if features == [UNNAMED] else parts.names.sum(features)
            for column, kind in self._shared[slot]:
                found[column] += sums[count + kind] + about[kind]
        return found

    def act_logits(self, words: Sequence[str]) -> dict[str, float]:
        """Return the logits of the act types that folded words may do, by name: of all logits those found soonest."""
        sums = self.parts.grams.sum(n_grams(words))
        return {name: float(sums[n] + self.parts.bias[n]) for n, name in self._acts}

    def names(self, words: Sequence[str], slot: str) -> bool:
        """Whether folded words have one of a slot, or its placeholder."""
        return not self.words(slot).isdisjoint(words)

    def words(self, slot: str) -> frozenset[str]:
        """Return the words that show that a sentence is about a slot, its placeholder among them."""
        return self._naming[slot]

    def places(self, words: Sequence[str]) -> Places:
        """Return which placeholders a folded sentence has, and how well each would suit each place."""
        parts = self.parts
        columns = {name: column for column, name in enumerate(parts.place_slots)}
        found = list(around_placeholders(words)) if columns else []
        rows = [parts.places.sum(features) + parts.place_bias for _, features in found]
        return Places([at for at, _ in found], [columns.get(words[at]) for at, _ in found], rows)

    def misplaced(self, words: Sequence[str], *, alone: bool) -> dict[str, str]:
        """Return the placeholders of a folded sentence that stand where another slot's value is surely announced.

        Each comes with the other's placeholder.

        Args:
            words: the sentence.
            alone: look for single placeholders too; without it for two in each other's place. People put values into
                places that training never had, where their own words still tell what they are.
        """
        slots, limits, places = self.parts.place_slots, self.parts.misplacing, self.places(words)
        found: dict[str, str] = {}
        for left, right, gain in places.swaps():
            if gain > limits.swapped:
                found |= {words[left]: words[right], words[right]: words[left]}
        for own, other, gain in places.moves() if alone else ():
            # "There are cheap pubs", where training has "there are 4 pubs": nobody takes a word for a number.
            word = slots[other] in self._numbers and slots[own] not in self._numbers
            if gain > limits.alone[slots[own]] and not word:
                found.setdefault(slots[own], slots[other])
        return found

    def instead(self, name: str, logits: Mapping[str, float], stated: Container[str]) -> str | None:
        """Return the act type or question that a sentence surely says in the place of one; None if there is none.

        Args:
            name: `inform()` or `?request(area)`.
            logits: of the sentence.
            stated: facts that it should say.
        """
        gains = {
            other: logits[other] - logits[name] - margin
            for other, margin in self.parts.margins.get(name, {}).items()
            # Any statement informs that does not surely do something else.
            if other not in stated and (name != INFORM or logits[other] > 0)
        }
        best = max(gains, key=lambda other: gains[other], default=None)
        return best if best is not None and gains[best] > 0 else None

    def rivals(self, name: str) -> list[str]:
        """Return the other special values of the slot of one (`food=none` beside `food=dontcare`)."""
        fact = self.facts[name]
        return [
            other.name
            for other in self.parts.facts
            if other.slot == fact.slot and other.kind[:1] == "=" and other.name != name
        ]


def as_weights(values: Iterable[float]) -> Weights:
    """Return numbers as weights are kept."""
    return np.array(list(values), np.float32)
