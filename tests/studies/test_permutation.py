"""Enough permutations for Holm's correction over all pairs of metrics."""

from __future__ import annotations

import numpy as np

from dactnlg.studies.analyse import AnalysisOptions, analyse
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


def test_too_few_permutations_for_the_pairs_are_noted() -> None:
    ratings, scores = study(1, 2)
    for count, noted in ((20, True), (59, True), (60, False), (None, False)):
        found = permute_metrics(ratings, scores, count=count)
        assert bool(found.notes) == noted
        if noted:
            assert not found.apart()
            assert "too few for 3 pairs" in found.notes[0] and "choose 60" in found.notes[0]
    assert f"{FEWEST} times" in found.method
