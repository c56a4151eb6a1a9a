"""Results of task self-play: success, turns, slot errors, and the comparison of two generators."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from scipy.stats import binom, binomtest

from dactnlg.dialogue.conversations import Conversation
from dactnlg.errors import UserError

CONFIDENCE = 0.95
MOST_CONVERSATIONS = 100_000


@dataclass(frozen=True)
class TaskScores:
    """The scores of one generator.

    Attributes:
        conversations: how many.
        success: share of users who got everything they wanted and left.
        interval: its 95% interval (Wilson).
        turns: mean number of utterances.
        slot_error_rate: errors in the users' readings / slots that should have been said.
    """

    conversations: int
    success: float
    interval: tuple[float, float]
    turns: float
    slot_error_rate: float

    def to_json(self) -> dict[str, Any]:
        """Return the scores as JSON data."""
        return {
            "conversations": self.conversations,
            "success": {"value": self.success, "interval": list(self.interval), "method": "Wilson, 95%"},
            "turns": self.turns,
            "slot_error_rate": self.slot_error_rate,
        }


def task_scores(conversations: Sequence[Conversation]) -> TaskScores:
    """Return the scores of conversations from `play`.

    Raises:
        UserError: there are no conversations.
    """
    if not conversations:
        raise UserError("no conversations: there is nothing to score")
    count = len(conversations)
    won = sum(bool(c.more["success"]) for c in conversations)
    interval = binomtest(won, count).proportion_ci(CONFIDENCE, method="wilson")
    slots = sum(c.more["slots"] for c in conversations)
    errors = sum(c.more["slot_errors"] for c in conversations)
    return TaskScores(
        count,
        won / count,
        (float(interval.low), float(interval.high)),
        sum(len(c.turns) for c in conversations) / count,
        errors / slots if slots else 0.0,
    )


@dataclass(frozen=True)
class Paired:
    """The comparison of two generators on the same goals.

    Attributes:
        lost: goals that only the first generator fulfils.
        won: goals that only the second generator fulfils.
        p_value: of McNemar's exact test (two-sided binomial test on `lost` and `won`).
    """

    lost: int
    won: int
    p_value: float


def paired(first: Sequence[Conversation], second: Sequence[Conversation]) -> Paired:
    """Compare the success of two generators on the same goals.

    Raises:
        UserError: the goals differ.
    """
    if [c.more["goal"] for c in first] != [c.more["goal"] for c in second]:
        raise UserError("the conversations have other goals: only generators with equal goals can be compared in pairs")
    outcomes = [(bool(a.more["success"]), bool(b.more["success"])) for a, b in zip(first, second, strict=True)]
    lost, won = outcomes.count((True, False)), outcomes.count((False, True))
    p_value = binomtest(lost, lost + won).pvalue if lost + won else 1.0
    return Paired(lost, won, float(p_value))


def conversations_needed(lost: float, won: float = 0.0, *, power: float = 0.8, level: float = 0.05) -> int | None:
    """Return how many conversations McNemar's exact test needs; None if above `MOST_CONVERSATIONS`, or `lost` <= `won`.

    The number of goals that only one of the two fulfils is taken at its expectation, which is accurate enough to plan.

    Args:
        lost: share of the goals that only the first generator fulfils.
        won: share of the goals that only the second generator fulfils.
        power: probability of detecting the difference.
        level: significance level, two-sided.
    """
    if lost <= won:
        return None
    share = lost / (lost + won)
    # Find the smallest number of discordant pairs with enough power.
    for pairs in range(1, math.ceil(MOST_CONVERSATIONS * (lost + won)) + 1):
        least = int(binom.isf(level / 2, pairs, 0.5)) + 1
        if least <= pairs and binom.sf(least - 1, pairs, share) >= power:
            return math.ceil(pairs / (lost + won))
    return None
