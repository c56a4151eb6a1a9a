"""Beam search over a step function, for a whole batch at once.

A finished hypothesis is frozen: it keeps its score and its place among the beams and can only be pushed out by better
ones. Scores are sums of log probabilities and can only fall, so once the best beams are finished nothing can overtake
them, and the search of that row is over.

Shape letters: B batch, K beams, V vocabulary, T longest sentence.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from keras import ops

from dactnlg.search.paths import IMPOSSIBLE

Tensor = Any
State = list[Tensor]
Step = Callable[[State, Tensor], tuple[Tensor, State]]
"""(state, last tokens (B, K)) -> (log probabilities of the next tokens (B, K, V), state); states are (B, K, ...)."""


def beam_search(
    step: Step, state: State, *, batch: int, width: int, bos: int, eos: int, max_length: int, keep: int = 1
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Search for the sentences of highest probability; can be traced and compiled.

    Args:
        step: the step function.
        state: the first state, each (B, 1, ...).
        batch: B.
        width: K.
        bos: the token to begin with.
        eos: the token that ends a sentence.
        max_length: T, the end token included.
        keep: how many of the best must be finished before a row's search may stop.

    Returns:
        Tokens and their parent beams, each (T, B, K), scores and finished flags, each (B, K); for
        `search.paths.hypotheses`.
    """
    state = [_spread(part, width) for part in state]
    tokens = ops.full((batch, width), bos, dtype="int32")
    # All beams begin alike; only the first may put candidates forward.
    scores = ops.tile(ops.convert_to_tensor([[0.0] + [IMPOSSIBLE] * (width - 1)], "float32"), (batch, 1))
    finished = ops.zeros((batch, width), dtype="bool")
    history = ops.full((max_length, batch, width), eos, dtype="int32")
    parents = ops.tile(ops.arange(width, dtype="int32")[None, None], (max_length, batch, 1))
    rows = ops.arange(batch, dtype="int32")[:, None] * width

    def running(t: Tensor, _tokens: Tensor, _scores: Tensor, finished: Tensor, *_: Any) -> Tensor:
        return ops.logical_and(t < max_length, ops.logical_not(ops.all(finished[:, :keep])))

    def advance(
        t: Tensor, tokens: Tensor, scores: Tensor, finished: Tensor, history: Tensor, parents: Tensor, *state: Tensor
    ) -> tuple[Tensor, ...]:
        log_probs, new_state = step(list(state), tokens)  # (B, K, V)
        count = min(width, log_probs.shape[-1])
        best, words = ops.top_k(log_probs, count)  # (B, K, count): the joint best are among each beam's best
        # A frozen beam has one continuation, the end again, which costs nothing.
        first = ops.cast(ops.arange(count) == 0, "float32")
        frozen = (1.0 - first) * IMPOSSIBLE
        best = ops.where(finished[..., None], frozen, best)
        words = ops.where(finished[..., None], eos, ops.cast(words, "int32"))
        joint = ops.reshape(scores[..., None] + best, (batch, width * count))
        scores, index = ops.top_k(joint, width)  # (B, K)
        index = ops.cast(index, "int32")
        parent = index // count
        tokens = ops.take_along_axis(ops.reshape(words, (batch, width * count)), index, axis=1)
        flat = ops.reshape(rows + parent, (-1,))
        new_state = [_pick(part, flat, batch, width) for part in new_state]
        finished = tokens == eos
        history = ops.slice_update(history, (t, 0, 0), tokens[None])
        parents = ops.slice_update(parents, (t, 0, 0), parent[None])
        return (t + 1, tokens, scores, finished, history, parents, *new_state)

    start = (ops.convert_to_tensor(0, "int32"), tokens, scores, finished, history, parents, *state)
    _, _, scores, finished, history, parents, *_ = ops.while_loop(running, advance, start)
    return history, parents, scores, finished


def _spread(part: Tensor, width: int) -> Tensor:
    """(B, 1, ...) -> (B, K, ...)."""
    return ops.repeat(part, width, axis=1)


def _pick(part: Tensor, flat: Tensor, batch: int, width: int) -> Tensor:
    """Reorder the beams of (B, K, ...) by flat indices, (B * K,)."""
    shape = tuple(part.shape[2:])
    return ops.reshape(ops.take(ops.reshape(part, (batch * width, *shape)), flat, axis=0), (batch, width, *shape))
