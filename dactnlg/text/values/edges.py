"""Edges: what the words of a sentence next to a value may depend on."""

from __future__ import annotations

import re
from typing import NamedTuple

from dactnlg.text.grammar.english import ARTICLES, FUNCTION_WORDS
from dactnlg.text.grammar.plurals import MANY, ONE
from dactnlg.text.values.numerals import NUMBER_WORDS, SINGLE
from dactnlg.text.values.times import preposition_of_time

WORD = r"[^\W\d_]+"
"""The pattern of a word of letters."""
_SUPERLATIVE = re.compile(r"(?:[a-z]{3,}est|best|worst|(?:most|least) [a-z]+)")
_IN_EST = """
    conquest contest earnest forest guest harvest honest interest manifest midwest modest northwest priest protest quest
    rainforest request southwest
"""
_NO_SUPERLATIVES = frozenset(_IN_EST.split())
_SEVERAL = re.compile(r"(?:[a-z0-9]+ )*[a-z0-9]{3,}[^\W\dius]s")
_NO_PLURALS = ("series", "species", "news", "always")
_PART = re.compile(
    r"(?:the )?(?:(?:north|south|east|west)\w*|cent(?:re|er)|middle|heart|edge|outskirts|side|end|top) of "
)
_OPENING = re.compile(rf"({WORD})(?: (?={WORD}))?")
_FINAL = re.compile(rf"(?:^| )({WORD})$")
BARE = "-"
"""Stands for no article."""


class Edges(NamedTuple):
    """The parts of a value on which the words next to it may depend.

    Attributes:
        head: its first word, folded, an article as "the"; None if it is a function word.
        tail: its last word, folded and without a plural ending; None if it is a function word.
        last: its last word, folded; "" if it does not end with a word.
        number: `ONE` or `MANY` for a count; 0 for anything else.
        possessive: its possessive ending: "'s", or "'" after an s; "" if it does not end with a word.
        time: the preposition before it: "in" for a year, "on" for a day; "" for anything else.
        article: what replaces "a" before it: "the" before a superlative, `BARE` before several things; "" otherwise.
        part: whether it says itself what it is part of: "north of the river".
    """

    head: str | None
    tail: str | None
    last: str
    number: int
    possessive: str
    time: str
    article: str
    part: bool

    @classmethod
    def of(cls, value: str) -> Edges:
        """Return the edges of a value as readers see it."""
        folded = value.casefold()
        opening, final = _OPENING.match(folded), _FINAL.search(folded)
        last = final[1] if final else ""
        head = opening[1] if opening and (opening.group().endswith(" ") or opening[1] == folded) else ""
        # A lone "a" is a grade.
        head = "the" if head in ARTICLES and head != folded else telling(head)
        counts = (folded.isdecimal() and len(folded) < 4) or folded in NUMBER_WORDS
        number = ONE if folded in SINGLE else MANY if counts else 0
        possessive = ("'" if last.endswith("s") else "'s") if last else ""
        time, article = preposition_of_time(folded), _article(value)
        tail, part = stem(telling(last)) or None, _PART.match(folded) is not None
        return cls(head or None, tail, last, number, possessive, time, article, part)


def telling(word: str) -> str:
    """Return a folded word, or "" if it is a function word."""
    return "" if word in FUNCTION_WORDS else word


def stem(word: str) -> str:
    """Return a word without a possible plural ending: house and houses, box and boxes have the same stem."""
    return word.removesuffix("s").removesuffix("e") if len(word) > 3 else word


def _article(value: str) -> str:
    """Return what replaces "a" before a value: "the", or `BARE`; "" if "a" may stay."""
    if _SUPERLATIVE.fullmatch(value) and value not in _NO_SUPERLATIVES:
        return "the"
    first = value.partition(" and ")[0]
    return BARE if _SEVERAL.fullmatch(first) and not first.endswith(_NO_PLURALS) else ""
