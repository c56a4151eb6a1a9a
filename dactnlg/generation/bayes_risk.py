"""Minimum Bayes risk decoding: choose the hypothesis most similar to all others, weighted by the model's probabilities.

The most probable sentence is one of many that say the same in nearly the same words; what several hypotheses agree on
is also what people say (Kumar and Byrne 2004, section 2; Eikema and Aziz 2020, section 6).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

ORDERS = 4
"""Maximum n-gram length, as in BLEU."""
SMOOTHING = 0.1
"""Added to n-gram counts, so that short sentences have a gain as well."""


def expected_gains(sentences: Sequence[Sequence[str]], weights: Sequence[float]) -> NDArray[np.float64]:
    """Return each sentence's weighted mean BLEU against all sentences as references.

    Args:
        sentences: K sentences as tokens.
        weights: of the K sentences as references; they need not add up to 1.

    Returns:
        K gains, from 0 to 1.
    """
    lengths = np.array([max(len(sentence), 1) for sentence in sentences], float)  # (K,)
    logs = np.zeros((len(sentences), len(sentences)))  # (K, K): row's sentence against column's as reference
    for order in range(1, ORDERS + 1):
        counts = _counts(sentences, order)  # (K, grams)
        # Row by row: all pairs at once would take gigabytes for a few hundred sentences.
        overlap = np.stack([np.minimum(row, counts).sum(axis=1) for row in counts])
        logs += np.log((overlap + SMOOTHING) / (counts.sum(axis=1)[:, None] + SMOOTHING)) / ORDERS
    brevity = np.minimum(0.0, 1.0 - lengths[None] / lengths[:, None])
    share = np.asarray(weights, float)
    gains: NDArray[np.float64] = np.exp(logs + brevity) @ (share / share.sum())
    return gains


def _counts(sentences: Sequence[Sequence[str]], order: int) -> NDArray[np.float64]:
    """Return the count of each n-gram in each sentence, (sentences, n-grams)."""
    columns: dict[tuple[str, ...], int] = {}
    places = [
        (row, columns.setdefault(tuple(sentence[start : start + order]), len(columns)))
        for row, sentence in enumerate(sentences)
        for start in range(len(sentence) - order + 1)
    ]
    counts = np.zeros((len(sentences), len(columns)))
    np.add.at(counts, tuple(np.array(places, int).reshape(-1, 2).T), 1.0)
    return counts
