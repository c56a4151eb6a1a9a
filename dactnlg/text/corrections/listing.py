"""Listing: things in a list are joined by commas, and the last one by "and"."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from dactnlg.text.corrections.phrasing import end_of
from dactnlg.text.grammar.english import COORDINATING, PREPOSITIONS, QUESTION_WORDS, RELATIVES, SUBJECTS, listed
from dactnlg.text.sentences import Tokens
from dactnlg.text.surface import strip_joiners

_OPENERS = listed("with has have having includes features")
"""Words after which a list of things begins."""
_NO_ITEM = PREPOSITIONS | RELATIVES | SUBJECTS | COORDINATING | QUESTION_WORDS
_NO_ITEM |= listed("the if not also all but so then as its their this both such of whatever regardless please")
"""Words that begin no item of a list."""
_NO_MATTER = ["no", "matter"]


def with_and(sentence: Tokens, verbs: Collection[str]) -> Tokens:
    """Insert "and" before the last item of a list: "has a big screen, 2 ports, and costs 9 euros"."""
    words = strip_joiners(sentence)
    for comma in reversed([place for place, word in enumerate(words) if word == ","]):
        end = _item(words, comma, verbs)
        start = _opening(words, comma, verbs) if end else 0
        if start:
            several = "," in words[start:comma]
            # "..., 2 ports, in the south" needs no comma behind its last item; a sentence may end without a mark.
            comma_behind = words[end : end + 1] == [","] and not PREPOSITIONS.isdisjoint(words[end + 1 : end + 2])
            behind = end + comma_behind
            sentence = (*sentence[: comma + several], "and", *sentence[comma + 1 : end], *sentence[behind:])
            words = strip_joiners(sentence)
    return sentence


def _item(words: Sequence[str], comma: int, verbs: Collection[str]) -> int:
    """Return the end of the item after a comma if it is the last of a list of things, else 0."""
    start, last = comma + 1, end_of(words)
    end = next((at for at in range(start, last) if words[at] in COORDINATING), last)
    item = words[start:end]
    if not item or item[0] in _NO_ITEM or item[0].endswith(("ed", "ing")) or any(word in verbs for word in item):
        return 0
    if item[:2] == _NO_MATTER:
        return 0
    more = [*(word for word in words[end:last] if word != ","), ""]
    if more == [""]:
        return end
    if words[end] == "," and (more[0] in verbs or more[0] in PREPOSITIONS or more[0] == "if" or more[:2] == _NO_MATTER):
        # "... 2 ports, costs", "... 2 ports, in the cheap range"
        return end
    # "..., 2 ports, and costs" and "... and in the cheap range" contain no further items.
    joined = more[0] == "and" and (more[1] in verbs or more[1] in PREPOSITIONS | SUBJECTS)
    return end if joined else 0


def _opening(words: Sequence[str], comma: int, verbs: Collection[str]) -> int:
    """Return the index of the word that opens the list around a comma, 0 if there is none."""
    for place in reversed(range(comma)):
        if words[place] in _OPENERS:
            return place
        if words[place] in verbs or words[place] in RELATIVES or words[place] in ("and", "or", "if"):
            return 0
    return 0
