"""The reader: predicts which facts a delexicalised sentence states, and whether its placeholders are in place.

It is linear: the logit of a fact such as `food=dontcare` is the sum of the sentence's n-gram weights for this fact, its
n-gram weights for the special value in any slot, and the weights of the features around the words that name the slot
(one model with shared and own features; Daume 2007, "Frustratingly easy domain adaptation").
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np

from dactnlg.acts import act_types
from dactnlg.fidelity.facts import ACT, Fact
from dactnlg.fidelity.features import UNNAMED, SlotWords, around_name, around_placeholders, n_grams
from dactnlg.fidelity.table import Table, Weights
from dactnlg.text.placeholders import placeholder_name
from dactnlg.text.report_names import act_name

INFORM = act_name(act_types.INFORM)
"""The act type of plain statements, whatever their words."""
NEVER = -1e6
"""A threshold below any logit, so that a fact is never considered surely unsaid."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The logit of a fact below which it is surely unsaid, and the one above which it is surely said."""

    least: float
    most: float


@dataclass(frozen=True, slots=True)
class Evidence:
    """A sentence in the form that the reader takes.

    Attributes:
        words: the delexicalised and folded words; see `features.folded`.
        shown: slot -> its special values whose cues match; slots without any are left out.
        acts: the act types of its turn, joined by `&`.
    """

    words: tuple[str, ...]
    shown: Mapping[str, Sequence[str]]
    acts: str


@dataclass(frozen=True, slots=True)
class Misplacing:
    """Margins, in logits, above which placeholders are surely in the wrong places.

    Attributes:
        alone: placeholder -> the margin by which another one must suit its place better.
        swapped: the margin by which two placeholders must suit each other's places better.
    """

    alone: Mapping[str, float]
    swapped: float


@dataclass(frozen=True, slots=True)
class ReaderParts:
    """Everything that a reader has learned.

    Attributes:
        facts: the known facts, in the order of the columns.
        kinds: kinds of facts that share weights; their columns follow those of the facts.
        bias: bias of each fact, (facts,).
        limits: limits of each fact.
        grams: weights of n-grams, (n-grams, facts + kinds).
        names: weights of the features around a slot's words, (features, kinds).
        slot_words: slot -> the words which show that a sentence is about it.
        places: weights of the features around a placeholder, (features, slots).
        place_slots: the placeholders of the columns of `places`.
        place_bias: bias of each of them, (slots,).
        misplacing: margins for placeholders in the wrong place.
        margins: act type or question -> another -> the margin by which the other's logit must be larger before the
            sentence surely states the other instead.
        triggers: fact -> words, at least one of which a sentence that states it has.
        telling: word -> the slot, or the kind of special values, that it indicates, since sentences of acts without it
            hardly ever have the word.
        values: slot -> its values in training.
        told: slot -> those of them that training uses for nothing else.
        unlearned: the questions that training has, but in too few wordings to learn them.
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
    unlearned: tuple[str, ...]


class Places(NamedTuple):
    """How well placeholders suit the places of the placeholders of a sentence.

    Attributes:
        at: word index of each placeholder.
        columns: column of each placeholder; None if it is too rare in training.
        logits: for each place, the logits of all placeholders.
    """

    at: list[int]
    columns: list[int | None]
    logits: list[Weights]

    def moves(self) -> Iterator[tuple[int, int, float]]:
        """Yield (column of a placeholder, column that suits its place best, difference of their logits)."""
        for own, logits in zip(self.columns, self.logits, strict=True):
            if own is not None:
                best = int(logits.argmax())
                yield own, best, float(logits[best] - logits[own])

    def swaps(self) -> Iterator[tuple[int, int, float]]:
        """Yield (word index, word index, gain in logits if exchanged) for each two different placeholders.

        Adjacent ones are left out, as either may be first: "an Italian pub", "laptop Satellite 4". For a placeholder
        that is too rare in training, only the gain of the other counts.
        """
        rows = list(zip(self.at, self.columns, self.logits, strict=True))
        for (left, first, here), (right, second, there) in combinations(rows, 2):
            if first != second and right > left + 1:
                gain = 0.0 if second is None else here[second] - there[second]
                gain += 0.0 if first is None else there[first] - here[first]
                yield left, right, float(gain)


class Reader:
    """Reads delexicalised sentences; thread-safe.

    Args:
        parts: what it has learned.
    """

    def __init__(self, parts: ReaderParts) -> None:
        self.parts = parts
        self.facts = {fact.name: fact for fact in parts.facts}
        self.limits = dict(zip(self.facts, parts.limits, strict=True))
        kinds = {kind: column for column, kind in enumerate(parts.kinds)}
        # slot -> (column of the fact, column of its kind) for its facts that share weights.
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
        """Return the logits of the facts about one slot, by name; faster than `logits`."""
        found = self._logits(sentence, [slot_name] if slot_name in self._words else [])
        return {name: float(found[n]) for n, (name, fact) in enumerate(self.facts.items()) if fact.slot == slot_name}

    def _logits(self, sentence: Evidence, slots: Iterable[str]) -> Weights:
        """Return the logits of all facts, (facts,); those with shared weights are complete only for the given slots."""
        parts, count, words = self.parts, len(self.parts.facts), sentence.words
        sums = parts.grams.sum(n_grams(words))
        found = sums[:count] + parts.bias
        for slot in slots:
            features = around_name(words, self._words[slot], sentence.shown.get(slot, ()), sentence.acts)
            about = self._unnamed if features == [UNNAMED] else parts.names.sum(features)
            for column, kind in self._shared[slot]:
                found[column] += sums[count + kind] + about[kind]
        return found

    def reads(self, name: str) -> bool:
        """Return whether a fact is known, and can surely be unsaid."""
        return name in self.limits and self.limits[name].least > NEVER

    def act_logits(self, words: Sequence[str]) -> dict[str, float]:
        """Return the logits of the act types, by name, for folded words; faster than `logits`."""
        sums = self.parts.grams.sum(n_grams(words))
        return {name: float(sums[n] + self.parts.bias[n]) for n, name in self._acts}

    def names(self, words: Sequence[str], slot: str) -> bool:
        """Return whether folded words include a word of a slot, or its placeholder."""
        return not self.words(slot).isdisjoint(words)

    def words(self, slot: str) -> frozenset[str]:
        """Return the words which show that a sentence is about a slot, including its placeholder."""
        return self._naming[slot]

    def places(self, words: Sequence[str]) -> Places:
        """Return the placeholders of a folded sentence, and how well all known ones would suit their places."""
        parts = self.parts
        columns = {name: column for column, name in enumerate(parts.place_slots)}
        found = list(around_placeholders(words)) if columns else []
        rows = [parts.places.sum(features) + parts.place_bias for _, features in found]
        return Places([at for at, _ in found], [columns.get(words[at]) for at, _ in found], rows)

    def misplaced(self, words: Sequence[str], *, alone: bool) -> dict[str, str]:
        """Return misplaced placeholder -> placeholder that surely belongs in its place, for a folded sentence.

        Args:
            words: the sentence.
            alone: also look for single misplaced placeholders, not only for exchanged pairs. People put values into
                places unseen in training, where the values themselves still show whose they are.
        """
        slots, limits, places = self.parts.place_slots, self.parts.misplacing, self.places(words)
        found: dict[str, str] = {}
        for left, right, gain in places.swaps():
            if gain > limits.swapped:
                found |= {words[left]: words[right], words[right]: words[left]}
        for own, other, gain in places.moves() if alone else ():
            # "There are cheap pubs" is fine although training has "there are 4 pubs": a word is not taken for a number.
            word = slots[other] in self._numbers and slots[own] not in self._numbers
            if gain > limits.alone[slots[own]] and not word:
                found.setdefault(slots[own], slots[other])
        return found

    def instead(self, name: str, logits: Mapping[str, float], stated: Container[str]) -> str | None:
        """Return the act type or question that a sentence surely expresses instead of another; None if there is none.

        Args:
            name: the expected one: `inform()` or `?request(area)`.
            logits: the logits of the sentence.
            stated: the facts that it should state.
        """
        gains = {
            other: logits[other] - logits[name] - margin
            for other, margin in self.parts.margins.get(name, {}).items()
            # Any statement informs unless it surely does something else.
            if other not in stated and (name != INFORM or logits[other] > 0)
        }
        best = max(gains, key=lambda other: gains[other], default=None)
        return best if best is not None and gains[best] > 0 else None

    def rivals(self, name: str) -> list[str]:
        """Return the other special values of a special value's slot: `food=none` for `food=dontcare`."""
        fact = self.facts[name]
        return [
            other.name for other in self.parts.facts if other.slot == fact.slot and other.special and other.name != name
        ]


def as_weights(values: Iterable[float]) -> Weights:
    """Return numbers as an array of weights."""
    return np.array(list(values), np.float32)
