"""METEOR's own tokenisation of English, the jar's option `-norm`.

Punctuation is kept as separate tokens, quotes and dashes are unified, hyphenated words and contractions (before the
apostrophe) are split, and so is a final period, unless the word is a known abbreviation.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

ALWAYS, BEFORE_NUMBERS = 1, 2
"""When an abbreviation keeps its period."""

_LETTER = "A-Za-zŠŽšžŸÀ-ÖØ-öø-ž"
_ALNUM = f"0-9{_LETTER}"
# In the order of application, each group after the marks without which it changes nothing. A match consumes its
# neighbours, so two marks cannot share one: `a,b,c` is split only once, as in the original.
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
    """Splits sentences as `split_meteor` does, but caches the pieces between spaces, since corpora repeat words.

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
                # Whether it keeps its period depends on what follows: a letter or a digit represents that.
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
        """Empty the cache if it holds more pieces than this."""
        if len(self._known) > more_than:
            self._known.clear()


def _without_period(word: str, following: str, abbreviations: Mapping[str, int]) -> list[str]:
    if _DOTS.fullmatch(word):
        return [word]
    stem = word[:-1]
    kind = abbreviations.get(stem, 0)
    if "." in stem and _HAS_LETTER.search(stem):
        return [word.replace(".", "")]
    # A lower-case letter does not begin a sentence.
    if kind == ALWAYS or following[:1] in _LOWER or (kind == BEFORE_NUMBERS and following[:1] in _DIGITS):
        return [word]
    return [stem, "."]


# Rules consume the space after a mark as its neighbour, so that a second mark cannot use it.
_BESIDE_SPACE = re.compile(r"[,'`‘’][ \t\n\r\f]+[,'`‘’]")
_OTHER_SPACE = re.compile(r"[\t\n\r\f]")
_LOWER = frozenset("abcdefghijklmnopqrstuvwxyz")
_DIGITS = frozenset("0123456789")
