"""Surface forms of a sentence: tokens, raw form and text.

    tokens   `["does", "not", "allow", "child", "-s", "￭."]`    for models
    raw      `does not allow child -s.`                         for metrics
    text     `Does not allow children.`                         for readers

`detokenize` makes the raw form from tokens, `realize` (in `realization`) the text from the raw form. `tokenize` and
`detokenize` are exact inverses (white space apart): a token attached to its neighbour carries a joiner, so `like?` and
`like ?` stay different.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from dactnlg._utils.memory import remembered

JOINER = "\uffed"
"""Marks the side on which a token is attached to its neighbour: `like?` is `like` `￭?`."""
# Thai, Lao, Burmese, Khmer, kana, Chinese characters; Hangul, whose particles attach to words; halfwidth kana.
UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
UNSPACED += "\uac00-\ud7a3\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
"""Ranges of letters of scripts without spaces between words: each letter is a token, so that values can be found."""
_UNSPACED = re.compile(f"[{UNSPACED}]")
_LETTER = rf"[^\W{UNSPACED}]"
# Accents and vowel signs, up to the Indian scripts, are no `\w`: without them "दिल" would be a word of "दिल्ली".
_SIGNS = "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
_SIGNS += (
    "\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed\u0711-\u07f3\u07fd\u0816-\u082d\u0859-\u085b\u0898-\u08e1\u08e3-\u0963"
)
_SIGNS += "\u0981-\u09e3\u09fe-\u0a75\u0a81-\u0ae3\u0afa-\u0b63\u0b82-\u0bd7\u0c00-\u0c63\u0c81-\u0c83\u0cbc-\u0d4d"
_SIGNS += "\u0d57-\u0d63\u0d81-\u0df3"
PIECE = re.compile(rf"{_LETTER}+(?:[{_SIGNS}]+{_LETTER}*|['’]{_LETTER}+)*|[{UNSPACED}]|[^\w\s]")
"""A word, a letter of `UNSPACED`, or a mark."""
# RNNLG's corpora separate morphemes: `kid -s`, `moderate -ly`.
MORPHEME = re.compile(r"-[a-z]{1,3}")


def tokenize(sentence: str) -> list[str]:
    """Split a sentence into tokens; `detokenize` restores it, with runs of white space reduced to one space."""
    return [token for chunk in sentence.split() for token in _tokenize_chunk(chunk)]


@remembered
def _tokenize_chunk(chunk: str) -> tuple[str, ...]:
    """Split a word between white space; cached, because corpora repeat the same few thousand words."""
    if MORPHEME.fullmatch(chunk):
        return (chunk,)
    tokens = []
    pieces = PIECE.findall(chunk.replace(JOINER, "?"))
    for index, piece in enumerate(pieces):
        # The joiner goes on the punctuation or the lone letter, so that a word looks the same with and without it.
        left = index > 0 and not _is_word(piece)
        right = index + 1 < len(pieces) and not _is_word(piece) and _is_word(pieces[index + 1])
        tokens.append(f"{JOINER if left else ''}{piece}{JOINER if right else ''}")
    return tuple(tokens)


def detokenize(tokens: list[str] | tuple[str, ...]) -> str:
    """Return the raw form of tokens: joined by spaces except at joiners."""
    joined = " ".join(tokens)
    return joined.replace(f" {JOINER}", "").replace(f"{JOINER} ", "").replace(JOINER, "")


def strip_joiner(token: str) -> str:
    """Return the token without its joiners."""
    return token.strip(JOINER)


def strip_joiners(tokens: Sequence[str]) -> list[str]:
    """Return tokens without joiners."""
    return [token.strip(JOINER) for token in tokens]


def unused_mark(text: str) -> str:
    """Return a character that does not occur in a text, to stand for values while the text around them is mended."""
    return next(char for char in map(chr, range(0xE000, 0xF900)) if char not in text)


def _is_word(piece: str) -> bool:
    return (piece[0].isalnum() or piece[0] == "_") and not (piece[0] > "\u0dff" and _UNSPACED.match(piece))
