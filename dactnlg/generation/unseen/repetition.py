"""Repetition: what a text says more often than its act: "a high priced pub with high prices"."""

from __future__ import annotations

import re
from collections import Counter

from dactnlg.acts import Turn
from dactnlg.text.cues import MASK, folded, masked, shows, without
from dactnlg.text.sentences import Tokens
from dactnlg.text.slots import OPPOSITES, SlotChecker

_PHRASES = re.compile(r"(?<=[.?!;,])\s|\s(?=(?:with|and|but|that|which|it)\s)")


def said_again(checker: SlotChecker, turn: Turn, tokens: Tokens) -> int:
    """Return how often a text repeats a yes, a no or a value in words, or says another value of that slot as well.

    "It is a pub. It is a restaurant." Opinions do not count: people express them in many words.

    Args:
        checker: of the corpus.
        turn: what the text is for.
        tokens: the text, delexicalised.
    """
    delexicalizer = checker.delexicalizer
    wanted = checker.expected(turn).wanted
    stated = [
        (slot, value, pattern)
        for slot, value, pattern in wanted
        if slot not in delexicalizer.paraphrased and (slot in delexicalizer.lexicalized or value in OPPOSITES)
    ]
    if not stated:
        return 0
    given, text, times = Counter(slot.name for _, slot in turn.slots()), folded(masked(tokens)), 0
    # Of two things, each may have it.
    most = max(given.values(), default=1)
    # "High" may be a price and a rating.
    values = {value for _, value, _ in wanted}
    shared = {(slot, value) for slot, value in delexicalizer.shared if value in values}
    for slot, value, pattern in stated:
        rest = without(pattern, text)
        if rest.count(MASK) - text.count(MASK) > most:
            times += max(0, sum(shows(pattern, phrase) for phrase in _PHRASES.split(text)) - most)
        if slot in delexicalizer.lexicalized and given[slot] == 1:
            others = {(slot, other) for other in checker.shown_cues(slot, rest)}
            times += not others <= shared | {(slot, value)}
    return times
