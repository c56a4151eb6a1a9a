"""How sure a score is, and a difference of two: bootstrap and approximate randomisation from stored statistics.

A resample is a count for each segment, so that all resamples at once are one product of matrices: counts times
statistics (Efron and Tibshirani 1993, chapter 13; for metrics, Koehn 2004; for randomisation, Riezler and Maxwell
2005). The text is never looked at again.

Shapes: N segments, S statistics a segment, R resamples, K scores of a metric.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dactnlg.errors import MetricError
from dactnlg.metrics.base import Array

Score = Callable[[Array], Array]
"""The scores of summed statistics, (..., S) -> (..., K): `Metric.score`."""

RESAMPLES = 1000
TRIALS = 10_000
SEED = 12345
LEVEL = 0.95
LARGE = 50_000
"""From so many segments on, sums are drawn from the normal distribution that those of resamples have by then."""
_CELLS = 1 << 22
"""Entries of the matrix of counts that stand in memory at once (32 MiB)."""


class Comparison(NamedTuple):
    """One score of two systems on the same segments; values that are undefined are NaN.

    Attributes:
        difference: the second system's score less the first's.
        low, high: the 95% interval of the difference, from resamples of the segments.
        p_bootstrap: how often resamples stray from the difference as far as the difference is from 0, two-sided.
        p_randomization: how often the difference is reached where the two systems' segments are swapped by chance.
    """

    difference: float
    low: float
    high: float
    p_bootstrap: float
    p_randomization: float


def bootstrap(score: Score, statistics: Array, resamples: int = RESAMPLES, seed: int = SEED) -> Array:
    """Return the scores of resamples with replacement, (N, S) -> (R, K).

    Raises:
        MetricError: no segments, or not a single resample.
    """
    return score(_resampled_sums(statistics, resamples, seed))


def interval(values: Array, level: float = LEVEL) -> Array:
    """Return the percentile interval of resampled scores, (R, K) -> (K, 2); NaN where no resample is defined."""
    tails = [(1 - level) / 2, (1 + level) / 2]
    columns = [column[np.isfinite(column)] for column in values.T]
    return np.array([np.quantile(column, tails) if len(column) else [np.nan, np.nan] for column in columns])


def compare(
    score: Score,
    first: Array,
    second: Array,
    resamples: int = RESAMPLES,
    trials: int = TRIALS,
    seed: int = SEED,
) -> list[Comparison]:
    """Compare two systems by the statistics of the same segments, (N, S) and (N, S); one entry a score.

    Raises:
        MetricError: the two differ in shape, or there is nothing to resample.
    """
    if first.shape != second.shape:
        raise MetricError(f"two systems must be compared on the same segments: {len(first)} are not {len(second)}")
    difference = score(second.sum(axis=0)) - score(first.sum(axis=0))
    # One draw for both: side by side, the two systems are resampled with the same segments.
    sums = _resampled_sums(np.hstack([first, second]), resamples, seed)
    width = first.shape[1]
    drawn = score(sums[:, width:]) - score(sums[:, :width])
    swapped = randomization(score, first, second, trials, seed)
    bounds = interval(drawn)
    return [
        Comparison(
            float(difference[k]),
            float(bounds[k, 0]),
            float(bounds[k, 1]),
            _p_value(np.abs(drawn[:, k] - difference[k]), difference[k]),
            _p_value(np.abs(swapped[:, k]), difference[k]),
        )
        for k in range(len(difference))
    ]


def randomization(score: Score, first: Array, second: Array, trials: int = TRIALS, seed: int = SEED) -> Array:
    """Return the differences of two systems whose segments are swapped by the toss of a coin, (R, K)."""
    _check(first, trials)
    rng = np.random.default_rng(seed)
    total, change = first.sum(axis=0), second - first
    whole, sums = second.sum(axis=0), []
    if len(first) >= LARGE:
        # Each change enters with probability one half: mean and covariance of their sum are known.
        sums.append(_normal(rng, change.sum(axis=0) / 2, change.T @ change / 4, trials))
    else:
        for rows in _blocks(trials, len(first)):
            sums.append(rng.integers(2, size=(rows, len(first)), dtype=np.int8).astype(np.float64) @ change)
    moved = np.vstack(sums)
    return score(whole - moved) - score(total + moved)


def _resampled_sums(statistics: Array, resamples: int, seed: int) -> Array:
    """Return the sums of resamples, (N, S) -> (R, S)."""
    _check(statistics, resamples)
    rng = np.random.default_rng(seed)
    count = len(statistics)
    if count >= LARGE:
        centred = statistics - statistics.mean(axis=0)
        drawn = _normal(rng, statistics.sum(axis=0), centred.T @ centred, resamples)
        # A count of three faults in all strays below zero in the normal distribution, not in a resample.
        return np.maximum(drawn, 0.0) if statistics.min() >= 0 else drawn
    sums = []
    for rows in _blocks(resamples, count):
        # Row by row in one count: row r's segments are numbered from r * N on.
        flat = (rng.integers(count, size=(rows, count)) + np.arange(rows)[:, None] * count).ravel()
        counts = np.bincount(flat, minlength=rows * count).reshape(rows, count)
        sums.append(counts.astype(np.float64) @ statistics)
    return np.vstack(sums)


def _normal(rng: np.random.Generator, mean: Array, covariance: Array, size: int) -> Array:
    # Statistics that never change have no variance, and some are sums of others: the matrix is singular by nature.
    drawn: NDArray[np.float64] = rng.multivariate_normal(mean, covariance, size, check_valid="ignore", method="eigh")
    return drawn


def _blocks(total: int, width: int) -> Iterator[int]:
    size = max(1, _CELLS // max(width, 1))
    for start in range(0, total, size):
        yield min(size, total - start)


def _p_value(strayed: Array, difference: float) -> float:
    """Return how often a value strays at least as far as the difference; 1 for a system against itself."""
    defined = strayed[np.isfinite(strayed)]
    if not np.isfinite(difference) or not len(defined):
        return float("nan")
    # Sums in another order differ in the last bits; that is no difference.
    return float((np.sum(defined >= abs(difference) - 1e-12) + 1) / (len(defined) + 1))


def _check(statistics: Array, resamples: int) -> None:
    if not len(statistics):
        raise MetricError("nothing to resample: there is not a single segment")
    if resamples < 1:
        raise MetricError(f"the number of resamples must be at least 1, not {resamples}")
