"""Beam search in NumPy that never advances what is finished: the same hypotheses as `search.beam`, for CPUs.

A compiled search has fixed shapes: it advances finished beams, and finished rows, until the slowest row of the batch
is done. Here only live beams are rows of the step's products, and a row of the batch leaves with its last one. Nothing
is compiled, so a few acts need no warm-up, and any number of acts no padding.

Shape letters: B batch, A active rows of it, K beams, N live beams of the active rows, V vocabulary, M candidates.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from dactnlg.search.paths import IMPOSSIBLE, Hypothesis, hypotheses

Flags = NDArray[np.bool_]
Floats = NDArray[np.float32]
Ints = NDArray[np.intp]
State = list[Floats]
Step = Callable[[State, Ints, Ints], tuple[Floats, State]]
"""(states (N, ...), last tokens (N,), their rows of the batch (N,)) -> (log probabilities (N, V), states); the log
probabilities are the caller's to change."""


def ragged_search(
    step: Step,
    state: State,
    *,
    width: int,
    bos: int,
    eos: int,
    max_length: int,
    keep: int = 1,
    bounds: Floats | None = None,
) -> list[list[Hypothesis]]:
    """Search for the sentences of highest probability; see `search.beam.beam_search` for the rules.

    Args:
        step: the step function.
        state: the first state of every row, each (B, ...).
        width: K.
        bos: the token to begin with.
        eos: the token that ends a sentence.
        max_length: the end token included.
        keep: how many of the best must be finished before a row's search may stop.
        bounds: for each row a score below which no hypothesis is followed, (B,).

    Returns:
        Each row's `keep` best hypotheses, the best first; fewer where no others are possible.
    """
    batch = len(state[0])
    # What is impossible is never followed.
    bounds = np.maximum(np.full(batch, IMPOSSIBLE / 2, np.float32), IMPOSSIBLE if bounds is None else bounds)
    scores = np.full((batch, width), IMPOSSIBLE, np.float32)
    scores[:, 0] = 0.0
    finished = np.zeros((batch, width), bool)
    history = np.full((max_length, batch, width), eos, np.int32)
    parents = np.tile(np.arange(width, dtype=np.int32), (max_length, batch, 1))
    active, best = np.arange(batch), scores
    # All beams begin alike; only the first puts candidates forward.
    live, ended = np.zeros((2, batch, width), bool)
    live[:, 0] = True
    tokens = np.full(batch, bos, np.intp)
    length = 0
    while len(active) and length < max_length:
        owner, beam = np.nonzero(live)
        log_probs, state = step(state, tokens, active[owner])
        best, words, line, parent = _joint(log_probs, best, bounds[active], live, ended, owner, beam, keep, eos)
        del log_probs  # the largest array by far, and the next step makes another
        ended = words == eos
        history[length, active], parents[length, active] = words, parent
        length += 1
        # Scores only fall: what stands behind `keep` finished ones can't come before them any more, nor can anything
        # that it pushes out of the beam. And what has become impossible can never be better again.
        live = best >= bounds[active][:, None]
        if np.count_nonzero(ended):
            live &= (ended.cumsum(axis=1) < keep) & ~ended
        going = np.logical_or.reduce(live, axis=1)
        if np.count_nonzero(going) < len(going) or length == max_length:
            scores[active], finished[active] = best, ended
            active, live, ended, best = active[going], live[going], ended[going], best[going]
            words, line = words[going], line[going]
        chosen, tokens = line[live], words[live]
        state = [part.take(chosen, axis=0) for part in state]
    return hypotheses(history[:length], parents[:length], scores[:, :keep], finished[:, :keep], eos)


def _joint(
    log_probs: Floats,
    scores: Floats,
    bounds: Floats,
    live: Flags,
    finished: Flags,
    owner: Ints,
    beam: Ints,
    keep: int,
    eos: int,
) -> tuple[Floats, Ints, Ints, Ints]:
    """Return the best K continuations of every active row: scores, tokens, and their parents' lines and beams, (A, K).

    A line is a row of `log_probs`, which become the scores of whole continuations; a frozen parent has none. Rows with
    fewer continuations that matter are filled up with impossible ones.
    """
    width, size = live.shape[1], log_probs.shape[1]
    log_probs += scores[live][:, None]
    # Every beam has one continuation that is at least so good; so K of them are, and worse ones need no look.
    floor = np.full(live.shape, IMPOSSIBLE, np.float32)
    floor[live] = log_probs.max(axis=1)
    some = np.count_nonzero(finished) > 0
    if some:
        floor[finished] = scores[finished]
    least = np.maximum(floor.min(axis=1), bounds)
    if some:
        # Where some beams have nothing to offer, what is worse than `keep` finished ones needs no look either.
        settled = finished & (finished.cumsum(axis=1) == keep)
        np.maximum(least, np.where(settled, scores, np.float32(IMPOSSIBLE)).max(axis=1), out=least)
    least = least[owner]  # (N,)
    # In the first steps nothing is finished: the best K of every beam are looked at.
    wide = (least <= IMPOSSIBLE / 2).nonzero()[0]
    if len(wide):
        rank = max(size - width, 0)
        least[wide] = np.partition(log_probs[wide], rank, axis=1)[:, rank]
    flat = (log_probs >= least[:, None]).ravel().nonzero()[0]  # (M,)
    if not (some or len(flat)):
        # Nothing reaches its bound.
        none = np.zeros(live.shape, np.intp)
        return np.full(live.shape, IMPOSSIBLE, np.float32), none - 1, none, none
    line = flat // size
    token, row, parent, value = flat - line * size, owner[line], beam[line], log_probs.ravel()[flat]
    if some:
        frozen_row, frozen_beam = np.nonzero(finished)
        # A frozen beam has one continuation, the end again, which costs nothing.
        row, parent = np.concatenate([frozen_row, row]), np.concatenate([frozen_beam, parent])
        line = np.concatenate([np.full(len(frozen_row), -1), line])
        value = np.concatenate([scores[finished], value])
        token = np.concatenate([np.full(len(frozen_row), eos), token])
    picked, real = _highest(row, value, len(live), width)
    if real is None:
        return value[picked], token[picked], line[picked], parent[picked]
    value, token = np.where(real, value[picked], np.float32(IMPOSSIBLE)), np.where(real, token[picked], -1)
    return value, token, line[picked], parent[picked]


def _highest(row: Ints, value: Floats, rows: int, width: int) -> tuple[Ints, Flags | None]:
    """Return the places of the K highest of M values in each row, (A, K), the highest first.

    Also which of them are real, in case that some rows have fewer.
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


def block_tokens(step: Step, tokens: Sequence[int]) -> Step:
    """Return a step function under which some tokens are never emitted."""
    columns = list(tokens)

    def blocked(state: State, last: Ints, owner: Ints) -> tuple[Floats, State]:
        log_probs, state = step(state, last, owner)
        # One by one is quicker than by a list of them.
        for column in columns:
            log_probs[:, column] = IMPOSSIBLE
        return log_probs, state

    return blocked


def slots_owed(required: Floats, kinds: NDArray[np.int32]) -> State:
    """Return what `require_slots` keeps in the state: which placeholders may be said, and how many are owed.

    Args:
        required: 1 for every placeholder that must be said, (B, R).
        kinds: for each token the placeholder it stands for, numbered from 0, or -1, (V,).
    """
    low, high = _stretch(kinds)
    allowed = required[:, kinds[low:high]] > 0.5
    return [np.where(allowed, np.float32(0.0), np.float32(IMPOSSIBLE)), required.sum(axis=1)]


def require_slots(step: Step, kinds: NDArray[np.int32], eos: int) -> Step:
    """Return a step function that says every required placeholder exactly once; see `search.constraint`.

    Its state is the inner state followed by that of `slots_owed`: penalties, (N, stretch), and counts, (N,).

    Args:
        step: the inner step function.
        kinds: as `slots_owed` takes them.
        eos: the end token.
    """
    low, high = _stretch(kinds)
    # A row for every placeholder: saying it forbids all tokens that stand for it.
    forbids = np.where(kinds[low:high] == np.arange(kinds.max(initial=-1) + 1)[:, None], np.float32(IMPOSSIBLE), 0)

    def constrained(state: State, last: Ints, owner: Ints) -> tuple[Floats, State]:
        *inner, penalties, owed = state
        said = kinds[last]
        lines = (said >= 0).nonzero()[0]
        if len(lines):
            penalties, owed = penalties.copy(), owed.copy()
            penalties[lines] += forbids[said[lines]]
            owed[lines] -= 1.0
        log_probs, inner = step(inner, last, owner)
        log_probs[:, low:high] += penalties
        log_probs[owed > 0.5, eos] = IMPOSSIBLE
        return log_probs, [*inner, penalties, owed]

    return constrained


def _stretch(kinds: NDArray[np.int32]) -> tuple[int, int]:
    """Return where the tokens that stand for placeholders begin and end; they are numbered in one stretch."""
    spoken = np.flatnonzero(kinds >= 0)
    return (int(spoken[0]), int(spoken[-1]) + 1) if len(spoken) else (0, 0)


def require_words(step: Step, words: NDArray[np.bool_], eos: int) -> Step:
    """Return a step function under which a sentence may end only when it holds a word of every set that it owes.

    Its state is the inner state followed by the sets still owed, (N, A).

    Args:
        step: the inner step function.
        words: for each token the sets it belongs to, (V, A).
        eos: the end token.
    """
    member = np.asarray(words.any(axis=1))

    def constrained(state: State, last: Ints, owner: Ints) -> tuple[Floats, State]:
        *inner, owed = state
        lines = member[last].nonzero()[0]
        if len(lines):
            owed = owed.copy()
            owed[lines] *= ~words[last[lines]]
        log_probs, inner = step(inner, last, owner)
        log_probs[(owed > 0.5).any(axis=1), eos] = IMPOSSIBLE
        return log_probs, [*inner, owed]

    return constrained
