"""Owners: which thing a value belongs to where an act compares several, `?compare(name=a;price=1;name=b;price=2)`."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from dactnlg.acts import DialogueAct, Slot, Turn, act_types
from dactnlg.text.placeholders import Required, without_ordinal
from dactnlg.text.sentences import ENDS
from dactnlg.text.surface import strip_joiner, strip_joiners

IN_ORDER = frozenset({"former", "latter", "respectively", "first", "second"})
"""Words that assign values to things by their order."""
_JOINTS = frozenset({"while", "but", "whereas", "whilst", "however", "and", "or", ";"})
"""Words and marks after which a clause may be about another thing."""


class Thing(NamedTuple):
    """One of the things that an act compares.

    Attributes:
        name: the slot that names it.
        slots: its other slots.
    """

    name: Slot
    slots: list[Slot]


def things(act: DialogueAct) -> list[Thing]:
    """Return the things that an act compares; empty if it compares none.

    Things are named by the first repeated slot, and each name is followed by the slots of its thing. At least one
    other slot must be repeated too, or the names are alternatives. Slots before the first name belong to the first.
    If a `compare` has all names together, the values of each other slot, one per name, are in the order of the names.
    """
    counts = Counter(slot.name for slot in act.slots)
    key = next((slot.name for slot in act.slots if counts[slot.name] > 1 and slot.delexicalizable), None)
    names = [place for place, slot in enumerate(act.slots) if slot.name == key]
    found = [Thing(act.slots[place], []) for place in names]
    if key is None or not all(thing.name.delexicalizable for thing in found):
        return []
    together = names[-1] - names[0] < len(names) and len({*counts.values()}) == 1
    # In other acts, such as ?select(food=thai;food=greek;area=west;area=east), the values are alternatives.
    in_order = together and act_types.compares(act.act_type)
    before = Counter[str]()
    for slot in act.slots:
        if slot.name != key:
            found[before[slot.name] if in_order else max(0, before[key] - 1)].slots.append(slot)
        before[slot.name] += 1
    again = Counter(name for thing in found for name in {slot.name for slot in thing.slots})
    return found if any(count > 1 for count in again.values()) else []


def compared(turn: Turn) -> list[Thing]:
    """Return the things compared by a turn of one act."""
    return things(turn.acts[0]) if len(turn.acts) == 1 else []


def named_apart(turn: Turn) -> list[Slot]:
    """Return the slots that name the thing of each act, if each act is about one: "inform(name=a)&inform(name=b)".

    Empty if an act names none, or two name the same.
    """
    names = [act.slots[0] for act in turn.acts if act.slots]
    alike = len({slot.name for slot in names}) == 1 and all(slot.delexicalizable for slot in names)
    others = len(set(map(folded_value, names))) == len(turn.acts)
    return names if len(names) > 1 and alike and others else []


def left_open(turn: Turn) -> set[str]:
    """Return the slots with several values of which a text may name only one, or each for another thing.

    These are the slots of questions ("Do you want to take your dogs, or doesn't it matter?"), those of acts that
    compare, and those that several acts share. A single statement must say all its values.
    """
    several = Counter(name for act in turn.acts for name in {slot.name for slot in act.slots})
    found = {name for name, count in several.items() if count > 1}
    for act in turn.acts:
        if act.is_question or things(act):
            found |= {slot.name for slot in act.slots}
    return found


def owners(required: Sequence[Required]) -> dict[str, str]:
    """Return the placeholder of the thing that each value belongs to, by placeholder.

    Values shared by two things are left out: nothing tells their owners apart.
    """
    found: dict[str, str] = {}
    if not any("#" in item.placeholder for item in required):
        # No slot is repeated.
        return found
    for act_type in dict.fromkeys(item.act_type for item in required):
        items = [item for item in required if item.act_type == act_type]
        rest = {id(item.slot): item.placeholder for item in items}
        shared = Counter(map(folded_value, (item.slot for item in items)))
        for thing in things(DialogueAct(act_type, tuple(item.slot for item in items))):
            own = [slot for slot in thing.slots if shared[folded_value(slot)] == 1]
            found |= {rest[id(slot)]: rest[id(thing.name)] for slot in own}
    return found


def folded_value(slot: Slot) -> tuple[str, str]:
    """Return a slot's name and its case-folded value."""
    return slot.name, slot.folded


def exchanged(required: Sequence[Required], tokens: Sequence[str]) -> Iterator[tuple[Required, Required]]:
    """Yield the values that delexicalised tokens attribute to the wrong thing, each with that thing.

    A value is attributed to the thing named last, or to the next one named in the same clause ("the 15 inch satellite
    4").
    """
    owner = owners(required)
    if not owner:
        return
    words = strip_joiners(tokens)
    by_name, kind = {item.placeholder: item for item in required}, without_ordinal(next(iter(owner.values())))
    names = {placeholder for placeholder in by_name if without_ordinal(placeholder) == kind}
    named = [place for place, word in enumerate(words) if word in names]
    if {words[place] for place in named} < names or not IN_ORDER.isdisjoint(words):
        return
    ends = [place for place, word in enumerate(words) if word in ENDS or word in _JOINTS]
    for place, word in enumerate(words):
        if word not in owner:
            continue
        after, end = bisect_left(named, place), bisect_left(ends, place)
        before = words[named[max(0, after - 1)]]
        following = named[after : after + 1]
        if following and end < len(ends) and ends[end] < following[0]:
            following = []
        if owner[word] not in (before, *(words[thing] for thing in following)):
            yield by_name[word], by_name[before]


def described(required: Sequence[Required], names: Sequence[Slot], tokens: Sequence[str]) -> list[list[str]]:
    """Return, for each of `names`, the tokens from its mention to that of another thing.

    Tokens before the first mention belong to the thing mentioned there; a thing that is not mentioned has none.
    """
    places = {item.placeholder: names.index(item.slot) for item in required if item.slot in names}
    found: list[list[str]] = [[] for _ in names]
    current, before = -1, list[str]()
    for token in tokens:
        place = places.get(strip_joiner(token), current)
        if place < 0:
            before.append(token)
            continue
        if current < 0:
            found[place] += before
        current = place
        found[place].append(token)
    return found
