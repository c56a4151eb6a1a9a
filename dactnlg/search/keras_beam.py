"""Beam search over Keras tensors of fixed shapes: can be compiled and exported, and runs on any device of Keras.

Shape letters: B acts, K beam width, V vocabulary, T longest sentence. Hypotheses are rows: the K hypotheses of an act
are adjacent in (B * K, ...).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import keras
import numpy as np
from keras import ops

from dactnlg.search.constraints import Rules
from dactnlg.search.hypotheses import IMPOSSIBLE

Tensor: TypeAlias = keras.KerasTensor
State = dict[str, Tensor]
Step = Callable[[State, Tensor], tuple[Tensor, State]]
"""(states (B * K, ...), last tokens (B * K,)) -> (logits of the next tokens (B * K, V), states)"""


class Found(NamedTuple):
    """The result of a search, as input for `search.hypotheses.hypotheses`.

    Attributes:
        history: tokens, (T, B, K).
        parents: the hypotheses that each token continues, (T, B, K).
        scores: log probabilities, (B, K), best first.
        finished: whether they have ended, (B, K).
    """

    history: Tensor
    parents: Tensor
    scores: Tensor
    finished: Tensor


def beam_search(
    step: Step, state: State, owed: list[Tensor], rules: Rules, *, width: int, max_length: int, keep: int | Tensor = 1
) -> Found:
    """Search for the most probable sentences; see `search` for the rules. Can be traced and compiled.

    Args:
        step: the model's step.
        state: the initial state of every hypothesis, each (B * K, ...); see `repeated`.
        owed: the initial owed array of each constraint, each (B, C).
        rules: what may be generated.
        width: K.
        max_length: T, including the end token.
        keep: how many of the best hypotheses must be finished before the search may stop.
    """
    rows = ops.shape(next(iter(state.values())))[0]
    batch = rows // width
    names, owed = list(state), [ops.repeat(part, width, axis=0) for part in owed]
    # All hypotheses start out identical; only the first may propose candidates.
    start = ops.convert_to_tensor([[0.0] + [IMPOSSIBLE] * (width - 1)], "float32")
    scores, finished = ops.tile(start, (batch, 1)), ops.zeros((batch, width), dtype="bool")
    history = ops.full((max_length, batch, width), rules.eos, dtype="int32")
    parents = ops.tile(ops.arange(width, dtype="int32")[None, None], (max_length, batch, 1))
    first_rows = ops.arange(batch, dtype="int32")[:, None] * width
    end = ops.convert_to_tensor([IMPOSSIBLE], "float32")
    others = ops.arange(width, dtype="int32")[None] >= keep

    def running(t: Tensor, _tokens: Tensor, _scores: Tensor, finished: Tensor, *_: Any) -> Tensor:
        return ops.logical_and(t < max_length, ops.logical_not(ops.all(ops.logical_or(finished, others))))

    def advance(
        t: Tensor, tokens: Tensor, scores: Tensor, finished: Tensor, history: Tensor, parents: Tensor, *parts: Tensor
    ) -> tuple[Tensor, ...]:
        """Extend every hypothesis by one token."""
        logits, new = step(dict(zip(names, parts, strict=False)), tokens)  # (B * K, V)
        log_probs, now_owed = constrained(ops.log_softmax(logits), list(parts[len(names) :]), tokens, rules)
        log_probs = ops.reshape(log_probs, (batch, width, -1))
        count = min(width, logits.shape[-1])
        best, words = ops.top_k(log_probs, count)  # (B, K, count): the joint best are among the best of each hypothesis
        # A frozen hypothesis has one continuation: the end token again, at no cost.
        frozen = ops.cast(ops.arange(count) > 0, "float32") * end
        best = ops.where(finished[..., None], frozen, best)
        words = ops.where(finished[..., None], rules.eos, ops.cast(words, "int32"))
        scores, index = ops.top_k(ops.reshape(scores[..., None] + best, (batch, width * count)), width)  # (B, K)
        index = ops.cast(index, "int32")
        parent = index // count
        tokens = ops.take_along_axis(ops.reshape(words, (batch, width * count)), index, axis=1)
        chosen = ops.reshape(first_rows + parent, (-1,))
        history = ops.slice_update(history, (t, 0, 0), tokens[None])
        parents = ops.slice_update(parents, (t, 0, 0), parent[None])
        parts = tuple(ops.take(part, chosen, axis=0) for part in (*(new[name] for name in names), *now_owed))
        return (t + 1, ops.reshape(tokens, (-1,)), scores, tokens == rules.eos, history, parents, *parts)

    tokens = ops.tile(ops.convert_to_tensor([rules.bos], "int32"), (rows,))
    loop = (ops.convert_to_tensor(0, "int32"), tokens, scores, finished, history, parents, *state.values(), *owed)
    _, _, scores, finished, history, parents, *_ = ops.while_loop(running, advance, loop)
    return Found(history, parents, scores, finished)


def constrained(log_probs: Tensor, owed: list[Tensor], last: Tensor, rules: Rules) -> tuple[Tensor, list[Tensor]]:
    """Return log probabilities, (N, V), with forbidden tokens made impossible, and the updated owed arrays.

    Args:
        log_probs: of the next tokens.
        owed: the owed array of each constraint before the last tokens, each (N, C).
        last: the last tokens, (N,).
        rules: what may be generated.
    """
    size = log_probs.shape[-1]
    rows = np.zeros((2, size), np.float32)
    rows[0, list(rules.blocked)] = rows[1, rules.eos] = IMPOSSIBLE
    never, is_end = ops.unstack(ops.convert_to_tensor(rows))
    log_probs, new = log_probs + never, []
    for constraint, before in zip(rules.constraints, owed, strict=True):
        now = constraint.advance(ops, before, last)
        new.append(now)
        pending = ops.cast(constraint.pending(ops, now), "float32")
        log_probs = log_probs + pending[:, None] * is_end
        if constraint.high > constraint.low:
            mask = IMPOSSIBLE * ops.cast(constraint.forbidden(ops, now), "float32")
            log_probs = log_probs + ops.pad(mask, ((0, 0), (constraint.low, size - constraint.high)))
    return log_probs, new


def repeated(parts: State, width: int) -> State:
    """Return every row K times: (B, ...) -> (B * K, ...)."""
    return {name: ops.repeat(part, width, axis=0) for name, part in parts.items()}
