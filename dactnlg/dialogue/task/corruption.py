"""Generators that are made worse on purpose: of known shares of the acts they drop a slot, or say another value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from dactnlg.acts import DialogueAct, Slot, Turn
from dactnlg.dialogue.task.schema import NAME, Schema
from dactnlg.errors import UnknownNameError, UserError

Fault = Literal["drop", "swap"]
FAULTS: tuple[Fault, ...] = ("drop", "swap")
_OPPOSITE = {"yes": "no", "no": "yes"}


@dataclass(frozen=True)
class Corruption:
    """What the generator is told in the place of the act.

    The draw for a place does not depend on the share: whatever 5% corrupts, 10% corrupts too.

    Attributes:
        fault: `drop` leaves out one slot (the name only where there is no other), `swap` gives one slot another value
            that the corpus has of it.
        share: of the acts with a value that are corrupted.
        seed: decides which, and how.
    """

    fault: Fault
    share: float
    seed: int = 1

    def __post_init__(self) -> None:
        if self.fault not in FAULTS:
            raise UnknownNameError("fault", self.fault, FAULTS)
        if not 0 <= self.share <= 1:
            raise UserError(f"share {self.share} is not from 0 to 1")

    @property
    def name(self) -> str:
        """For tables and signatures: `drop 5%`."""
        return f"{self.fault} {100 * self.share:g}%"

    def told(self, turn: Turn, schema: Schema, conversation: int, at: int) -> Turn:
        """Return what the generator is told to say.

        Args:
            turn: what it should say.
            schema: gives other values.
            conversation: the conversation's number.
            at: the utterance's number in it.
        """
        places = [
            (n, m)
            for n, act in enumerate(turn.acts)
            for m, slot in enumerate(act.slots)
            if slot.value is not None and len(schema.values(slot.name)) > 1
        ]
        rng = np.random.default_rng([self.seed, conversation, at, FAULTS.index(self.fault)])
        if rng.random() >= self.share or not places:
            return turn
        if self.fault == "drop":
            # What is left without its name is understood; what lacks another slot has to be asked for again.
            places = [(n, m) for n, m in places if turn.acts[n].slots[m].name != NAME] or places
        n, m = places[rng.integers(len(places))]
        slots = list(turn.acts[n].slots)
        if self.fault == "drop":
            del slots[m]
        else:
            slots[m] = _other(slots[m], schema, rng)
        acts = list(turn.acts)
        acts[n] = DialogueAct(acts[n].act_type, tuple(slots))
        return Turn(tuple(acts))


def _other(slot: Slot, schema: Schema, rng: np.random.Generator) -> Slot:
    if slot.special in _OPPOSITE:
        return Slot(slot.name, _OPPOSITE[slot.special])
    others = [value for value in schema.values(slot.name) if value != slot.value]
    return Slot(slot.name, others[rng.integers(len(others))])
