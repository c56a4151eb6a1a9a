"""Clusters of systems by TrueSkill, as in machine translation and the E2E challenge (Dušek, Novikova and Rieser 2020).

Protocol: Sakaguchi, Post and Van Durme 2014, sections 3.3 and 5; Bojar et al. 2014, section 3.2. Every run is a
tournament of as many matches as there are comparisons: the system with the most uncertain skill meets another, more
likely one of similar skill, and one of their comparisons is drawn with replacement. Systems are ordered by their mean
skill over all runs. The range of a system's ranks covers 95% of the runs, and a cluster ends where no range above
overlaps one below.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dactnlg.studies.analysis.comparisons import Comparisons, compare_systems
from dactnlg.studies.analysis.results import Result
from dactnlg.studies.analysis.trueskill import Tournament, TrueSkillSettings
from dactnlg.studies.ratings import Ratings, RatingsError

RUNS = 1000
MOST_MATCHES = 100_000
"""Most matches of a run; if there are more comparisons, matches draw from all of them."""
SIGMA = 0.5
DRAW_RATE = 0.25
_MATCHES_PER_BETA = 40.0
"""`beta` is sigma * matches / 40: a single match then says so little that the order of matches does not matter."""
LEVEL = 0.95
_FEW = 10
"""Comparisons per system below which resampling has too little to draw from."""


@dataclass(frozen=True)
class RankedSystem:
    """A system's place in the ranking.

    Attributes:
        system: its name.
        cluster: 1 for the best; systems in the same cluster are not told apart.
        skill: TrueSkill's mean, averaged over the runs (0 is the average system).
        best, worst: ends of the range of ranks that covers 95% of the runs.
        comparisons: number of comparisons with this system.
    """

    system: str
    cluster: int
    skill: float
    best: int
    worst: int
    comparisons: int


@dataclass(frozen=True)
class Ranking(Result):
    """Systems in the order of their skill, under one criterion.

    Attributes:
        criterion: the criterion.
        rows: the systems, the best first; empty if the order is undefined.
        comparisons, ties: how many there are.
        runs, matches: number of tournaments, and of matches in each.
        method: the estimator.
        notes: remarks for the reader, such as systems that were never compared.
        reason: why the order is undefined.
    """

    criterion: str
    rows: tuple[RankedSystem, ...]
    comparisons: int
    ties: int
    runs: int
    matches: int
    method: str
    notes: tuple[str, ...] = ()
    reason: str = ""

    @property
    def clusters(self) -> tuple[tuple[str, ...], ...]:
        """Names of the systems in each cluster, the best first."""
        last = self.rows[-1].cluster if self.rows else 0
        return tuple(tuple(row.system for row in self.rows if row.cluster == at) for at in range(1, last + 1))


def rank_systems(ratings: Ratings, criterion: str, runs: int = RUNS, seed: int = 1) -> Ranking:
    """Return the order and clusters of systems under a criterion.

    Args:
        ratings: judgements of a pairwise design, or ratings of several systems' sentences for the same items.
        criterion: a criterion of the ratings.
        runs: number of tournaments, 2 or more.
        seed: of the matches.

    Raises:
        RatingsError: there are no ratings under the criterion, or fewer than two runs.
    """
    part = ratings.where(criterion=criterion)
    if not part.rows:
        raise RatingsError(f"there are no ratings under {criterion}; criteria: {', '.join(ratings.names('criterion'))}")
    if runs < 2:
        raise RatingsError(f"{runs} runs have no range of ranks: at least 2 are needed")
    found = compare_systems(part)
    matches = min(len(found.outcomes), MOST_MATCHES)
    ties = int((found.outcomes == 0).sum())
    notes, reason = _limits(found, ties)
    rows: tuple[RankedSystem, ...] = ()
    if not reason:
        rows = _rows(found, _skills(found, matches, runs, seed))
    method = (
        f"TrueSkill (closed form for two, equal to trueskill.rate_1vs1; sigma {SIGMA}, tau 0, ties {DRAW_RATE:.0%}, "
        f"beta sigma * matches / {_MATCHES_PER_BETA:g}) in {runs} runs of {matches} matches, drawn from the "
        f"comparisons of values on one {found.within} (Sakaguchi et al. 2014) as if these were independent; ranges of "
        f"ranks {LEVEL:.0%}, clusters where they do not meet"
    )
    return Ranking(criterion, rows, len(found.outcomes), ties, runs, matches, method, notes, reason)


def _limits(found: Comparisons, ties: int) -> tuple[tuple[str, ...], str]:
    """Return remarks for the reader, and why there is no order; empty if there is one."""
    met = np.zeros((len(found.systems),) * 2, dtype=bool)
    met[found.pairs[:, 0], found.pairs[:, 1]] = True
    met |= met.T
    alone = [name for place, name in enumerate(found.systems) if not met[place].any()]
    notes: tuple[str, ...] = (f"never compared with another, and left out: {', '.join(alone)}",) if alone else ()
    if not len(found.outcomes):
        return (), f"no rater has judged two systems on one {found.within}"
    if ties == len(found.outcomes):
        return notes, "every comparison is a tie"
    # Systems connected to the first compared one through any number of comparisons.
    reached = met[int(found.pairs[0, 0])]
    for _ in found.systems:
        reached = reached | met[reached].any(axis=0)
    apart = [name for place, name in enumerate(found.systems) if not reached[place] and name not in alone]
    if len(found.outcomes) < _FEW * len(found.systems):
        notes += (f"{len(found.outcomes)} comparisons of {len(found.systems)} systems are few: ranges are too narrow",)
    if apart:
        return notes, f"systems that no comparison joins have no order: {', '.join(apart)} and the others"
    return notes, ""


def _skills(found: Comparisons, matches: int, runs: int, seed: int) -> NDArray[Any]:
    """Return the skills at the end of every run, (R, S)."""
    size = len(found.systems)
    settings = TrueSkillSettings(SIGMA, SIGMA * matches / _MATCHES_PER_BETA, DRAW_RATE)
    tournament = Tournament(runs, size, settings)
    generator = np.random.default_rng(seed)
    keys = found.pairs[:, 0] * size + found.pairs[:, 1]
    outcomes = found.outcomes[np.argsort(keys, kind="stable")]
    counts = np.bincount(keys, minlength=size * size)
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    met = (counts.reshape(size, size) + counts.reshape(size, size).T) > 0
    rows = np.arange(runs)
    # A system that was never compared does not play.
    tournament.variance[:, ~met.any(axis=1)] = 0.0
    for _ in range(matches):
        one = tournament.variance.argmax(axis=1)
        distance = np.abs(tournament.mean - tournament.mean[rows, one][:, None])
        weights = np.cumsum(np.where(met[one], np.exp(-distance), 0.0), axis=1)
        draws = generator.random((2, runs))
        other = (weights <= draws[0][:, None] * weights[:, -1:]).sum(axis=1)
        first, second = np.minimum(one, other), np.maximum(one, other)
        pair = first * size + second
        outcome = outcomes[starts[pair] + (draws[1] * counts[pair]).astype(np.int64)]
        won = outcome >= 0
        tournament.play(np.where(won, first, second), np.where(won, second, first), outcome == 0)
    return tournament.mean


def _rows(found: Comparisons, skills: NDArray[Any]) -> tuple[RankedSystem, ...]:
    counts = np.bincount(found.pairs.ravel(), minlength=len(found.systems))
    skills = skills[:, counts > 0]
    names = [name for name, count in zip(found.systems, counts, strict=True) if count]
    counts = counts[counts > 0]
    ranks = np.sort((-skills).argsort(axis=1).argsort(axis=1) + 1, axis=0)
    outside = min(math.ceil(len(skills) * (1 - LEVEL) / 2), (len(skills) - 1) // 2)
    best, worst = ranks[outside], ranks[-1 - outside]
    order = np.argsort(-skills.mean(axis=0), kind="stable")
    rows, cluster = [], 1
    for place, system in enumerate(order):
        if place and worst[order[:place]].max() < best[order[place:]].min():
            cluster += 1
        skill = float(skills[:, system].mean())
        ends = int(best[system]), int(worst[system])
        rows.append(RankedSystem(names[system], cluster, skill, *ends, int(counts[system])))
    return tuple(rows)
