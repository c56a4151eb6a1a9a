"""The words of a corpus's English, as far as rules of grammar need them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

PLURAL = "-s"
"""The ending of a plural where that stands by itself."""
PLURALS = frozenset({"s", "es", PLURAL, "-es"})
"""Endings behind a placeholder, or a noun."""


class Lexicon(NamedTuple):
    """What a corpus has of English, in lower case; other languages have nothing.

    Attributes:
        verbs: finite verbs.
        plurals: words and placeholders for one thing that have a plural.
        things: words for what its texts speak of: "it is a cheap pub".
        counts: the placeholders with which things are counted.
        bare: the placeholders of names that mostly stand without an article.
        subject: the placeholder that names what its texts speak of.
        articles: those that values have, or have not, between two words: see `learned_articles`.
        definite: the nouns that mostly have "the" where one talks about them.
        held: the placeholders of what things have, though they may be said to be it: see `held_values`.
        value_nouns: the nouns of what has a value, by the value's placeholder, "a color of SLOT_COLOR", for those
            values that need one.
    """

    verbs: frozenset[str] = frozenset()
    plurals: frozenset[str] = frozenset()
    things: frozenset[str] = frozenset()
    counts: frozenset[str] = frozenset()
    bare: frozenset[str] = frozenset()
    subject: str = ""
    articles: Mapping[tuple[str, str, str], str] = MappingProxyType({})
    definite: frozenset[str] = frozenset()
    held: frozenset[str] = frozenset()
    value_nouns: Mapping[str, str] = MappingProxyType({})
