"""TrueSkill for two players (Herbrich, Minka and Graepel 2006), for many runs of a tournament at once.

Results equal those of `trueskill.rate_1vs1`, which tests check to 1e-9. That library passes messages through a graph
for every match, .13 ms each: a thousand runs over the 72,180 comparisons of the E2E challenge would take two and a half
hours. The closed form for two players takes well under a minute, as all runs play their next match together.

Shapes: R runs, S systems.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import erfcx, ndtr, ndtri

_ROOT_HALF = math.sqrt(0.5)


@dataclass(frozen=True)
class TrueSkillSettings:
    """Settings of a tournament.

    Attributes:
        sigma: standard deviation of a skill before the first match (the mean is 0).
        beta: standard deviation of a performance around the skill.
        draw_rate: share of ties among matches of equally skilled systems.
    """

    sigma: float
    beta: float
    draw_rate: float

    @property
    def margin(self) -> float:
        """The difference in performance below which a match is a tie."""
        return float(ndtri((self.draw_rate + 1) / 2)) * math.sqrt(2) * self.beta


class Tournament:
    """Skills of the systems in R runs: `mean` and `variance`, (R, S) each."""

    def __init__(self, runs: int, systems: int, settings: TrueSkillSettings) -> None:
        self.settings = settings
        self.mean = np.zeros((runs, systems))
        self.variance = np.full((runs, systems), settings.sigma**2)
        self._rows = np.arange(runs)

    def play(self, winners: NDArray[Any], losers: NDArray[Any], ties: NDArray[np.bool_]) -> None:
        """Update the skills after one match in every run.

        Args:
            winners: (R,), indices of the systems that won, or of either system in a tie.
            losers: (R,), indices of their opponents.
            ties: (R,), whether the match was a tie.
        """
        first, second = (self._rows, winners), (self._rows, losers)
        variance = self.variance[first] + self.variance[second] + 2 * self.settings.beta**2
        scale = np.sqrt(variance)
        difference = (self.mean[first] - self.mean[second]) / scale
        shift, shrink = _corrections(difference, self.settings.margin / scale, ties)
        for players, sign in ((first, 1), (second, -1)):
            own = self.variance[players]
            self.mean[players] += sign * own / scale * shift
            self.variance[players] = own * (1 - own / variance * shrink)


def _corrections(difference: NDArray[Any], margin: NDArray[Any], ties: NDArray[np.bool_]) -> tuple[Any, Any]:
    """Return v and w, the factors by which means move and variances shrink, (R,) each."""
    x = difference - margin
    # Normal density over distribution function; in the tail both vanish, but their ratio does not.
    v = math.sqrt(2 / math.pi) / erfcx(-x * _ROOT_HALF)
    w = v * (v + x)
    if ties.any():
        # In the tail, a tie is equivalent to a narrow defeat of the stronger system.
        low, high = -margin - np.abs(difference), margin - np.abs(difference)
        inside = ndtr(high) - ndtr(low)
        known = inside > 1e-12
        inside = np.where(known, inside, 1.0)
        below, above = (np.exp(-end * end / 2) / math.sqrt(2 * math.pi) for end in (low, high))
        tie_v = np.where(known, (below - above) / inside, high)
        tie_w = np.where(known, tie_v**2 + (high * above - low * below) / inside, 1.0)
        v = np.where(ties, np.where(difference < 0, -tie_v, tie_v), v)
        w = np.where(ties, tie_w, w)
    return v, w
