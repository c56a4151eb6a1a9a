"""Shares: how many of training's texts deny or ask, for each combination of act types."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import NamedTuple

from dactnlg.text.grammar.denials import denies_again, denies_value, has_none, is_denial, told_behind
from dactnlg.text.grammar.marks import has_negative
from dactnlg.text.sentences import asking
from dactnlg.text.surface import strip_joiner
from dactnlg.text.templates import Templates
from dactnlg.text.traits import Key, act_types


class Shares(NamedTuple):
    """Shares of the texts for some act types.

    Attributes:
        deny: of the texts without negative special values, those that deny.
        values: of the same texts, those that deny a value: "it is not in SLOT_AREA".
        own: the number of texts without negative special values.
        none: those that say that nothing of a kind exists.
        again: those that deny in several sentences.
        told: those that, after a denial, tell about what does not exist.
        ask: those that ask.
        texts: the number of all texts.
    """

    deny: float
    values: float
    own: int
    none: float
    again: float
    told: float
    ask: float
    texts: int

    @classmethod
    def of(cls, count: Counter[str]) -> Shares:
        """Return the shares from counts."""
        own, texts = count["own"], count["texts"]
        none, again, told, ask = (count[each] / texts for each in ("none", "again", "told", "ask"))
        deny, values = (count[each] / max(own, 1) for each in ("deny", "values"))
        return cls(deny, values, own, none, again, told, ask, texts)


NOTHING = Shares(0.0, 0.0, 0, 0.0, 0.0, 0.0, 0.0, 0)
"""For combinations of act types that training does not have."""


def learned_shares(templates: Templates, *, with_marks: bool) -> dict[Key, Shares]:
    """Return the shares of the texts for each combination of act types.

    Args:
        templates: the training texts.
        with_marks: whether their questions have question marks.
    """
    counts: dict[Key, Counter[str]] = {}
    combinations: dict[Key, Counter[str]] = {}
    rows = templates.specials
    # Training has many texts, of few words: each word is classified once.
    words = set(chain.from_iterable(text for _, text in rows))
    denying, marks = frozenset(filter(is_denial, words)), frozenset(filter(_marks_question, words))
    for (key, text), values in rows.items():
        count = combinations.get(key)
        if count is None:
            count = combinations[key] = counts.setdefault(act_types(key), Counter())
        count["texts"] += 1
        count["ask"] += not marks.isdisjoint(text) if with_marks else worded_as_question(text)
        denied = not denying.isdisjoint(text)
        count["none"] += denied and has_none(text)
        count["again"] += denied and denies_again(text)
        count["told"] += denied and told_behind(text) > 0
        if not any(map(has_negative, values)):
            count["own"] += 1
            count["deny"] += denied
            count["values"] += denied and denies_value(text)
    return {acts: Shares.of(count) for acts, count in counts.items()}


def asks(tokens: Iterable[str]) -> bool:
    """Whether a text has a question mark."""
    return any(map(_marks_question, tokens))


def worded_as_question(tokens: Sequence[str]) -> bool:
    """Whether a sentence of a text begins, or ends, like a question."""
    return any(asking(tokens))


def _marks_question(token: str) -> bool:
    return strip_joiner(token) == "?"
