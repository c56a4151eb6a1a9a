"""Opposites: sentences that affirm and deny differ in a few words: "with internet", "without internet"."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain

from dactnlg.text.grammar.denials import is_denial
from dactnlg.text.grammar.english import BEING, PERSONS, PREPOSITIONS, RELATIVES, THIRD, listed
from dactnlg.text.grammar.plurals import is_plural
from dactnlg.text.placeholders import is_placeholder
from dactnlg.text.sentences import ENDS, Tokens, is_asking, split_sentences
from dactnlg.text.surface import strip_joiner

Names = Callable[[str], bool]
"""Tests whether a word names the thing that is affirmed or denied."""
_HAVING = listed("has have offers offer provides provide includes include features feature")
"""Verbs of having: "has no internet"."""
_DOING = {f"{verb}s": verb for verb in listed("allow accept permit welcome serve admit take support need")}
"""Verbs in the singular that are denied by "does not"."""
_BASES = frozenset(_DOING.values())
_TOLD = listed("available allowed included accepted permitted welcome provided offered possible refundable")
"""What may follow "is" after a thing; "not" before it denies just that."""
_BREAKS = RELATIVES | {"and", "but", ",", ";", ":", *ENDS}
"""What ends the scope of a denial; "no dogs or cats" denies both."""
_SOME = frozenset({"a", "an", "some"})
_BEHIND = frozenset({"in", "near", "at", "on", *ENDS})
"""What may follow a thing without adding to it."""
_LONGEST = 3
"""The most words of a thing: "free wireless internet"."""


def denied_at(words: Sequence[str], at: int) -> bool:
    """Whether the clause around a word of a sentence denies."""
    start = max((n for n, word in enumerate(words[:at]) if word in _BREAKS), default=-1) + 1
    end = next((n for n in range(at, len(words)) if words[n] in _BREAKS), len(words))
    return any(map(is_denial, words[start:end]))


def turned(tokens: Tokens, names: Names, value: str) -> Tokens | None:
    """Return a text with a yes or no reversed and the rest unchanged; None if its words do not allow that.

    Args:
        tokens: a text in English, with placeholders.
        names: recognises the words of the thing that is affirmed or denied.
        value: what the returned text must say: "yes" or "no".
    """
    sentences = split_sentences(tokens)
    own = [place for place, each in enumerate(sentences) if any(map(names, folded_words(each)))]
    if len(own) != 1 or is_asking(sentences[own[0]]):
        return None
    sentence = sentences[own[0]]
    other = _denied(sentence, names) if value == "no" else _affirmed(sentence, names)
    sentences[own[0]] = other or ()
    return tuple(chain.from_iterable(sentences)) if other else None


def thing(sentence: Tokens, names: Names) -> Tokens:
    """Return what a sentence says that something has: "free wifi" of "it has 4 stars and free wifi"; else empty."""
    words = folded_words(sentence)
    found = _held(words, names) if any(map(names, words)) else None
    return () if found is None else sentence[found[0] + 1 + (words[found[0] + 1] in _SOME) : found[1]]


def folded_words(tokens: Sequence[str]) -> list[str]:
    """Return tokens without joiners, words in lower case."""
    return [strip_joiner(token) if is_placeholder(token) else strip_joiner(token).lower() for token in tokens]


def _denied(sentence: Tokens, names: Names) -> Tokens | None:
    words = folded_words(sentence)
    if any(map(is_denial, words)):
        return None
    held = _held(words, names)
    if held is not None:
        start, _ = held
        rest = sentence[start + 1 :]
        if words[start] == "with":
            return (*sentence[:start], "without", *rest)
        rest = rest[words[start + 1] in _SOME :]
        joint = ("but",) if words[start] == "and" else (sentence[start],)
        return (*sentence[:start], *joint, "no", *rest)
    at, end = _named(words, names)
    verb = next((n for n in range(at, len(words)) if words[n] in BEING), 0)
    if verb and not _broken(words[at:verb]) and words[verb + 1 : verb + 2] and words[verb + 1] in _TOLD:
        return (*sentence[: verb + 1], "not", *sentence[verb + 1 :])
    if not _ends(words, end) or any(map(is_placeholder, words[at:])):
        return None
    if at and words[at - 1] in BEING:
        return (*sentence[:at], "not", *sentence[at:])
    # The verb may be part of the slot's name: "accepts credit cards".
    verb = next((n for n in (at, at - 1) if n > 0 and words[n] in _DOING.keys() | _BASES), 0)
    if not verb:
        return None
    if words[verb] in _DOING:
        return (*sentence[:verb], "does", "not", _DOING[words[verb]], *sentence[verb + 1 :])
    if words[verb] in _BASES and words[verb - 1] in PERSONS:
        return (*sentence[:verb], "do", "not", *sentence[verb:])
    return None


def _affirmed(sentence: Tokens, names: Names) -> Tokens | None:
    words = folded_words(sentence)
    denials = [place for place, word in enumerate(words) if is_denial(word)]
    if len(denials) != 1 or not denied_at(words, _named(words, names)[0]):
        return None
    (at,), start, rest = denials, sentence[: denials[0]], sentence[denials[0] + 1 :]
    before, behind = words[at - 1] if at else "", words[at + 1] if at + 1 < len(words) else ""
    if words[at] == "without":
        return (*start, "with", *rest) if any(map(names, words[at + 1 : at + 1 + _LONGEST])) else None
    if words[at] == "not" and before in BEING:
        return (*start, *rest)
    if words[at] == "not" and before in ("does", "do"):
        many = before == "do"
        verb = behind if many else {"have": "has"}.get(behind, f"{behind}s")
        return (*start[:-1], verb, *rest[1:]) if many or verb in THIRD or verb in _DOING else None
    # "No dogs are allowed", "it has no lockers"; a singular thing might need an article.
    if words[at] == "no" and names(behind) and is_plural(behind):
        return (*start, *rest)
    return None


def _held(words: Sequence[str], names: Names) -> tuple[int, int] | None:
    """Return the indices of the "with", "has" or later "and" before the thing had, and of the word after the thing."""
    at, end = _named(words, names)
    start = at - 1
    while start >= 0 and at - start <= _LONGEST and words[start] not in _HAVING | _BREAKS | PREPOSITIONS:
        # "Offers guests free wifi" names two things.
        if is_placeholder(words[start]) or words[start] in BEING or is_plural(words[start]):
            return None
        start -= 1
    if start < 0 or at - start > _LONGEST or not _ends(words, end):
        return None
    having = _HAVING | {"with"}
    if words[start] == "and":
        # What precedes the "and" must be had as well, in the same clause.
        before = next((n for n in range(start - 1, -1, -1) if words[n] in having | _BREAKS), -1)
        return (start, end) if before >= 0 and words[before] in having else None
    return (start, end) if words[start] in having else None


def _named(words: Sequence[str], names: Names) -> tuple[int, int]:
    """Return where the first words that name the thing begin and end."""
    at = next(place for place, word in enumerate(words) if names(word))
    return at, next((n for n in range(at, len(words)) if not names(words[n])), len(words))


def _ends(words: Sequence[str], place: int) -> bool:
    """Whether a phrase that ends before this place of a sentence is complete."""
    return place == len(words) or words[place] in _BEHIND


def _broken(words: Sequence[str]) -> bool:
    return not _BREAKS.isdisjoint(words) or any(map(is_placeholder, words))
