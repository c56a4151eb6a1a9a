"""Confidence intervals and significance tests from stored statistics: bootstrap and approximate randomisation.

A resample is a count per segment, so all resamples together are one matrix product: counts times statistics (Efron and
Tibshirani 1993, chapter 13; for metrics, Koehn 2004; for randomisation, Riezler and Maxwell 2005). The text is not read
again.

Shapes: N segments, S statistics per segment, R resamples, K scores per metric.
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
"""With this many segments or more, sums are drawn from the normal distribution that resampled sums approach."""
_CELLS = 1 << 22
"""Entries of the matrix of counts held in memory at once (32 MiB)."""


class Comparison(NamedTuple):
    """One score of two systems on the same segments; undefined values are NaN.

    Attributes:
        difference: the second system's score minus the first's.
        low, high: the 95% interval of the difference, by resampling the segments.
        p_bootstrap: share of resamples that deviate from the difference by at least its absolute value (two-sided).
        p_randomization: share of random swaps of the two systems' segments that give a difference at least as large.
    """

    difference: float
    low: float
    high: float
    p_bootstrap: float
    p_randomization: float


def bootstrap(score: Score, statistics: Array, resamples: int = RESAMPLES, seed: int = SEED) -> Array:
    """Return the scores of resamples with replacement, (N, S) -> (R, K).

    Raises:
        MetricError: no segments, or fewer than one resample.
    """
    return score(_resampled_sums(statistics, resamples, seed))


def interval(values: Array, level: float = LEVEL) -> Array:
    """Return the percentile intervals of resampled scores, (R, K) -> (K, 2); NaN where all resamples are undefined."""
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
    """Compare two systems by their statistics of the same segments, (N, S) each; one entry per score.

    Raises:
        MetricError: the shapes differ, or there is nothing to resample.
    """
    if first.shape != second.shape:
        raise MetricError(f"two systems must be compared on the same segments: {len(first)} are not {len(second)}")
    difference = score(second.sum(axis=0)) - score(first.sum(axis=0))
    # Stacked side by side, both systems are resampled with the same segments.
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
    """Return the differences of two systems whose segments are swapped with probability 1/2, (R, K)."""
    _check(first, trials)
    rng = np.random.default_rng(seed)
    total, change = first.sum(axis=0), second - first
    whole, sums = second.sum(axis=0), []
    if len(first) >= LARGE:
        # To swap equal segments changes nothing, and sums of a few changes are not normally distributed.
        change = change[change.any(axis=1)]
    if len(change) >= LARGE:
        # Each change is included with probability 1/2, which gives the mean and covariance of their sum.
        sums.append(_normal(rng, change.sum(axis=0) / 2, change.T @ change / 4, trials))
    else:
        for rows in _blocks(trials, len(change)):
            sums.append(rng.integers(2, size=(rows, len(change)), dtype=np.int8).astype(np.float64) @ change)
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
        # A total of, say, three errors can be negative under the normal distribution, but not in a resample.
        return np.maximum(drawn, 0.0) if statistics.min() >= 0 else drawn
    sums = []
    for rows in _blocks(resamples, count):
        # All rows in one bincount: row r's segments are numbered from r * N.
        flat = (rng.integers(count, size=(rows, count)) + np.arange(rows)[:, None] * count).ravel()
        counts = np.bincount(flat, minlength=rows * count).reshape(rows, count)
        sums.append(counts.astype(np.float64) @ statistics)
    return np.vstack(sums)


def _normal(rng: np.random.Generator, mean: Array, covariance: Array, size: int) -> Array:
    # Some statistics are constant and some are sums of others, so the matrix is usually singular.
    drawn: NDArray[np.float64] = rng.multivariate_normal(mean, covariance, size, check_valid="ignore", method="eigh")
    return drawn


def _blocks(total: int, width: int) -> Iterator[int]:
    size = max(1, _CELLS // max(width, 1))
    for start in range(0, total, size):
        yield min(size, total - start)


def _p_value(strayed: Array, difference: float) -> float:
    """Return the share of deviations that are at least as large as the difference; 1 for a system against itself."""
    defined = strayed[np.isfinite(strayed)]
    if not np.isfinite(difference) or not len(defined):
        return float("nan")
    # Sums in another order may differ in the last bits.
    return float((np.sum(defined >= abs(difference) - 1e-12) + 1) / (len(defined) + 1))


def _check(statistics: Array, resamples: int) -> None:
    if not len(statistics):
        raise MetricError("nothing to resample: there is not a single segment")
    if resamples < 1:
        raise MetricError(f"the number of resamples must be at least 1, not {resamples}")
