"""Scores of given sentences: the log probability of every token under a step function (teacher forcing), in NumPy.

Shape letters: B acts, N sentences, T longest sentence including its end token.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dactnlg.search.constraints import Rules
from dactnlg.search.numpy_step import Ints, State, Step, log_softmax


def token_scores(
    step: Step, state: State, rows: Sequence[Sequence[int]], *, owner: Ints, rules: Rules
) -> NDArray[np.float32]:
    """Return the log probability of every token of the sentences including their end tokens, (N, T), padded with 0.

    Args:
        step: a model's step, which returns logits.
        state: the initial state of every act, each (B, ...).
        rows: N sentences as token numbers, without begin and end.
        owner: the act of each sentence, (N,).
        rules: the begin and end tokens.
    """
    # Longest first, so that the sentences not yet ended are always the first rows.
    order = np.argsort([-len(row) for row in rows], kind="stable")
    lengths = np.array([len(rows[row]) + 1 for row in order])
    tokens = np.full((len(rows), lengths.max(initial=0) + 1), rules.eos, np.intp)
    for line, row in zip(tokens, order, strict=True):
        line[: len(rows[row]) + 1] = [rules.bos, *rows[row]]
    owner = owner[order]
    state = [part[owner] for part in state]
    scores = np.zeros((len(rows), tokens.shape[1] - 1), np.float32)
    for t in range(scores.shape[1]):
        live = int(np.count_nonzero(lengths > t))
        logits, state = step([part[:live] for part in state], tokens[:live, t], owner[:live])
        scores[order[:live], t] = log_softmax(logits)[np.arange(live), tokens[:live, t + 1]]
    return scores
