"""Means that are equal but for rounding error are equal to correlations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from dactnlg.studies.analysis.coefficients import exact
from dactnlg.studies.analysis.correlation import correlate
from dactnlg.studies.analysis.metric_scores import MetricScores
from dactnlg.studies.analysis.permutation import permute_metrics
from dactnlg.studies.analysis.systems import head_to_head
from dactnlg.studies.ratings import Ratings


def ratings(values: np.ndarray) -> Ratings:
    """Return ratings of (items, systems, raters)."""
    return Ratings(
        [
            {"item": str(i), "system": str(s), "rater": str(r), "criterion": "q", "value": float(value)}
            for (i, s, r), value in np.ndenumerate(values)
        ]
    )


def scores(**values: np.ndarray) -> MetricScores:
    """Return metrics of (items, systems)."""
    return MetricScores(
        {name: {("", str(i), str(s)): float(v) for (i, s), v in np.ndenumerate(own)} for name, own in values.items()}
    )


@pytest.mark.parametrize("seed", range(5))
def test_tied_systems_are_tied(seed: int) -> None:
    generator = np.random.default_rng(seed)
    values = generator.integers(1, 6, size=(20, 5, 3))
    values[:, 1] = values[generator.permutation(20), 0]
    metric = generator.normal(size=5)
    own = scores(m=np.tile(metric, (20, 1)))
    totals = values.sum(axis=(0, 2))
    (found,) = correlate(ratings(values), own, level="system").rows
    assert found.kendall.value == pytest.approx(stats.kendalltau(metric, totals).statistic)
    assert found.spearman.value == pytest.approx(stats.spearmanr(metric, totals).statistic)
    # Ratings in thousandths order the systems alike.
    (small,) = correlate(ratings(values / 1000), own, level="system").rows
    assert small.kendall == found.kendall and small.spearman == found.spearman


@pytest.mark.parametrize("unit", [1.0, 1e-9, 1e7])
def test_constant_means_are_constant(unit: float) -> None:
    generator = np.random.default_rng(0)
    # Every sentence has the values .1, .2 and .3, and every system the same ones, in any order.
    values = generator.permuted(np.tile([0.1, 0.2, 0.3], (20, 3, 1)), axis=2) * unit
    noise: dict[str, Any] = {name: generator.normal(size=(20, 3)) for name in ("m", "n")}
    for level in ("segment", "system", "item"):
        (found, _) = correlate(ratings(values), scores(**noise), level=level).rows  # type: ignore[arg-type]
        assert [found.pearson.value, found.spearman.value, found.kendall.value] == [None] * 3
    (row,) = permute_metrics(ratings(values), scores(**noise)).rows
    assert row.p is None and "people's values are constant" in row.reason


def test_values_given_in_another_order_are_a_tie() -> None:
    # The rater sees each sentence on three pages.
    given = {"a": (0.1, 0.2, 0.3), "b": (0.3, 0.2, 0.1)}
    rows = [
        {"item": "i", "system": system, "rater": "r", "criterion": "q", "value": value}
        for system, values in given.items()
        for value in values
    ]
    (row,) = head_to_head(Ratings(rows)).rows
    assert (row.win.count, row.loss.count, row.tie.count) == (0, 0, 1)


def test_means_lose_only_rounding_error() -> None:
    for unit in (1e-300, 1e-12, 1.0, 1e15):
        means = np.array([[0.0, 1 / 3, 0.1 + 0.2, 0.3, -2.5]]) * unit
        np.testing.assert_allclose(exact(means), means, rtol=0, atol=2.5e-11 * unit)
        assert unit < 1e-299 or exact(means)[0, 2] == exact(means)[0, 3]
    assert exact(np.zeros(0)).size == 0
