"""Does one metric correlate better with people than another? The test PERM-BOTH of Deutsch, Dror and Roth 2021.

If two metrics were equally good, exchanging their values for any sentence would not matter. So values are standardised,
as the metrics' units differ, and those of each sentence are exchanged with probability 1/2, whatever its system or
item. The test assumes no distribution, but that sentences are independent.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from dactnlg.studies.analysis.correlation import correlation_values, undefined
from dactnlg.studies.analysis.metric_scores import MetricScores
from dactnlg.studies.analysis.paired import PairedSentences, paired
from dactnlg.studies.analysis.williams import MetricDifference, MetricDifferences, adjusted
from dactnlg.studies.ratings import Ratings, RatingsError

METHOD = (
    "permutation test PERM-BOTH (Deutsch, Dror and Roth 2021) of the difference between two metrics' Pearson "
    "correlations with people over all sentences: standardised values of the metrics exchanged at random for each "
    "sentence, {count} times, two-sided, p = (1 + as large) / (1 + {count}), seed {seed}; p after Holm over all pairs "
    "of a block. Metrics whose small values are good have their sign turned. It takes sentences for independent: p is "
    "too small if those of one item are alike, for metrics and for people"
)
FEWEST = 200
"""Default number of permutations for a few pairs of metrics: enough to tell p = .05 from .01."""
PER_PAIR = 20
"""Permutations per pair of metrics that p below .05 after Holm takes, as p is at least 1 / (1 + count)."""
_CELLS = 1_000_000
Floats = NDArray[np.float64]


def permute_metrics(
    ratings: Ratings,
    scores: MetricScores,
    *,
    gold: Collection[str] = (),
    count: int | None = None,
    seed: int = 1,
) -> MetricDifferences:
    """Return the permutation test of every pair of metrics, for Pearson's coefficient over sentences.

    Args:
        ratings: the judgements.
        scores: metric values.
        gold: systems whose sentences people wrote: results are given with and without them.
        count: number of permutations, 19 or more; by default `FEWEST`, or `PER_PAIR` for each pair if that is more. A
            note says if p after Holm cannot fall below .05 with it.
        seed: of the permutations.

    Raises:
        RatingsError: as in `correlate`, or `count` is too small.
        UnknownNameError: a name in `gold` is not a system.
    """
    pairs = list(combinations(scores.metrics, 2))
    count = max(FEWEST, PER_PAIR * len(pairs)) if count is None else count
    if count < 19:
        raise RatingsError(f"{count} permutations: p below .05 wants 19 or more")
    rows = []
    notes: dict[str, None] = {}
    for pairing in paired(ratings, scores, gold):
        notes |= dict.fromkeys(pairing.notes)
        rows += [_permuted(pairing, scores, pair, count, seed) for pair in pairs]
    tested = Counter((row.criterion, row.corpus, row.gold) for row in rows if row.p is not None)
    most = max(tested.values(), default=0)
    if most / (1 + count) >= 0.05:
        told = f"{count} permutations are too few for {most} pairs: no p can fall below .05 after Holm"
        notes[f"{told}; choose {PER_PAIR * most} or more"] = None
    return MetricDifferences("pearson", adjusted(rows), METHOD.format(count=count, seed=seed), tuple(notes))


def _permuted(
    pairing: PairedSentences, scores: MetricScores, pair: tuple[str, str], count: int, seed: int
) -> MetricDifference:
    own = pairing.of(*pair).once()
    size = len(own.people)
    block = own.criterion, own.corpus, own.gold
    columns = {metric: own.metrics[metric] * scores.sign(metric) for metric in pair}
    for metric in pair:
        if reason := undefined(columns[metric], own.people):
            return MetricDifference(*block, *pair, None, None, None, None, None, None, size, f"{metric}: {reason}")
    values = {metric: correlation_values("pearson", columns[metric], own.people)[0] for metric in pair}
    first, second = sorted(pair, key=lambda metric: -(values[metric] or 0.0))
    between = correlation_values("pearson", columns[first], columns[second])[0]
    tables = [(columns[metric] - columns[metric].mean()) / columns[metric].std() for metric in (first, second)]
    p = permutation_p((tables[0], tables[1]), own.people, count, seed)
    return MetricDifference(*block, first, second, values[first], values[second], between, None, p, None, size)


def permutation_p(metrics: tuple[Floats, Floats], people: Floats, count: int, seed: int) -> float:
    """Return the two-sided p-value for the difference between two metrics' correlations with people.

    Args:
        metrics: standardised values of both metrics, (N,) each.
        people: (N,), people's values.
        count: number of permutations.
        seed: of the permutations.
    """
    generator = np.random.default_rng(seed)
    target = people - people.mean()
    observed = abs(_delta(metrics[0][None], metrics[1][None], target)[0])
    as_large = 0
    step = max(1, _CELLS // len(people))
    for start in range(0, count, step):
        swapped = generator.random((min(step, count - start), len(people))) < 0.5
        left, right = np.where(swapped, metrics[1], metrics[0]), np.where(swapped, metrics[0], metrics[1])
        delta = np.abs(_delta(left, right, target))
        # A permutation without a correlation is no evidence against the null hypothesis, so it counts as large.
        as_large += int((~(delta < observed - 1e-12)).sum())
    return (1 + as_large) / (1 + count)


def _delta(left: Floats, right: Floats, target: Floats) -> Floats:
    """Return differences of the correlations of rows, (B, N), with a target of mean 0, (N,)."""
    found: list[Floats] = []
    for values in (left, right):
        table = values - values.mean(axis=1, keepdims=True)
        with np.errstate(all="ignore"):
            found.append(table @ target / np.sqrt((table**2).sum(axis=1) * (target**2).sum()))
    return np.subtract(found[0], found[1])
