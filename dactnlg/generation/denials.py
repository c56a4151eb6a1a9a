"""Denials: "there are no such hotels" for an act that denies nothing, and "i looked for hotels" for one that denies."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

from dactnlg.acts import Turn
from dactnlg.text.surface import strip_joiner
from dactnlg.text.templates import Key, Templates, canonical, kind

LEAST_SHARE = 0.1
"""Share of an act type's texts without such special values that deny, from which on denying is what it does."""
MOST_SHARE, LEAST_TEXTS = 0.9, 10
"""The same share from which on an act type is not done without denying, and how many texts have to show it."""
NEGATIVE = ("=no", "=none", "=dontcare", "=?")
"""Special values that are said with a denial."""
NEGATIONS = frozenset({"no", "not", "none", "nothing", "cannot", "never", "without"})


class Denials:
    """Tells texts that deny what their act does not, or do not deny what it does.

    Args:
        templates: the training texts.
    """

    def __init__(self, templates: Templates) -> None:
        self._templates = templates

    @cached_property
    def _shares(self) -> dict[Key, tuple[float, int]]:
        """For combinations of act types the share of their texts that deny by themselves, and how many texts."""
        counts: dict[Key, list[int]] = {}
        for (key, text), turns in self._templates.specials.items():
            if not any(canonical(value).endswith(NEGATIVE) for values in turns for value in values):
                found = counts.setdefault(_acts(key), [0, 0])
                found[0] += 1
                found[1] += denies(text)
        return {key: (denying / number, number) for key, (number, denying) in counts.items()}

    def wrong(self, turn: Turn, tokens: Sequence[str]) -> bool:
        """Whether a text denies and neither the turn's values nor its act types do, or the other way round."""
        if any(slot.special and f"={slot.special}" in NEGATIVE for _, slot in turn.slots()):
            return False
        share, number = self._shares.get(_acts(kind(turn)), (0.0, 0))
        return share < LEAST_SHARE if denies(tokens) else share >= MOST_SHARE and number >= LEAST_TEXTS


def denies(tokens: Iterable[str]) -> bool:
    """Whether a text has a word that denies."""
    words = map(strip_joiner, tokens)
    return any(word in NEGATIONS or word.endswith("n't") for word in words)


def _acts(key: Key) -> Key:
    return tuple(each for each in key if "|" not in each)
