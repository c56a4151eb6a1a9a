"""Which combinations of acts, slots, special values and several values of a slot occur in training."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from dactnlg.acts import Turn
from dactnlg.text.placeholders import is_placeholder, placeholder_name, without_ordinal
from dactnlg.text.preprocessor import Preprocessor
from dactnlg.text.surface import strip_joiner
from dactnlg.text.traits import Key, canonical_values, combination, read_trait


class Combinations:
    """The combinations that occur in training. Several threads may use one.

    Args:
        preprocessor: the preprocessor of a run.
    """

    def __init__(self, preprocessor: Preprocessor) -> None:
        self._preprocessor = preprocessor

    def is_unseen(self, turn: Turn) -> bool:
        """Whether a turn's combination is unseen; False if there are no training texts to tell."""
        if not self._seen:
            return False
        kind, specials = combination(turn)
        names = (item.placeholder for item in self._preprocessor.delexicalizer.required(turn))
        return (kind, specials, self._several(names, specials)) not in self._seen

    @cached_property
    def _seen(self) -> set[tuple[Key, Key, Key]]:
        """The seen combinations: kinds of turns, their special values, and their several values of slots."""
        specials = self._preprocessor.templates.specials
        rows = {(key, canonical_values(values), text) for (key, text), found in specials.items() for values in found}
        return {(key, values, self._several(text, values)) for key, values, text in rows}

    def _several(self, names: Iterable[str], specials: Key) -> Key:
        """Return the placeholders for further values of a slot, except slots that are lists, of any length.

        Also those for values beside a special one: "near the park, or do you not care?".
        """
        beside = {placeholder_name(read_trait(value).slot) for value in specials}
        own = {strip_joiner(name) for name in names if is_placeholder(name)}
        further = (name for name in own if "#" in name and without_ordinal(name) not in self._lists)
        return tuple(sorted({*further, *(own & beside)}))

    @cached_property
    def _lists(self) -> set[str]:
        return {placeholder_name(slot) for slot in self._preprocessor.delexicalizer.apart}
