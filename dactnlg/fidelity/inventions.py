"""Inventions: values of training that a sentence says and its act does not have."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from itertools import chain

from dactnlg.acts import Slot, Turn
from dactnlg.text.grammar.english import ARTICLES
from dactnlg.text.placeholders import is_placeholder
from dactnlg.text.surface import strip_joiner, tokenize

OPEN = 20
"""Values of a slot in training from which on they are names, whose words mean nothing else."""
DIGITS = 4
"""Digits of a value that is nothing but a number, at least: a smaller one may count anything."""
Words = tuple[str, ...]
_NUMBER = re.compile(r"[0-9]+")


class KnownValues:
    """Finds known values in sentences.

    Args:
        values: as words, see `words_of`.
    """

    def __init__(self, values: Iterable[Words]) -> None:
        self._firsts: dict[str, list[Words]] = {}
        for words in sorted(values, key=len, reverse=True):
            self._firsts.setdefault(words[0], []).append(words)

    def strays(self, turn: Turn, sentence: str) -> list[Words]:
        """Return those in a sentence, the longest at every place, that a turn has neither alone nor in a longer one."""
        own, words = [words_of(slot.value) for _, slot in turn.slots() if slot.value], words_of(sentence)
        found, at = list[Words](), 0
        while at < len(words):
            here = next((each for each in self._firsts.get(words[at], ()) if words[at : at + len(each)] == each), None)
            # A name may hold other values of the act ("colibri mexican bistro"), but not be made of them.
            if here is not None and not any(_holds(each, here) for each in own):
                found.append(here)
            at += len(here) if here else 1
        return found


class Inventions:
    """Finds values that a sentence invents. Several threads may use one.

    They are values that training has and that hardly mean anything else: names of several words, numbers with a unit,
    long numbers. "Cheap" may be said of anything.

    Args:
        values: those of each slot in training, in lower case.
    """

    def __init__(self, values: Mapping[str, Sequence[str]]) -> None:
        self._slots: dict[Words, Slot] = {}
        for name, found in values.items():
            for value in found:
                words = words_of(value)
                # "The castro" is said with any article.
                words = words[1:] if words and words[0] in ARTICLES else words
                if _is_telling(words, among=len(found)):
                    self._slots.setdefault(words, Slot(name, value))
        self._known = KnownValues(self._slots)

    def invented(self, turn: Turn, sentence: str) -> list[Slot]:
        """Return the values, in the sentence's order, that a turn does not have, alone or within a longer one."""
        return [self._slots[words] for words in dict.fromkeys(self._known.strays(turn, sentence))]


def numbers_of(values: Mapping[str, Sequence[str]]) -> frozenset[str]:
    """Return the numbers in the values of slots, without those that may be said of any: 0 of something, or 1 of it."""
    found = chain.from_iterable(_NUMBER.findall(value) for own in values.values() for value in own)
    return frozenset(found) - {"0", "1"}


def stray_numbers(turn: Turn, tokens: Sequence[str], known: Container[str]) -> list[str]:
    """Return the numbers in delexicalised tokens that values have, but none of a turn's: "a low rating is 5".

    An act without any may be said with a number: "How did you like it, from 1 to 5?".

    Args:
        turn: the acts.
        tokens: with placeholders.
        known: the numbers of training's values.
    """
    # A search looks at thousands of texts, and few have any.
    if not _NUMBER.search(" ".join(tokens)) or all(slot.value is None for _, slot in turn.slots()):
        return []
    words = (strip_joiner(token) for token in tokens if not token.isalpha() and not is_placeholder(token))
    found = dict.fromkeys(number for word in words for number in _NUMBER.findall(word))
    own = {number for _, slot in turn.slots() for number in _NUMBER.findall(slot.value or "")}
    return [number for number in found if number in known and number not in own]


def words_of(text: str) -> Words:
    """Return the words and marks of a text, without capitals."""
    return tuple(strip_joiner(token).casefold() for token in tokenize(text))


def _holds(words: Words, part: Words) -> bool:
    """Whether words hold others side by side."""
    return f" {' '.join(part)} " in f" {' '.join(words)} "


def _is_telling(words: Words, *, among: int) -> bool:
    if "or" in words:
        # What stands there for a choice; its parts are values by themselves.
        return False
    digits = sum(char.isdigit() for word in words for char in word)
    return digits >= DIGITS or (len(words) > 1 and (digits > 0 or among >= OPEN))
