"""Denials: "there are no such hotels" for an act that denies nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

from dactnlg.acts import Turn
from dactnlg.generation.pieces import canonical
from dactnlg.text.surface import strip_joiner
from dactnlg.text.templates import Key, Templates, kind

LEAST_SHARE = 0.1
"""Share of an act type's texts without such special values that deny, from which on denying is what it does."""
NEGATIVE = ("=no", "=none", "=dontcare", "=?")
"""Special values that are said with a denial."""
NEGATIONS = frozenset({"no", "not", "none", "nothing", "cannot", "never", "without"})


class Denials:
    """Tells texts that deny what their act does not.

    Args:
        templates: the training texts.
    """

    def __init__(self, templates: Templates) -> None:
        self._templates = templates

    @cached_property
    def _denying(self) -> frozenset[Key]:
        """The combinations of act types whose texts deny by themselves."""
        counts: dict[Key, list[float]] = {}
        for (key, text), turns in self._templates.specials.items():
            if not any(canonical(value).endswith(NEGATIVE) for values in turns for value in values):
                found = counts.setdefault(_acts(key), [0.0, 0.0])
                found[0] += 1
                found[1] += denies(text)
        return frozenset(key for key, (number, denying) in counts.items() if denying >= LEAST_SHARE * number)

    def wrong(self, turn: Turn, tokens: Sequence[str]) -> bool:
        """Whether a text denies something, and neither the turn's values nor its act types in training do."""
        special = any(slot.special and f"={slot.special}" in NEGATIVE for _, slot in turn.slots())
        return not special and denies(tokens) and _acts(kind(turn)) not in self._denying


def denies(tokens: Iterable[str]) -> bool:
    """Whether a text has a word that denies."""
    words = map(strip_joiner, tokens)
    return any(word in NEGATIONS or word.endswith("n't") for word in words)


def _acts(key: Key) -> Key:
    return tuple(each for each in key if "|" not in each)
