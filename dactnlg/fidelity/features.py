"""Features of the reader: n-grams, the words around a slot's name, and the words around a placeholder."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from dactnlg.text.placeholders import is_placeholder, placeholder_name, without_ordinal
from dactnlg.text.surface import strip_joiner

LONGEST = 4
"""Maximum length of an n-gram, in words."""
REACH = 5
"""Number of words on either side of a placeholder that show whose value it is."""
FAR = 8
"""Number of words before a slot's name that may be about the slot; after it, two fewer."""
UNNAMED = "<unnamed>"
"""The feature of a sentence without any word of a slot."""
_START, _END, _ANY, _NAME, _VALUE = "<s>", "</s>", "SLOT", "<slot>", "<value>"


class SlotWords(NamedTuple):
    """The placeholder and words which show that a sentence is about a slot."""

    placeholder: str
    words: frozenset[str]

    @classmethod
    def of(cls, slot_name: str, words: Iterable[str]) -> SlotWords:
        """Return the placeholder and words of a slot."""
        return cls(placeholder_name(slot_name), frozenset(words))


def folded(tokens: Iterable[str]) -> list[str]:
    """Return the tokens of a delexicalised sentence in the form used by features.

    Words are lower-cased; placeholders lose their numbers: the second `near` is also `SLOT_NEAR`.
    """
    return [
        without_ordinal(strip_joiner(token)) if "SLOT_" in token and is_placeholder(token) else token.lower()
        for token in tokens
    ]


def n_grams(words: Sequence[str]) -> list[str]:
    """Return the distinct n-grams of 1 to `LONGEST` words of a folded sentence; its start and end count as words."""
    padded = [_START, *words, _END]
    found = dict.fromkeys(padded)
    for length in range(2, LONGEST + 1):
        found |= dict.fromkeys([" ".join(padded[at : at + length]) for at in range(len(padded) - length + 1)])
    return list(found)


def around_name(words: Sequence[str], slot: SlotWords, shown: Iterable[str], acts: str) -> list[str]:
    """Return the distinct features of a folded sentence around the words of a slot.

    The slot's words are replaced by marks, so that what is learned for one slot ("do not care about the") holds for
    others.

    Args:
        words: the sentence.
        slot: the slot's words.
        shown: the special values of the slot whose cues match.
        acts: the act types of the turn, combined with the cues: "no restaurant that allows children" means
            yes if the act says that there is no match.
    """
    found = dict.fromkeys([feature for value in shown for feature in (f"cue {value}", f"{acts} cue {value}")])
    if slot.placeholder not in words and slot.words.isdisjoint(words):
        return [*found, UNNAMED]
    padded = [_START]
    for word in words:
        mark = _VALUE if word == slot.placeholder else _NAME if word in slot.words else word
        if mark != _NAME or padded[-1] != _NAME:
            padded.append(mark)
    padded.append(_END)
    for at, word in enumerate(padded):
        if word not in (_NAME, _VALUE):
            continue
        for length in range(1, LONGEST + 1):
            for start in range(max(at - length + 1, 0), min(at + 1, len(padded) - length + 1)):
                found[" ".join(padded[start : start + length])] = None
        if word == _NAME:
            found |= dict.fromkeys([f"< {other}" for other in padded[max(at - FAR, 0) : at]])
            found |= dict.fromkeys([f"> {other}" for other in padded[at + 1 : at + FAR - 1]])
    return list(found)


def around_placeholders(words: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    """Yield the position of each placeholder of a folded sentence, with the features of the words around it.

    All other placeholders are replaced by the same word, so that a place is not recognised by the slots around it.
    """
    padded = [_START, *(_ANY if is_placeholder(word) else word for word in words), _END]
    for at, word in enumerate(words, start=1):
        if is_placeholder(word):
            yield at - 1, list(dict.fromkeys(_beside(padded[max(at - REACH, 0) : at], padded[at + 1 : at + 1 + REACH])))


def _beside(before: Sequence[str], after: Sequence[str]) -> Iterator[str]:
    for length in range(1, LONGEST):
        if length <= len(before):
            yield "<< " + " ".join(before[len(before) - length :])
        if length <= len(after):
            yield ">> " + " ".join(after[:length])
    yield f"{before[-1]} <> {after[0]}"
    yield from (f"< {word}" for word in before)
    yield from (f"> {word}" for word in after)
