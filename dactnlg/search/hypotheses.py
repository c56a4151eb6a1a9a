"""Search results: turns the back-pointers of a beam search into sentences."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

IMPOSSIBLE = -1e9
"""The log probability of forbidden tokens; finite, so that sums stay finite."""


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A sentence: its token numbers without begin and end, its log probability, and whether it was finished."""

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
    """Follow the parents back and return each row's hypotheses, best first, without impossible ones.

    Args:
        history: tokens, (T, B, K).
        parents: the hypothesis that each token continues, (T, B, K).
        scores: log probabilities of the N best hypotheses, which are to be returned, (B, N).
        finished: whether they have ended, (B, N).
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
