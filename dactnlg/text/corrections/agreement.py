"""Agreement: verbs agree in number with their subjects, as far as a sentence shows these."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise

from dactnlg.text.grammar.english import (
    AUXILIARIES,
    COORDINATING,
    EVERY,
    PREPOSITIONS,
    RELATIVES,
    SUBJECTS,
    VERBS_OF_MANY,
    VERBS_OF_ONE,
)
from dactnlg.text.grammar.plurals import MANY, ONE, is_plural, pluralized
from dactnlg.text.grammar.verbs import finite
from dactnlg.text.sentences import OWNER, PRONOUN, Tokens
from dactnlg.text.surface import strip_joiners

_THEY, _THEIR = "they", "their"
_NEAR = 4
"""How many words a noun may have, with its verb: "phone number is"."""
_THERE_ARE = "there", "are"


def tells_of_several(sentence: Tokens, counts: Collection[str], *, known: bool) -> bool:
    """Whether a sentence is about several things and nothing else: "sorry but there are no pubs".

    Args:
        sentence: in English.
        counts: the placeholders with which things are counted.
        known: whether a single thing has been mentioned: "it is small. There are beds" is about that.
    """
    words = strip_joiners(sentence)
    if known or not {*counts}.isdisjoint(words):
        return not {*counts}.isdisjoint(words)
    place = next((at for at, pair in enumerate(pairwise(words)) if pair == _THERE_ARE), -1)
    return place == 0 or (place > 0 and words[place - 1] in (",", "but"))


def relates_to_several(sentence: Tokens, verbs: Collection[str]) -> bool:
    """Whether a relative clause of a sentence is about several things: "we have pubs that serve beer"."""
    words = strip_joiners(sentence)
    triples = zip(words, words[1:], words[2:], strict=False)
    return any(is_plural(a) and b in RELATIVES and c in verbs and plural(c) == c for a, b, c in triples)


def agreeing(sentence: Tokens, verbs: Collection[str], number: int) -> Tokens:
    """Return a sentence whose verbs agree with their subjects.

    Args:
        sentence: about all or each of some things, or others.
        verbs: finite verbs.
        number: of the things that it, or a sentence before it, mentions: `ONE` or `MANY`; 0 if unknown.
    """
    words = strip_joiners(sentence)
    made = list(sentence)
    # Of these, only "all" takes the plural.
    if words[0] in EVERY and (words[0] != "all" or PRONOUN not in words[: next(_main(words, verbs), 0)]):
        for place in _main(words, verbs):
            made[place] = plural(words[place]) if words[0] == "all" else singular(words[place], verbs)
    for place in range(1, len(words)) if number else ():
        before, word = words[place - 1], words[place]
        # "What is it about these pubs that makes you like them?"
        if before in RELATIVES and words[place + 1 : place + 2] == ["you"]:
            continue
        if before == PRONOUN and number == MANY and (word in VERBS_OF_MANY or word in verbs):
            made[place - 1], made[place] = _THEY, plural(word)
        # "... with a view that is good"
        thing = number == ONE or "a" not in words[max(0, place - 3) : place]
        own = before in COORDINATING or (before in RELATIVES and thing)
        # "They are cheap, is that right?", "we have a pub, or do you want an inn?"
        asked = word in AUXILIARIES and not (SUBJECTS | {"that"}).isdisjoint(words[place + 1 : place + 2])
        if before != PRONOUN and own and word in verbs and not asked:
            made[place] = plural(word) if number == MANY else singular(word, verbs)
    for place in range(2, len(words)):
        # "We have its number" is correct.
        if words[place] == OWNER and words[place - 1] in PREPOSITIONS and made[place - 2] in ("are", "were"):
            made[place] = _THEIR
    return tuple(made)


def with_its(sentence: Tokens, verbs: Collection[str]) -> Tokens:
    """Return a sentence with "its" where "their" could be others': "children are allowed and their number is 5"."""
    words = strip_joiners(sentence)
    made = list(sentence)
    for place in range(1, len(words)):
        if words[place] == _THEIR and "is" in words[place + 1 : place + _NEAR]:
            others = any(word == OWNER or (is_plural(word) and word not in verbs) for word in words[:place])
            made[place] = OWNER if others else sentence[place]
    return tuple(made)


def _main(words: Sequence[str], verbs: Collection[str]) -> Iterator[int]:
    """Yield the indices of a sentence's first finite verb and of the verbs coordinated with it."""
    relative = False
    for number, place in enumerate(finite(words, verbs)):
        before = words[place - 1]
        relative = before in RELATIVES or (relative and before in COORDINATING)
        if not relative and (not number or before in COORDINATING):
            yield place


def plural(verb: str) -> str:
    """Return the plural of a verb: "are" for "is", "serve" for "serves"."""
    if verb in VERBS_OF_MANY:
        return VERBS_OF_MANY[verb]
    if not verb.endswith("s") or verb.endswith("ss") or not verb.isalpha():
        return verb
    if verb.endswith("ies"):
        return f"{verb[:-3]}y"
    return verb[:-2] if verb.endswith(("ches", "shes", "sses", "xes", "oes")) else verb[:-1]


def singular(verb: str, verbs: Collection[str]) -> str:
    """Return the singular of a verb: "is" for "are", and "serves" for "serve" if both are known verbs."""
    # "Serves" and "carries" are written like plurals of nouns, "goes" is not.
    return VERBS_OF_ONE.get(verb) or next((one for one in (pluralized(verb), f"{verb}es") if one in verbs), verb)
