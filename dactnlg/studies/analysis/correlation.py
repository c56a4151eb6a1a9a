"""Correlation of metrics with people (Sharma et al. 2017, section 5.4, Table 3; Novikova et al. 2017).

Levels: `segment` correlates over all sentences, `item` over the systems within each item, averaged over items, and
`system` correlates the systems' means over sentences.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cache
from itertools import permutations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dactnlg.errors import UnknownNameError
from dactnlg.studies.analysis.coefficients import NAMES, Name, exact, of_rows, resampled
from dactnlg.studies.analysis.intervals import METHODS, Kind, check, interval
from dactnlg.studies.analysis.metric_scores import MetricScores
from dactnlg.studies.analysis.paired import PairedSentences, paired
from dactnlg.studies.analysis.results import Bounds, Result
from dactnlg.studies.ratings import Ratings, RatingsError

Level = Literal["segment", "item", "system"]
LEVELS: dict[str, str] = {
    "segment": "over all sentences; p takes sentences for independent (scipy spearmanr, pearsonr, kendalltau)",
    "item": "mean over items of the correlation over an item's systems, items without one left out; p of a t test "
    "against 0 (scipy ttest_1samp)",
    "system": "over systems, of their means over sentences (scipy spearmanr, pearsonr, kendalltau)",
}
MOST_KENDALL = 4_000
"""Largest number of sentences for intervals of Kendall's coefficient, which need all pairs of sentences."""
MOST_PERMUTED = 8
"""Largest number of values for which Spearman's p is counted over all permutations.

The t distribution of `spearmanr` finds p = 0 for three systems in the same or the opposite order, which chance gives
every third time; from nine values on it is close enough.
"""
DOUBTFUL = (
    "where p is below .05 and the interval holds 0, go by the interval: p does not know that sentences of one item are "
    "alike"
)
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Coefficient:
    """One correlation.

    Attributes:
        value: the coefficient; None if undefined.
        p: two-sided p-value, against no correlation.
        interval: 95% interval over items.
        reason: why something is undefined or left out.
    """

    value: float | None
    p: float | None = None
    interval: Bounds | None = None
    reason: str = ""


@dataclass(frozen=True)
class MetricCorrelation:
    """The correlation of a metric with people.

    Attributes:
        metric: its name.
        criterion: what people judged.
        corpus: the corpus; None for all together.
        gold: whether sentences written by people are included; None if no system is named as people's.
        spearman, pearson, kendall: the coefficients (Kendall's tau-b).
        sentences, items, systems: how many of each they are computed over.
    """

    metric: str
    criterion: str
    corpus: str | None
    gold: bool | None
    spearman: Coefficient
    pearson: Coefficient
    kendall: Coefficient
    sentences: int
    items: int
    systems: int


@dataclass(frozen=True)
class MetricCorrelations(Result):
    """Correlations of all metrics at one level, by criterion and corpus, with and without gold sentences."""

    level: Level
    rows: tuple[MetricCorrelation, ...]
    method: str
    notes: tuple[str, ...] = ()


def correlate(
    ratings: Ratings,
    scores: MetricScores,
    *,
    gold: Collection[str] = (),
    level: Level = "segment",
    kind: Kind = "jackknife",
    resamples: int = 2000,
    seed: int = 1,
) -> MetricCorrelations:
    """Return the correlation of every metric with the mean of people's values.

    Args:
        ratings: the judgements.
        scores: metric values.
        gold: systems whose sentences people wrote: results are given with and without them.
        level: what to correlate over, see `LEVELS`.
        kind: kind of intervals; all generalise to other items, but not to other raters or systems. In simulated studies
            of 20 items, `jackknife` covers the truth in 95% of them, the bootstraps in 91 to 93%
            (`benchmarks/ratings.py simulate`). `jackknife` does not apply to systems, where `percentile` is used
            instead.
        resamples: number of bootstrap resamples, 100 or more.
        seed: of the bootstrap.

    Raises:
        RatingsError: there are no ratings, no metric has a value for any judged sentence, or there are
            fewer than 100 `resamples`.
        UnknownNameError: `level`, `kind` or a system of `gold` is unknown.
    """
    if level not in LEVELS:
        raise UnknownNameError("level", level, LEVELS)
    check(kind)
    # Ranks of a few systems are discrete: leaving out an item often changes nothing, which does not mean certainty.
    if level == "system" and kind == "jackknife":
        kind = "percentile"
    if resamples < 100:
        raise RatingsError(f"{resamples} resamples: an interval wants 100 or more")
    rows = []
    notes: dict[str, None] = {}
    for pairing in paired(ratings, scores, gold):
        notes |= dict.fromkeys(pairing.notes)
        for metric in scores.metrics:
            own = pairing.of(metric).once() if level == "segment" else pairing.of(metric)
            found = {name: _coefficient(name, metric, own, level, (kind, resamples, seed)) for name in NAMES}
            rows.append(_row(metric, own, found))
            if level == "segment" and any(map(_doubtful, found.values())):
                notes[DOUBTFUL] = None
    drawn = "" if kind == "jackknife" else f", {resamples} resamples, seed {seed}"
    coefficients = "Spearman's, Pearson's and Kendall's (tau-b) correlation with the mean of people's values"
    intervals = "t intervals of that mean" if level == "item" else METHODS[kind] + drawn
    if level != "item":
        intervals = f"Spearman's p of {MOST_PERMUTED} values or fewer over all permutations; {intervals}"
    return MetricCorrelations(level, tuple(rows), f"{coefficients}, {LEVELS[level]}; {intervals}", tuple(notes))


def _doubtful(found: Coefficient) -> bool:
    return (
        found.p is not None
        and found.p < 0.05
        and found.interval is not None
        and found.interval[0] < 0 < found.interval[1]
    )


def _row(metric: str, own: PairedSentences, found: dict[Name, Coefficient]) -> MetricCorrelation:
    counts = len(own.people), len(np.unique(own.items)), len(np.unique(own.systems))
    coefficients = found["spearman"], found["pearson"], found["kendall"]
    return MetricCorrelation(metric, own.criterion, own.corpus, own.gold, *coefficients, *counts)


def correlation_values(name: Name, x: Floats, y: Floats) -> tuple[float | None, float | None]:
    """Return a coefficient and its p-value by scipy, each None if undefined."""
    from scipy.stats import kendalltau, pearsonr, spearmanr

    function = {"spearman": spearmanr, "pearson": pearsonr, "kendall": kendalltau}[name]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        found = function(x, y)
    value, p = float(found.statistic), float(found.pvalue)
    return (value if np.isfinite(value) else None), (p if np.isfinite(p) else None)


def _tested(name: Name, x: Floats, y: Floats) -> tuple[float | None, float | None]:
    """Return a coefficient and its p-value as `correlation_values`, but the exact p of Spearman's over few values."""
    value, p = correlation_values(name, x, y)
    if name == "spearman" and value is not None and len(x) <= MOST_PERMUTED:
        from scipy.stats import rankdata

        left, right = (one - one.mean() for one in (rankdata(x), rankdata(y)))
        as_large = np.abs(right[_orders(len(x))] @ left) >= abs(right @ left) - 1e-9
        p = float(as_large.mean())
    return value, p


@cache
def _orders(count: int) -> NDArray[np.int64]:
    """Return all permutations of `count` places, (count!, count)."""
    return np.array(list(permutations(range(count))), dtype=np.int64)


def undefined(x: Floats, y: Floats, what: str = "sentences") -> str:
    """Return why the correlation of a metric, x, with people, y, is undefined; empty if it is defined."""
    if len(x) < 3:
        return f"fewer than 3 {what}"
    if np.ptp(x) == 0:
        return f"the metric is constant over {what}"
    return f"people's values are constant over {what}" if np.ptp(y) == 0 else ""


def _coefficient(
    name: Name, metric: str, own: PairedSentences, level: Level, how: tuple[Kind, int, int]
) -> Coefficient:
    x, y = own.metrics[metric], own.people
    if level == "item":
        return _within_items(name, own, x)
    if level == "system":
        return _of_systems(name, own, x, how)
    if reason := undefined(x, y):
        return Coefficient(None, reason=reason)
    value, p = _tested(name, x, y)
    if name == "kendall" and len(x) > MOST_KENDALL:
        return Coefficient(value, p, reason=f"no interval of Kendall's coefficient over {MOST_KENDALL:,} sentences")
    bounds, reason = interval(resampled(name, x, y), own.items, *how)
    return Coefficient(value, p, bounds, reason)


def _within_items(name: Name, own: PairedSentences, x: Floats) -> Coefficient:
    """Return the mean correlation over items, with the t interval of that mean."""
    from scipy.stats import ttest_1samp

    order = np.argsort(own.items, kind="stable")
    sizes = np.bincount(own.items)
    starts = np.cumsum(sizes) - sizes
    found = [np.zeros(0)]
    for size in np.unique(sizes[sizes > 1]):
        places = order[starts[sizes == size][:, None] + np.arange(size)]
        found.append(of_rows(name, x[places], own.people[places]))
    known = np.concatenate(found)
    known = known[np.isfinite(known)]
    if not len(known):
        return Coefficient(None, reason="within no item do the metric and people vary")
    mean = float(known.mean())
    left = len(np.unique(own.items)) - len(known)
    reason = f"{left} items without a correlation are left out" if left else ""
    # Equal up to rounding.
    if len(known) < 2 or np.ptp(known) < 1e-12:
        return Coefficient(mean, reason=reason or "no interval: one item, or all alike")
    test = ttest_1samp(known, 0)
    bounds = test.confidence_interval()
    return Coefficient(mean, float(test.pvalue), (float(bounds.low), float(bounds.high)), reason)


def _of_systems(name: Name, own: PairedSentences, x: Floats, how: tuple[Kind, int, int]) -> Coefficient:
    used = np.unique(own.systems)
    member = (own.systems[:, None] == used).astype(np.float64)
    counts = member.sum(axis=0)
    means = exact(x @ member / counts), exact(own.people @ member / counts)
    if reason := undefined(*means, what="systems"):
        return Coefficient(None, reason=reason)
    bounds, reason = interval(_system_statistic(name, member, x, own.people), own.items, *how)
    return Coefficient(*_tested(name, *means), bounds, reason)


def _system_statistic(name: Name, member: Floats, x: Floats, y: Floats) -> Callable[[Floats], Floats]:
    sums = member * x[:, None], member * y[:, None]

    def statistic(weights: Floats) -> Floats:
        counts = weights @ member
        with np.errstate(all="ignore"):
            left, right = (weights @ one / counts for one in sums)
        found = np.full(len(weights), np.nan)
        # A resample may contain no item of some system.
        whole = (counts > 0).all(axis=1)
        found[whole] = of_rows(name, exact(left[whole]), exact(right[whole]))
        return found

    return statistic
