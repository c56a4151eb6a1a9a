"""Inventions: values of training that a sentence says and its act does not have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from dactnlg.acts import Slot, Turn
from dactnlg.text.grammar.english import ARTICLES
from dactnlg.text.surface import strip_joiner, tokenize

OPEN = 20
"""Values of a slot in training from which on they are names, whose words mean nothing else."""
OWN, SLIPS = 10, 0.004
"""Sentences of training whose acts have a value, at least, if no other one may hold it; the others that do all the
same, as a share of these, for people have slips."""
RARE = 0.001
"""The same others, as a share of all sentences whose acts lack the value, at most."""
SHORTEST = 2
"""Letters and digits of such a value, at least; not all are digits."""
DIGITS = 4
"""Digits of a value that is nothing but a number, at least: a smaller one may count anything."""
Words = tuple[str, ...]


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
    long numbers. "Good" may be said of anything; "cheap" tells where training says it of nothing else.

    Args:
        values: those of each slot in training, in lower case.
        told: those that tell of themselves, as training shows; see `learn_told`.
    """

    def __init__(self, values: Mapping[str, Sequence[str]], told: Mapping[str, Sequence[str]] | None = None) -> None:
        self._slots: dict[Words, Slot] = {}
        for name, found in values.items():
            for value in found:
                if _is_telling(words := _bare(value), among=len(found)):
                    self._slots.setdefault(words, Slot(name, value))
        self._known = KnownValues(self._slots)
        learned = {_bare(value): Slot(name, value) for name, found in (told or {}).items() for value in found}
        self._stating = self._slots | learned
        self._known_stating = KnownValues(self._stating)

    def invented(self, turn: Turn, sentence: str) -> list[Slot]:
        """Return the values, in the sentence's order, that a turn does not have, alone or within a longer one.

        A question without a value may name those that there are: "cheap, moderate or expensive?".
        """
        stating = any(slot.value is not None for _, slot in turn.slots())
        known = self._known_stating if stating else self._known
        return [self._stating[words] for words in dict.fromkeys(known.strays(turn, sentence))]


def learn_told(pairs: Iterable[tuple[Turn, str]], values: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Return, by slot, the values that hardly a sentence of (turn, sentence) pairs holds whose act lacks them."""
    slots: dict[Words, Slot] = {}
    for name, found in values.items():
        for value in found:
            words = _bare(value)
            letters = "".join(filter(str.isalnum, "".join(words)))
            if len(letters) >= SHORTEST and not letters.isdigit() and "or" not in words:
                slots.setdefault(words, Slot(name, value))
    known, own, others, count = KnownValues(slots), Counter[Words](), Counter[Words](), 0
    for turn, sentence in pairs:
        own.update({_bare(slot.value) for _, slot in turn.slots() if slot.value})
        others.update({*known.strays(turn, sentence)})
        count += 1
    told: dict[str, list[str]] = {}
    for words, slot in slots.items():
        slips = min(round(SLIPS * own[words]), RARE * (count - own[words]))
        if own[words] >= OWN and others[words] <= slips:
            told.setdefault(slot.name, []).append(slot.value or "")
    return told


def words_of(text: str) -> Words:
    """Return the words and marks of a text, without capitals."""
    return tuple(strip_joiner(token).casefold() for token in tokenize(text))


def _bare(value: str) -> Words:
    """Return the words of a value without an article at their begin: "the castro" is said with any."""
    words = words_of(value)
    return words[1:] if words and words[0] in ARTICLES else words


def _holds(words: Words, part: Words) -> bool:
    """Whether words hold others side by side."""
    return f" {' '.join(part)} " in f" {' '.join(words)} "


def _is_telling(words: Words, *, among: int) -> bool:
    if "or" in words:
        # What stands there for a choice; its parts are values by themselves.
        return False
    digits = sum(char.isdigit() for word in words for char in word)
    return digits >= DIGITS or (len(words) > 1 and (digits > 0 or among >= OPEN))
