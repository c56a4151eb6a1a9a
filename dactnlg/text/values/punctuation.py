"""Punctuation that readers expect and corpora omit: "sorry what is it", "you dont care", "a pub right?"."""

from __future__ import annotations

import re

from dactnlg.text.questions import NO_TAG, TAGS

_NEGATED = "do does did is are was were has have had would could should ca wo"
_STEMS = {f"{verb}nt": verb for verb in _NEGATED.split()} | dict.fromkeys(["im", "ive"], "i")
_STEMS |= dict.fromkeys(["youre", "youve"], "you") | dict.fromkeys(["theyre", "theyve"], "they")
_STEMS |= {f"{word}s": word for word in ("that", "what", "where", "there")}
"""The part before the apostrophe of words that lack it; before "n't" in negations."""
_WORD = re.compile(r"[^\W\d_]+")
_OPENING = r"(?:^|(?<=[.?!] ))"
_GOING_ON = """
    would what which where when who how why do does did are is can could may shall should will have has you there i we
    they it
"""
_SORRY = re.compile(rf"({_OPENING}sorry)(?= (?:{'|'.join(_GOING_ON.split())})\b)", re.I)
_TAG = re.compile(rf"([^\s,.?!]+) ({'|'.join(sorted(TAGS))})(?=[.?!]|$)", re.I)
_MARK, _LONGEST = re.compile(r"[.?!]"), 1_000
"""The end of a sentence, and the most characters before a tag that are searched for the person asked."""
_ASKED = re.compile(r"(?<=[^\s,.;:?!]) (?=is (?:that|this) (?:right|correct)\b)", re.I)
_NONE = re.compile(r"\b(no [^\W\d_]+),(?= (?:near|in|on|at|with|good|serving|where|that|which)\b)", re.I)

_PRONOUNS = frozenset({"it", "they", "its", "their"})
_OWNED = r"(?:its|their) [^\W\d_]+(?: [^\W\d_]+)? (?:is|are)\b"
_OWN = rf"(?:it|they) (?:is|are|has|have|serves|allows|accepts|offers)\b|{_OWNED}"
_NOUN = r"(?!(?:and|or|but|where|that|which|when|if|because|since|as|than|like|of|in|near|for|with)\b)[^\s,.;:?!]+"
# "This is a nice pub it serves beer", "a nice pub, where dogs are allowed and their number is 5".
_RUN_ON = re.compile(rf"(\b(?:is|are) an? {_NOUN}(?: {_NOUN}){{0,5}}?),? (?={_OWN})(their)?", re.I)
_WHERE = re.compile(rf"(\bis an? {_NOUN}(?: {_NOUN}){{0,5}}, where [^,.?!]*?),? and (?={_OWNED})(their)?", re.I)
# "It serves beer and their number is 5".
_ITS = re.compile(rf"({_OPENING}its?\b[^.?!]*?,? and )their(?= [^\W\d_]+(?: [^\W\d_]+)? (?:is|are)\b)", re.I)
# "I know you like pubs, have you been to this one?"
_FURTHER = re.compile(rf"({_OPENING}(?:I|you) (?:know|see|said|think)\b[^,.?!]*), (?=(?:have|do|would) you\b)", re.I)


def punctuated(text: str) -> str:
    """Return an English text with apostrophes and commas in contractions and tags, and no comma after "no pub".

    A sentence that runs on about what it has named is split: "this is a nice pub it serves beer".

    >>> punctuated("sorry would you like a pub, you dont care about the area right?")
    "sorry, would you like a pub, you don't care about the area, right?"
    """
    words = {word.rstrip(",.?!") for word in text.casefold().split()}
    # Most sentences lack nothing.
    if not words.isdisjoint(_STEMS):
        text = _WORD.sub(_contracted, text)
    if "sorry" in words:
        text = _SORRY.sub(r"\1,", text)
    if not words.isdisjoint(TAGS):
        text = _TAG.sub(_tagged, _ASKED.sub(", ", text))
    if not words.isdisjoint(_PRONOUNS):
        text = _ITS.sub(r"\1its", _WHERE.sub(_apart, _RUN_ON.sub(_apart, text)))
    if "you" in words:
        text = _FURTHER.sub(r"\1. ", text)
    return _NONE.sub(r"\1", text) if "no" in words else text


def _contracted(match: re.Match[str]) -> str:
    word = match.group()
    stem = _STEMS.get(word.casefold(), "")
    if not stem:
        return word
    cut = len(stem) + word.casefold().endswith("nt")
    return f"{word[:cut]}'{word[cut:]}"


def _apart(match: re.Match[str]) -> str:
    """Split a sentence; "their" becomes "its" for the one thing named."""
    return f"{match[1]}. {'its' if match[2] else ''}"


def _tagged(match: re.Match[str]) -> str:
    last, tag = match.groups()
    text = match.string[max(0, match.start() - _LONGEST) : match.start()]
    addressed = "you" in _MARK.split(text)[-1].casefold().split()
    return f"{last}, {tag}" if addressed and last.casefold() not in NO_TAG else match.group()
