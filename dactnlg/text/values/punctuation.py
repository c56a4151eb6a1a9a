"""Punctuation as readers expect it where corpora leave it out: "sorry what is it", "you dont care", "a pub right?"."""

from __future__ import annotations

import re

from dactnlg.text.questions import ADDRESSED, NO_TAG, TAGS

_NEGATED = "do|does|did|is|are|was|were|has|have|had|would|could|should|ca|wo"
_CONTRACTED = re.compile(rf"\b(?:({_NEGATED})nt|(i)(m|ve)|(you|they)(re|ve)|(that|what|where|there)(s))\b", re.I)
_OPENING = r"(?:^|(?<=[.?!] ))"
_GOING_ON = """
    would what which where when who how why do does did are is can could may shall should will have has you there i we
    they it
"""
_SORRY = re.compile(rf"({_OPENING}sorry)(?= (?:{'|'.join(_GOING_ON.split())})\b)", re.I)
_TAG = re.compile(rf"([^.?!]*?([^\s,.?!]+)) ({'|'.join(sorted(TAGS))})(?=[.?!]|$)", re.I)
_NONE = re.compile(r"\b(no [^\W\d_]+),(?= (?:near|in|on|at|with|good|serving|where|that|which)\b)", re.I)


def punctuated(text: str) -> str:
    """Return an English text with apostrophes and commas in contractions and tags, and none behind "no pub".

    >>> punctuated("sorry would you like a pub, you dont care about the area right?")
    "sorry, would you like a pub, you don't care about the area, right?"
    """
    text = _CONTRACTED.sub(_contracted, text)
    text = _SORRY.sub(r"\1,", text)
    return _NONE.sub(r"\1", _TAG.sub(_tagged, text))


def may_lack_marks(text: str) -> bool:
    """Whether `punctuated` may change a text; a fast test."""
    folded = text.casefold()
    return any(sign in folded for sign in _SIGNS)


_SIGNS = ("nt", "im", "ve", "re", "ts", "es", "sorry ", *sorted(TAGS), "no ")


def _contracted(match: re.Match[str]) -> str:
    negated, *others = match.groups()
    if negated:
        return f"{negated}n't"
    stem, ending = (group for group in others if group)
    return f"{stem}'{ending}"


def _tagged(match: re.Match[str]) -> str:
    before, last, tag = match.groups()
    asked = re.search(ADDRESSED, before, re.I) and last.casefold() not in NO_TAG
    return f"{before}, {tag}" if asked else match.group()
