"""An agenda user (Schatzmann et al. 2007): a goal, and a stack of acts that is updated by what it hears.

As in ConvLab's rule simulator, a goal has requests and constraints; the first constraints may have no match and are
then replaced. The user repeats what is not answered and corrects what is misunderstood. It knows only what it has read:
it checks every constraint of an offer, and asks for those that it has not read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from dactnlg.acts import DialogueAct, Slot, Turn
from dactnlg.dialogue.task.schema import DONTCARE, ENTITY_ROLES, NAME, Schema


@dataclass(frozen=True)
class UserGoal:
    """What a user wants.

    Attributes:
        constraints: slot -> value that the entity must have.
        first: the constraints until the system says that nothing matches; equal to `constraints` in most goals.
        requests: slots of the entity that the user wants to know.
        initiative: maximum number of acts of one type in a user turn.
    """

    constraints: Mapping[str, str]
    first: Mapping[str, str]
    requests: tuple[str, ...]
    initiative: int = 1

    @property
    def key(self) -> tuple[Any, ...]:
        """The identity of the goal, hashable."""
        return tuple(self.constraints.items()), tuple(self.first.items()), self.requests, self.initiative

    def to_json(self) -> dict[str, Any]:
        """Return the goal as JSON data."""
        wanted = {"constraints": dict(self.constraints), "first": dict(self.first)}
        return {**wanted, "requests": list(self.requests), "initiative": self.initiative}


@dataclass
class Belief:
    """What the user has read: the name of the offered entity and its values."""

    name: str | None = None
    values: dict[str, str] = field(default_factory=dict)


def inform(slot: str, value: str) -> DialogueAct:
    """Return the user's act that states a wish."""
    return DialogueAct("inform", (Slot(slot, value),))


def request(slot: str) -> DialogueAct:
    """Return the user's act that asks for a slot."""
    return DialogueAct("request", (Slot(slot),))


AFFIRM, NEGATE, BYE = DialogueAct("affirm"), DialogueAct("negate"), DialogueAct("bye")


class AgendaUser:
    """One user in one conversation.

    Attributes:
        belief: what the user has read so far.
        left: whether the user has said goodbye, believing to have everything it wanted.

    Args:
        goal: the goal.
        schema: maps the system's act types to roles.
    """

    def __init__(self, goal: UserGoal, schema: Schema) -> None:
        self.goal, self.belief, self.left = goal, Belief(), False
        self._wishes = dict(goal.first)
        self._roles = {act_type: role for role, act_type in schema.roles.items()}
        informs = [inform(slot, value) for slot, value in goal.first.items()]
        # A stack: the last act is next.
        self._agenda = [BYE, *map(request, reversed(goal.requests)), *reversed(informs)]
        self._said: list[DialogueAct] = []

    def listen(self, heard: Turn | None) -> None:
        """Update the agenda after a system turn as it was understood; None if nothing was."""
        if heard is None:
            self._push(act for act in self._said)
            return
        answers: list[DialogueAct] = []
        for act in heard:
            role = self._roles.get(act.act_type, "")
            if role == "only_match" and not any(slot.name == NAME for slot in act.slots):
                # "There is no place other than" without a name offers nothing.
                role = "no_match"
            if role in ENTITY_ROLES:
                self._learn(act)
            elif role == "request":
                self._push(inform(s.name, self._wishes.get(s.name, DONTCARE)) for s in act.slots if s.value is None)
            elif role == "select":
                names = dict.fromkeys(slot.name for slot in act.slots)
                self._push(inform(name, self._wishes.get(name, DONTCARE)) for name in names)
            elif role == "confirm":
                answers += self._confirmed(act)
            elif role == "no_match":
                self._give_up()
        self._settle()
        # On top: questions are answered first.
        self._push(answers)

    def speak(self) -> Turn:
        """Return the user's next turn: the top of the agenda, and further acts of the same type."""
        said = [self._agenda.pop()]
        while len(said) < self.goal.initiative and self._agenda[-1:] and self._agenda[-1].act_type == said[0].act_type:
            said.append(self._agenda.pop())
        if said[0] in (AFFIRM, NEGATE) and self._agenda[-1:] and self._agenda[-1].act_type == "inform":
            said.append(self._agenda.pop())
        self._said = said
        self.left = said[0] == BYE
        return Turn(tuple(said))

    def _learn(self, act: DialogueAct) -> None:
        name = next((slot.value for slot in act.slots if slot.name == NAME), None)
        if name is not None and name != self.belief.name:
            self.belief = Belief(name)
        for slot in act.slots:
            if slot.value is not None and slot.name != NAME:
                self.belief.values[slot.name] = slot.special or slot.value

    def _give_up(self) -> None:
        """Replace the wishes that have no match, and forget any previous offer."""
        self.belief = Belief()
        changed = {s: v for s, v in self.goal.constraints.items() if self._wishes.get(s) != v}
        self._wishes |= changed
        self._agenda = [a for a in self._agenda if a.act_type != "inform" or a.slots[0].name not in changed]
        self._push(inform(slot, value) for slot, value in changed.items())

    def _confirmed(self, act: DialogueAct) -> list[DialogueAct]:
        """Return the answer to a confirmation question."""
        pairs = [(slot.name, slot.special or slot.value) for slot in act.slots]
        wrong = [name for name, value in pairs if value is not None and self._wishes.get(name, DONTCARE) != value]
        return [*(inform(name, self._wishes.get(name, DONTCARE)) for name in wrong), NEGATE if wrong else AFFIRM]

    def _settle(self) -> None:
        """Remove answered requests from the agenda, and add what is still to be asked or corrected."""
        heard = self.belief.values
        answered = {NAME, *heard} if self.belief.name is not None else {*heard}
        self._agenda = [a for a in self._agenda if a.act_type != "request" or a.slots[0].name not in answered]
        open_requests = [slot for slot in self.goal.requests if slot not in heard]
        if self.belief.name is None:
            # Without an offer, ask for a name, but only after all wishes are said.
            if self._agenda[-1].act_type in ("request", "bye"):
                self._push([request(NAME)])
            return
        unsaid = [act for act in self._agenda if act.act_type == "inform" and act.slots[0].name not in heard]
        self._agenda = [act for act in self._agenda if act.act_type != "inform"]
        unread = {slot for slot in self._wishes if slot not in heard} - {act.slots[0].name for act in unsaid}
        wrong = [slot for slot, value in self._wishes.items() if slot in heard and heard[slot] != value]
        self._push(request(slot) for slot in reversed(open_requests))
        self._push(request(slot) for slot in sorted(unread, reverse=True))
        self._push(unsaid)
        self._push(inform(slot, self._wishes[slot]) for slot in wrong)
        for slot in wrong:
            del heard[slot]

    def _push(self, acts: Iterable[DialogueAct]) -> None:
        """Push acts onto the agenda; an act that is already on it moves to the top."""
        for act in acts:
            self._agenda = [other for other in self._agenda if other != act]
            self._agenda.append(act)
