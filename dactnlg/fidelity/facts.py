"""Facts: what a turn states beside its values, each under the name that reports give it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from dactnlg.acts import Slot, Turn
from dactnlg.text.values.delexicalization import LexicalizedSlot, ParaphrasedSlot

ACT, VALUE = "act", "value"
"""The kinds of act types, and of ordinary values that are said in other words."""
UNKNOWN, INDIFFERENT = "=none", "=dontcare"
"""The kinds of facts that say that something is not known, or does not matter."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that a sentence can state.

    Attributes:
        name: `inform()`, `food=dontcare`, `?request(area)`, or `food=thai`.
        kind: facts of one kind are worded alike for all slots: `=dontcare`, `?request`; else `ACT` or `VALUE`.
        slot: the slot that it is about; None for an act type.
    """

    name: str
    kind: str
    slot: str | None = None

    @property
    def bare(self) -> bool:
        """Whether it is about a slot without a value: `?request(area)`."""
        return self.slot is not None and self.name == f"{self.kind}({self.slot})"


def facts(turn: Turn) -> dict[str, Fact]:
    """Return the act types, special values and slots without a value of a turn, by name."""
    found = [Fact(act_name(act.act_type), ACT) for act in turn.acts]
    for act, slot in turn.slots():
        if slot.value is None:
            found.append(Fact(f"{act.act_type}({slot.name})", act.act_type, slot.name))
        elif slot.special is not None and (not isinstance(slot, LexicalizedSlot) or isinstance(slot, ParaphrasedSlot)):
            # The values of other closed classes are words, which cues find.
            found.append(Fact(special_name(slot), f"={slot.special}", slot.name))
    return {fact.name: fact for fact in found}


def act_name(act_type: str) -> str:
    """Return how reports name an act type."""
    return f"{act_type}()"


def special_name(slot: Slot) -> str:
    """Return how reports name a special value, in one spelling: `food=dontcare`."""
    return f"{slot.name}={slot.special}"


def value_fact(slot: Slot) -> Fact:
    """Return the fact that an ordinary value is said in words of its own."""
    return Fact(f"{slot.name}={(slot.value or '').casefold()}", VALUE, slot.name)


def atoms(slot: Slot) -> Iterator[Slot]:
    """Yield the parts of a list in one value (`genres='shooter, tactical'`), or the slot itself."""
    parts = [part.strip() for part in (slot.value or "").split(",")]
    if len(parts) < 2 or not all(parts):
        yield slot
    else:
        yield from (Slot(slot.name, part) for part in parts)


def told_of(facts: Iterable[Fact], slots: Iterable[str]) -> set[str]:
    """Return what words can tell of: slots by name, and whether any is unknown, or does not matter."""
    return {*slots, *(fact.kind for fact in facts if fact.kind in (UNKNOWN, INDIFFERENT))}
