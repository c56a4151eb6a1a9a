"""Manners: texts that deny or ask where their act does neither, or the other way round.

"There are no such hotels" for an act that denies nothing, "i looked for hotels" for one that does; "you like shooters"
for a recommendation, where people always ask "have you played it?".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import pairwise

from dactnlg.acts import Turn
from dactnlg.text.placeholders import is_placeholder
from dactnlg.text.surface import strip_joiner
from dactnlg.text.templates import Key, Templates, canonical, kind
from dactnlg.text.trigger_words import is_question_act

LEAST_SHARE = 0.1
"""Share of an act type's texts that deny, without such special values, or ask, from which on that is what it does."""
MOST_SHARE, LEAST_TEXTS = 0.9, 10
"""The same share from which on an act type is not done without it, and how many texts have to show it."""
NEGATIVE = ("=no", "=none", "=dontcare", "=?")
"""Special values that are said with a denial."""
NEGATIONS = frozenset({"no", "not", "none", "nothing", "cannot", "never", "without"})


class Manners:
    """Tells texts that deny or ask where their act does not, or do not where it does.

    Args:
        templates: the training texts.
    """

    def __init__(self, templates: Templates) -> None:
        self._templates = templates

    @cached_property
    def _shares(self) -> dict[Key, tuple[float, int]]:
        """For combinations of act types the share of their texts that deny by themselves, and how many texts."""
        rows = self._templates.specials.items()
        own = [row for row in rows if not any(canonical(v).endswith(NEGATIVE) for values in row[1] for v in values)]
        return _shared((key, denies(text)) for (key, text), _ in own)

    @cached_property
    def _shares_of_none(self) -> dict[Key, tuple[float, int]]:
        """For combinations of act types the share of their texts that say that there is none, and how many texts."""
        return _shared((key, has_none(text)) for key, text in self._templates.specials)

    @cached_property
    def _shares_of_asking(self) -> dict[Key, tuple[float, int]]:
        """For combinations of act types the share of their texts that ask, and how many texts."""
        return _shared((key, asks(text)) for key, text in self._templates.specials)

    def wrong(self, turn: Turn, tokens: Sequence[str]) -> bool:
        """Whether a text does another act: says that there is none, or asks, where its act never does, or must."""
        acts = _acts(kind(turn))
        share, number = self._shares.get(acts, (0.0, 0))
        if has_none(tokens) and max(share, self._shares_of_none.get(acts, (0.0, 0))[0]) < LEAST_SHARE:
            return True
        if not denies(tokens) and not _negative(turn) and share >= MOST_SHARE and number >= LEAST_TEXTS:
            return True
        share, number = self._shares_of_asking.get(acts, (0.0, 0))
        # People leave out the marks of questions.
        unasked = share < LEAST_SHARE and not any(map(is_question_act, turn))
        return number >= LEAST_TEXTS and (unasked if asks(tokens) else share >= MOST_SHARE)

    def doubtful(self, turn: Turn, tokens: Sequence[str]) -> bool:
        """Whether a text denies something, and neither the turn's values nor its act types do."""
        return denies(tokens) and not _negative(turn) and self._shares.get(_acts(kind(turn)), (0.0, 0))[0] < LEAST_SHARE


def _negative(turn: Turn) -> bool:
    """Whether a turn has a value that is said with a denial."""
    return any(slot.special and f"={slot.special}" in NEGATIVE for _, slot in turn.slots())


def _shared(rows: Iterable[tuple[Key, bool]]) -> dict[Key, tuple[float, int]]:
    """Return for combinations of act types the share of the rows that are true, and how many rows."""
    counts: dict[Key, list[bool]] = {}
    for key, true in rows:
        counts.setdefault(_acts(key), []).append(true)
    return {key: (sum(found) / len(found), len(found)) for key, found in counts.items()}


def has_none(tokens: Sequence[str]) -> bool:
    """Whether a text says that there is none of a kind: "no SLOT_TYPE"."""
    return any(word == "no" and is_placeholder(behind) for word, behind in pairwise(tokens))


def denies(tokens: Iterable[str]) -> bool:
    """Whether a text has a word that denies."""
    words = map(strip_joiner, tokens)
    return any(word in NEGATIONS or word.endswith("n't") for word in words)


def asks(tokens: Iterable[str]) -> bool:
    """Whether a text has the mark of a question."""
    return "?" in map(strip_joiner, tokens)


def _acts(key: Key) -> Key:
    return tuple(each for each in key if "|" not in each)
