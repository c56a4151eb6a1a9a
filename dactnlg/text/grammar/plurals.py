"""Plurals: singular and plural English nouns, and the words of a sentence that agree with them in number."""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from typing import NamedTuple

from dactnlg.text.grammar.english import ADVERBS, BEING, FUNCTION_WORDS, PREPOSITIONS, VERBS_OF_MANY, VERBS_OF_ONE
from dactnlg.text.grammar.lexicon import PLURAL

ONE, MANY = 1, 2
"""The number of a noun, and of a value that counts."""
_IRREGULAR = {"child": "children", "person": "people", "man": "men", "woman": "women", "foot": "feet"}
_SINGULARS = {many: one for one, many in _IRREGULAR.items()}
_NO_PLURALS = FUNCTION_WORDS | ADVERBS
_LONGEST_PHRASE = 4
"""How many words after a count are searched for its noun."""
_SIBILANT = re.compile(r"(?:s|x|z|ch|sh)$", re.IGNORECASE)
_MARKS = ".,;:?!"


class Noun(NamedTuple):
    """A noun that a value counts.

    Attributes:
        place: its index among the words; -1 if there is none.
        misfit: the number that it does not have, `ONE` or `MANY`.
        other: its form in that number, in lower case; unused if its plural ending is separate or follows a value.
    """

    place: int
    misfit: int
    other: str = ""


NO_NOUN = Noun(-1, -1)


def singular(word: str, known: Container[str] = ()) -> str:
    """Return the singular of an English noun: "family" for "families"; of several, a known one: "movie", not "movy"."""
    if word in _SINGULARS:
        return _SINGULARS[word]
    for ending in ("s", "es"):
        if word.endswith(ending) and word.removesuffix(ending) in known:
            return word.removesuffix(ending)
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if re.search(r"(?:ss|x|z|ch|sh)es$", word):
        return word[:-2]
    return word[:-1] if re.search(r"[^su]s$", word) and len(word) > 3 else word


def is_plural(word: str) -> bool:
    """Whether a word of an English text, in lower case, is most likely a plural noun."""
    return word == PLURAL or (word.isalpha() and word not in _NO_PLURALS and singular(word) != word)


def pluralized(word: str) -> str:
    """Return the plural of an English noun: "families" for "family"."""
    if word.lower() in _IRREGULAR:
        return _IRREGULAR[word.lower()]
    if re.search(r"[^aeiou]y$", word):
        return word[:-1] + "ies"
    return word + ("es" if _SIBILANT.search(word) else "s")


def counted_noun(words: Sequence[str], place: int, mark: str, known: Container[str]) -> Noun:
    """Return the noun after a value that counts it; `NO_NOUN` if there is none."""
    for at in range(place + 1, min(place + 1 + _LONGEST_PHRASE, len(words))):
        word = words[at].rstrip(_MARKS)
        following = words[at + 1] if at + 1 < len(words) and word == words[at] else ""
        if following == "-s" or word == f"{mark}s":
            return Noun(at, ONE)
        if mark not in word:
            if not word.isalpha() or word.casefold() in FUNCTION_WORDS:
                return NO_NOUN
            noun = _noun(at, word.casefold(), known)
            # A noun that modifies another one does not carry the number: "2 port hub -s". Nor does one that belongs to
            # a following value: "2 medium screen size televisions", where "medium" and "televisions" are values.
            if noun.misfit == ONE or (noun.misfit == MANY and not _goes_on(following) and mark not in following):
                return noun
        if word != words[at]:
            break
    return NO_NOUN


def _goes_on(following: str) -> bool:
    """Whether a phrase continues with a content word."""
    return following.isalpha() and following.casefold() not in FUNCTION_WORDS


def _noun(place: int, word: str, known: Container[str]) -> Noun:
    """Return a word as a noun if it is known in both numbers; else `NO_NOUN`."""
    one, many = singular(word, known), pluralized(word)
    if word in _SINGULARS or (one != word and one in known):
        return Noun(place, ONE, one)
    return Noun(place, MANY, many) if word in _IRREGULAR or many in known else NO_NOUN


def renumber(words: list[str], place: int, counted: Noun) -> None:
    """Give the noun counted by a value, and the verbs around it, the number that they do not have, in place."""
    noun, number, other = counted
    verbs = VERBS_OF_ONE if number == ONE else VERBS_OF_MANY
    word = words[noun].rstrip(_MARKS)
    marks = words[noun][len(word) :]
    if words[noun + 1 : noun + 2] == ["-s"]:
        del words[noun + 1]
    elif not word.isalpha():
        words[noun] = word.removesuffix("s") + marks
    else:
        words[noun] = word[0] + other[1:] + marks
    before = place - 2 if words[place - 1] in ("only", "just") else place - 1
    # "There are 2 inns", but "it has 2 inns".
    if before >= 0 and words[before] in BEING:
        words[before] = verbs.get(words[before], words[before])
    behind = words[noun + 1 : noun + 3] if not marks else []
    if not behind:
        return
    relative = behind[0] in ("that", "which", "who")
    verb = behind[-1] if relative else behind[0]
    # "All pubs with 1 garden are cheap", "all pubs with beer and 1 garden are cheap".
    inside = words[place - 1] in PREPOSITIONS or (words[place - 1] == "and" and "with" in words[:place])
    own = relative or not inside
    if own and verb in verbs:
        words[noun + 1 + relative] = verbs[verb]
    elif relative and number == ONE and verb.isalpha() and verb not in FUNCTION_WORDS and singular(verb) == verb:
        words[noun + 2] = pluralized(verb)
