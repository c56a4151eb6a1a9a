"""Contrast: phrases that some sentences have and all others lack, and so tell them apart.

"Is refundable" stands in sentences of refundable=yes; "refundable" alone does not tell, for "is not refundable" has it.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from math import ceil
from typing import NamedTuple

from dactnlg.text.cues import MASK
from dactnlg.text.grammar.english import NEGATIONS, PREPOSITIONS, THIRD
from dactnlg.text.values.nearness import names_slot

LONGEST = 6
"""Words of a phrase."""
FEW = 5
"""Sentences below which a phrase may be there by chance, if none of its words is one of the slot's name: "okay i"."""
_WORD = re.compile(r"[\w'’]+|[^\w\s]")
_WORDS_OF_NO_USE = """
    a an and any are as at be but by can can't do does for from had has have i if in is isn't it it's its may
    might no not of on or so than that the their them there these they this to was we were what when where
    which who will with without would you your
"""
_EMPTY_WORDS = frozenset(_WORDS_OF_NO_USE.split())
_AT_EDGES = _EMPTY_WORDS | PREPOSITIONS
"""What stands beside a value and is no part of it."""
_OF_SENTENCES = THIRD | {"am", "are", "be", "had", "has", "have", "is", "isn't", "it's", "was", "were"}
"""Verbs: what has one is a clause, and no value."""


class Telling(NamedTuple):
    """Phrases that tell sentences from others.

    Attributes:
        phrases: the phrases, the one of most sentences first.
        covered: how many of the sentences have one of them.
        out_of: the number of sentences.
    """

    phrases: tuple[str, ...]
    covered: int
    out_of: int


class Contrast:
    """The phrases of sentences.

    Args:
        sentences: folded, values masked; phrases do not reach across a value or a mark.
    """

    def __init__(self, sentences: Sequence[str]) -> None:
        self._phrases = [_phrases(sentence) for sentence in sentences]
        counts = Counter(phrase for phrases in self._phrases for phrase in phrases)
        self._holders: dict[str, set[int]] = defaultdict(set)
        for index, phrases in enumerate(self._phrases):
            for phrase in phrases:
                if counts[phrase] > 1:
                    self._holders[phrase].add(index)

    def telling(
        self,
        sentences: AbstractSet[int],
        others: AbstractSet[int] = frozenset(),
        *,
        name: str = "",
        words: int = 2,
        precision: float = 0.9,
        share: float = 0.02,
        least: int = 2,
        fits: Callable[[str], bool] | None = None,
    ) -> Telling:
        """Return phrases that nearly none but these sentences have, chosen one after the other by what they add.

        Args:
            sentences: indices of the sentences.
            others: indices of sentences that count neither for nor against a phrase.
            name: of several phrases that tell as well, those with a word of this slot's name are better; others have to
                add `FEW` sentences.
            words: of several phrases that are as good, those of about so many words are better: other sentences may
                have a short one too, and lack a long one.
            precision: the least share of these sentences among all that have the phrase.
            share: what each phrase has to add, of these sentences.
            least: how many it has to add at least.
            fits: whether a phrase may be chosen at all; None for all.
        """
        counts = Counter(phrase for index in sentences for phrase in self._phrases[index])
        found: dict[str, set[int]] = {}
        named = {phrase for phrase in counts if name and names(phrase, name)}
        for phrase, count in counts.items():
            strange = len(self._holders[phrase] - others) - count
            # One person's slip does not spoil a phrase that has the slot's name.
            precise = strange <= (1 - precision) * (count + strange) or (
                phrase in named and strange < 2 and count >= FEW
            )
            if count > 1 and precise and (fits is None or fits(phrase)):
                found[phrase] = self._holders[phrase] & sentences
        # A phrase of two sentences among hundreds of phrases may be there by chance.
        least = max(least, 2 if len(sentences) < 12 else 3, ceil(share * len(sentences)))
        left, chosen = set(sentences), list[str]()

        def worth(phrase: str) -> tuple[int, bool, int, int, str]:
            length = len(phrase.split())
            return len(found[phrase] & left), phrase in named, -abs(length - words), -length, phrase

        while found:
            best = max(found, key=worth)
            adds = len(found[best] & left)
            if adds < least:
                break
            added = found.pop(best)
            if best in named or not name or adds >= FEW:
                chosen.append(best)
                left -= added
        return Telling(tuple(chosen), len(sentences) - len(left), len(sentences))

    def having(self, phrases: Sequence[str]) -> set[int]:
        """Return the indices of the sentences that have any of some phrases."""
        return {index for phrase in phrases for index in self._holders.get(phrase, ())}


def names(phrase: str, slot_name: str) -> bool:
    """Whether a phrase has a word of a slot's name, in any form: "allows" of `dogsallowed`."""
    words = [word for word in phrase.split() if word not in _EMPTY_WORDS]
    return any(names_slot(word, slot_name) or (len(word) > 4 and word[:4] in slot_name.casefold()) for word in words)


def merely_names(phrase: str, slot_name: str) -> bool:
    """Whether a phrase says nothing but a slot's name: "the eco rating", "about usb ports"."""
    return all(word in _AT_EDGES or word == "about" or names(word, slot_name) for word in phrase.split())


def is_bare(phrase: str) -> bool:
    """Whether a phrase has no words that belong to the sentence around it: "free" is bare, "is free" is not."""
    words = phrase.split()
    if not words[0][0].isalnum() or any(word in _OF_SENTENCES for word in words):
        return False
    # "No charge" and "not rated" say what they say with their first word.
    return words[-1] not in _AT_EDGES and (words[0] not in _AT_EDGES or words[0] in NEGATIONS)


def _phrases(sentence: str) -> set[str]:
    # "Family-friendly" and "family friendly" are one phrase.
    words = _WORD.findall(sentence.replace("-", " "))
    found = set()
    for start in range(len(words)):
        for end in range(start + 1, min(start + LONGEST, len(words)) + 1):
            last = words[end - 1]
            if last == MASK or not last[0].isalnum():
                break
            if any(word not in _EMPTY_WORDS for word in words[start:end]):
                found.add(" ".join(words[start:end]))
    return found
