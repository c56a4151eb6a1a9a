"""BERT's uncased WordPiece tokens (Devlin et al. 2019, section 3): text to the numbers of a vocabulary."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

LONGEST = 100
"""Characters of a word; a longer one is unknown."""
_CJK = re.compile(
    "([\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002a6df\U0002a700-\U0002b73f\U0002b740-\U0002b81f"
    "\U0002b820-\U0002ceaf\U0002f800-\U0002fa1f])"
)


class WordPiece:
    """The tokeniser of one vocabulary.

    Args:
        path: a file with one piece a line; a line's number is the piece's.

    Raises:
        OSError: the file cannot be read.
        KeyError: it lacks one of the special pieces.
    """

    def __init__(self, path: Path) -> None:
        # Only the line feed ends a line: some pieces are separators to `splitlines`.
        pieces = path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
        self._numbers = {piece.removesuffix("\r"): number for number, piece in enumerate(pieces)}
        self._unknown, self._first, self._last = (self._numbers[piece] for piece in ("[UNK]", "[CLS]", "[SEP]"))
        self._pieces = lru_cache(maxsize=1 << 16)(self._split)

    def __call__(self, sentence: str, limit: int) -> list[int]:
        """Return the numbers of a sentence's pieces between [CLS] and [SEP], at most `limit` in all."""
        numbers = [self._first]
        for word in words(sentence):
            numbers += self._pieces(word)
            if len(numbers) >= limit:
                break
        return [*numbers[: limit - 1], self._last]

    def _split(self, word: str) -> tuple[int, ...]:
        """Take the longest known piece off the front, again and again; a rest without one makes the word unknown."""
        if len(word) > LONGEST:
            return (self._unknown,)
        numbers = []
        start = 0
        while start < len(word):
            for end in range(len(word), start, -1):
                number = self._numbers.get(("##" if start else "") + word[start:end])
                if number is not None:
                    break
            else:
                return (self._unknown,)
            numbers.append(number)
            start = end
        return tuple(numbers)


def words(sentence: str) -> Iterator[str]:
    """Yield the words of a sentence: lower-cased, without accents, each sign and ideograph by itself."""
    text = "".join(_cleaned(char) for char in sentence)
    text = unicodedata.normalize("NFD", _CJK.sub(r" \1 ", text)).lower()
    for run in text.split():
        word = ""
        for char in run:
            if unicodedata.category(char) == "Mn":
                continue
            if _is_sign(char):
                if word:
                    yield word
                yield char
                word = ""
            else:
                word += char
        if word:
            yield word


def _cleaned(char: str) -> str:
    if char in "\t\n\r" or unicodedata.category(char) == "Zs":
        return " "
    return "" if char in "\0\ufffd" or unicodedata.category(char) in ("Cc", "Cf", "Co", "Cs") else char


def _is_sign(char: str) -> bool:
    # All of ASCII's signs count, the currency and mathematical ones too.
    return (char.isascii() and char.isprintable() and not char.isalnum()) or unicodedata.category(char)[0] == "P"
