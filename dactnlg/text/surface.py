"""Surface forms of a sentence: tokens, raw form and text.

    tokens   `["does", "not", "allow", "child", "-s", "￭."]`    for models
    raw      `does not allow child -s.`                         for metrics
    text     `Does not allow children.`                         for readers

`detokenize` makes the raw form of tokens, `realize` the text of the raw form. `tokenize` and `detokenize` are exact
inverses (white space apart): a token that is attached to its neighbour carries a joiner, so `like?` and `like ?` stay
different.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache, partial
from typing import NamedTuple

JOINER = "\uffed"
"""Marks the side on which a token is attached to its neighbour: `like?` is `like` `￭?`."""

# RNNLG's corpora separate morphemes: `kid -s`, `moderate -ly`.
_MORPHEME = re.compile(r"-[a-z]{1,3}")
_BEFORE_ENDING = re.compile(rf" (?=(?:{_MORPHEME.pattern}|'(?:s|m|re|ve|ll|d)|n't)(?: |$))")
_PIECE = re.compile(r"\w+(?:['’]\w+)*|[^\w\s]")
_IRREGULAR_PLURALS = {"child": "children", "person": "people", "man": "men", "woman": "women", "foot": "feet"}
_SIBILANT = re.compile(r"(?:s|x|z|ch|sh)$", re.IGNORECASE)
_SPACE_BEFORE_MARK = re.compile(r" (?=[,.;:?!](?:[ ,.;:?!]|$))")
_WEAK_BEFORE_MARK = re.compile(r"[,;:]+(?=[,;:.?!]$)")
_SECOND_STOP = re.compile(r"(?<=[.?!])(?<![.?!,;:].)\.$")
_I = re.compile(r"(?<![\w.'’-])i(?=$|[,'’?!])")
# A pattern that begins with a letter is found fast, so what must precede the letter is checked behind it.
_ARTICLE = re.compile(r"(?P<article>a(?<![\w.'’-]a))n?(?= (?P<following>[^\W_]\w*))")
# A capital "A" inside a sentence is a name ("plan A offers"), not an article.
_FIRST_ARTICLE = re.compile(r"(?P<article>(?:^|[.?!][\"')]* )[\"'(]*A)n?(?= (?P<following>[^\W_]\w*))")
# After these the "a" is no article of theirs: "grade a and up".
_NEVER_AFTER_ARTICLE = frozenset({"a", "an", "and", "are", "as", "at", "in", "is", "of", "on", "or"})
# The sound decides, not the letter: an hour, a unit, an 8 km walk.
_VOWEL_SOUND = re.compile(
    r"(?:[aeio]|u(?!ni(?!n|m)|r[aiu]|s[aeiu]|sb|t[aei]|k)|hour|honest|honou?r|heir|hdmi|x-?box|8|11(?!\d)|18(?!\d))",
    re.I,
)
_CONSONANT_SOUND = re.compile(r"(?:eu|ewe|one\b|once\b)", re.I)
# Read letter by letter, the first by its name: an "f" grade, an L7, an RTS, a T (for Teen).
_SPELT_OUT = re.compile(r"[A-Za-z]\d*|[B-DF-HJ-NP-TV-Z]{2,}|MMO[A-Z]*")
_VOWEL_NAMES = frozenset("aefhilmnorsx")
# A lower-case word that starts a sentence, unless it has its own capitals (iPhone) or follows "a.m.".
_LOWER_START = r"[\"'(]*[^\W\d_](?![^\W\d_]*[A-Z])"
_FIRST_START = re.compile(f"^{_LOWER_START}")
_LATER_START = re.compile(rf"[.?!](?<!\.\w[.?!])[\"')]* {_LOWER_START}")
_BETWEEN_SENTENCES = re.compile(r"[.?!] ")
_CLOSING = " \"'”’)]"
_STATEMENT = re.compile(r"(?:please|thanks?|let me|tell|good ?bye|bye)\b", re.I)
_QUESTION = re.compile(
    r"(?:what|which|where|when|who|how|why|do|does|did|would|could|can|may|shall|should|is|are|will|have|has)\b", re.I
)
# Words that English always capitalises, as far as they occur in corpora without capitals outside of names.
_CAPITALS = """
    afghan african albanian algerian american arabian argentinian armenian asian australasian australian austrian basque
    belgian brazilian british bulgarian burmese californian cambodian canadian cantonese caribbean catalan celeron
    chinese colombian corsican croatian cuban danish dutch egyptian english eritrean ethiopian european filipino french
    georgian german greek hawaiian hungarian indian indonesian intel iranian iraqi irish israeli italian jamaican
    japanese korean lebanese malaysian mediterranean mexican mongolian moroccan nepalese nicaraguan nigerian norwegian
    pakistani pentium peruvian persian polynesian portuguese romanian russian salvadoran scandinavian scottish
    shanghainese sicilian singaporean spanish swedish swiss syrian taiwanese thai tibetan tunisian turkish tuscan
    ukrainian venetian vietnamese welsh
"""
_ACRONYMS = ("amd", "gb", "hdmi", "nicam", "tb", "usb")
_CAPITALIZED = {word: word.capitalize() for word in _CAPITALS.split()} | {word: word.upper() for word in _ACRONYMS}
_LOWER_WORD = re.compile(r"(?<![\w.'’@/-])[a-z]{2,}(?![\w@]|\.\w)")
# Small words of a title, unless they begin it.
_SMALL = frozenset({"and", "at", "by", "for", "in", "of", "on", "or", "the"})


def tokenize(sentence: str) -> list[str]:
    """Split a sentence into tokens; `detokenize` restores it, runs of white space reduced to one space."""
    return [token for chunk in sentence.split() for token in _tokenize_chunk(chunk)]


@lru_cache(maxsize=1 << 16)
def _tokenize_chunk(chunk: str) -> tuple[str, ...]:
    """Split a word between white space; cached, because corpora repeat the same few thousand."""
    if _MORPHEME.fullmatch(chunk):
        return (chunk,)
    tokens = []
    pieces = _PIECE.findall(chunk.replace(JOINER, "?"))
    for index, piece in enumerate(pieces):
        # The joiner sits on the punctuation, so that a word looks the same with and without it.
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


def realize(raw: str, *, question: bool | None = None) -> str:
    """Return the text of a raw sentence.

    Joins morphemes (`kid -s`, `moderate -ly`), removes spaces before punctuation, makes a/an agree with the next word,
    starts sentences with a capital and ends them with one mark, and capitalises nationalities. Numbers stay as they
    are.

    Args:
        raw: the raw form, placeholders already replaced.
        question: whether the sentence is a question; None to decide by its first word.
    """
    text = " ".join(raw.split())
    for apply, needed in _RULES:
        if needed is None or needed(text):
            text = apply(text)
    if text and not text.rstrip(_CLOSING).endswith((".", "?", "!", "…")):
        last = _BETWEEN_SENTENCES.split(text)[-1]
        asks = is_question(last) if question is None else question and not _STATEMENT.match(last)
        text += "?" if asks else "."
    return text


def is_question(sentence: str) -> bool:
    """Whether a sentence begins with a question word or ends with a question mark."""
    return sentence.rstrip().endswith("?") or bool(_QUESTION.match(sentence))


def title_case(value: str) -> str:
    """Return a name with every word capitalised, except letters after an apostrophe or a digit."""
    return re.sub(r"(?<![\w'’])[^\W\d_]", lambda match: match.group().upper(), value)


def title(tokens: Iterable[str]) -> list[str]:
    """Return the tokens of a name in title case: small words stay lower-case ("Inn at the Presidio")."""
    return [
        token if index and strip_joiner(token) in _SMALL else title_case(token) for index, token in enumerate(tokens)
    ]


def _is_word(piece: str) -> bool:
    return piece[0].isalnum() or piece[0] == "_"


def _join_morphemes(text: str) -> str:
    joined, *rest = _BEFORE_ENDING.split(text)
    for part in rest:
        ending, space, following = part.partition(" ")
        if ending[0] != "-":
            joined += ending
        elif joined[-1:].isalpha():
            before, gap, stem = joined.rpartition(" ")
            joined = before + gap + _attach(stem, ending[1:])
        else:
            joined += " " + ending
        joined += space + following
    return joined


@lru_cache(maxsize=1 << 14)
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
        if re.search(r"[^aeiou]y$", stem):
            stem = stem[:-1] + "i"
        elif re.fullmatch(r"[^aeiou]+[aeiou][^aeiouwxy]", stem):  # big, bigger
            stem += stem[-1]
        return stem.removesuffix("e") + suffix
    return stem + suffix


def _agree(match: re.Match[str]) -> str:
    following = match["following"]
    if following in _NEVER_AFTER_ARTICLE and not match.string.startswith("+", match.end() + 1 + len(following)):
        return match.group()
    return match["article"] + ("n" if _sounds_like_vowel(following) else "")


@lru_cache(maxsize=1 << 14)
def _sounds_like_vowel(word: str) -> bool:
    if _SPELT_OUT.fullmatch(word):
        return word[0].lower() in _VOWEL_NAMES
    return bool(_VOWEL_SOUND.match(word)) and not _CONSONANT_SOUND.match(word)


@lru_cache(maxsize=1 << 16)
def _mend_word(word: str) -> str:
    """Apply the rules that look at one word; cached, because corpora repeat the same few thousand."""
    # A value may bring its own mark ("1 Main St." at the end of a sentence); an ellipsis stays.
    word = _SECOND_STOP.sub("", _WEAK_BEFORE_MARK.sub("", word))
    return _LOWER_WORD.sub(lambda match: _CAPITALIZED.get(match.group(), match.group()), _I.sub("I", word))


def _upper(match: re.Match[str]) -> str:
    return match.group().upper()


class _Rule(NamedTuple):
    """One step of `realize`, on words separated by single spaces.

    Attributes:
        apply: makes the change.
        needed: a fast test that is False only if `apply` would change nothing; None for rules that are fast.
    """

    apply: Callable[[str], str]
    needed: Callable[[str], bool] | None = None


# In this order: each rule reads the output of those before it.
_RULES = (
    _Rule(_join_morphemes, lambda text: " -" in text or " '" in text or " n't" in text),
    _Rule(lambda text: text.rstrip(" ,;:")),
    _Rule(partial(_SPACE_BEFORE_MARK.sub, "")),
    _Rule(lambda text: " ".join(map(_mend_word, text.split(" ")))),
    _Rule(partial(_FIRST_START.sub, _upper)),
    _Rule(partial(_LATER_START.sub, _upper)),
    _Rule(partial(_FIRST_ARTICLE.sub, _agree), lambda text: "A" in text),
    _Rule(partial(_ARTICLE.sub, _agree)),
)
