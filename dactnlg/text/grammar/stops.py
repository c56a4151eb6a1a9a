"""Stops: sentences that are broken off where training always goes on: "it has a linux and mac." (release)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from dactnlg.text.grammar.english import COORDINATING
from dactnlg.text.sentences import ENDS, Tokens
from dactnlg.text.surface import strip_joiner

LEAST, SHARE = 10, 0.8
"""The fewest occurrences of the word that mostly follows other words, and its least share of those that do."""
_STOPS = COORDINATING | {"", *ENDS}
"""The end of a sentence, marks, and conjunctions."""


class Stops:
    """Learns which words training never stops after, although it has them often.

    Args:
        runs: of several words, in which the end of a sentence is an empty one.
    """

    def __init__(self, runs: Iterable[Tokens]) -> None:
        heads, most, stopped = Counter[Tokens](), dict[Tokens, int](), set[Tokens]()
        for run, count in Counter(runs).items():
            head = run[:-1]
            heads[head] += count
            most[head] = max(count, most.get(head, 0))
            if _stops(run):
                stopped.add(head)
        # Where many words may follow, none may be needed: "a nice pub (in the south)".
        fixed = {head for head, count in most.items() if count >= max(LEAST, SHARE * heads[head])}
        self._open = frozenset(fixed - stopped)

    def faults(self, runs: Iterable[Tokens]) -> int:
        """Return how many of a sentence's runs stop where training always goes on."""
        return sum(run[:-1] in self._open for run in runs if _stops(run))


def _stops(run: Tokens) -> bool:
    return strip_joiner(run[-1]) in _STOPS
