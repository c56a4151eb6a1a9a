"""How components change over a conversation, for the best and worst rated ones (section 5.4, figure 3).

Shapes: C conversations, T turns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dactnlg.dialogue.components.summary import half_interval

Array = NDArray[np.float64]
CONFIDENCE = 0.9
"""As in the paper."""
LEAST = 5
"""Conversations needed to show a turn."""


class Trajectory(NamedTuple):
    """Means over conversations for each turn, with their 90% intervals (Student's t), each (T,)."""

    mean: Array
    low: Array
    high: Array


def trajectory(series: Sequence[Array], longest: int = 15) -> Trajectory:
    """Return the mean of each turn over the conversations that have it, up to the first turn with fewer than five.

    Args:
        series: the values of a component over the turns of each conversation, NaN where undefined.
        longest: maximum number of turns.
    """
    rows = []
    for turn in range(longest):
        values = np.array([each[turn] for each in series if len(each) > turn and not np.isnan(each[turn])])
        if len(values) < LEAST:
            break
        error = half_interval(values, CONFIDENCE)
        rows.append((values.mean(), values.mean() - error, values.mean() + error))
    return Trajectory(*np.array(rows).reshape(-1, 3).T)


def best_and_worst(ratings: Array, count: int = 100) -> tuple[list[int], list[int]]:
    """Return the indices of the best and worst rated conversations, at most half of all each; ties keep their order."""
    count = min(count, len(ratings) // 2)
    order = np.argsort(-ratings, kind="stable").tolist()
    return order[:count], order[len(order) - count :]
