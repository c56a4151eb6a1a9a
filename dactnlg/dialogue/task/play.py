"""Playing conversations in parallel, so that each turn is one call of the generator for all conversations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from tqdm import tqdm

from dactnlg.acts import Turn
from dactnlg.dialogue.conversations import Conversation, Utterance
from dactnlg.dialogue.task.corruption import Corruption
from dactnlg.dialogue.task.goals import achieved
from dactnlg.dialogue.task.policy import Policy
from dactnlg.dialogue.task.reading import Reads
from dactnlg.dialogue.task.schema import Schema
from dactnlg.dialogue.task.user import AgendaUser, UserGoal
from dactnlg.dialogue.task.wording import user_text
from dactnlg.errors import UserError


class Spoken(Protocol):
    """A generated sentence; it may also have `raw`, the same sentence in the corpus's own spelling."""

    @property
    def text(self) -> str:
        """The sentence."""


class Says(Protocol):
    """A generator that can be played: `dactnlg.Generator`, or anything else with this method."""

    def generate(self, acts: list[Turn], /) -> Sequence[Spoken]:
        """Return one sentence per turn, in order."""


@dataclass
class _Seat:
    """The state of one conversation in progress."""

    number: int
    goal: UserGoal
    user: AgendaUser
    policy: Policy
    said: list[Utterance]
    errors: int = 0
    required: int = 0
    open: bool = True

    def finished(self, schema: Schema) -> Conversation:
        facts: dict[str, Any] = {
            "id": self.number,
            "goal": self.goal.to_json(),
            "success": achieved(schema, self.user),
            "slot_errors": self.errors,
            "slots": self.required,
        }
        return Conversation(tuple(self.said), more=facts)


def play(
    generator: Says,
    schema: Schema,
    goals: Sequence[UserGoal],
    listener: Reads,
    turns: int = 10,
    *,
    corruption: Corruption | None = None,
    progress: bool = True,
) -> list[Conversation]:
    """Return a conversation for each goal, in order.

    The user speaks first. A conversation ends with the user's goodbye (and the system's, if a turn is left), or after
    `turns` utterances of both together (ten in section 4.3 of the paper).

    Args:
        generator: says the system's acts.
        schema: the schema of the task.
        goals: the goals of the users.
        listener: reads the system's sentences for the users.
        turns: maximum number of utterances.
        corruption: corrupts the acts given to the generator; None for no corruption.
        progress: show a progress bar on standard error.

    Raises:
        UserError: the generator does not return one sentence per turn.
    """
    seats = [_Seat(n, goal, AgendaUser(goal, schema), Policy(schema), []) for n, goal in enumerate(goals)]
    hidden = None if progress else True
    for at in tqdm(range(0, turns, 2), desc="playing", unit=" turns", delay=2, leave=False, disable=hidden):
        active = [seat for seat in seats if seat.open]
        if not active:
            break
        acts = []
        for seat in active:
            said = seat.user.speak()
            seat.said.append(Utterance("user", user_text(said), {"act": str(said)}))
            acts.append(seat.policy.reply(said))
        if at + 1 < turns:
            told = acts
            if corruption is not None:
                told = [corruption.told(act, schema, t.number, at + 1) for act, t in zip(acts, active, strict=True)]
            for seat, act, given, sentence in zip(active, acts, told, _sentences(generator, told), strict=True):
                _hear(seat, act, given, sentence, listener)
        for seat in active:
            seat.open = not seat.user.left
    return [seat.finished(schema) for seat in seats]


def _sentences(generator: Says, acts: list[Turn]) -> Sequence[Spoken]:
    found = generator.generate(acts)
    if len(found) != len(acts):
        raise UserError(f"the generator gave {len(found)} sentences for {len(acts)} acts")
    return found


def _hear(seat: _Seat, act: Turn, given: Turn, sentence: Spoken, listener: Reads) -> None:
    reading = listener.read(act, getattr(sentence, "raw", sentence.text))
    seat.errors += reading.errors
    seat.required += reading.required
    heard = str(reading.heard) if reading.heard is not None else None
    told = {} if given == act else {"told": str(given)}
    seat.said.append(Utterance("bot", sentence.text, {"act": str(act), **told, "read": heard}))
    if not seat.user.left:
        seat.user.listen(reading.heard)
