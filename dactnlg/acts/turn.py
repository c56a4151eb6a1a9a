"""Dialogue acts, turns and slots, and how they are read and printed.

Notations:
    cambridge  `inform(name='red door cafe';kidsallowed=no)`, several acts joined by `&` or spaces
               (RNNLG, DSTC2; a trailing `;` and an act type with a leading `?` are allowed)
    bracket    `name[The Eagle], eatType[coffee shop]` (E2E: one `inform`) and
               `inform(name[X], genres[a, b])` (ViGGO)
    json       `[{"act": "inform", "slots": [["food", "thai"]]}]` (DSTC2's release; a slot may also be
               `{"name": "food", "value": "thai"}`)

`parse` detects which notation a text is in. `str(turn)` is the canonical Cambridge notation, and
`parse(str(turn)) == turn` holds for every turn.
"""

from __future__ import annotations

import json
import math
import reprlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache, total_ordering
from typing import Any

from dactnlg.acts.notation import DELIMITERS, NO_VALUE, balanced, is_act_type, is_name, print_value, read_acts
from dactnlg.errors import ActError, ActSyntaxError

SPECIAL_VALUES = frozenset({"dontcare", "dont_care", "yes", "no", "none", "true", "false", "?"})
"""Values that say something about a slot rather than name an entity; they are never delexicalised."""

_NAMED = "slot"
"""In DSTC2's pairs, a slot with this name has the name of another slot as its value."""
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
            object.__setattr__(self, "slots", tuple(self.slots))
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
        if not self.acts:
            raise ActError("a turn needs at least one act")
        if not isinstance(self.acts, tuple):
            object.__setattr__(self, "acts", tuple(self.acts))
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


def parse(text: str, where: str = "") -> Turn:
    """Parse one turn in any of the notations.

    >>> parse("inform(name='red door cafe';kidsallowed=false)").acts[0].slots[1].special
    'no'
    >>> str(parse("name[The Eagle], eatType[coffee shop]"))
    "inform(name='The Eagle';eatType='coffee shop')"

    Args:
        text: the act string: Cambridge notation (RNNLG, DSTC2), E2E's or ViGGO's brackets, or DSTC2's JSON.
        where: the location to give in error messages ("acts.txt, line 3"); by default the line within `text`.

    Returns:
        A `Turn` with one or more acts; `str(turn)` is its canonical Cambridge notation.

    Raises:
        ActSyntaxError: the text is not an act; the message shows the line and a caret.
        ActError: `text` is not a string, or is JSON of another structure.
    """
    if not isinstance(text, str):
        raise ActError(f"{where or 'this'} is no act: give a string, not {type(text).__name__}")
    stripped = text.lstrip()
    if stripped.startswith(("[", "{")):
        return _parse_json(text, where)
    acts = [(act_type, [_slot(name, value) for name, value in slots]) for act_type, slots in read_acts(text, where)]
    return Turn(tuple([DialogueAct(act_type, tuple(slots)) for act_type, slots in acts]))


# The acts of a corpus share few slots and values; values longer than those found in corpora are not cached.
_LONGEST = 64
_known_slot = lru_cache(maxsize=1 << 13)(Slot)


def _slot(name: str, value: str | None) -> Slot:
    return Slot(name, value) if value is not None and len(value) > _LONGEST else _known_slot(name, value)


def _print_slot(name: str, value: str | None) -> str:
    return _printed(name, value) if value is not None and len(value) > _LONGEST else _known_printed(name, value)


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
    folded = value.lower()
    return _CANONICAL_SPECIAL.get(folded, folded) if folded in SPECIAL_VALUES else None


def _is_ordinary(value: str) -> bool:
    return special_value(value) is None


def _parse_json(text: str, where: str) -> Turn:
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise ActSyntaxError(f"not JSON ({error.msg})", text, error.pos, where) from None
    except RecursionError:
        raise ActSyntaxError("not JSON (nested too deeply)", text, 0, where) from None
    except ValueError:
        raise ActSyntaxError("not JSON (a number of too many digits)", text, 0, where) from None
    return turn_from_json(data, where)


def turn_from_json(data: object, where: str = "") -> Turn:
    """Return the turn that DSTC2's JSON describes.

    Args:
        data: a list of `{"act": name, "slots": [[name, value], ...]}`, or a single such object; see `Turn.to_json`.
        where: the location to give in error messages.

    Raises:
        ActError: the data has another structure.
    """
    try:
        return Turn(tuple([_json_act(item) for item in (data if isinstance(data, list) else [data])]))
    except ActError as error:
        raise ActError(f"{where}: {error}" if where else str(error)) from None


def _json_act(item: object) -> DialogueAct:
    # Without "slots", other keys hold what another notation calls them: they would be lost.
    plain = isinstance(item, dict) and isinstance(item.get("act"), str) and ("slots" in item or len(item) == 1)
    if not isinstance(item, dict) or not plain:
        raise ActError(f'a JSON act is {{"act": name, "slots": [[name, value], ...]}}, not {reprlib.repr(item)}')
    slots = item.get("slots", [])
    if not isinstance(slots, list) or not all(_is_json_slot(slot) for slot in slots):
        raise ActError(f"the slots of a JSON act are a list of [name] or [name, value], not {reprlib.repr(slots)}")
    return DialogueAct(item["act"], tuple([_json_slot(slot) for slot in slots]))


def _slot_to_json(slot: Slot) -> object:
    if slot.value is None:
        return [slot.name]
    if slot.name == _NAMED and is_name(slot.value):
        return {"name": slot.name, "value": slot.value}
    return [slot.name, slot.value]


def _is_json_slot(slot: object) -> bool:
    if isinstance(slot, dict):
        parts = [slot.get("name"), slot.get("value")] if slot.keys() <= {"name", "value"} else []
    else:
        parts = slot if isinstance(slot, list) else []
    return 1 <= len(parts) <= 2 and isinstance(parts[0], str) and all(map(_is_json_value, parts[1:]))


def _is_json_value(value: object) -> bool:
    # Python's JSON parser accepts NaN, and reads 1e999 as infinity.
    return value is None or isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value))


def _json_slot(slot: list[Any] | dict[str, Any]) -> Slot:
    if isinstance(slot, dict):
        name, value = slot["name"], slot.get("value")
    else:
        name, value = slot[0], slot[1] if len(slot) == 2 else None
        # DSTC2 writes request(food) as the pair ["slot", "food"].
        if name == _NAMED and isinstance(value, str) and is_name(value):
            return Slot(value)
    return Slot(name, None if value is None else str(value))
