"""Between a sentence as people read it, its raw form, and the tokens that models see.

Three forms, each made from the one before:

    tokens   `["does", "not", "allow", "child", "-s", "￭."]`    what models see
    raw      `does not allow child -s.`                         what metrics are defined on
    text     `Does not allow children.`                         what a user reads

`tokenize` and `detokenize` are exact inverses (white space apart): a token that stood against its neighbour carries
a joiner, so `like?` and `like ?` stay different. `realize` makes the text.
"""

from __future__ import annotations

import re

JOINER = "\uffed"
"""Marks the side on which a token is attached to its neighbour: `like?` is `like` `￭?`."""

# RNNLG's corpora split morphemes off: `kid -s`, `moderate -ly`.
_MORPHEME = re.compile(r"-[a-z]{1,3}")
_PIECE = re.compile(r"\w+(?:['’]\w+)*|[^\w\s]")
_IRREGULAR_PLURALS = {"child": "children", "person": "people", "man": "men", "woman": "women", "foot": "feet"}
_SIBILANT = re.compile(r"(?:s|x|z|ch|sh)$", re.IGNORECASE)
_ARTICLE = re.compile(r"\b([Aa])(n?)(?= ([^\W_]\w*))")
# The sound decides, not the letter: an hour, a unit, an 8 km walk.
_VOWEL_SOUND = re.compile(
    r"(?:[aeio]|u(?!ni(?!n|m)|s[aeiu]|t[aei]|k)|hour|honest|honou?r|heir|8|11(?!\d)|18(?!\d))", re.I
)
_CONSONANT_SOUND = re.compile(r"(?:eu|ewe|one\b|once\b)", re.I)
_SENTENCE_START = re.compile(r"(^|[.?!][\"')]*\s+)([\"'(]*)([^\W\d_])")
_QUESTION = re.compile(
    r"(?:what|which|where|when|who|how|why|do|does|did|would|could|can|may|shall|should|is|are|will|have|has)\b", re.I
)


def tokenize(sentence: str) -> list[str]:
    """Split a sentence into tokens; `detokenize` gives it back, with runs of white space made one space."""
    tokens: list[str] = []
    for chunk in sentence.split():
        if _MORPHEME.fullmatch(chunk):
            tokens.append(chunk)
            continue
        pieces = _PIECE.findall(chunk.replace(JOINER, "?"))
        for index, piece in enumerate(pieces):
            # The joiner sits on the punctuation, so that a word looks the same with and without it.
            left = index > 0 and not _is_word(piece)
            right = index + 1 < len(pieces) and not _is_word(piece) and _is_word(pieces[index + 1])
            tokens.append(f"{JOINER if left else ''}{piece}{JOINER if right else ''}")
    return tokens


def detokenize(tokens: list[str] | tuple[str, ...]) -> str:
    """Return the raw form of tokens: joined by spaces except where a joiner stands."""
    joined = " ".join(tokens)
    return joined.replace(f" {JOINER}", "").replace(f"{JOINER} ", "").replace(JOINER, "")


def strip_joiner(token: str) -> str:
    """Return the token without its joiners."""
    return token.strip(JOINER)


def realize(raw: str, question: bool | None = None) -> str:
    """Turn a raw sentence into text for a reader.

    Morphemes are joined (`kid -s`, `moderate -ly`), punctuation loses the space before it, a/an agrees with the word
    that follows, sentences start with a capital and end with a mark. Numbers are left alone.

    Args:
        raw: the raw form, placeholders already replaced.
        question: whether the sentence asks; None to tell from its first word.
    """
    words = " ".join(_join_morphemes(raw.split()))
    text = re.sub(r"\s+([,.;:?!])(?=\s|$)", r"\1", words)
    text = re.sub(r"\bi\b(?=$|[\s,']| ?')", "I", text)
    text = _ARTICLE.sub(_agree, text).strip()
    text = _SENTENCE_START.sub(lambda m: m.group(1) + m.group(2) + m.group(3).upper(), text)
    if text and text[-1] not in ".?!":
        last = re.split(r"[.?!]\s+", text)[-1]
        asks = bool(_QUESTION.match(last)) if question is None else question
        text = text.rstrip(" ,;:") + ("?" if asks else ".")
    return text


def title_case(value: str) -> str:
    """Return a name with every word capitalised; letters after an apostrophe or a digit stay as they are."""
    return re.sub(r"(?<![\w'’])[^\W\d_]", lambda match: match.group().upper(), value)


def _is_word(piece: str) -> bool:
    return piece[0].isalnum() or piece[0] == "_"


def _join_morphemes(words: list[str]) -> list[str]:
    joined: list[str] = []
    for word in words:
        if joined and _MORPHEME.fullmatch(word) and joined[-1][-1:].isalpha():
            joined[-1] = _attach(joined[-1], word[1:])
        elif joined and word in ("'s", "n't", "'m", "'re", "'ve", "'ll", "'d"):
            joined[-1] += word
        else:
            joined.append(word)
    return joined


def _attach(stem: str, suffix: str) -> str:
    if suffix == "s":
        if stem.lower() in _IRREGULAR_PLURALS:
            return _IRREGULAR_PLURALS[stem.lower()]
        if re.search(r"[^aeiou]y$", stem):
            return stem[:-1] + "ies"
        return stem + ("es" if _SIBILANT.search(stem) else "s")
    if suffix == "ly" and stem.endswith("le"):
        return stem[:-1] + "y"
    if suffix in ("er", "est"):
        stem = stem[:-1] if stem.endswith("e") else stem[:-1] + "i" if re.search(r"[^aeiou]y$", stem) else stem
    return stem + suffix


def _agree(match: re.Match[str]) -> str:
    following = match.group(3)
    # A lone capital letter or a grade such as "a a+ rating" is left to the corpus.
    if len(following) == 1 and following.isalpha():
        return match.group()
    vowel = bool(_VOWEL_SOUND.match(following)) and not _CONSONANT_SOUND.match(following)
    return match.group(1) + ("n" if vowel else "")
