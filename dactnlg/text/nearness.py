"""Nearness: which words of a sentence belong to a slot's name, and how far from them a span is."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence

from dactnlg._utils.memory import remembered


class Nearness:
    """The distances of spans of a sentence from the words of slots' names; each name is located only once."""

    def __init__(self, folded: Sequence[str]) -> None:
        self._folded = folded
        self._places: dict[str, list[int]] = {}

    def distance(self, slot_name: str, start: int, end: int) -> int:
        """Return the number of tokens between a span and the nearest word of a slot's name outside it."""
        if slot_name not in self._places:
            name = slot_name.casefold()
            starts, tokens = stems(name), self._folded
            self._places[slot_name] = [i for i, t in enumerate(tokens) if any(related(t, s, name) for s in starts)]
        places = self._places[slot_name]
        before, after = bisect_left(places, start), bisect_left(places, end)
        near = [start - place for place in places[max(before - 1, 0) : before]]
        near += [place - end + 1 for place in places[after : after + 1]]
        return min(near, default=len(self._folded))


def related(token: str, stem: str, slot_name: str) -> bool:
    """Whether a folded word belongs to a slot's name, or is related to it; `stem` is the start of one of its words."""
    # "battery" and "rating" both indicate the slot `batteryrating`.
    return (
        token.startswith(stem)
        or (len(token) > 2 and slot_name.startswith(token))
        or (len(token) > 3 and token in slot_name)
    )


def names_slot(word: str, slot_name: str) -> bool:
    """Whether a folded word belongs to a slot's name: "price" and "range" to `pricerange`."""
    name = slot_name.casefold()
    return (len(word) > 3 and word in name) or any(word.startswith(stem) for stem in stems(name))


@remembered
def stems(slot_name: str) -> tuple[str, ...]:
    """Return the first letters, up to four, of the longer words of a slot's name."""
    return tuple(word[:4] for word in re.split(r"\W+|_", slot_name) if len(word) > 2)
