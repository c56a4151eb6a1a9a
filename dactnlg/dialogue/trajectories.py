"""How components change over a conversation, for those that people rated best and worst (section 5.4, figure 3).

Shapes: C conversations, T turns.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t

Array = NDArray[np.float64]
CONFIDENCE = 0.9
"""The paper shades 90% intervals."""
LEAST = 5
"""Conversations that are needed for a turn to be shown."""


class Trajectory(NamedTuple):
    """Means over conversations, turn by turn, with the ends of their 90% intervals (Student's t), each (T,)."""

    mean: Array
    low: Array
    high: Array


def trajectory(series: Sequence[Array], longest: int = 15) -> Trajectory:
    """Return the mean of each turn over the conversations that have it, as far as there are five.

    Args:
        series: of each conversation a component's values, NaN where it has none.
        longest: turns at most.
    """
    rows = []
    for turn in range(longest):
        values = np.array([each[turn] for each in series if len(each) > turn and not np.isnan(each[turn])])
        if len(values) < LEAST:
            break
        error = values.std(ddof=1) / math.sqrt(len(values)) * t.ppf(0.5 + CONFIDENCE / 2, len(values) - 1)
        rows.append((values.mean(), values.mean() - error, values.mean() + error))
    return Trajectory(*np.array(rows).reshape(-1, 3).T)


def best_and_worst(ratings: Array, count: int = 100) -> tuple[list[int], list[int]]:
    """Return the places of the best and of the worst conversations, half of all at most; of equal ones the first."""
    count = min(count, len(ratings) // 2)
    order = np.argsort(-ratings, kind="stable").tolist()
    return order[:count], order[len(order) - count :]
