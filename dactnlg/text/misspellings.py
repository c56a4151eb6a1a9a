"""Misspellings: words that training has once or twice beside a nearly equal one that it has all the time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations

RARE, USUAL = 2, 50
"""How often a misspelt word occurs, at most, and how many times as often the right one."""
LONG = 8
"""Letters of a word from which on two of them may be wrong."""
SHORTEST = 3


def misspellings(counts: Mapping[str, int]) -> frozenset[str]:
    """Return the words that are probably misspelt.

    Args:
        counts: how often each word occurs.
    """
    usual: dict[str, set[str]] = {}
    for word, count in counts.items():
        if count >= USUAL and _is_word(word):
            for shortened in _shortened(word):
                usual.setdefault(shortened, set()).add(word)
    return frozenset(
        word
        for word, count in counts.items()
        if count <= RARE and _is_word(word) and any(_near(word, other) for other in _neighbours(word, usual))
    )


def _is_word(word: str) -> bool:
    return word.isalpha() and len(word) >= SHORTEST


def _neighbours(word: str, usual: Mapping[str, set[str]]) -> set[str]:
    return set().union(*(usual.get(shortened, ()) for shortened in _shortened(word)))


def _near(word: str, other: str) -> bool:
    """Whether two words, which differ in few letters, are no forms of one: "game" and "gamer" are."""
    same = word[0] == other[0] or sorted(word) == sorted(other)
    return same and not word.startswith(other) and not other.startswith(word)


def _shortened(word: str) -> Iterator[str]:
    """Yield a word without up to one of its letters, or up to two of a long one."""
    for lost in range(2 + (len(word) >= LONG)):
        for kept in combinations(word, len(word) - lost):
            yield "".join(kept)
