"""What a search has found: back-pointers followed to sentences."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

IMPOSSIBLE = -1e9
"""The log probability of what cannot be; finite, so that sums stay numbers."""


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A sentence: its token numbers without begin and end, its log probability, and whether it reached its end."""

    tokens: tuple[int, ...]
    score: float
    finished: bool


def hypotheses(
    history: NDArray[np.int32],
    parents: NDArray[np.int32],
    scores: NDArray[np.float32],
    finished: NDArray[np.bool_],
    eos: int,
) -> list[list[Hypothesis]]:
    """Follow the parents back and return each row's hypotheses, best first; impossible ones are left out.

    Args:
        history: tokens, (T, B, K).
        parents: the beam that each token continues, (T, B, K).
        scores: log probabilities of the first N beams, which are wanted, (B, N).
        finished: whether they reached the end, (B, N).
        eos: the end token.
    """
    length, (batch, width) = len(history), scores.shape
    tokens = np.empty((batch, width, length), np.int32)
    beam = np.tile(np.arange(width), (batch, 1))
    rows = np.arange(batch)[:, None]
    for t in range(length - 1, -1, -1):
        tokens[:, :, t] = history[t][rows, beam]
        beam = parents[t][rows, beam]
    ends = tokens == eos
    cuts = np.where(ends.any(axis=2), ends.argmax(axis=2), length).tolist()
    words, values, flags = tokens.tolist(), scores.tolist(), finished.tolist()
    return [
        [
            Hypothesis(tuple(words[row][k][: cuts[row][k]]), values[row][k], flags[row][k])
            for k in range(width)
            if values[row][k] > IMPOSSIBLE / 2
        ]
        for row in range(batch)
    ]
