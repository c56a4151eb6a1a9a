"""The regression against an independent optimum, and thresholds against exhaustive search."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from dactnlg.fidelity.logistic import break_even, count_features, fit, matrix
from dactnlg.fidelity.table import SMALL, Table
from dactnlg.fidelity.thresholds import alike

LOGITS = st.lists(st.integers(-20, 20), min_size=1, max_size=12).map(lambda values: np.array(values, float) / 4)


def newton(features: np.ndarray, targets: np.ndarray, strength: float, counts: np.ndarray) -> np.ndarray:
    """Return weights and bias by Newton's method, an independent way to the same minimum."""
    rows = np.column_stack([features, np.ones(len(features))])
    penalty = np.diag([*[strength] * features.shape[1], 0.0])
    found = np.zeros(rows.shape[1])
    for _ in range(50):
        chances = 1 / (1 + np.exp(-rows @ found))
        gradient = rows.T @ (counts * (chances - targets)) + penalty @ found
        hessian = rows.T @ (rows * (counts * chances * (1 - chances))[:, None]) + penalty
        found = found - np.linalg.solve(hessian, gradient)
    return found


def test_the_fit_is_the_minimum_that_newtons_method_finds() -> None:
    rng = np.random.default_rng(5)
    features = (rng.random((80, 6)) < 0.4).astype(float)
    targets = (features @ rng.normal(size=6) + rng.normal(size=80) > 0.3).astype(float)
    counts = rng.integers(1, 5, 80).astype(float)
    weights, bias = fit(csr_array(features), targets, 0.7, counts)
    assert np.allclose([*weights, bias], newton(features, targets, 0.7, counts), atol=2e-3)


def test_rows_that_count_twice_are_rows_that_stand_there_twice() -> None:
    features, targets = np.eye(4)[[0, 1, 2, 3, 0, 1]], np.array([1.0, 0, 1, 0, 0, 1])
    counts = np.array([2.0, 1, 1, 2, 1, 1])
    twice = np.repeat(np.arange(6), counts.astype(int))
    once, bias = fit(csr_array(features), targets, 0.5, counts)
    again, other = fit(csr_array(features[twice]), targets[twice], 0.5)
    assert np.allclose([*once, bias], [*again, other], atol=1e-4)


@given(LOGITS, LOGITS)
def test_no_threshold_has_its_two_kinds_of_errors_closer_to_each_other(
    positive: np.ndarray, negative: np.ndarray
) -> None:
    def apart(threshold: float) -> int:
        return abs(sum(x < threshold for x in positive) - sum(x > threshold for x in negative))

    # No logit is at an odd number of eighths.
    assert apart(break_even(positive, negative)) == min(apart(eighths / 8) for eighths in range(-49, 50, 2))


def test_two_slips_among_twenty_sentences_do_not_make_kinds_alike() -> None:
    share = Fraction(1, 20)
    for count in range(1, 80):
        exactly = [comb(count, n) * share**n * (1 - share) ** (count - n) for n in range(count + 1)]
        for mistaken in range(count + 1):
            # The probability of at least so many if one in twenty is worded like the other kind.
            chance = sum(exactly[mistaken:])
            if chance != share:
                assert alike(mistaken, count) == (mistaken > share * count and chance < share), (mistaken, count)
    assert alike(4, 20) and alike(80, 1000)
    assert not alike(2, 20) and not alike(60, 1000)


def test_separable_logits_are_separated() -> None:
    assert break_even(np.array([3.0, 1.0]), np.array([-2.0, -5.0])) == -0.5


def test_features_are_numbered_by_the_alphabet_and_rare_ones_dropped() -> None:
    numbers = count_features([["b", "a"], ["a", "c"], ["b", "a"]], 2)
    assert numbers == {"a": 0, "b": 1}
    assert matrix([["b", "c"], [], ["a", "b"]], numbers).toarray().tolist() == [[0, 1], [0, 0], [1, 1]]


def test_a_table_sums_what_it_knows_and_drops_what_says_nothing() -> None:
    table = Table.pruned(["a", "b", "c"], np.array([[1.0, 0.5], [SMALL / 2, -SMALL / 2], [-2.0, 0.25]]))
    assert list(table.features) == ["a", "c"]
    assert table.sum(["a", "b", "c", "unknown"]).tolist() == [-1.0, 0.75]
    assert table.sum(["unknown"]).tolist() == [0.0, 0.0]
