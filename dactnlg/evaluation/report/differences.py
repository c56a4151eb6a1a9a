"""The differences between a sentence and its nearest reference, as marked spans of text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

_PIECE = re.compile(r"\w+(?:['’.]\w+)*|[^\w\s]")
Marked = list[tuple[str, bool]]
"""Spans of a text in order, each with whether the other text lacks it."""


def nearest(sentence: str, references: Sequence[str]) -> str | None:
    """Return the reference most similar to a sentence, the first of equally similar ones; None without references."""
    words = _folded(sentence)
    matcher: SequenceMatcher[str] = SequenceMatcher(autojunk=False)
    matcher.set_seq2(words)

    def likeness(reference: str) -> float:
        matcher.set_seq1(_folded(reference))
        return matcher.ratio()

    return max(dict.fromkeys(references), key=likeness, default=None)


def marked(sentence: str, reference: str) -> tuple[Marked, Marked]:
    """Return the spans of the sentence and of the reference; case is ignored."""
    first, second = ([match.span() for match in _PIECE.finditer(text)] for text in (sentence, reference))
    mine, theirs = ([False] * len(spans) for spans in (first, second))
    matcher = SequenceMatcher(None, _folded(sentence), _folded(reference), autojunk=False)
    for kind, start, end, other, stop in matcher.get_opcodes():
        if kind != "equal":
            mine[start:end] = [True] * (end - start)
            theirs[other:stop] = [True] * (stop - other)
    return _stretches(sentence, first, mine), _stretches(reference, second, theirs)


def _folded(text: str) -> list[str]:
    return [piece.casefold() for piece in _PIECE.findall(text)]


def _stretches(text: str, spans: Sequence[tuple[int, int]], flags: Sequence[bool]) -> Marked:
    """Split the text where the flag changes; white space is flagged only between two flagged pieces."""
    found: Marked = []
    at, last = 0, False
    for (start, end), flag in zip(spans, flags, strict=True):
        if flag and last:
            found[-1] = (found[-1][0] + text[at:end], True)
        else:
            if text[at:start]:
                found.append((text[at:start], False))
            found.append((text[start:end], flag))
        at, last = end, flag
    if text[at:]:
        found.append((text[at:], False))
    merged: Marked = []
    for part, flag in found:
        if merged and not flag and not merged[-1][1]:
            merged[-1] = (merged[-1][0] + part, False)
        else:
            merged.append((part, flag))
    return merged
