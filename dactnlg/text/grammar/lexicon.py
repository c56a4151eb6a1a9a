"""The words of a corpus's English, as far as rules of grammar need them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

PLURAL = "-s"
"""A plural ending written separately."""
PLURALS = frozenset({"s", "es", PLURAL, "-es"})
"""Plural endings after a placeholder or a noun."""


class Lexicon(NamedTuple):
    """The English words of a corpus, in lower case; empty for other languages.

    Attributes:
        verbs: finite verbs.
        plurals: words and placeholders in the singular that have a plural.
        things: nouns for what its texts are about: "it is a cheap pub".
        counts: the placeholders with which things are counted.
        bare: the placeholders of names that mostly have no article.
        subject: the placeholder that names what its texts are about.
        articles: those that values have between two words, "" for none: see `learned_articles`.
        definite: the nouns that mostly have "the" after "about".
        held: the placeholders of what things have, though people also say that they are it: see `held_values`.
        value_nouns: the nouns used for values, by the value's placeholder, "a color of SLOT_COLOR", for values that
            need one.
        joined: words that are two words misspelt as one, "ecorating", with these.
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
    joined: Mapping[str, tuple[str, str]] = MappingProxyType({})
