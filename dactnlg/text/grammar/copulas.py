"""Copulas: what training says that a thing is: "a nice hotel", but not "a medium drive range"."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, pairwise

from dactnlg.text.grammar.english import INDEFINITE, JOINTS
from dactnlg.text.grammar.lexicon import PLURAL
from dactnlg.text.grammar.plurals import pluralized
from dactnlg.text.placeholders import is_placeholder, values_alike

LEAST_SHARE = 0.05
"""The least share of all nouns after "is a" from which a word, or a value, is something that a thing can be."""
LEAST_OFTEN = 0.03
"""For rarer words, the least share of their own occurrences that follow "is a"."""
LEAST_SEEN = 20
"""The fewest occurrences from which these shares are meaningful."""
_ENDS = JOINTS | {"in", "on", "at", "near", "with", "for", "by", "from", "to", "of", ".", "?", "!", "called", "rated"}


class Copulas:
    """Counts the nouns after "is a".

    Args:
        sentences: of training, delexicalised, without joiners.
    """

    def __init__(self, sentences: Iterable[Sequence[str]]) -> None:
        alike = list(map(values_alike, sentences))
        self._words = Counter(chain.from_iterable(alike))
        self._heads = Counter(chain.from_iterable(map(_heads, alike)))
        self._several = frozenset(map(pluralized, self.usual))

    def faults(self, sentence: Sequence[str]) -> int:
        """Return how many nouns of a sentence follow "is a" though they hardly ever do in training, or are plurals."""
        words = values_alike(sentence)
        return sum(words[end : end + 1] == [PLURAL] or self._strange(words[end - 1]) for end in _ends_of_phrases(words))

    @property
    def usual(self) -> frozenset[str]:
        """The nouns, without values, that things are often said to be."""
        least = max(LEAST_SEEN, LEAST_SHARE * self._heads.total())
        return frozenset(head for head, count in self._heads.items() if count >= least and not is_placeholder(head))

    def _strange(self, head: str) -> bool:
        count, total = self._heads[head], self._heads.total()
        if head in self._several:
            return True
        if total < LEAST_SEEN or count >= LEAST_SHARE * total:
            return False
        return is_placeholder(head) or (self._words[head] >= LEAST_SEEN and count < LEAST_OFTEN * self._words[head])


def _heads(words: Sequence[str]) -> Iterator[str]:
    """Yield the last words of the noun phrases after "is a"."""
    return (words[end - 1] for end in _ends_of_phrases(words))


def _ends_of_phrases(words: Sequence[str]) -> Iterator[int]:
    """Yield the indices behind the noun phrases after "is a"."""
    for place, (word, more) in enumerate(pairwise(words[:-1]), 1):
        if word == "is" and more in INDEFINITE:
            end = _phrase_end(words, place)
            if end > place + 1:
                yield end


def noun_phrase_head(words: Sequence[str], place: int) -> str:
    """Return the last word of the noun phrase whose article is at a place; the article if it is alone."""
    return words[_phrase_end(words, place) - 1]


def _phrase_end(words: Sequence[str], place: int) -> int:
    return next((at for at in range(place + 1, len(words)) if _ends(words[at])), len(words))


def _ends(word: str) -> bool:
    # "Single-player games" contains a hyphen, "pub -s" an ending.
    return word in _ENDS or (word.startswith("-") and word != "-") or word.endswith("ed")
