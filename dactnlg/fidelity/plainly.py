"""What a sentence says plainly, whatever the rest of it is like: what it asks for, and what does not matter in it.

A reader that has learned all of a sentence's words may not know those beside a plain question, or beside "if you don't
care about the price": training may never have had the two together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile

from dactnlg.text.placeholders import is_placeholder
from dactnlg.text.questions import is_question
from dactnlg.text.sentences import split_sentences
from dactnlg.text.surface import strip_joiner

Words = Sequence[str]
_INDIFFERENCE = frozenset({"care", "preference", "preferences", "regardless"})
"""Words behind which stands what does not matter."""
_MAIN = frozenset({"there", "we", "i", "then"})
"""Words with which the main clause begins behind it."""


def asked(words: Words) -> Iterator[Words]:
    """Yield the sentences of a folded text that have a question's mark and begin like one."""
    for sentence in split_sentences(words):
        if strip_joiner(sentence[-1]) == "?" and is_question(" ".join(sentence[:-1])):
            yield sentence


def indifferent(words: Words) -> Iterator[Words]:
    """Yield the words behind each of those that say that something does not matter, up to a main clause or value."""
    for sentence in split_sentences(words):
        for place, word in enumerate(sentence):
            if word in _INDIFFERENCE:
                yield [*takewhile(lambda each: each not in _MAIN and not is_placeholder(each), sentence[place + 1 :])]
