"""Branch and bound, for CPUs: a greedy sentence first, then beams only for what may beat it.

Scores only fall. So no hypothesis that scores less than a finished one can overtake it, nor can anything that it pushes
out of the beam: to leave it out changes nothing. (Best-first beam search rests on the same: Meister, Vieira and
Cotterell 2020, section 3.) A greedy sentence costs one beam. Where every word that it passed over scores less in its
place already than the whole sentence does in the end, it is what a beam search would find; elsewhere its score is a
bound for `search.ragged`. Models that are sure of their words are done then, most of the time.

Shape letters: B batch, L rows still going, V vocabulary, T longest sentence with its end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from dactnlg.search.paths import IMPOSSIBLE, Hypothesis
from dactnlg.search.ragged import Floats, State, Step

PATIENCE = 6
"""Words passed over that may stand above the sentence before it is given up: it would be no bound worth its time."""
SLACK = 1e-3
"""What is worse by less is not worse: a row's numbers depend, in their last digits, on the rows beside it."""


class Glance(NamedTuple):
    """What the greedy sentence of a row tells.

    Attributes:
        best: the sentence.
        bound: a score that the best hypothesis reaches; IMPOSSIBLE where nothing is known.
        settled: whether no beam can find a better one.
    """

    best: Hypothesis
    bound: float
    settled: bool


def glance(step: Step, state: State, *, bos: int, eos: int, max_length: int) -> list[Glance]:
    """Say in every row the likeliest word after every word; rows in which that leads nowhere are given up.

    Args:
        step: the step function.
        state: the first state of every row, each (B, ...).
        bos: the token to begin with.
        eos: the token that ends a sentence.
        max_length: the end token included.
    """
    batch = len(state[0])
    words = np.full((batch, max_length), eos, np.intp)
    # What the best word that was passed over would have scored, (B, T).
    passed = np.full((batch, max_length), IMPOSSIBLE, np.float32)
    scores, lengths, finished = np.zeros(batch, np.float32), np.zeros(batch, np.intp), np.zeros(batch, bool)
    live, last = np.arange(batch), np.full(batch, bos, np.intp)
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
            live, last, state = live[going], last[going], [part[going] for part in state]
            if not len(live):
                break
    finished &= scores > IMPOSSIBLE / 2
    bounds = np.where(finished, scores - np.float32(SLACK), np.float32(IMPOSSIBLE))
    settled = finished & (passed.max(axis=1) < bounds)
    columns = (words, lengths, scores, finished, bounds, settled)
    return [
        Glance(Hypothesis(tuple(row[:length]), score, done), bound, sure)
        for row, length, score, done, bound, sure in zip(*[column.tolist() for column in columns], strict=True)
    ]


def improve(
    glances: Sequence[Glance], search: Callable[[Sequence[int], Floats], list[list[Hypothesis]]]
) -> list[list[Hypothesis]]:
    """Return for each row the hypotheses of a beam search, of which the best one is settled.

    Args:
        glances: of the rows.
        search: a beam search over some of the rows, with a bound for each of them; see `search.ragged`.
    """
    found = [[each.best] for each in glances]
    bounds = np.array([each.bound for each in glances], np.float32)
    rows = [row for row, each in enumerate(glances) if not each.settled]
    # A beam may lose the greedy sentence on its way and end with a worse one: then once more, without the bound.
    for limits in (bounds, np.full_like(bounds, IMPOSSIBLE)):
        searched = dict(zip(rows, search(rows, limits[rows]), strict=True)) if rows else {}
        for row, hypotheses in searched.items():
            found[row] = hypotheses
        rows = [r for r, row in searched.items() if limits[r] > IMPOSSIBLE and not (row and row[0].finished)]
    return found
