"""Dialogue acts: slots, acts and turns, and their canonical notation.

`str(turn)` is the canonical Cambridge notation, and `parse(str(turn)) == turn` holds for every turn; see
`dactnlg.acts.parsing`.
"""

from __future__ import annotations

import reprlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache, total_ordering
from typing import Any

from dactnlg.acts.notation import DELIMITERS, NO_VALUE, balanced, is_act_type, is_name, print_value
from dactnlg.errors import ActError

SPECIAL_VALUES = frozenset({"dontcare", "dont_care", "yes", "no", "none", "true", "false", "?"})
"""Values that say something about a slot rather than name an entity; they are never delexicalised."""

NAMED = "slot"
"""In DSTC2's pairs, a slot with this name has the name of another slot as its value."""
LONGEST = 64
"""Only values up to this length are cached: the acts of a corpus share few slots and values, which are short."""
_LONGEST_SPECIAL = max(map(len, SPECIAL_VALUES))
_CANONICAL_SPECIAL = {"dont_care": "dontcare", "true": "yes", "false": "no"}


@total_ordering
@dataclass(frozen=True, slots=True)
class Slot:
    """One slot of an act.

    >>> Slot("kidsallowed", "false").special, Slot("name", "red door cafe").special
    ('no', None)
    >>> str(Slot("name", "red door cafe")), str(Slot("food"))
    ("name='red door cafe'", 'food')

    Attributes:
        name: the slot's name, such as `food`.
        value: its value as text, even for numbers; None for a slot without a value, as in `request(food)`; never blank.

    Raises:
        ActError: the name contains characters that some notation cannot express, or the value is blank or not a string.
    """

    name: str
    value: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not is_name(self.name):
            raise ActError(
                f"{self.name!r} cannot be a slot name: it is empty, begins with '?', begins or ends with white space, "
                f"or contains a line break or one of {DELIMITERS}"
            )
        if self.value is not None and not isinstance(self.value, str):
            raise ActError(f"the value of '{self.name}' must be text, not {self.value!r}")
        if self.value is not None and not self.value.strip():
            # No sentence could express it, and no check could find it missing.
            raise ActError(f"the value of '{self.name}' is empty; {NO_VALUE}")

    @property
    def special(self) -> str | None:
        """The normalised special value (`dontcare`, `yes`, `no`, `none` or `?`); None for an ordinary value."""
        return None if self.value is None else special_value(self.value)

    @property
    def folded(self) -> str:
        """The value, case-folded; empty if there is none."""
        return (self.value or "").casefold()

    @property
    def delexicalizable(self) -> bool:
        """Whether the slot has a value that a placeholder can replace, that is, one that is not special."""
        return self.value is not None and _is_ordinary(self.value)

    def __lt__(self, other: Slot) -> bool:
        # A slot without a value sorts before those with one; None itself cannot be compared.
        return (self.name, self.value or "") < (other.name, other.value or "")

    def __str__(self) -> str:
        return _print_slot(self.name, self.value)


@dataclass(frozen=True, slots=True, order=True)
class DialogueAct:
    """An act type with its slots.

    >>> str(DialogueAct("inform", (Slot("name", "red door cafe"), Slot("kidsallowed", "no"))))
    "inform(name='red door cafe';kidsallowed=no)"

    Attributes:
        act_type: such as `inform`, or `?request`.
        slots: a tuple of `Slot`s, in the order in which they were written; empty for `goodbye()`.

    Raises:
        ActError: the act type contains characters that some notation cannot express, or a slot is not a `Slot`.
    """

    act_type: str
    slots: tuple[Slot, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.act_type, str) or not is_act_type(self.act_type):
            raise ActError(
                f"{self.act_type!r} cannot be an act type: it is empty, has no name after '?', begins with '??', "
                f"or contains white space or one of {DELIMITERS}"
            )
        # Callers often pass a list, which is not hashable.
        if not isinstance(self.slots, tuple):
            object.__setattr__(self, "slots", _tuple(self.slots, f"the slots of '{self.act_type}' are Slots"))
        for slot in self.slots:
            if not isinstance(slot, Slot):
                raise ActError(f"the slots of '{self.act_type}' are Slots, not {reprlib.repr(slot)}")

    @property
    def is_question(self) -> bool:
        """Whether the act type marks a question, as `?request` does."""
        return self.act_type.startswith("?")

    def __str__(self) -> str:
        return f"{self.act_type}({';'.join([_print_slot(slot.name, slot.value) for slot in self.slots])})"


class _Hashed:
    # Not a field: it is not part of a turn's meaning, and differs between processes.
    __slots__ = ("_hash",)
    _hash: int


@dataclass(frozen=True, slots=True, order=True)
class Turn(_Hashed):
    """A meaning representation: one or more acts to be expressed together. Iterating yields its acts.

    >>> from dactnlg.acts import parse
    >>> turn = parse("inform(name='red door cafe') & request(food)")
    >>> [act.act_type for act in turn], [slot.name for act, slot in turn.slots()]
    (['inform', 'request'], ['name', 'food'])
    >>> parse(str(turn)) == turn
    True

    Attributes:
        acts: a tuple of `DialogueAct`s, at least one.

    Raises:
        ActError: there is no act, or something else than a `DialogueAct`.
    """

    acts: tuple[DialogueAct, ...]

    def __post_init__(self) -> None:
        if not isinstance(self.acts, tuple):
            object.__setattr__(self, "acts", _tuple(self.acts, "the acts of a turn are DialogueActs"))
        # Only now: an iterator and an array do not tell whether they are empty.
        if not self.acts:
            raise ActError("a turn needs at least one act")
        for act in self.acts:
            if not isinstance(act, DialogueAct):
                raise ActError(f"the acts of a turn are DialogueActs, not {reprlib.repr(act)}; parse() reads text")
        # Turns are keys of many caches, several of which are looked up to generate one sentence.
        object.__setattr__(self, "_hash", hash(self.acts))

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[type[Turn], tuple[tuple[DialogueAct, ...]]]:
        return Turn, (self.acts,)

    def __iter__(self) -> Iterator[DialogueAct]:
        return iter(self.acts)

    def slots(self) -> Iterator[tuple[DialogueAct, Slot]]:
        """Yield every (act, slot), in the order in which they were written."""
        for act in self.acts:
            for slot in act.slots:
                yield act, slot

    def __str__(self) -> str:
        return "&".join([str(act) for act in self.acts])

    def to_json(self) -> list[dict[str, Any]]:
        """Return the turn in the notation of DSTC2's release: `[{"act": ..., "slots": [[name, value], ...]}]`.

        In this notation `["slot", "food"]` means the `food` of `request(food)`, so a slot that is really called `slot`
        is written `{"name": "slot", "value": "food"}`.
        """
        return [{"act": act.act_type, "slots": [_slot_to_json(slot) for slot in act.slots]} for act in self.acts]

    def to_bracket(self) -> str:
        """Return the turn in the notation of E2E and ViGGO.

        Raises:
            ActError: the turn has several acts, or a value that cannot be written in square brackets.
        """
        if len(self.acts) != 1:
            raise ActError(f"the bracket notation holds one act, not {len(self.acts)}: {self}")
        act = self.acts[0]
        for slot in act.slots:
            value = slot.value
            if value is not None and (value != value.strip() or not balanced(value)):
                raise ActError(f"the bracket notation cannot hold the value {value!r} of '{slot.name}'")
        inside = ", ".join(f"{slot.name}[{slot.value or ''}]" for slot in act.slots)
        return f"{act.act_type}({inside})"


def _tuple(given: Iterable[Any], what: str) -> tuple[Any, ...]:
    try:
        return tuple(given)
    except TypeError:
        raise ActError(f"{what} in a sequence, not {reprlib.repr(given)}") from None


def _print_slot(name: str, value: str | None) -> str:
    return _printed(name, value) if value is not None and len(value) > LONGEST else _known_printed(name, value)


def _printed(name: str, value: str | None) -> str:
    return name if value is None else f"{name}={print_value(value)}"


_known_printed = lru_cache(maxsize=1 << 13)(_printed)


def special_value(value: str) -> str | None:
    """Return the normalised special value that a value is; None for an ordinary one.

    >>> special_value("Yes"), special_value("false"), special_value("thai")
    ('yes', 'no', None)
    """
    if len(value) > _LONGEST_SPECIAL:
        return None
    return _known_special(value)


@lru_cache(maxsize=1 << 13)
def _known_special(value: str) -> str | None:
    folded = value.lower()
    return _CANONICAL_SPECIAL.get(folded, folded) if folded in SPECIAL_VALUES else None


def _is_ordinary(value: str) -> bool:
    return special_value(value) is None


def _slot_to_json(slot: Slot) -> object:
    if slot.value is None:
        return [slot.name]
    if slot.name == NAMED and is_name(slot.value):
        return {"name": slot.name, "value": slot.value}
    return [slot.name, slot.value]
