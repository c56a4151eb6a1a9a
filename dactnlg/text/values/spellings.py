"""Spellings of values: list items in any order, "and" as "&", "street" as "st", `7:05am` as "7.05 a.m."."""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Iterator, Sequence

from dactnlg.text.surface import strip_joiner, tokenize
from dactnlg.text.values.numerals import bare_amount, number_forms, number_in_words

_ABBREVIATIONS = {"street": "st", "avenue": "ave", "boulevard": "blvd", "road": "rd"}
_AND = re.compile(r"\band\b", re.IGNORECASE)
# In values whose words are separated by single spaces.
_LIST_SEPARATOR = re.compile(r" ?, ?(?:(?:and|or) )?| (?:and|or|&) | ?& ?", re.IGNORECASE)
_COMMA = re.compile(r"\s*,\s+")
# Nothing is inserted before "and blue", nor into alternatives: "red, blue or green".
_JOINED = re.compile(r"(?:and|&)(?!\w)|.*\bor\b", re.IGNORECASE)
# Longer lists are matched only as written: n! orders are too many.
_MAX_ITEMS = 4


def spellings(value: str, *, english: bool = True) -> Iterator[tuple[str, ...]]:
    """Yield the token sequences (folded, joiners stripped) that express a value.

    First as written, then with list items in any order, joined by "and", "or" or neither.

    Args:
        value: the value.
        english: whether in an English sentence.
    """
    yield _fold(value)
    for form in number_forms(value, english=english):
        yield _fold(form)
    if "&" in value:
        yield _fold(value.replace("&", " and "))
    if "," in value:
        yield _fold(in_sentence(value))
    if _AND.search(value):
        yield _fold(_AND.sub("&", value))
    last = value.rsplit(None, 1)[-1].casefold() if value.strip() else ""
    if last in _ABBREVIATIONS:
        yield (*_fold(value)[:-1], _ABBREVIATIONS[last])
    items = [item for item in _LIST_SEPARATOR.split(" ".join(value.split())) if item]
    if not 2 <= len(items) <= _MAX_ITEMS:
        return
    folded = [_fold(item) for item in items]
    for order in itertools.permutations(folded):
        for word in ("", ",", "/", "or", "and"):
            yield _join(order, (word,), (word,))
        for end in ((), ("and",), ("or",), (",", "and"), (",", "or")) if len(items) > 2 else ():
            yield _join(order, (",",), end)


def loose_spellings(value: str) -> set[tuple[str, ...]]:
    """Return the token sequences of ordinary words that may express a value: "one", "a single" for 1."""
    return {_fold(form) for form in (*number_in_words(value), *bare_amount(value))} - {_fold(value)}


def in_sentence(value: str) -> str:
    """Return a list as a sentence has it, with "and" before its last item.

    >>> in_sentence("black bezel, silver stand"), in_sentence("red, blue & green, grey"), in_sentence("red, and blue")
    ('black bezel and silver stand', 'red, blue & green, and grey', 'red, and blue')
    """
    *first, last = _COMMA.split(value)
    if not first or not all(map(str.strip, (*first, last))) or _JOINED.match(last):
        return value
    return f"{', '.join(first)}{',' if len(first) > 1 else ''} and {last}"


def alternatives(value: str) -> list[str]:
    """Split a value at "or" and commas: "hayes valley or soma", "indie, shooter"; without these, return it alone."""
    parts = re.split(r"(?<!\s)(?:\s+or\s+|\s*,\s+)", value, flags=re.IGNORECASE)
    return parts if all(parts) else [value]


def _join(items: Sequence[tuple[str, ...]], inner: tuple[str, ...], last: tuple[str, ...]) -> tuple[str, ...]:
    joined = list(items[0])
    for index, item in enumerate(items[1:], start=2):
        joined += [word for word in (last if index == len(items) else inner) if word]
        joined += item
    return tuple(joined)


def _fold(text: str) -> tuple[str, ...]:
    return tuple(map(fold, tokenize(text))) or ("",)


def fold(token: str) -> str:
    """Return a token as compared with values: no joiners, lower case, straight apostrophes, composed letters (NFC)."""
    return unicodedata.normalize("NFC", strip_joiner(token).casefold()).replace("’", "'")


def plurals(word: str) -> tuple[str, ...]:
    """Return the plural forms that also express a folded one-word value: "televisions" for television."""
    return (word + "s", word + "es") if word.isalpha() and len(word) > 2 else ()


def inflected(word: str) -> tuple[str, ...]:
    """Return the inflected forms of a value's last word, folded, that also express the value: plural and possessive."""
    return (*plurals(word), f"{word}'s") if word[-1:].isalnum() else plurals(word)
