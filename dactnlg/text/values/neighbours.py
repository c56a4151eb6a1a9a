"""Neighbours: words that training has next to the other values of a slot, but hardly or never next to one of them.

People say "a cheap restaurant", but "moderately priced"; "used for everyday computing", but "a touchscreen laptop". A
model that sees placeholders cannot know that, and one that sees values seldom learns it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from dactnlg.acts import Turn
from dactnlg.text.placeholders import is_placeholder, without_ordinal
from dactnlg.text.surface import strip_joiner
from dactnlg.text.values.delexicalization import Delexicalizer

MOST_VALUES = 80
"""The most values of a slot: with more, as for names and numbers, their neighbours are chance."""
PRIOR = 5.0
"""Pseudo-occurrences, distributed as next to all values of a slot, that are added to those next to each."""
EXPECTED = 3.0
"""The least expected count of a word next to a value, if it were equally likely next to all."""
STRONG = 1.5
"""The least log ratio of expected to actual share; weaker ones are left to the model."""
_BETWEEN = frozenset({"_ or", "or _"})
"""Neighbours that tell only in which order alternatives were listed."""

Costs = Mapping[str, Mapping[str, Mapping[str, float]]]
"""Placeholder, folded value and neighbour ("a _" before it, "_ restaurant" after it) -> log ratio."""


class Neighbours:
    """The costs of the neighbours of values.

    Args:
        costs: of each neighbour that has one.
    """

    def __init__(self, costs: Costs) -> None:
        self.costs = costs

    @classmethod
    def collect(cls, pairs: Iterable[tuple[Turn, Sequence[str]]], delexicalizer: Delexicalizer) -> Neighbours:
        """Count neighbours, except those of the slot that most sentences begin with: names can be said to be anything.

        Args:
            pairs: turns and their delexicalised sentences.
            delexicalizer: gives the value of each placeholder.
        """
        beside: dict[str, dict[str, Counter[str]]] = {}
        subjects = Counter[str]()
        for turn, tokens in pairs:
            subjects.update(without_ordinal(strip_joiner(token)) for token in tokens[:1] if is_placeholder(token))
            values = {item.placeholder: item.slot.folded for item in delexicalizer.required(turn)}
            for name, neighbours in _found(tokens):
                if name in values:
                    beside.setdefault(without_ordinal(name), {}).setdefault(values[name], Counter()).update(neighbours)
        for name, _ in subjects.most_common(1):
            beside.pop(name, None)
        closed = {name: values for name, values in beside.items() if len(values) <= MOST_VALUES}
        costs = {name: dict(_costs(values)) for name, values in closed.items()}
        return cls({name: values for name, values in costs.items() if values})

    def cost(self, values: Mapping[str, str], tokens: Sequence[str]) -> float:
        """Return the total cost of the neighbours of values in a sentence, in log probability; 0 if there is none.

        Args:
            values: placeholder -> its folded value.
            tokens: the sentence with placeholders.
        """
        known = {
            name: costs
            for name, value in values.items()
            if (costs := self.costs.get(without_ordinal(name), {}).get(value))
        }
        if not known:
            return 0.0
        pairs = ((known[name], pair) for name, pair in _found(tokens) if name in known)
        return sum(costs.get(each, 0.0) for costs, pair in pairs for each in pair if each not in _BETWEEN)


def _costs(values: Mapping[str, Counter[str]]) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield the values of a slot that have costly neighbours, with the costs of these."""
    # Each occurrence has one neighbour on either side.
    total, times = Counter[str](), {value: counts.total() / 2 for value, counts in values.items()}
    for counts in values.values():
        total.update(counts)
    shares = {neighbour: count / sum(times.values()) for neighbour, count in total.items()}
    for value, counts in values.items():
        found = {}
        for neighbour, share in shares.items():
            usual = (counts[neighbour] + PRIOR * share) / (times[value] + PRIOR)
            ratio = math.log(share / usual)
            if ratio > STRONG and times[value] * share >= EXPECTED:
                found[neighbour] = round(ratio, 3)
        if found:
            yield value, found


def _found(tokens: Sequence[str]) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield each placeholder of a sentence with its neighbours, which are empty at the sentence's edges."""
    for place, token in enumerate(tokens):
        if is_placeholder(token):
            before = tokens[place - 1] if place else ""
            behind = tokens[place + 1] if place + 1 < len(tokens) else ""
            yield strip_joiner(token), (f"{_word(before)} _", f"_ {_word(behind)}")


def _word(token: str) -> str:
    """Return a word as a neighbour: without the ordinal of a placeholder, and "an" as "a"."""
    return without_ordinal(strip_joiner(token)) if is_placeholder(token) else "a" if token == "an" else token
