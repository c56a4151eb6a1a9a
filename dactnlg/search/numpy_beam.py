"""Beam search in NumPy that advances only live hypotheses: the same results as `search.keras_beam`, for CPUs.

A compiled search has fixed shapes: it advances finished hypotheses, and finished acts, until the slowest act of the
batch is done. Here only live hypotheses take part in a step, and an act leaves the batch with its last live hypothesis.
Nothing is compiled, so there is no warm-up, and batches of any size need no padding.

Shape letters: B acts, A active acts, K beam width, N live hypotheses of the active acts, V vocabulary, M candidates.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dactnlg.search.constraints import Rules
from dactnlg.search.hypotheses import IMPOSSIBLE, Hypothesis, hypotheses
from dactnlg.search.numpy_step import Flags, Floats, Ints, State, Step, chosen_rows


class Beams(NamedTuple):
    """The hypotheses of the active acts, best first.

    Attributes:
        scores: log probabilities, (A, K).
        live: which of them are still extended, (A, K).
        finished: which of them have ended, (A, K).
    """

    scores: Floats
    live: Flags
    finished: Flags


class Continuations(NamedTuple):
    """The best K continuations of every active act, best first.

    Attributes:
        scores: log probabilities, (A, K).
        tokens: (A, K).
        lines: the live hypotheses that they continue, as row numbers of the step; -1 for frozen ones, (A, K).
        parents: the ranks of the continued hypotheses among those of their act, (A, K).
    """

    scores: Floats
    tokens: Ints
    lines: Ints
    parents: Ints


def beam_search(
    step: Step,
    state: State,
    rules: Rules,
    *,
    width: int,
    max_length: int,
    keep: int = 1,
    bounds: Floats | None = None,
) -> list[list[Hypothesis]]:
    """Search for the most probable sentences; see `search` for the rules.

    Args:
        step: returns log probabilities under the rules; see `numpy_step.ConstrainedStep`.
        state: the initial state of every act, each (B, ...).
        rules: what may be generated.
        width: K.
        max_length: including the end token.
        keep: how many of the best hypotheses must be finished before an act's search may stop.
        bounds: for each act the score below which hypotheses are pruned, (B,).

    Returns:
        Each act's `keep` best hypotheses, best first; fewer if no others are possible.
    """
    batch, eos = len(state[0]), rules.eos
    # Impossible hypotheses are always pruned.
    bounds = np.maximum(np.full(batch, IMPOSSIBLE / 2, np.float32), IMPOSSIBLE if bounds is None else bounds)
    scores = np.full((batch, width), IMPOSSIBLE, np.float32)
    scores[:, 0] = 0.0
    finished = np.zeros((batch, width), bool)
    history = np.full((max_length, batch, width), eos, np.int32)
    parents = np.tile(np.arange(width, dtype=np.int32), (max_length, batch, 1))
    active = np.arange(batch)
    beams = Beams(scores, *np.zeros((2, batch, width), bool))
    # All hypotheses start out identical; only the first has continuations.
    beams.live[:, 0] = True
    tokens, length = np.full(batch, rules.bos, np.intp), 0
    while len(active) and length < max_length:
        owner, beam = np.nonzero(beams.live)
        log_probs, state = step(state, tokens, active[owner])
        best = _joint(log_probs, beams, bounds[active], owner, beam, keep=keep, eos=eos)
        del log_probs  # by far the largest array, and the next step allocates another
        ended = best.tokens == eos
        history[length, active], parents[length, active] = best.tokens, best.parents
        length += 1
        # Scores can only fall: hypotheses below `keep` finished ones can no longer overtake them, nor can anything that
        # they push out of the beam. Impossible hypotheses remain so.
        live = best.scores >= bounds[active][:, None]
        if np.count_nonzero(ended):
            live &= (ended.cumsum(axis=1) < keep) & ~ended
        going = np.logical_or.reduce(live, axis=1)
        kept, words, lines = best.scores, best.tokens, best.lines
        if np.count_nonzero(going) < len(going) or length == max_length:
            scores[active], finished[active] = kept, ended
            active, live, ended, kept = active[going], live[going], ended[going], kept[going]
            words, lines = words[going], lines[going]
        beams = Beams(kept, live, ended)
        tokens = words[live]
        state = chosen_rows(state, lines[live])
    return hypotheses(history[:length], parents[:length], scores[:, :keep], finished[:, :keep], eos)


def _joint(
    log_probs: Floats, beams: Beams, bounds: Floats, owner: Ints, beam: Ints, *, keep: int, eos: int
) -> Continuations:
    """Return the best K continuations of every active act, padded with impossible ones if fewer are worth keeping.

    Args:
        log_probs: of the live hypotheses' next tokens, (N, V); overwritten with the scores of whole continuations.
        beams: the hypotheses.
        bounds: for each act the score below which continuations are pruned, (A,).
        owner, beam: the act of each live hypothesis and its rank there, (N,).
        keep: how many of the best hypotheses must be finished before an act's search may stop.
        eos: the token that ends a sentence.
    """
    (scores, live, finished), size, width = beams, log_probs.shape[1], beams.live.shape[1]
    log_probs += scores[live][:, None]
    # Each hypothesis has a continuation at least as good as the lowest of these maxima, so K of them do, and worse
    # continuations can be ignored.
    floor = np.full(live.shape, IMPOSSIBLE, np.float32)
    floor[live] = log_probs.max(axis=1)
    some = np.count_nonzero(finished) > 0
    if some:
        floor[finished] = scores[finished]
    least = np.maximum(floor.min(axis=1), bounds)
    if some:
        # If some hypotheses have no continuations, those worse than `keep` finished hypotheses can be ignored as well.
        settled = finished & (finished.cumsum(axis=1) == keep)
        np.maximum(least, np.where(settled, scores, np.float32(IMPOSSIBLE)).max(axis=1), out=least)
    least = least[owner]  # (N,)
    # In the first steps there is no such threshold yet: consider the best K of every hypothesis.
    wide = (least <= IMPOSSIBLE / 2).nonzero()[0]
    if len(wide):
        rank = max(size - width, 0)
        least[wide] = np.partition(log_probs[wide], rank, axis=1)[:, rank]
    flat = (log_probs >= least[:, None]).ravel().nonzero()[0]  # (M,)
    if not (some or len(flat)):
        # No continuation reaches its bound.
        none = np.zeros(live.shape, np.intp)
        return Continuations(np.full(live.shape, IMPOSSIBLE, np.float32), none - 1, none, none)
    line = flat // size
    token, row, parent, value = flat - line * size, owner[line], beam[line], log_probs.ravel()[flat]
    if some:
        frozen_row, frozen_beam = np.nonzero(finished)
        # A frozen hypothesis has one continuation: the end token again, at no cost.
        row, parent = np.concatenate([frozen_row, row]), np.concatenate([frozen_beam, parent])
        line = np.concatenate([np.full(len(frozen_row), -1), line])
        value = np.concatenate([scores[finished], value])
        token = np.concatenate([np.full(len(frozen_row), eos), token])
    picked, real = _highest(row, value, len(live), width)
    value, token = value[picked], token[picked]
    if real is not None:
        value, token = np.where(real, value, np.float32(IMPOSSIBLE)), np.where(real, token, -1)
    return Continuations(value, token, line[picked], parent[picked])


def _highest(row: Ints, value: Floats, rows: int, width: int) -> tuple[Ints, Flags | None]:
    """Return the indices of the K highest of M values in each row, (A, K), the highest first.

    Also return which of them are real, or None if all are: a row may have fewer than K values.
    """
    if rows == 1:
        best = np.argsort(-value, kind="stable")[None, :width]
        if best.size == width:
            return best, None
        return np.resize(best, (1, width)), np.arange(width)[None] < best.size
    order = np.lexsort((-value, row))
    ends = np.bincount(row, minlength=rows).cumsum()
    places = np.concatenate([[0], ends[:-1]])[:, None] + np.arange(width)  # (A, K)
    real = places < ends[:, None]
    if np.count_nonzero(real) == real.size:
        return order[places], None
    return order[np.minimum(places, len(order) - 1)], real
