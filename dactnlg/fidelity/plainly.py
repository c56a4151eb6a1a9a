"""Rules for plain questions and expressions of indifference, whatever the rest of the sentence is like.

The learned reader may miss a plain question, or "if you don't care about the price", beside words that never occur
together with it in training.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import takewhile

from dactnlg.text.grammar.english import NEGATIONS, PERSONS, QUESTION_WORDS, listed
from dactnlg.text.placeholders import is_placeholder
from dactnlg.text.questions import is_question
from dactnlg.text.sentences import split_sentences
from dactnlg.text.surface import strip_joiner

Words = Sequence[str]
_INDIFFERENCE = frozenset({"care", "preference", "preferences", "regardless"})
"""Words that are followed by what does not matter."""
_PARTICULAR = frozenset({"particular", "picky", "fussy"})
"""Words that are followed by "about" and what does not matter."""
_ANY = frozenset({"any", "all", "whatever", "various", "every", "either", "each", "different"})
"""Determiners of what does not matter."""
_NO_ISSUE = frozenset({"issue", "concern", "priority", "difference", "relevant", "irrelevant", "important"})
_CARELESS = _INDIFFERENCE | _PARTICULAR | _ANY | _NO_ISSUE | {"matter", "matters", "mind", "caring"}
"""At least one of these words occurs in an English expression of indifference."""
_UNKNOWING = NEGATIONS | listed("unknown unavailable unspecified unsure unclear uncertain unable sorry nor neither")
_UNKNOWING |= listed("dont doesnt cant isnt lack lacks lacking missing")
"""At least one of these words, or "n't", occurs in an English statement that something is unknown."""
_OPENING = QUESTION_WORDS | PERSONS | {"whether", "if", "that", "it"}
"""Words that open a clause which may continue what does not matter: "whether it has beer and does not cost"."""
_BEFORE = 3
"""Maximum distance of a word of `_ANY` before what does not matter."""
_MAIN = frozenset({"there", "we", "i", "then"})
"""Words that open the main clause after an expression of indifference."""


def asked(words: Words) -> Iterator[Words]:
    """Yield the sentences of a folded text that end with a question mark and begin like a question."""
    for sentence in split_sentences(words):
        if strip_joiner(sentence[-1]) == "?" and is_question(" ".join(sentence[:-1])):
            yield sentence


def indifferent(words: Words, *, denied: bool = False) -> Iterator[Words]:
    """Yield the words that follow each expression of indifference, up to a main clause or a value.

    Args:
        words: the words of a folded text.
        denied: leave out expressions without a preceding negation: "do you care about the price?".
    """
    for sentence in split_sentences(words):
        for place, word in enumerate(sentence):
            said = word in _INDIFFERENCE or (word in _PARTICULAR and sentence[place + 1 : place + 2] == ("about",))
            if said and (not denied or unknowing(sentence[:place]) or word == "regardless"):
                behind = sentence[place + 1 : _told_from(sentence, place + 1)]
                yield [*takewhile(lambda each: each not in _MAIN and not is_placeholder(each), behind)]


def _told_from(words: Words, start: int) -> int:
    """Return the index from which words go on to a statement: "does" in "about the meal does not allow dogs"."""
    for at in range(start + 1, len(words) - 2):
        denied = words[at] in ("does", "do") and words[at + 1] == "not" and words[at + 2] not in _CARELESS
        if denied and _OPENING.isdisjoint(words[start:at]):
            return at
    return len(words)


def any_of(words: Words) -> Iterator[str]:
    """Yield the folded words within two words after "any", "all" and the like: "in all product families"."""
    for first, second, word in zip(["", "", *words], ["", *words], words, strict=False):
        if second in _ANY or (second.isalpha() and first in _ANY):
            yield word


def careless(words: Iterable[str]) -> bool:
    """Return whether words may express, in English, that something does not matter."""
    return not _CARELESS.isdisjoint(words)


def unknowing(words: Iterable[str]) -> bool:
    """Return whether words may express, in English, that something is unknown: "no information", "I can't tell"."""
    return any(word in _UNKNOWING or word.endswith("n't") for word in words)


def matters(words: Words, named: Container[str]) -> bool:
    """Return whether a folded text says that something does not matter, but names another thing that does.

    "If you don't care about the price, there are pubs with a garden": the garden matters.

    Args:
        words: the text.
        named: the words for the other thing.
    """
    without = list(indifferent(words))
    if not without or any(word in named for each in without for word in each):
        return False
    places = [place for place, word in enumerate(words) if word in named]
    return bool(places) and all(_ANY.isdisjoint(words[max(0, place - _BEFORE) : place]) for place in places)
