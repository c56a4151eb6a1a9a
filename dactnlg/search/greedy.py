"""A greedy bound for the beam search (branch and bound), in NumPy: first a greedy sentence, then only what may beat it.

Scores only fall. So no hypothesis that scores less than a finished one can overtake it, nor can anything that it pushes
out of the beam: to leave it out changes nothing. (Best-first beam search rests on the same: Meister, Vieira and
Cotterell 2020, section 3.) A greedy sentence costs one hypothesis. Where every token that it passed over scores less in
its place already than the whole sentence does in the end, it is what a beam search would find; elsewhere its score is a
bound for `search.numpy_beam`. Models that are sure of their tokens are done then, most of the time.

Shape letters: B acts, L those still going, V vocabulary, T longest sentence with its end.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dactnlg.search.constraints import Rules
from dactnlg.search.hypotheses import IMPOSSIBLE, Hypothesis
from dactnlg.search.numpy_step import State, Step, chosen_rows

PATIENCE = 6
"""Tokens passed over that may score above the sentence before it is given up: it would be no bound worth its time."""
SLACK = 1e-3
"""What is worse by less is not worse: the last digits of an act's numbers depend on the acts beside it."""


class GreedyBound(NamedTuple):
    """What the greedy sentence of an act tells.

    Attributes:
        best: the sentence.
        bound: a score that the best hypothesis reaches; IMPOSSIBLE where nothing is known.
        settled: whether no beam search can find a better one.
    """

    best: Hypothesis
    bound: float
    settled: bool


def greedy_bounds(step: Step, state: State, rules: Rules, *, max_length: int) -> list[GreedyBound]:
    """Take for every act the likeliest token after every token; acts for which that leads nowhere are given up.

    Args:
        step: returns log probabilities under the rules.
        state: the first state of every act, each (B, ...).
        rules: what may be generated.
        max_length: the end token included.
    """
    batch, eos = len(state[0]), rules.eos
    words = np.full((batch, max_length), eos, np.intp)
    # What the best token that was passed over would have scored, (B, T).
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
