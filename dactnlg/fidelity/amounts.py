"""Amounts: wrong numbers in a sentence, and comparisons ("less than") opposite to those of its act."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence
from itertools import chain

from dactnlg.acts import Slot, Turn
from dactnlg.text.placeholders import is_placeholder
from dactnlg.text.surface import strip_joiner

BEFORE = 4
"""Number of words before a number that may hold its comparison: "more than about £ 30"."""
_LESS, _MORE = frozenset({"less", "under", "below", "beneath"}), frozenset({"more", "over", "above", "exceeding"})
_NUMBER = re.compile(r"[0-9]+")


def numbers_of(values: Mapping[str, Sequence[str]]) -> frozenset[str]:
    """Return the numbers in the values of slots, except 0 and 1, which may be said of anything."""
    found = chain.from_iterable(_NUMBER.findall(value) for own in values.values() for value in own)
    return frozenset(found) - {"0", "1"}


def stray_numbers(turn: Turn, tokens: Sequence[str], known: Container[str]) -> list[str]:
    """Return the known numbers in delexicalised tokens that are in none of a turn's values: "a low rating is 5".

    An act without values may be expressed with any number: "How did you like it, from 1 to 5?".

    Args:
        turn: the acts.
        tokens: with placeholders.
        known: the numbers in the values of the training data.
    """
    # A fast test first: a search checks thousands of texts, and few have numbers.
    if not _NUMBER.search(" ".join(tokens)) or all(slot.value is None for _, slot in turn.slots()):
        return []
    return [number for number in _other_numbers(turn, tokens) if number in known]


def amounts_otherwise(turn: Turn, slot: Slot, tokens: Sequence[str], values: Mapping[str, Sequence[str]]) -> bool:
    """Return whether delexicalised tokens have a number not in a turn's values, or reverse the comparison of a value.

    "More than £40", and "less than £30", have nearly all the words of "more than £30".

    Args:
        turn: the acts.
        slot: a slot of the turn whose value is not found literally in the tokens.
        tokens: with placeholders.
        values: slot -> values of the training data; numbers in values of the turn's other slots do not count, as "1
            star" for a low rating says nothing about the price.
    """
    value = slot.value or ""
    own = _NUMBER.findall(value)
    if not own:
        return False
    others = {each.name for _, each in turn.slots()} - {slot.name}
    elsewhere = {number for name in others for each in values.get(name, ()) for number in _NUMBER.findall(each)}
    return not elsewhere.issuperset(_other_numbers(turn, tokens)) or _turned(value, own, tokens)


def _turned(value: str, own: Sequence[str], tokens: Sequence[str]) -> bool:
    """Return whether tokens use the opposite comparison with a number of a value."""
    said = {*value.lower().split()}
    against = _MORE if said & _LESS else _LESS if said & _MORE else frozenset[str]()
    words = [strip_joiner(token).lower() for token in tokens] if against else []
    places = (place for place, word in enumerate(words) if word in own)
    return any(not against.isdisjoint(words[max(place - BEFORE, 0) : place]) for place in places)


def _other_numbers(turn: Turn, tokens: Sequence[str]) -> list[str]:
    """Return the numbers in delexicalised tokens that are in no value of a turn."""
    words = (strip_joiner(token) for token in tokens if not token.isalpha() and not is_placeholder(token))
    found = dict.fromkeys(number for word in words for number in _NUMBER.findall(word))
    own = {number for _, slot in turn.slots() for number in _NUMBER.findall(slot.value or "")}
    return [number for number in found if number not in own]
