"""Logistic regression over sparse binary features (L-BFGS; Liu and Nocedal 1989)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse import csr_array
from scipy.special import expit

Vector = NDArray[np.float64]
STEPS = 25
"""Maximum number of iterations; after these the loss hardly falls."""


def count_features(rows: Iterable[Iterable[str]], least: int) -> dict[str, int]:
    """Return the features that occur in at least `least` rows, numbered alphabetically."""
    counts = Counter(feature for row in rows for feature in row)
    return {feature: n for n, feature in enumerate(sorted(f for f, count in counts.items() if count >= least))}


def matrix(rows: Sequence[Iterable[str]], numbers: dict[str, int]) -> csr_array:
    """Return rows as a binary matrix, (rows, features); features without a number are left out."""
    columns = [[numbers[feature] for feature in row if feature in numbers] for row in rows]
    ends = np.cumsum([0, *map(len, columns)])
    flat = np.fromiter((number for row in columns for number in row), np.int32, int(ends[-1]))
    return csr_array((np.ones(len(flat)), flat, ends), shape=(len(rows), len(numbers)))


def fit(features: csr_array, targets: Vector, strength: float, counts: Vector | None = None) -> tuple[Vector, float]:
    """Return the weights, (features,), and the bias that separate targets of 1 from targets of 0.

    Args:
        features: (rows, features).
        targets: (rows,), at least one of each class.
        strength: strength of the L2 penalty: the larger, the smaller the weights.
        counts: weight of each row, (rows,); by default 1.
    """
    turned = features.T.tocsr()
    count = np.ones(len(targets)) if counts is None else counts

    def loss(parameters: Vector) -> tuple[float, Vector]:
        weights, bias = parameters[:-1], parameters[-1]
        logits = features @ weights + bias
        errors = count * (expit(logits) - targets)
        total = count @ (np.logaddexp(0.0, logits) - targets * logits) + 0.5 * strength * weights @ weights
        return float(total), np.append(turned @ errors + strength * weights, errors.sum())

    start = np.zeros(features.shape[1] + 1)
    share = count @ targets / count.sum()
    start[-1] = np.log(share / (1.0 - share))
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": STEPS, "maxcor": 6}).x
    return found[:-1], float(found[-1])


def break_even(positive: Vector, negative: Vector) -> float:
    """Return a threshold with about as many positives below as negatives above; 0 if there are none of either."""
    if not len(positive) or not len(negative):
        return 0.0
    values = np.unique(np.concatenate([positive, negative]))
    between = (values[:-1] + values[1:]) / 2
    choices = np.concatenate([values[:1] - 1.0, between, values[-1:] + 1.0])
    below = np.searchsorted(np.sort(positive), choices)
    above = len(negative) - np.searchsorted(np.sort(negative), choices)
    return float(choices[np.abs(below - above).argmin()])
