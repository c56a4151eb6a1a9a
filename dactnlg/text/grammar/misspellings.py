"""Misspellings: words that occur once or twice in training, while a nearly equal one is frequent.

Also two words joined into one that are frequent separately: names of slots among words ("ecorating").
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations

RARE, USUAL = 2, 50
"""The largest count of a misspelt word, and the least count of the right one."""
LONG = 8
"""The length of a word from which two of its letters may be wrong."""
SHORTEST = 3
APART = 3
"""How many times as often two words occur in a row as they occur joined, for the joined form to be a misspelling."""


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


def joined(counts: Mapping[str, int], pairs: Mapping[tuple[str, str], int]) -> dict[str, tuple[str, str]]:
    """Return the words that are two words misspelt as one, with these.

    Args:
        counts: how often each word occurs.
        pairs: how often each word is followed by each other word.
    """
    return {
        first + second: (first, second)
        for (first, second), count in pairs.items()
        if count >= USUAL and (first + second).isalpha() and 0 < APART * counts.get(first + second, 0) <= count
    }


def _is_word(word: str) -> bool:
    return word.isalpha() and len(word) >= SHORTEST


def _neighbours(word: str, usual: Mapping[str, set[str]]) -> set[str]:
    return set().union(*(usual.get(shortened, ()) for shortened in _shortened(word)))


def _near(word: str, other: str) -> bool:
    """Whether two words that differ in few letters are not forms of one word, as "game" and "gamer" are."""
    same = word[0] == other[0] or sorted(word) == sorted(other)
    return same and not word.startswith(other) and not other.startswith(word)


def _shortened(word: str) -> Iterator[str]:
    """Yield a word with up to one of its letters removed, or up to two of a long word."""
    for lost in range(2 + (len(word) >= LONG)):
        for kept in combinations(word, len(word) - lost):
            yield "".join(kept)
