"""Does one metric correlate better with people than another? Williams' test between dependent correlations.

Williams 1959; Steiger 1980, equation 7; for metrics: Graham and Baldwin 2014. No library used here has the test; R's
psych does (`r.test`), and tests compare with its results.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, replace
from itertools import combinations, groupby

import numpy as np

from dactnlg.studies.analysis.coefficients import Name
from dactnlg.studies.analysis.correlation import correlation_values, undefined
from dactnlg.studies.analysis.metric_scores import MetricScores
from dactnlg.studies.analysis.paired import PairedSentences, paired
from dactnlg.studies.analysis.results import Result, holm
from dactnlg.studies.ratings import Ratings, RatingsError

METHOD = (
    "Williams' t test (1959; Steiger 1980) of the difference between two metrics' {name} correlations with people, "
    "over the sentences that both have a value for, two-sided; p after Holm over all pairs of a block. Metrics "
    "whose small values are good have their sign turned. It takes sentences for independent"
)


@dataclass(frozen=True)
class MetricDifference:
    """The difference between two metrics' correlations with people.

    Attributes:
        criterion, corpus, gold: as in `MetricCorrelation`.
        first, second: the metrics; the first correlates better.
        first_value, second_value: their correlations with people, with inverted sign if smaller values are better.
        between: the correlation between the two metrics.
        statistic: Williams' t; None for other tests or if undefined.
        p: two-sided p-value; None if undefined.
        adjusted: p after Holm's correction over the block (criterion, corpus, gold).
        sentences: number of sentences.
        reason: why it is undefined.
    """

    criterion: str
    corpus: str | None
    gold: bool | None
    first: str
    second: str
    first_value: float | None
    second_value: float | None
    between: float | None
    statistic: float | None
    p: float | None
    adjusted: float | None
    sentences: int
    reason: str = ""


@dataclass(frozen=True)
class MetricDifferences(Result):
    """Differences for all pairs of metrics, by criterion and corpus, with and without gold sentences."""

    coefficient: Name
    rows: tuple[MetricDifference, ...]
    method: str
    notes: tuple[str, ...] = ()

    def apart(self, level: float = 0.05) -> tuple[MetricDifference, ...]:
        """Return the pairs that differ significantly: p after Holm's correction is below a level."""
        return tuple(row for row in self.rows if row.adjusted is not None and row.adjusted < level)


def williams(first: float, second: float, between: float, n: int) -> tuple[float, float]:
    """Return Williams' t and its two-sided p, with n - 3 degrees of freedom.

    >>> t, p = williams(0.5, 0.3, 0.6, 100)
    >>> round(t, 6), round(p, 6)
    (2.529779, 0.013024)

    Args:
        first: correlation of the first metric with people.
        second: correlation of the second.
        between: correlation between the two metrics.
        n: number of sentences, 4 or more.

    Raises:
        RatingsError: there are fewer sentences, or the three values cannot be correlations over the same sentences or
            leave no variance.
    """
    from scipy.stats import t as student

    if n < 4:
        raise RatingsError(f"Williams' test wants 4 sentences or more, not {n}")
    determinant = 1 - first**2 - second**2 - between**2 + 2 * first * second * between
    mean = (first + second) / 2
    variance = 2 * (n - 1) / (n - 3) * determinant + mean**2 * (1 - between) ** 3
    if determinant < -1e-9 or variance < 1e-12 or max(map(abs, (first, second, between))) > 1:
        raise RatingsError(f"correlations {first:g}, {second:g} and {between:g} leave nothing to test")
    statistic = (first - second) * math.sqrt((n - 1) * (1 + between) / variance)
    return statistic, 2 * float(student.sf(abs(statistic), n - 3))


def compare_metrics(
    ratings: Ratings, scores: MetricScores, *, gold: Collection[str] = (), name: Name = "pearson"
) -> MetricDifferences:
    """Return Williams' test of every pair of metrics.

    Args:
        ratings: the judgements.
        scores: metric values.
        gold: systems whose sentences people wrote: results are given with and without them.
        name: the coefficient; the test was designed for Pearson's, but is commonly used with Spearman's.

    Raises:
        RatingsError: there are no ratings, or no metric has a value for any judged sentence.
        UnknownNameError: a name in `gold` is not a system.
    """
    rows = []
    notes: dict[str, None] = {}
    for pairing in paired(ratings, scores, gold):
        notes |= dict.fromkeys(pairing.notes)
        rows += [_difference(pairing, scores, pair, name) for pair in combinations(scores.metrics, 2)]
    return MetricDifferences(name, adjusted(rows), METHOD.format(name=name.capitalize()), tuple(notes))


def adjusted(rows: list[MetricDifference]) -> tuple[MetricDifference, ...]:
    """Return the rows with p adjusted by Holm's method over the defined p of each block (criterion, corpus, gold)."""
    found: list[MetricDifference] = []
    for _, block in groupby(rows, key=lambda row: (row.criterion, row.corpus, row.gold)):
        own = list(block)
        values = [row.p for row in own if row.p is not None]
        after = iter(holm(values))
        found += [row if row.p is None else replace(row, adjusted=float(next(after))) for row in own]
    return tuple(found)


def _difference(pairing: PairedSentences, scores: MetricScores, pair: tuple[str, str], name: Name) -> MetricDifference:
    own = pairing.of(*pair).once()
    block = own.criterion, own.corpus, own.gold
    columns = {metric: own.metrics[metric] * scores.sign(metric) for metric in pair}
    for metric in pair:
        if reason := undefined(columns[metric], own.people):
            return MetricDifference(
                *block, *pair, None, None, None, None, None, None, len(own.people), f"{metric}: {reason}"
            )
    values = {metric: correlation_values(name, columns[metric], own.people)[0] or 0.0 for metric in pair}
    first, second = sorted(pair, key=lambda metric: -values[metric])
    between = correlation_values(name, columns[first], columns[second])[0] or 0.0
    known = values[first], values[second], between
    if np.array_equal(columns[first], columns[second]) or between > 1 - 1e-12:
        reason = "the metrics order and space the sentences alike"
        return MetricDifference(*block, first, second, *known, None, None, None, len(own.people), reason)
    try:
        statistic, p = williams(*known, len(own.people))
    except RatingsError as error:
        return MetricDifference(*block, first, second, *known, None, None, None, len(own.people), str(error))
    return MetricDifference(*block, first, second, *known, statistic, p, None, len(own.people))
