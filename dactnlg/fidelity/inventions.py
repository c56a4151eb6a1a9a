"""Inventions: values of training that a sentence says and its act does not have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from dactnlg.acts import Slot, Turn
from dactnlg.text.grammar.english import ARTICLES
from dactnlg.text.surface import strip_joiner, tokenize

OPEN = 20
"""Values of a slot in training from which on they are names, whose words mean nothing else."""
DIGITS = 4
"""Digits of a value that is nothing but a number, at least: a smaller one may count anything."""
_Words = tuple[str, ...]


class Inventions:
    """Finds values that a sentence invents. Several threads may use one.

    They are values that training has and that hardly mean anything else: names of several words, numbers with a unit,
    long numbers. "Cheap" may be said of anything.

    Args:
        values: those of each slot in training, in lower case.
    """

    def __init__(self, values: Mapping[str, Sequence[str]]) -> None:
        self._known: dict[str, list[tuple[_Words, Slot]]] = {}
        for name, found in values.items():
            for value in found:
                words = _words(value)
                # "The castro" is said with any article.
                words = words[1:] if words[0] in ARTICLES else words
                if _is_telling(words, among=len(found)):
                    self._known.setdefault(words[0], []).append((words, Slot(name, value)))

    def invented(self, turn: Turn, sentence: str) -> list[Slot]:
        """Return the values, in the sentence's order, that a turn does not have, alone or within a longer one."""
        own = [f" {' '.join(_words(slot.value))} " for _, slot in turn.slots() if slot.value is not None]
        said = dict.fromkeys(self._said(_words(sentence)))
        return [slot for words, slot in said if not any(f" {' '.join(words)} " in each for each in own)]

    def _said(self, words: _Words) -> Iterator[tuple[_Words, Slot]]:
        """Yield the known values among some words, of those that begin at the same the longest."""
        place = 0
        while place < len(words):
            known = self._known.get(words[place], ())
            here = [each for each in known if words[place : place + len(each[0])] == each[0]]
            longest = max(here, key=lambda each: len(each[0]), default=None)
            if longest is not None:
                yield longest
            place += 1 if longest is None else len(longest[0])


def _words(text: str) -> _Words:
    return tuple(strip_joiner(token) for token in tokenize(text.casefold()))


def _is_telling(words: _Words, *, among: int) -> bool:
    if "or" in words:
        # What stands there for a choice; its parts are values by themselves.
        return False
    digits = sum(char.isdigit() for word in words for char in word)
    return digits >= DIGITS or (len(words) > 1 and (digits > 0 or among >= OPEN))
