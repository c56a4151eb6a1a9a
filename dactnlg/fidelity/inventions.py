"""Inventions: values known from training that a sentence contains but its act lacks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from dactnlg.acts import Slot, Turn
from dactnlg.text.grammar.english import ARTICLES
from dactnlg.text.placeholders import Required
from dactnlg.text.surface import strip_joiner, tokenize

OPEN = 20
"""Number of values of a slot in training from which on they are names, whose words mean nothing else."""
OWN, SLIPS = 10, 0.004
"""For a learned value: minimum number of pairs whose acts have it; and, as a share of these, the maximum number of
sentences that contain it although their acts lack it, since people make slips."""
RARE = 0.001
"""The latter's maximum share of all pairs whose acts lack the value."""
SHORTEST = 2
"""Minimum number of letters and digits of a learned value; not all may be digits."""
DIGITS = 4
"""Minimum number of digits of a value with a number: a smaller number alone may count anything."""
Words = tuple[str, ...]


class KnownValues:
    """Finds known values in sentences.

    Args:
        values: the values as words, see `words_of`.
    """

    def __init__(self, values: Iterable[Words]) -> None:
        self._firsts: dict[str, list[Words]] = {}
        for words in sorted(values, key=len, reverse=True):
            self._firsts.setdefault(words[0], []).append(words)

    def strays(self, own: Sequence[str], words: Words) -> list[Words]:
        """Return the known values in a sentence, the longest at each place, that no value of an act is or contains.

        Args:
            own: the act's values.
            words: the sentence, see `words_of`.
        """
        held = [words_of(value) for value in own]
        found, at = list[Words](), 0
        while at < len(words):
            here = next((each for each in self._firsts.get(words[at], ()) if words[at : at + len(each)] == each), None)
            # A value of the act may contain a known one ("colibri mexican bistro"), which is then not invented.
            if here is not None and not any(_holds(each, here) for each in held):
                found.append(here)
            at += len(here) if here else 1
        return found


class Inventions:
    """Finds values that a sentence invents; thread-safe.

    Only unambiguous values of the training data are checked: names of several words, numbers with a unit, long numbers,
    and learned ones. "Good" may be said of anything; "cheap" is unambiguous if training uses it for its slot only.

    Args:
        values: slot -> its values in training, in lower case.
        told: slot -> values that training shows to be unambiguous; see `learn_told`.
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
        """Return the invented values in the order of the sentence: those that no value of a turn is or contains.

        A turn that asks for a slot may list its values: "cheap, moderate or expensive?"; so may one without any values.
        """
        return self._strays(turn, values_of(turn), words_of(sentence))

    def invented_in(self, turn: Turn, tokens: Iterable[str], required: Iterable[Required]) -> list[Slot]:
        """Return the invented values in delexicalised tokens, where only values without a placeholder are in words.

        Args:
            turn: the acts.
            tokens: the sentence, with placeholders.
            required: the values of the turn that have a placeholder.
        """
        placed = {item.slot for item in required}
        own = [slot.value for _, slot in turn.slots() if slot.value and slot not in placed]
        return self._strays(turn, own, tuple(strip_joiner(token).casefold() for token in tokens))

    def _strays(self, turn: Turn, own: Sequence[str], words: Words) -> list[Slot]:
        stating = any(slot.value is not None for _, slot in turn.slots())
        asked = {slot.name for _, slot in turn.slots() if slot.value is None}
        known = self._known_stating if stating else self._known
        found = (self._stating[each] for each in dict.fromkeys(known.strays(own, words)))
        return [slot for slot in found if slot.name not in asked]


def learn_told(pairs: Iterable[tuple[Turn, str]], values: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Return slot -> its values that hardly any sentence of (turn, sentence) pairs contains if its act lacks them."""
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
        others.update({*known.strays(values_of(turn), words_of(sentence))})
        count += 1
    told: dict[str, list[str]] = {}
    for words, slot in slots.items():
        slips = min(round(SLIPS * own[words]), RARE * (count - own[words]))
        if own[words] >= OWN and others[words] <= slips:
            told.setdefault(slot.name, []).append(slot.value or "")
    return told


def values_of(turn: Turn) -> list[str]:
    """Return the values of a turn."""
    return [slot.value for _, slot in turn.slots() if slot.value]


def words_of(text: str) -> Words:
    """Return the case-folded words and punctuation marks of a text."""
    return tuple(strip_joiner(token).casefold() for token in tokenize(text))


def _bare(value: str) -> Words:
    """Return the words of a value without a leading article: "the castro" may be said with any or none."""
    words = words_of(value)
    return words[1:] if words and words[0] in ARTICLES else words


def _holds(words: Words, part: Words) -> bool:
    """Return whether words contain others as a contiguous sequence."""
    return f" {' '.join(part)} " in f" {' '.join(words)} "


def _is_telling(words: Words, *, among: int) -> bool:
    if "or" in words:
        # A choice, whose parts are values themselves.
        return False
    digits = sum(char.isdigit() for word in words for char in word)
    return digits >= DIGITS or (len(words) > 1 and (digits > 0 or among >= OPEN))
