"""Lists: what "and", "or" and commas join in an English sentence apart from clauses."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from dactnlg.text.grammar.english import (
    ARTICLES,
    AUXILIARIES,
    FUNCTION_WORDS,
    PREPOSITIONS,
    RELATIVES,
    SUBJECTS,
    VERBS,
)
from dactnlg.text.placeholders import is_placeholder

_CONDITIONS = PREPOSITIONS | {"where", "good"}
"""Words that begin conditions that are not clauses."""
_WHAT_HAS = VERBS | RELATIVES | PREPOSITIONS - {"in"} | {"of", "having"}
"""Words after which things may be listed."""
_LONGEST = 3
"""The most words of an alternative that names nothing."""


def mislisted(words: Sequence[str], at: Sequence[int]) -> int:
    """Return how often a sentence joins what cannot be joined.

    Args:
        words: of the sentence.
        at: the places of its finite verbs.
    """
    return _chained(words) + _thing_behind_place(words) + _two_lists(words, at) + _names_nothing(words)


def _chained(words: Sequence[str]) -> int:
    """Return how many conditions too many "and" joins: "pubs near here and where dogs are and in town"."""
    joined = [word for before, word in pairwise(words) if before == "and"]
    return max(0, sum(word in _CONDITIONS or word.endswith("ing") for word in joined) - 1)


def _thing_behind_place(words: Sequence[str]) -> bool:
    """Whether "and" joins a thing to a place: "pubs in the SLOT_PRICE range and a garden"; not after "with"."""
    for place, pair in enumerate(pairwise(words)):
        if pair in (("and", "a"), ("and", "an")):
            opener = next((word for word in reversed(words[:place]) if word in _WHAT_HAS | {"in"}), "")
            if opener == "in":
                return True
    return False


def _two_lists(words: Sequence[str], at: Sequence[int]) -> bool:
    """Whether a list continues after its end: "with beer and wine, a garden and a view"."""
    joints = [place for place, word in enumerate(words) if word == "and"]
    for first, second in pairwise(joints):
        between = words[first + 1 : second]
        one = not any(first < place < second for place in at) and (PREPOSITIONS | RELATIVES).isdisjoint(between)
        if one and "," in between and words[second - 1] != "," and words[second + 1 : second + 2] != ["in"]:
            return not any(place == second + 1 for place in at)
    return False


def _names_nothing(words: Sequence[str]) -> bool:
    """Whether the last alternative names nothing new: "would you like SLOT_FOOD food, or food?"."""
    last = len(words) - 1 - [*reversed(words)].index("or") if "or" in words[1:] else 0
    ends = (at for at in range(last + 1, len(words)) if words[at] in {"if", ","} or not words[at].isalpha())
    own = words[last + 1 : next((at for at in ends if not is_placeholder(words[at])), len(words))]
    plain = not any(is_placeholder(word) or word in AUXILIARIES | SUBJECTS | FUNCTION_WORDS - ARTICLES for word in own)
    return last > 0 and 0 < len(own) <= _LONGEST and plain and {*own} - ARTICLES <= {*words[:last]}
