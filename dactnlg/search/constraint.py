"""Hard slot constraints as part of the search: a placeholder only while it is required, the end only when none is.

The constraint wraps a step function and keeps its count in the search's state, so that any search can carry it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from keras import ops
from numpy.typing import NDArray

from dactnlg.search.beam import State, Step, Tensor
from dactnlg.search.paths import IMPOSSIBLE


def block_tokens(step: Step, tokens: Sequence[int], size: int) -> Step:
    """Return a step function under which some tokens are never emitted.

    Args:
        step: the step function.
        tokens: the forbidden token numbers.
        size: V.
    """
    mask = np.zeros(size, np.float32)
    mask[list(tokens)] = IMPOSSIBLE

    def blocked(state: State, last: Tensor) -> tuple[Tensor, State]:
        log_probs, state = step(state, last)
        return log_probs + mask, state

    return blocked


def require_slots(step: Step, kinds: NDArray[np.int32], kind_count: int, eos: int) -> Callable[[State, Tensor], Any]:
    """Return a step function that says every required placeholder exactly once.

    Its state is the inner state followed by the counts still required, (B, K, R).

    Args:
        step: the inner step function.
        kinds: for each token the placeholder it stands for, numbered from 0, or -1, shape (V,).
        kind_count: R, the number of placeholders.
        eos: the end token.
    """
    spoken = np.flatnonzero(kinds >= 0)
    # Placeholders are numbered in one stretch (see `Vocabulary`), so the mask is built on that stretch alone.
    low, high = (int(spoken[0]), int(spoken[-1]) + 1) if len(spoken) else (0, 0)
    size = len(kinds)
    said_table = np.zeros((size, kind_count), np.float32)
    said_table[spoken, kinds[spoken]] = 1.0
    is_end = np.zeros(size, np.float32)
    is_end[eos] = 1.0

    def constrained(state: State, last: Tensor) -> tuple[Tensor, State]:
        *inner, required = state
        required = required - ops.take(said_table, last, axis=0)  # (B, K, R)
        log_probs, inner = step(list(inner), last)
        owed = ops.cast(ops.sum(ops.maximum(required, 0.0), axis=-1, keepdims=True) > 0.5, "float32")  # (B, K, 1)
        log_probs = log_probs + IMPOSSIBLE * owed * is_end
        if high > low:
            allowed = ops.take(required, kinds[low:high], axis=-1) > 0.5  # (B, K, high - low)
            mask = ops.where(allowed, 0.0, IMPOSSIBLE)
            mask = ops.pad(mask, ((0, 0), (0, 0), (low, size - high)))
            log_probs = log_probs + mask
        return log_probs, [*inner, required]

    return constrained


def require_words(step: Step, words: NDArray[np.bool_], eos: int) -> Callable[[State, Tensor], Any]:
    """Return a step function under which a sentence may end only when it holds a word of every set that it owes.

    Its state is the inner state followed by the sets still owed, (B, K, A).

    Args:
        step: the inner step function.
        words: for each token the sets it belongs to, (V, A).
        eos: the end token.
    """
    others = 1.0 - words.astype(np.float32)
    is_end = np.zeros(len(words), np.float32)
    is_end[eos] = 1.0

    def constrained(state: State, last: Tensor) -> tuple[Tensor, State]:
        *inner, owed = state
        owed = owed * ops.take(others, last, axis=0)  # (B, K, A)
        log_probs, inner = step(list(inner), last)
        owing = ops.cast(ops.any(owed > 0.5, axis=-1, keepdims=True), "float32")  # (B, K, 1)
        return log_probs + IMPOSSIBLE * owing * is_end, [*inner, owed]

    return constrained
