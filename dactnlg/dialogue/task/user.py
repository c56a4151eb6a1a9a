"""An agenda user (Schatzmann et al. 2007): a goal, and a stack of acts that what it hears changes.

As in ConvLab's rule simulator a goal has constraints, of which the first may have no match and is then given up for
another, and requests; the user repeats what is not answered and corrects what is misunderstood. It knows of the system
what it has read, nothing else: of an offer it checks every constraint, and asks for those that it has not read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from dactnlg.acts import DialogueAct, Slot, Turn
from dactnlg.dialogue.task.schema import ENTITY_ROLES, NAME, Schema

DONTCARE = "dontcare"


@dataclass(frozen=True)
class UserGoal:
    """What a user wants.

    Attributes:
        constraints: slot -> the value that the entity has to have.
        first: the same before the system has said that nothing matches; equal to `constraints` in most goals.
        requests: slots that the user wants to know of the entity.
        initiative: acts of one kind that the user says in one turn at most.
    """

    constraints: Mapping[str, str]
    first: Mapping[str, str]
    requests: tuple[str, ...]
    initiative: int = 1

    @property
    def key(self) -> tuple[Any, ...]:
        """What tells it from other goals."""
        return tuple(self.constraints.items()), tuple(self.first.items()), self.requests, self.initiative

    def to_json(self) -> dict[str, Any]:
        """Return its attributes as JSON data."""
        wanted = {"constraints": dict(self.constraints), "first": dict(self.first)}
        return {**wanted, "requests": list(self.requests), "initiative": self.initiative}


@dataclass
class Belief:
    """What the user has read: the entity's name, and its values."""

    name: str | None = None
    values: dict[str, str] = field(default_factory=dict)


def inform(slot: str, value: str) -> DialogueAct:
    """Return the act that states a wish."""
    return DialogueAct("inform", (Slot(slot, value),))


def request(slot: str) -> DialogueAct:
    """Return the act that asks for a slot."""
    return DialogueAct("request", (Slot(slot),))


AFFIRM, NEGATE, BYE = DialogueAct("affirm"), DialogueAct("negate"), DialogueAct("bye")


class AgendaUser:
    """One user in one conversation.

    Attributes:
        belief: what it has read so far.
        left: whether it has said goodbye: it believes to have all that it wanted.

    Args:
        goal: what it wants.
        schema: gives the act types of the system their meaning.
    """

    def __init__(self, goal: UserGoal, schema: Schema) -> None:
        self.goal, self.belief, self.left = goal, Belief(), False
        self._wishes = dict(goal.first)
        self._roles = {act_type: role for role, act_type in schema.roles.items()}
        informs = [inform(slot, value) for slot, value in goal.first.items()]
        # A stack: the last act is said next.
        self._agenda = [BYE, *map(request, reversed(goal.requests)), *reversed(informs)]
        self._said: list[DialogueAct] = []

    def listen(self, heard: Turn | None) -> None:
        """Change the agenda after a system turn, as it was understood; None if nothing of it was."""
        if heard is None:
            self._push(act for act in self._said)
            return
        answers: list[DialogueAct] = []
        for act in heard:
            role = self._roles.get(act.act_type, "")
            if role == "only_match" and not any(slot.name == NAME for slot in act.slots):
                # "There is no place other than", and no place is named: nothing is offered.
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
        # What is asked is answered before anything else is said.
        self._push(answers)

    def speak(self) -> Turn:
        """Return what the user says next: the top of the agenda, and further acts of its kind."""
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
        """Change the wish that has no match; what was offered before is no longer talked about."""
        self.belief = Belief()
        changed = {s: v for s, v in self.goal.constraints.items() if self._wishes.get(s) != v}
        self._wishes |= changed
        self._agenda = [a for a in self._agenda if a.act_type != "inform" or a.slots[0].name not in changed]
        self._push(inform(slot, value) for slot, value in changed.items())

    def _confirmed(self, act: DialogueAct) -> list[DialogueAct]:
        """Return the answer to a question whether wishes were understood."""
        pairs = [(slot.name, slot.special or slot.value) for slot in act.slots]
        wrong = [name for name, value in pairs if value is not None and self._wishes.get(name, DONTCARE) != value]
        return [*(inform(name, self._wishes.get(name, DONTCARE)) for name in wrong), NEGATE if wrong else AFFIRM]

    def _settle(self) -> None:
        """Take from the agenda what is answered, and put on it what is still to be asked or to be corrected."""
        heard = self.belief.values
        answered = {NAME, *heard} if self.belief.name is not None else {*heard}
        self._agenda = [a for a in self._agenda if a.act_type != "request" or a.slots[0].name not in answered]
        open_requests = [slot for slot in self.goal.requests if slot not in heard]
        if self.belief.name is None:
            # Before there is an offer, whatever is left to be said comes first.
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
        """Put acts on top of the agenda; one that is on it already moves."""
        for act in acts:
            self._agenda = [other for other in self._agenda if other != act]
            self._agenda.append(act)
