"""Permutations: all of them for Spearman's p of few systems, and enough for Holm's correction over all pairs."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from scipy import stats

from dactnlg.studies.analyse import AnalysisOptions, analyse
from dactnlg.studies.analysis.correlation import MetricCorrelation, correlate
from dactnlg.studies.analysis.metric_scores import MetricScores
from dactnlg.studies.analysis.permutation import FEWEST, PER_PAIR, permute_metrics
from dactnlg.studies.ratings import Ratings


def study(good: int, poor: int) -> tuple[Ratings, MetricScores]:
    """Return ratings of 25 items and 3 systems, metrics that are nearly what people say, and others that are noise."""
    generator = np.random.default_rng(0)
    quality = {(f"{item}", system): generator.normal() for item in range(25) for system in "abc"}
    rows = [
        {"item": item, "system": system, "rater": rater, "criterion": "q", "value": value + generator.normal(0, 0.3)}
        for (item, system), value in quality.items()
        for rater in "xy"
    ]
    values = {
        f"{name}{at}": {("", *key): share * value + generator.normal(0, 0.2) for key, value in quality.items()}
        for name, share, count in (("good", 1.0, good), ("poor", 0.0, poor))
        for at in range(count)
    }
    return Ratings(rows), MetricScores(values)


def test_many_metrics_are_told_apart_by_default() -> None:
    ratings, scores = study(2, 5)
    options = AnalysisOptions(scores=scores, runs=2)
    found = analyse(ratings, options).metrics
    assert found is not None and found.permuted is not None
    unlike = {frozenset((f"good{one}", f"poor{other}")) for one in range(2) for other in range(5)}
    assert unlike <= {frozenset((row.first, row.second)) for row in found.permuted.apart()}
    assert f"{PER_PAIR * 21} times" in found.permuted.method and not found.permuted.notes
    assert "takes sentences for independent" in found.permuted.method


def test_too_few_permutations_for_the_pairs_are_noted() -> None:
    ratings, scores = study(1, 2)
    for count, noted in ((20, True), (59, True), (60, False), (None, False)):
        found = permute_metrics(ratings, scores, count=count)
        assert bool(found.notes) == noted
        if noted:
            assert not found.apart()
            assert "too few for 3 pairs" in found.notes[0] and "choose 60" in found.notes[0]
    assert f"{FEWEST} times" in found.method


@pytest.mark.parametrize(("count", "wanted"), [(3, 2 / 6), (4, 2 / 24), (5, 2 / 120)])
def test_a_few_systems_in_the_same_order_may_be_chance(count: int, wanted: float) -> None:
    found = of_systems(np.arange(count), np.arange(count))
    assert found.spearman.value == pytest.approx(1) and found.spearman.p == pytest.approx(wanted)
    # Without ties, scipy counts Kendall's p over all permutations, too.
    assert found.kendall.p == pytest.approx(wanted)


def test_spearmans_p_of_few_systems_equals_that_of_all_permutations() -> None:
    generator = np.random.default_rng(0)
    for count in (3, 5, 6):
        people, metric = generator.integers(0, 4, count), generator.normal(size=count)
        found = of_systems(people, metric).spearman
        each = [abs(stats.spearmanr(np.array(order), metric).statistic) for order in permutations(people)]
        assert found.p == pytest.approx(np.mean(np.array(each) >= abs(found.value or 0) - 1e-12))
    people, metric = generator.normal(size=(2, 9))
    assert of_systems(people, metric).spearman.p == pytest.approx(stats.spearmanr(people, metric).pvalue)


def of_systems(people: np.ndarray, metric: np.ndarray) -> MetricCorrelation:
    """Return the correlation over systems, each with one value of people and of the metric."""
    rows = [
        {"item": "i", "system": str(at), "rater": "r", "criterion": "q", "value": float(value)}
        for at, value in enumerate(people)
    ]
    scores = MetricScores({"m": {("", "i", str(at)): float(value) for at, value in enumerate(metric)}})
    return correlate(Ratings(rows), scores, level="system").rows[0]
