"""Identities: values that a text mistakes for another kind of thing: "SLOT_DEVELOPER is a good game"."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from dactnlg.text.grammar.copulas import noun_phrase_head
from dactnlg.text.grammar.english import ARTICLES, BEING
from dactnlg.text.placeholders import is_placeholder, values_alike
from dactnlg.text.sentences import split_sentences
from dactnlg.text.surface import strip_joiners
from dactnlg.text.templates import Templates

LEAST_SEEN = 20
"""How often training must say of anything that it is something before its absence for a subject is strange."""
MOST_SHARE = 0.02
"""The largest share of these occurrences that may be mistakes."""
_IS = frozenset({"is", "was"})
_JOINTS = frozenset({"and", "but", "while"})


class Identities:
    """Finds values that are said to be what only others are in training.

    Args:
        templates: the training texts.
    """

    def __init__(self, templates: Templates) -> None:
        self._templates = templates

    @cached_property
    def _known(self) -> tuple[Counter[tuple[str, str]], Counter[str]]:
        """How often training says of each placeholder that begins a clause what it is, and how often of any subject."""
        every = [each for text in self._templates.texts() for each in _identities(text)]
        return Counter((each.subject, each.what) for each in every if each.begins), Counter(each.what for each in every)

    def mistaken(self, tokens: Sequence[str]) -> list[str]:
        """Return the placeholders, without ordinals, that a text says to be what only others are in training."""
        found = [each for each in _identities(tokens) if each.begins and is_placeholder(each.subject)]
        pairs, said = self._known if found else (Counter(), Counter())
        often = [each for each in found if said[each.what] >= LEAST_SEEN]
        return [each.subject for each in often if pairs[each.subject, each.what] <= MOST_SHARE * said[each.what]]


class _Identity(NamedTuple):
    """What something is said to be.

    Attributes:
        subject: the last word before the verb.
        what: the noun, or the value, that it is said to be.
        begins: whether the subject begins a clause, and so is not part of a longer one.
    """

    subject: str
    what: str
    begins: bool


def _identities(tokens: Sequence[str]) -> Iterator[_Identity]:
    for sentence in split_sentences(tokens):
        words = values_alike(strip_joiners(sentence))
        for place in range(1, len(words) - 1):
            what = words[place + 1]
            if words[place] in _IS and (what in ARTICLES or is_placeholder(what)):
                start = place - 1 - (words[max(0, place - 2)] == "the")
                # "A big screen and SLOT_AUDIO is" is a list, "it is cheap, and SLOT_NAME is" is not.
                begins = start <= 0 or (words[start - 1] in _JOINTS and words[start - 2 : start - 1] == [","])
                end = next((at for at in range(place + 1, len(words)) if words[at] in BEING), len(words))
                said = noun_phrase_head(words, place + 1) if what in ARTICLES else what
                # "It is a nice place their phone number is SLOT_PHONE" has two clauses without a mark between them.
                if what not in ARTICLES or said == noun_phrase_head(words[:end], place + 1):
                    yield _Identity(words[place - 1], said, begins)
