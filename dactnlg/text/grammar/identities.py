"""Identities: values that a sentence takes for something else: "SLOT_DEVELOPER is a good game" says it of no game."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property

from dactnlg.text.grammar.copulas import noun_phrase_head
from dactnlg.text.grammar.english import ARTICLES
from dactnlg.text.placeholders import is_placeholder, values_alike
from dactnlg.text.sentences import split_sentences
from dactnlg.text.surface import plain
from dactnlg.text.templates import Templates

LEAST_SEEN = 20
"""How often training says of whatever begins a sentence that it is something, at least, for others to be strange."""
MOST_SHARE = 0.02
"""Share of these places in which it says so by mistake, at most."""
_IS = frozenset({"is", "was"})
_JOINTS = frozenset({"and", "but", "while"})


class Identities:
    """Tells values that are said to be what training says of others alone.

    Args:
        templates: the training texts.
    """

    def __init__(self, templates: Templates) -> None:
        self._templates = templates

    @cached_property
    def _known(self) -> tuple[Counter[tuple[str, str]], Counter[str]]:
        """How often training says what of which placeholder, and of all subjects together."""
        pairs = Counter(pair for text in self._templates.texts() for pair in _identities(text))
        said = Counter[str]()
        for (_, what), count in pairs.items():
            said[what] += count
        return pairs, said

    def mistaken(self, tokens: Sequence[str]) -> list[str]:
        """Return the placeholders, without numbers, that a text takes for what training says of others."""
        found = [pair for pair in _identities(tokens) if is_placeholder(pair[0])]
        pairs, said = self._known if found else (Counter(), Counter())
        return [pair[0] for pair in found if said[pair[1]] >= LEAST_SEEN and pairs[pair] <= MOST_SHARE * said[pair[1]]]


def _identities(tokens: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield what begins each clause, a placeholder or a pronoun, with the noun or the value that it is said to be."""
    for sentence in split_sentences(tokens):
        words = values_alike(plain(sentence))
        for place in range(1, len(words) - 1):
            start = place - 1 - (words[max(0, place - 2)] == "the")
            # "A big screen and SLOT_AUDIO is" lists, "it is cheap, and SLOT_NAME is" does not.
            begins = start <= 0 or (words[start - 1] in _JOINTS and words[start - 2 : start - 1] == [","])
            what = words[place + 1]
            if words[place] in _IS and begins and (what in ARTICLES or is_placeholder(what)):
                yield words[place - 1], noun_phrase_head(words, place + 1) if what in ARTICLES else what
