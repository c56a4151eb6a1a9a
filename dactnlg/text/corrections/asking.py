"""Asking: corrections of questions whose words have come together by chance."""

from __future__ import annotations

from collections.abc import Iterable

from dactnlg.text.grammar.english import AUXILIARIES, COORDINATING, GREETINGS, PREPOSITIONS, QUESTION_WORDS
from dactnlg.text.grammar.plurals import pluralized
from dactnlg.text.placeholders import is_placeholder, without_ordinal
from dactnlg.text.sentences import PRONOUN, Tokens, is_asking
from dactnlg.text.surface import strip_joiners

_FAR = 4
"""Within how many words on both sides of "or" its alternatives have their values."""
_DO_NOT = frozenset({"don't", "dont"})
_WHY = frozenset({"why", "makes"})
"""Words before "you find" that are not its object, as "that" may be: "the pubs that you find so nice"."""


def asked(sentence: Tokens, things: Iterable[str]) -> Tokens:
    """Return a question with those faults corrected that its words show; other sentences are unchanged.

    Args:
        sentence: delexicalised.
        things: nouns for what the texts of its corpus are about.
    """
    return _greeting(_without_or(_found_so(_not_caring(sentence), things))) if is_asking(sentence) else sentence


def _found_so(sentence: Tokens, things: Iterable[str]) -> Tokens:
    """Insert the object that "find" lacks: "why do you find so average?", "what makes you find so average?"."""
    words = strip_joiners(sentence)
    for place in range(2, len(words) - 2):
        if words[place : place + 3] == ["you", "find", "so"] and _WHY.intersection(words[place - 2 : place]):
            several = not {pluralized(thing) for thing in things}.isdisjoint(words[:place])
            return (*sentence[: place + 2], "them" if several else PRONOUN, *sentence[place + 2 :])
    return sentence


def _not_caring(sentence: Tokens) -> Tokens:
    """Ask "do you not care about the price?" instead of "would you don't care about the price?"."""
    words = strip_joiners(sentence)
    # "What area do you do not care about?" mixes two questions.
    for place in range(len(words) - 3 if QUESTION_WORDS.isdisjoint(words) else 0):
        verb, user, *denied = words[place : place + 4]
        if verb in ("would", "do") and user == "you" and (denied[0] in _DO_NOT or denied == ["do", "not"]):
            behind = place + (4 if denied[0] == "do" else 3)
            return (*sentence[:place], "do", "you", "not", *sentence[behind:])
    return sentence


def _without_or(sentence: Tokens) -> Tokens:
    """Drop "or" between conditions on different slots: "in the SLOT_AREA or in the SLOT_PRICERANGE price range"."""
    words = strip_joiners(sentence)
    for place in range(1, len(words) - 1):
        if words[place] == "or" and words[place + 1] in PREPOSITIONS:
            before = [word for word in words[max(0, place - _FAR) : place] if is_placeholder(word)]
            behind = [word for word in words[place : place + _FAR] if is_placeholder(word)]
            if before and behind and without_ordinal(before[-1]) != without_ordinal(behind[0]):
                return _without_or((*sentence[:place], *sentence[place + 1 :]))
    return sentence


def _greeting(sentence: Tokens) -> Tokens:
    """End a greeting with a stop: "Hello, welcome to the guide?"."""
    words = strip_joiners(sentence)
    asks = any(word in AUXILIARIES or word in QUESTION_WORDS or word in COORDINATING - {","} for word in words)
    greets = words[0] in GREETINGS and words[-1] == "?" and not asks
    return (*sentence[:-1], sentence[-1].replace("?", ".")) if greets else sentence
