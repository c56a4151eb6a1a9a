"""METEOR's own tokens for English: what the jar's option `-norm` makes of a sentence.

Punctuation stands alone and is kept, quotes and dashes are spelt one way, hyphened words come apart, contractions
split before the apostrophe, and a final period leaves its word unless the word is a known abbreviation.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

ALWAYS, BEFORE_NUMBERS = 1, 2
"""When a period belongs to an abbreviation."""

_LETTER = "A-Za-zŠŽšžŸÀ-ÖØ-öø-ž"
_ALNUM = f"0-9{_LETTER}"
# In the order in which they are applied, after marks without one of which they change nothing. Two signs in a row share
# no neighbour: each rule consumes what it looks at, so that `a,b,c` is split once only, as in the original.
_RULES = tuple(
    (marks.split(), [(re.compile(pattern, re.ASCII), replacement) for pattern, replacement in rules])
    for marks, rules in (
        ("..", [(r"(\.{2,})", r" \1 ")]),
        (
            ",",
            [
                (r"([^0-9]),([^0-9])", r"\1 , \2"),
                (r"([0-9]),([^0-9])", r"\1 , \2"),
                (r"([^0-9]),([0-9])", r"\1 , \2"),
            ],
        ),
        ("` ‘ ’", [(r"[`‘’]", "'")]),
        ("“ ” ''", [(r"[“”]|''", ' " ')]),
        ("– --", [(r"–|--", "-")]),
        ("-", [(rf"([{_ALNUM}.])-([{_ALNUM}])", r"\1 \2")]),
        (
            "'",
            [
                (rf"([^{_LETTER}])'([^{_LETTER}])", r"\1 ' \2"),
                (rf"([^{_LETTER}0-9])'([{_LETTER}])", r"\1 ' \2"),
                (rf"([{_LETTER}])'([^{_LETTER}])", r"\1 ' \2"),
                (rf"([{_LETTER}])'([{_LETTER}])", r"\1 '\2"),
                (r"([0-9])'(s)", r"\1 '\2"),
            ],
        ),
    )
)
_SIGN = re.compile(rf"([^{_ALNUM}\s.'`,\-‘’])", re.ASCII)
_DOTS = re.compile(r"\.+")
_HAS_LETTER = re.compile(f"[{_LETTER}]")
_SPACE = re.compile(r"[ \t\n\r\f]+")


def split_meteor(sentence: str, abbreviations: Mapping[str, int]) -> list[str]:
    """Return the lower-cased tokens of a sentence.

    Args:
        sentence: any text.
        abbreviations: words that keep their period, `ALWAYS` or `BEFORE_NUMBERS`.
    """
    text = _SIGN.sub(r" \1 ", f" {sentence} ")
    for marks, rules in _RULES:
        if any(mark in text for mark in marks):
            for pattern, replacement in rules:
                text = pattern.sub(replacement, text)
    words = [word for word in _SPACE.split(text) if word]
    tokens: list[str] = []
    for index, word in enumerate(words):
        following = words[index + 1] if index + 1 < len(words) else ""
        tokens += _without_period(word, following, abbreviations) if word.endswith(".") else [word]
    return [token.lower() for token in tokens]


class Splitter:
    """Splits sentences as `split_meteor` does, but what stands between spaces only once: corpora repeat their words.

    Args:
        abbreviations: as for `split_meteor`.
    """

    def __init__(self, abbreviations: Mapping[str, int]) -> None:
        self._abbreviations = abbreviations
        self._known: dict[str, list[str]] = {}

    def split(self, sentence: str) -> list[str]:
        """Return the lower-cased tokens of a sentence."""
        if _BESIDE_SPACE.search(sentence):
            return split_meteor(sentence, self._abbreviations)
        known, tokens = self._known, []
        pieces = _SPACE.split(sentence) if _OTHER_SPACE.search(sentence) else sentence.split(" ")
        for index, piece in enumerate(pieces):
            if piece[-1:] == ".":
                # Whether it is an abbreviation depends on what comes next: a letter or a digit stands for that.
                following = "".join(pieces[index + 1 : index + 2])[:1]
                piece += " a" if following in _LOWER else " 0" if following in _DIGITS else " "
            if piece not in known:
                if piece.isascii() and piece.isalnum():
                    found = [piece.lower()]
                else:
                    found = split_meteor(piece, self._abbreviations)
                known[piece] = found[:-1] if piece[-2:-1] == " " else found
            tokens += known[piece]
        return tokens

    def forget(self, more_than: int) -> None:
        """Drop what was split, if it is more than this."""
        if len(self._known) > more_than:
            self._known.clear()


def _without_period(word: str, following: str, abbreviations: Mapping[str, int]) -> list[str]:
    if _DOTS.fullmatch(word):
        return [word]
    stem = word[:-1]
    kind = abbreviations.get(stem, 0)
    if "." in stem and _HAS_LETTER.search(stem):
        return [word.replace(".", "")]
    # What goes on in lower case is no new sentence.
    if kind == ALWAYS or following[:1] in _LOWER or (kind == BEFORE_NUMBERS and following[:1] in _DIGITS):
        return [word]
    return [stem, "."]


# Two rules take the space for a neighbour, which then is none of a second sign.
_BESIDE_SPACE = re.compile(r"[,'`‘’][ \t\n\r\f]+[,'`‘’]")
_OTHER_SPACE = re.compile(r"[\t\n\r\f]")
_LOWER = frozenset("abcdefghijklmnopqrstuvwxyz")
_DIGITS = frozenset("0123456789")
