"""A greedy bound for beam search (branch and bound), in NumPy: first a greedy sentence, then only what might beat it.

Scores can only fall, so a hypothesis that scores less than a finished one can never overtake it, nor can anything that
it pushes out of the beam: pruning it changes nothing. (Best-first beam search uses the same property: Meister, Vieira
and Cotterell 2020, section 3.) A greedy sentence costs one hypothesis. If each token that it passed over would already
have scored less at its position than the complete sentence does, beam search would find this same sentence; otherwise
its score is a bound for `search.numpy_beam`. With confident models, most acts need no beam search at all.

Shape letters: B acts, L acts still in progress, V vocabulary, T longest sentence including its end token.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dactnlg.search.constraints import Rules
from dactnlg.search.hypotheses import IMPOSSIBLE, Hypothesis
from dactnlg.search.numpy_step import State, Step, chosen_rows

PATIENCE = 6
"""A sentence is abandoned once this many passed-over tokens score above it: its bound would not be worth the time."""
SLACK = 1e-3
"""Scores must differ by more than this to count as worse: an act's rounding errors vary with the rest of its batch."""


class GreedyBound(NamedTuple):
    """The greedy sentence of an act, and what follows from it for beam search.

    Attributes:
        best: the greedy sentence.
        bound: a lower bound on the score of the best hypothesis; IMPOSSIBLE if nothing is known.
        settled: whether beam search cannot find a better sentence.
    """

    best: Hypothesis
    bound: float
    settled: bool


def greedy_bounds(step: Step, state: State, rules: Rules, *, max_length: int) -> list[GreedyBound]:
    """Decode each act greedily, and return its sentence and bound; unpromising sentences are abandoned (`PATIENCE`).

    Args:
        step: returns log probabilities under the rules.
        state: the initial state of every act, each (B, ...).
        rules: what may be generated.
        max_length: including the end token.
    """
    batch, eos = len(state[0]), rules.eos
    words = np.full((batch, max_length), eos, np.intp)
    # The score that the sentence would have had with the second-best token at each position, (B, T).
    passed = np.full((batch, max_length), IMPOSSIBLE, np.float32)
    scores, lengths, finished = np.zeros(batch, np.float32), np.zeros(batch, np.intp), np.zeros(batch, bool)
    live, last = np.arange(batch), np.full(batch, rules.bos, np.intp)
    for t in range(max_length):
        log_probs, state = step(state, last, live)  # (L, V)
        lines = np.arange(len(live))
        last = log_probs.argmax(axis=1)
        gains = log_probs[lines, last]
        log_probs[lines, last] = IMPOSSIBLE
        passed[live, t] = scores[live] + log_probs.max(axis=1)
        scores[live] += gains
        words[live, t], lengths[live] = last, t
        ended = last == eos
        finished[live] = ended
        going = ~ended & ((passed[live, : t + 1] > scores[live][:, None]).sum(axis=1) < PATIENCE)
        if np.count_nonzero(going) < len(going):
            live, last, state = live[going], last[going], chosen_rows(state, np.flatnonzero(going))
            if not len(live):
                break
    finished &= scores > IMPOSSIBLE / 2
    bounds = np.where(finished, scores - np.float32(SLACK), np.float32(IMPOSSIBLE))
    settled = finished & (passed.max(axis=1) < bounds)
    columns = (words, lengths, scores, finished, bounds, settled)
    return [
        GreedyBound(Hypothesis(tuple(row[:length]), score, done), bound, sure)
        for row, length, score, done, bound, sure in zip(*[column.tolist() for column in columns], strict=True)
    ]
