"""Joints: whether the clauses of an English sentence are joined, and what "and" joins in them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise

from dactnlg.text.grammar.english import JOINTS, PREPOSITIONS, SUBORDINATING
from dactnlg.text.grammar.lists import mislisted
from dactnlg.text.grammar.verbs import finite
from dactnlg.text.questions import is_question
from dactnlg.text.surface import strip_joiners

_STARTS = frozenset({"it", "they", "their", "its", "there"})
_APOLOGIES = (["i'm", "sorry"], ["i", "am", "sorry"], ["sorry"])


def splices(tokens: Sequence[str], verbs: Collection[str]) -> int:
    """Return how many clauses of a sentence are joined only by a comma: "it is a nice place, it is cheap".

    Args:
        tokens: with joiners and placeholders.
        verbs: finite verbs, in lower case; "as an alternative, it" has none before its comma.
    """
    words = without_apology(strip_joiners(tokens))
    if words[0] in SUBORDINATING:
        return 0
    places = [place for place in range(2, len(words)) if words[place - 1] == "," and words[place] in _STARTS]
    # "It has a garden and, though it is small, it is nice."
    alone = [place for place in places if SUBORDINATING.isdisjoint(words[: place - 1])]
    return sum(not _opens(words[: place - 1], verbs) for place in alone)


def _opens(words: Sequence[str], verbs: Collection[str]) -> bool:
    """Whether words before a comma need no joint to the following clause: "in the south", "unfortunately"."""
    apart = len(words) == 1 or words[0] in PREPOSITIONS | {"as", "of"}
    return words[-1] == "however" or (apart and not finite(words, verbs))


def misjoined(words: Sequence[str], at: Sequence[int], near: Sequence[int], more: int) -> int:
    """Return the doubts about the joints of a sentence's clauses and conditions.

    Args:
        words: of the sentence.
        at: the indices of its finite verbs.
        near: the indices of contact clauses, those after a noun without "that".
        more: the number of further verbs: "what about" counts as one.
    """
    found = max(0, _lacking_joints(words, at, near) + more) + _unjoined(words, at)
    return 2 * (found + mislisted(words, at))


def _lacking_joints(words: Sequence[str], at: Sequence[int], near: Sequence[int]) -> int:
    """Return the most, over a sentence's verbs, by which the verbs before one outnumber the joints; -1 without verbs.

    "It is the only pub serves beer and is cheap" has its only joint too late.
    """
    places = [place for place, pair in enumerate(pairwise([*words, ""])) if place and _joins(*pair)]
    places += [*near, *([0] if words[0] in SUBORDINATING else [])]
    return max((number - sum(each <= place for each in places) for number, place in enumerate(at)), default=-1)


def _joins(word: str, more: str) -> bool:
    return word in JOINTS and (word, more) != ("sorry", "but")


def _unjoined(words: Sequence[str], at: Sequence[int]) -> bool:
    """Whether only a comma precedes a statement's last verb: "it is cheap, has beer and wine"."""
    last = at[-1] if len(at) > 1 else 0
    return last > 0 and words[last - 1] == "," and not is_question(" ".join(words))


def without_apology(words: list[str]) -> list[str]:
    """Return a sentence without an apology and the comma after it, whose verb does not count."""
    for sorry in _APOLOGIES:
        rest = words[len(sorry) + 1 :]
        if words[: len(sorry)] == sorry and words[len(sorry) : len(sorry) + 1] == [","] and rest:
            return rest[rest[0] == "but" :] or rest
    return words
