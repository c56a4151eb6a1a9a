"""User goals, sampled from the entities of a corpus."""

from __future__ import annotations

import numpy as np
from tqdm import tqdm

from dactnlg.dialogue.task.policy import Policy
from dactnlg.dialogue.task.schema import Entity, Schema
from dactnlg.dialogue.task.user import AgendaUser, UserGoal
from dactnlg.errors import UserError

MOST_WISHES, MOST_REQUESTS, MOST_ACTS = 3, 3, 2
"""Maximum numbers of constraints, requests, and acts per user turn."""
GIVEN_UP = 0.3
"""Probability that the first wish of a sampled goal has no match."""
FEWEST_TURNS = 5
"""Utterances of the shortest conversation: wish, offer, question, answer, goodbye."""
LONG, SLACK = 10, 2
"""A flawless conversation leaves fewer than `SLACK` of the first `LONG` utterances unused."""
DRAWS = 300
"""Goals sampled per goal wanted, before giving up."""


def draw_goals(schema: Schema, count: int, turns: int, seed: int) -> list[UserGoal]:
    """Sample distinct goals that a flawless system fulfils within the turns, with up to ten turns only just.

    Any failure is therefore due to the sentences. With ten turns, a slot that has to be asked for again costs success;
    with more, it costs turns. Asking for more goals with the same seed appends to the list.

    Args:
        schema: the schema of the task.
        count: how many goals.
        turns: maximum number of utterances of user and system together.
        seed: determines the goals.

    Raises:
        UserError: the corpus does not have that many such goals, or `turns` is below 5.
    """
    if turns < FEWEST_TURNS:
        raise UserError(f"a conversation has at least {FEWEST_TURNS} turns, those of both together; not {turns}")
    rng = np.random.default_rng(seed)
    found: dict[object, UserGoal] = {}
    with tqdm(desc="drawing goals", total=count, unit=" goals", delay=2, leave=False, disable=None) as bar:
        least = min(turns, LONG) - SLACK
        for _ in range(DRAWS * count):
            if len(found) == count:
                break
            goal = _draw(schema, rng)
            if goal is not None and goal.key not in found and least < flawless(schema, goal, turns) <= turns:
                found[goal.key] = goal
                bar.update()
    if len(found) < count:
        raise UserError(
            f"corpus '{schema.corpus}' has {len(found)} different goals that take about {turns} turns, not {count}: "
            "ask for fewer conversations, or for another number of turns"
        )
    return list(found.values())


def flawless(schema: Schema, goal: UserGoal, turns: int) -> int:
    """Return how many utterances a goal takes if every act is understood; `turns` + 1 if it fails or takes longer.

    The user's goodbye counts, the system's answer to it does not.
    """
    user, policy = AgendaUser(goal, schema), Policy(schema)
    for at in range(1, turns + 1, 2):
        said = user.speak()
        if user.left:
            return at if achieved(schema, user) else turns + 1
        user.listen(policy.reply(said))
    return turns + 1


def achieved(schema: Schema, user: AgendaUser) -> bool:
    """Return whether a user left with an entity that meets the constraints and its true values for all requests."""
    entity = schema.entity(user.belief.name)
    if not user.left or entity is None or not entity.matches(user.goal.constraints):
        return False
    return all(user.belief.values.get(slot) == entity.values.get(slot) for slot in user.goal.requests)


def _draw(schema: Schema, rng: np.random.Generator) -> UserGoal | None:
    entity = schema.entities[rng.integers(len(schema.entities))]
    wishes = [slot for slot in schema.informable if slot in entity.values]
    chosen = _some(wishes, MOST_WISHES, rng)
    constraints = {slot: entity.values[slot] for slot in chosen}
    requests = tuple(_some([slot for slot in entity.values if slot not in chosen], MOST_REQUESTS, rng))
    initiative = int(rng.integers(1, MOST_ACTS + 1))
    first = _without_match(schema, constraints, rng) if rng.random() < GIVEN_UP else constraints
    if not chosen or not requests or not _known(schema, constraints, requests):
        return None
    return UserGoal(constraints, first, requests, initiative)


def _some(names: list[str], most: int, rng: np.random.Generator) -> list[str]:
    if not names:
        return []
    size = int(rng.integers(1, min(most, len(names)) + 1))
    return [names[at] for at in rng.choice(len(names), size, replace=False)]


def _known(schema: Schema, constraints: dict[str, str], requests: tuple[str, ...]) -> bool:
    offered: list[Entity] = schema.matches(constraints)[:1]
    return all(slot in entity.values for entity in offered for slot in requests)


def _without_match(schema: Schema, constraints: dict[str, str], rng: np.random.Generator) -> dict[str, str]:
    """Return the constraints with one value changed so that nothing matches, or unchanged if there is no such value."""
    slot = list(constraints)[rng.integers(len(constraints))] if constraints else ""
    others = [value for value in schema.values(slot) if value != constraints[slot]] if slot else []
    for at in rng.permutation(len(others)):
        changed = {**constraints, slot: others[at]}
        if not any(entity.matches(changed) for entity in schema.entities):
            return changed
    return constraints
