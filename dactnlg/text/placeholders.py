"""Placeholders: the slots of a turn that a sentence must express, each with a placeholder of its own."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from dactnlg._utils.memory import Memory
from dactnlg.acts import DialogueAct, Slot, Turn
from dactnlg.text.surface import strip_joiner


@dataclass(frozen=True, slots=True)
class Required:
    """A slot of a turn with the placeholder that stands for its value.

    Attributes:
        placeholder: `SLOT_FOOD`, or `SLOT_FOOD#2` for the second value of the same slot.
        act_type: the type of the act that contains the slot.
        slot: the slot.
    """

    placeholder: str
    act_type: str
    slot: Slot


_known: Memory[tuple[Required, ...]] = Memory(1 << 20, 8 << 20)


def placeholder_name(slot_name: str, ordinal: int = 1) -> str:
    """Return the placeholder of a slot: `customer rating` gives `SLOT_CUSTOMER_RATING`."""
    name = "SLOT_" + re.sub(r"\W+", "_", slot_name).strip("_").upper()
    return name if ordinal == 1 else f"{name}#{ordinal}"


def is_placeholder(token: str) -> bool:
    """Whether a token is a placeholder, ignoring joiners."""
    # The first test is fast, and nearly every token fails it.
    return "SLOT_" in token and strip_joiner(token).startswith("SLOT_")


def without_ordinal(placeholder: str) -> str:
    """Return the placeholder of a slot's first value: `SLOT_FOOD` for `SLOT_FOOD#2`."""
    return placeholder.partition("#")[0]


def slot_label(placeholder: str) -> str:
    """Return what reports call the slot of a placeholder that no slot of the act has: `food` for `SLOT_FOOD#2`."""
    return without_ordinal(placeholder).removeprefix("SLOT_").lower()


def values_alike(tokens: Iterable[str]) -> list[str]:
    """Return tokens with the ordinals of placeholders dropped: `SLOT_FOOD#2` becomes `SLOT_FOOD`."""
    return [without_ordinal(token) if "#" in token and is_placeholder(token) else token for token in tokens]


def said_once(turn: Turn) -> Turn:
    """Return a turn without repeated acts, and without repeated slots in a statement about one thing.

    Of two things with names or values of their own, each keeps its values: "a is cheap, and b is cheap".
    """
    if len(set(turn.acts)) == len(turn.acts) and all(len(set(act.slots)) == len(act.slots) for act in turn.acts):
        return turn
    acts = []
    for act in dict.fromkeys(turn.acts):
        slots = tuple(dict.fromkeys(act.slots))
        alone = not act.is_question and len({slot.name for slot in slots}) == len(slots)
        acts.append(DialogueAct(act.act_type, slots) if alone else act)
    return Turn(tuple(acts))


def required_slots(turn: Turn, silent: frozenset[str] = frozenset()) -> tuple[Required, ...]:
    """Return the slots that a sentence for the turn must express, each with a placeholder of its own.

    A value repeated within one act counts each time (`?compare` of two equal things); the same slot and value in
    another act counts once.

    Args:
        turn: the acts.
        silent: "act.slot" combinations that no sentence of the corpus expresses, from its data card.
    """
    key = turn, silent
    known = _known.get(key)
    if known is None:
        size = 500 + sum([600 + len(slot.value or "") for act in turn.acts for slot in act.slots])
        known = _known.put(key, _required(turn, silent), size)
    return known


def silenced_slots(turn: Turn, silent: frozenset[str]) -> list[Required]:
    """Return the slots that no sentence of the corpus expresses, each with a placeholder that `required_slots` leaves.

    Args:
        turn: the acts.
        silent: "act.slot" combinations, from the data card.
    """
    counts = Counter(without_ordinal(item.placeholder) for item in required_slots(turn, silent))
    found = []
    for act, slot in turn.slots() if silent else ():
        if slot.delexicalizable and slot.value is not None and f"{act.act_type}.{slot.name}" in silent:
            base = placeholder_name(slot.name)
            counts[base] += 1
            found.append(Required(placeholder_name(slot.name, counts[base]), act.act_type, slot))
    return found


def _required(turn: Turn, silent: frozenset[str]) -> tuple[Required, ...]:
    required: list[Required] = []
    counts: dict[str, int] = {}
    seen: set[tuple[str, str]] = set()
    for act in turn:
        here: set[tuple[str, str]] = set()
        for slot in act.slots:
            if not slot.delexicalizable or slot.value is None or f"{act.act_type}.{slot.name}" in silent:
                continue
            key = (placeholder_name(slot.name), slot.value.casefold())
            here.add(key)
            if key in seen:
                continue
            counts[key[0]] = counts.get(key[0], 0) + 1
            required.append(Required(placeholder_name(slot.name, counts[key[0]]), act.act_type, slot))
        seen |= here
    return tuple(required)
