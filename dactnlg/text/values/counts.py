"""Counts: whether a number word in a sentence counts something.

"one" is one in "one stop", and not in "no one", "one of the best" or "the one that you want".
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from dactnlg.text.nearness import Nearness, related, stems
from dactnlg.text.values.numerals import NUMBER_WORDS

_ONE = frozenset({"one", "single"})
_BEFORE_NO_COUNT = frozenset({"no", "this", "that", "the", "which", "any", "every", "each", "another", "other", "some"})
_AFTER_NO_COUNT = frozenset({"of", "way", "day", "another", "s", "time"})
_SMALL_WORDS = """
    a an and are as at be but by can could do does for from had has have i if in is it its may might near not
    of on or should so than that the their there these they this to was we were what when where which who will
    with would you
"""
_FUNCTION_WORDS = frozenset(_SMALL_WORDS.split())


class Doubt(NamedTuple):
    """How doubtful a span is; the least doubtful sorts first.

    Attributes:
        unnamed: whether no word of the slot's name follows.
        shortness: minus the number of its tokens.
        distance: in tokens, to the nearest word of the slot's name.
    """

    unnamed: bool
    shortness: int
    distance: int


def doubt_of_count(
    folded: Sequence[str], start: int, end: int, slot_name: str, others: Collection[str], near: Nearness
) -> Doubt | None:
    """Return how doubtful it is that a span of number words is a slot's value; None if it is not one.

    Args:
        folded: the sentence's tokens.
        start: index of the span's first token.
        end: index after its last token.
        slot_name: the slot.
        others: slots that a number belongs to if their names follow it.
        near: of the sentence.
    """
    before, after = _neighbour(folded, start - 1, -1), _neighbour(folded, end, 1)
    # The two of "twenty-two" and of "two hundred".
    if before in NUMBER_WORDS or after in NUMBER_WORDS:
        return None
    named = _names(after, slot_name)
    if not named:
        last = folded[end - 1]
        if any(_names(after, other) for other in others) or last == "no":
            return None
        if last in NUMBER_WORDS | _ONE and after == "of":
            return None
        if last in _ONE and (before in _BEFORE_NO_COUNT or after in _AFTER_NO_COUNT or not _is_noun(after)):
            return None
    return Doubt(not named, start - end, near.distance(slot_name, start, end))


def _neighbour(folded: Sequence[str], at: int, step: int) -> str:
    """Return the word next to a span, skipping a hyphen: the "stop" of "two-stop"."""
    if 0 <= at < len(folded) and folded[at] == "-":
        at += step
    return folded[at] if 0 <= at < len(folded) else ""


def _is_noun(word: str) -> bool:
    return word.isalpha() and word not in _FUNCTION_WORDS


def _names(word: str, slot_name: str) -> bool:
    name = slot_name.casefold()
    return word.isalpha() and any(related(word, stem, name) for stem in stems(name))
