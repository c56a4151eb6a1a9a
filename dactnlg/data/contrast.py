"""Contrast: phrases that distinguish some sentences, since nearly all others lack them.

"Is refundable" indicates refundable=yes; "refundable" alone does not, since "is not refundable" contains it.
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
from dactnlg.text.nearness import names_slot

LONGEST = 6
"""Maximum number of words of a phrase."""
FEW = 4
"""Minimum number of sentences that a phrase without a word of the slot's name must add: "okay i" may be chance."""
PRECISION = 0.9
"""Minimum share of the sentences to be told apart among all that have a phrase."""
_NO_LETTER = re.compile(r"[\W_]")
_WORD = re.compile(r"[\w'’]+|[^\w\s]")
_WORDS_OF_NO_USE = """
    a an and any are as at be but by can can't do does for from had has have i if in is isn't it it's its may
    might no not of on or so than that the their them there these they this to was we were what when where
    which who will with without would you your
"""
_EMPTY_WORDS = frozenset(_WORDS_OF_NO_USE.split())
_AT_EDGES = _EMPTY_WORDS | PREPOSITIONS
"""Words beside a value that are not part of it."""
_BESIDE_NAMES = _AT_EDGES - {"any", "without"} - NEGATIONS | {"about"}
"""Words beside a slot's name that say nothing of its value: "about the eco rating", but not "any eco rating"."""
_OF_SENTENCES = THIRD | {"am", "are", "be", "had", "has", "have", "is", "isn't", "it's", "was", "were"}
"""Verbs: a phrase with one of them is a clause, not a value."""


class Telling(NamedTuple):
    """Phrases that distinguish sentences from others.

    Attributes:
        phrases: the phrases, in the order in which they were chosen.
        covered: number of the sentences that contain one of them.
        out_of: number of the sentences.
    """

    phrases: tuple[str, ...]
    covered: int
    out_of: int


class Contrast:
    """An index of the phrases of sentences.

    Args:
        sentences: folded, with masked values; phrases do not cross a value or a punctuation mark.
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
        share: float = 0.02,
        least: int = 2,
        fits: Callable[[str], bool] | None = None,
    ) -> Telling:
        """Return phrases that hardly any other sentences have, chosen greedily by how many sentences each adds.

        Args:
            sentences: indices of the sentences.
            others: indices of sentences that count neither for nor against a phrase.
            name: among phrases that add as many sentences, those with a word of this slot's name are preferred; others
                must add at least `FEW`.
            words: among phrases equal in this, those of about so many words are preferred: unseen sentences may have a
                short one by chance, and lack a long one.
            share: minimum share of these sentences that each phrase must add.
            least: minimum number of sentences that it must add.
            fits: whether a phrase may be chosen at all; None for all.
        """
        counts = Counter(phrase for index in sentences for phrase in self._phrases[index])
        found: dict[str, set[int]] = {}
        named = {phrase for phrase in counts if name and names(phrase, name)}
        for phrase, count in counts.items():
            strange = len(self._holders[phrase] - others) - count
            # A single slip does not rule out a phrase with a word of the slot's name.
            slip = strange == 1 and phrase in named and count > FEW
            precise = slip or strange <= (1 - PRECISION) * (count + strange)
            if count > 1 and precise and (fits is None or fits(phrase)):
                found[phrase] = self._holders[phrase] & sentences
        # Among hundreds of phrases, one in just two sentences may be there by chance.
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
        """Return the indices of the sentences that have any of these phrases."""
        return {index for phrase in phrases for index in self._holders.get(phrase, ())}


def names(phrase: str, slot_name: str) -> bool:
    """Return whether a phrase has a word of a slot's name."""
    return words_of_name(phrase, slot_name) > 0


def words_of_name(phrase: str, slot_name: str) -> int:
    """Return how many words of a phrase are of a slot's name, in any form, such as "allows" for `dogsallowed`."""
    words = [word for word in phrase.split() if word not in _EMPTY_WORDS]
    return sum(names_slot(word, slot_name) or (len(word) > 4 and word[:4] in slot_name.casefold()) for word in words)


def merely_names(phrase: str, slot_name: str) -> bool:
    """Return whether a phrase says nothing but a slot's name, such as "the eco rating" or "about usb ports"."""
    own = [word for word in phrase.split() if word not in _BESIDE_NAMES]
    # "Eco" and "usb" are too short to name a slot elsewhere.
    parted = "".join(own).removesuffix("s") in _NO_LETTER.sub("", slot_name.casefold())
    return parted or all(names(word, slot_name) for word in own)


def is_bare(phrase: str) -> bool:
    """Return whether a phrase has no words that belong to the surrounding sentence: "free", but not "is free"."""
    words = phrase.split()
    if not words[0][0].isalnum() or any(word in _OF_SENTENCES for word in words):
        return False
    # In "no charge" and "not rated" the first word is essential.
    return words[-1] not in _AT_EDGES and (words[0] not in _AT_EDGES or words[0] in NEGATIONS)


def _phrases(sentence: str) -> set[str]:
    # "Family-friendly" and "family friendly" count as one phrase.
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
