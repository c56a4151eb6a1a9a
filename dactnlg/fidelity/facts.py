"""Facts: what a turn states besides ordinary values, each under its name in reports."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from dactnlg.acts import Slot, Turn
from dactnlg.text.report_names import act_name, question_name, special_name
from dactnlg.text.values.delexicalization import LexicalizedSlot

ACT, VALUE = "act", "value"
"""The kinds of facts for act types, and for ordinary values that are reworded."""
UNKNOWN_KIND, INDIFFERENT_KIND = "=none", "=dontcare"
"""The kinds of facts which state that something is not known, or does not matter."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact that a sentence can state.

    Attributes:
        name: `inform()`, `food=dontcare`, `?request(area)`, or `food=thai`.
        kind: `=dontcare`, `?request` and the like, which are worded similarly for all slots; else `ACT` or `VALUE`.
        slot: the slot that it is about; None for an act type.
    """

    name: str
    kind: str
    slot: str | None = None

    @property
    def special(self) -> bool:
        """Whether it is a special value, such as `food=dontcare`."""
        return self.kind.startswith("=")

    @property
    def bare(self) -> bool:
        """Whether it is about a slot without a value, such as `?request(area)`."""
        return self.slot is not None and self.name == f"{self.kind}({self.slot})"


def facts(turn: Turn) -> dict[str, Fact]:
    """Return the act types, special values and slots without a value of a turn, by name.

    The values of `plain` lexicalised slots are no facts: they are words, which cues find.
    """
    found = [Fact(act_name(act.act_type), ACT) for act in turn.acts]
    for act, slot in turn.slots():
        if slot.value is None:
            found.append(Fact(question_name(act.act_type, slot.name), act.act_type, slot.name))
        elif slot.special is not None and not (isinstance(slot, LexicalizedSlot) and slot.plain):
            found.append(Fact(special_name(slot), f"={slot.special}", slot.name))
    return {fact.name: fact for fact in found}


def value_fact(slot: Slot) -> Fact:
    """Return the fact for an ordinary value that is reworded."""
    return Fact(f"{slot.name}={slot.folded}", VALUE, slot.name)


def atoms(slot: Slot) -> Iterator[Slot]:
    """Yield a slot for each part of a value that is a list (`genres='shooter, tactical'`), else the slot itself."""
    parts = [part.strip() for part in (slot.value or "").split(",")]
    if len(parts) < 2 or not all(parts):
        yield slot
    else:
        yield from (Slot(slot.name, part) for part in parts)


def told_of(facts: Iterable[Fact], slots: Iterable[str]) -> set[str]:
    """Return what words can indicate of a turn: its slots, and the kinds of its facts that hold for any slot."""
    return {*slots, *(fact.kind for fact in facts if fact.kind in (UNKNOWN_KIND, INDIFFERENT_KIND))}
