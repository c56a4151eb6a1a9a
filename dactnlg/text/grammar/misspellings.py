"""Misspellings: words that training has once or twice beside a nearly equal one that it has all the time.

Two words that it has all the time beside each other are misspelt as one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations

RARE, USUAL = 2, 50
"""How often a misspelt word occurs, at most, and how many times as often the right one."""
LONG = 8
"""Letters of a word from which on two of them may be wrong."""
SHORTEST = 3
APART = 3
"""How many times as often two words stand beside each other as they stand joined, where that is misspelt."""


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
    rare = {word for word, count in counts.items() if count <= RARE and _is_word(word)}
    return frozenset(word for word in rare if any(_near(word, other) for other in _neighbours(word, usual)))


def joined(counts: Mapping[str, int], pairs: Mapping[tuple[str, str], int]) -> frozenset[str]:
    """Return the words that are two words, misspelt as one: "ecorating".

    Args:
        counts: how often each word occurs.
        pairs: how often each word has another behind it.
    """
    return frozenset(
        first + second
        for (first, second), count in pairs.items()
        if count >= USUAL and (first + second).isalpha() and 0 < APART * counts.get(first + second, 0) <= count
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
