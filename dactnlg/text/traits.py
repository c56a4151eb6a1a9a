"""Traits of turns: act types, their slots, and the special values of these; by them training texts are found again."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from dactnlg.acts import Slot, Turn, special_value

Key = tuple[str, ...]
"""Printed traits, sorted."""
_ESCAPED = "\\"
"""Stands for "|" in a printed act type, which has none of `dactnlg.acts.notation.DELIMITERS`."""


class Trait(NamedTuple):
    """An act type, a slot of it, or a special value of the slot, printed `inform`, `inform|food`, `inform|food=none`.

    Attributes:
        act_type: the act type.
        slot: the slot's name; "" for the act type alone.
        value: the special value; None for any.
    """

    act_type: str
    slot: str = ""
    value: str | None = None

    @classmethod
    def of(cls, act_type: str, slot: Slot) -> Trait:
        """Return the trait of a special value, or of a slot with another value or none."""
        return cls(act_type, slot.name, slot.special)

    @property
    def bare(self) -> bool:
        """Whether it is a slot without a value."""
        return bool(self.slot) and self.value is None

    def __str__(self) -> str:
        slot = f"|{self.slot}" if self.slot else ""
        return self.act_type.replace("|", _ESCAPED) + slot + ("" if self.value is None else f"={self.value}")


@lru_cache(maxsize=1 << 12)
def read_trait(printed: str) -> Trait:
    """Return a printed trait; any other text is read as an act type."""
    name, equals, value = printed.partition("=")
    act_type, _, slot = name.partition("|")
    return Trait(act_type.replace(_ESCAPED, "|"), slot, value if equals else None)


def canonical(printed: str) -> Trait:
    """Return a printed special value in canonical spelling; one of a closed class, `rating=good`, case-folded."""
    trait = read_trait(printed)
    own = (trait.value or "").strip("'")
    return trait._replace(value=special_value(own) or own.casefold())


@lru_cache(maxsize=1 << 6)
def kind(turn: Turn) -> Key:
    """Return a turn's acts and slots, ignoring values and repetitions: `("inform", "inform|food")`."""
    traits = {Trait(act.act_type) for act in turn} | {Trait(act.act_type, slot.name) for act, slot in turn.slots()}
    return tuple(sorted(map(str, traits)))


def special_values(turn: Turn) -> Key:
    """Return a turn's special values, on which its wording depends: `("inform|kidsallowed=no",)`."""
    return tuple(sorted({f"{Trait(act.act_type)}|{slot}" for act, slot in turn.slots() if slot.special is not None}))


def combination(turn: Turn) -> tuple[Key, Key]:
    """Return what may be seen or unseen in training: a turn's kind, and its special values in canonical spelling."""
    return kind(turn), canonical_values(special_values(turn))


def canonical_values(values: Key) -> Key:
    """Return printed special values (`inform|kidsallowed=false`) in canonical spelling, without closed classes."""
    found = map(canonical, values)
    return tuple(sorted({str(trait) for trait in found if special_value(trait.value or "") is not None}))


def act_types(key: Iterable[str]) -> Key:
    """Return the act types among printed traits."""
    return tuple(each.replace(_ESCAPED, "|") for each in key if "|" not in each)


def slots_of(key: Iterable[str], act_type: str) -> set[str]:
    """Return the slots of an act type among printed traits."""
    return {trait.slot for trait in map(read_trait, key) if trait.slot and trait.act_type == act_type}
