"""Sentiment (Ghandeharioun et al. 2019, section 4.3), computed from a teacher's distributions over emotions.

Shapes: T utterances in order, K emotions, N pairs of utterances.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def sentiment(probabilities: Array, weights: Array) -> Array:
    """Return how positive each utterance is, s_t = sum_k w_k p_tk, (T, K), (K,) -> (T,)."""
    scores: Array = probabilities @ weights
    return scores


def cosines(first: Array, second: Array) -> Array:
    """Return cos(a_n, b_n), (N, D), (N, D) -> (N,); 0 if either vector is zero.

    This is sentiment coherence for distributions over emotions, and semantic similarity for sentence vectors.
    """
    lengths = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
    dots = (first * second).sum(axis=1)
    found: Array = np.clip(np.divide(dots, lengths, out=np.zeros(len(dots)), where=lengths > 0), -1, 1)
    return found


def transitions(scores: Array) -> Array:
    """Return s_(t+1) - s_t, the change until the speaker's next turn, (T,) -> (T,); the last is NaN."""
    found = np.full(len(scores), np.nan)
    found[:-1] = scores[1:] - scores[:-1]
    return found


def min_max_slope(scores: Array) -> float:
    """Return (max s - min s) / (t of max - t of min), (T,) -> scalar: positive if sentiment rises over time.

    Of equal extremes the first counts. 0 if all values are equal; NaN without utterances.
    """
    if not len(scores):
        return float("nan")
    highest, lowest = int(scores.argmax()), int(scores.argmin())
    if scores[highest] == scores[lowest]:
        return 0.0
    return float((scores[highest] - scores[lowest]) / (highest - lowest))
