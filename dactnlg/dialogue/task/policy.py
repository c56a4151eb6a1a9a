"""The system's policy: a finite-state machine on acts, which receives the user's acts without error.

States: ask (for a slot, or a choice between two values), deny (nothing matches), confirm (a wish that has changed),
offer, answer, close. It is the same for every generator; only the sentences differ.
"""

from __future__ import annotations

from collections.abc import Mapping

from dactnlg.acts import Slot, Turn
from dactnlg.dialogue.task.schema import DONTCARE, NAME, Entity, Schema
from dactnlg.dialogue.task.user import NEGATE

MANY = 3
"""With more matches than this the policy asks before it offers."""
QUESTIONS = 1
"""Maximum number of slots that it asks for."""


class Policy:
    """The policy in one conversation.

    Args:
        schema: the schema of the task.
    """

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.wishes: dict[str, str] = {}
        self.offered: Entity | None = None
        self._asked = 0
        self._changed: list[str] = []
        self._confirmed: str | None = None

    def reply(self, user: Turn) -> Turn:
        """Return the system's turn after a user's turn."""
        wanted = self._note(user)
        confirmed, self._confirmed = self._confirmed, None
        if wanted is None:
            return self._close()
        if confirmed is not None and user.acts == (NEGATE,):
            # People, unlike simulated users, may say no without saying what they want instead.
            del self.wishes[confirmed]
            self._changed = [name for name in self._changed if name != confirmed]
            if confirmed in self.schema.questions:
                return Turn((self.schema.act("request", [Slot(confirmed)]),))
        matches = self.schema.matches(self.wishes)
        if not matches:
            return self._deny()
        if self._changed and "confirm" in self.schema.roles:
            self._confirmed = self._changed.pop()
            return Turn((self.schema.act("confirm", [Slot(self._confirmed, self.wishes[self._confirmed])]),))
        if self.offered not in matches:
            if not wanted and (question := self._question(matches)):
                return question
            self.offered = matches[0]
            return self._offer(matches[0], matches, wanted)
        if NAME in wanted or not wanted:
            # The user asks for the name again, or repeats a wish: repeat the offer.
            return self._offer(self.offered, matches, [slot for slot in wanted if slot != NAME])
        known = [slot for slot in dict.fromkeys(wanted) if slot in self.offered.values]
        return self.schema.about("inform", self.offered, known) if known else self._more()

    def _note(self, user: Turn) -> list[str] | None:
        """Record the user's wishes; return the slots that the user asks for, or None after a goodbye."""
        wanted: list[str] = []
        for act in user:
            if act.act_type == "bye":
                return None
            for slot in act.slots:
                if act.act_type == "request":
                    wanted.append(slot.name)
                elif act.act_type == "inform" and slot.value is not None:
                    before = self.wishes.get(slot.name)
                    if before not in (None, slot.value):
                        self._changed.append(slot.name)
                    self.wishes[slot.name] = slot.value
        return wanted

    def _question(self, matches: list[Entity]) -> Turn | None:
        """Return a question about an unmentioned slot, to narrow down many matches; None if none is due."""
        open_slots = [slot for slot in self.schema.questions if slot not in self.wishes]
        if self._asked >= QUESTIONS or len(matches) <= MANY or not open_slots:
            return None
        self._asked += 1
        for slot in open_slots:
            values = sorted({entity.values[slot] for entity in matches if slot in entity.values})
            if len(values) == 2 and slot in self.schema.choices:
                return Turn((self.schema.act("select", [Slot(slot, value) for value in values]),))
        return Turn((self.schema.act("request", [Slot(open_slots[0])]),))

    def _deny(self) -> Turn:
        if "no_match" not in self.schema.roles:
            return self._more()
        return Turn((self.schema.act("no_match", wished(self.wishes)),))

    def _offer(self, entity: Entity, matches: list[Entity], wanted: list[str]) -> Turn:
        names = [slot.name for slot in wished(self.wishes)]
        names += [slot for slot in wanted if slot in entity.values and slot not in names]
        role = "recommend" if "recommend" in self.schema.roles else "inform"
        if len(matches) == 1 and "only_match" in self.schema.roles and not wanted:
            role = "only_match"
        return self.schema.about(role, entity, names or list(entity.values)[:1])

    def _more(self) -> Turn:
        if "reqmore" in self.schema.roles:
            return Turn((self.schema.act("reqmore"),))
        entity = self.offered or self.schema.entities[0]
        return self.schema.about("inform", entity, list(entity.values)[:1])

    def _close(self) -> Turn:
        return Turn((self.schema.act("goodbye"),)) if "goodbye" in self.schema.roles else self._more()


def wished(wishes: Mapping[str, str]) -> list[Slot]:
    """Return wishes as slots, leaving out `dontcare`."""
    return [Slot(slot, value) for slot, value in wishes.items() if value != DONTCARE]
