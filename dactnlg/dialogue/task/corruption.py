"""Deliberate generator faults: for a known share of turns a slot is dropped or its value replaced."""

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
    """Corrupts the acts that a generator is given.

    The draw for a turn does not depend on the share: whatever is corrupted at 5% is corrupted at 10%, too.

    Attributes:
        fault: `drop` leaves out one slot (the name only if there is no other), `swap` gives one slot another value from
            the corpus. Only slots with several values in the corpus are affected.
        share: share of the turns with such slots that are corrupted, 0 to 1.
        seed: determines which turns, and how.
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
        """The name for tables and signatures: `drop 5%`."""
        return f"{self.fault} {100 * self.share:g}%"

    def told(self, turn: Turn, schema: Schema, conversation: int, at: int) -> Turn:
        """Return the turn to give to the generator, corrupted or not.

        Args:
            turn: the turn that it should say.
            schema: provides other values.
            conversation: the number of the conversation.
            at: the index of the utterance in it.
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
            # A missing name does no harm; any other missing slot has to be asked for again.
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
