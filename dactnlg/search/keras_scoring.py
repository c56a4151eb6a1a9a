"""Scores of given sentences over Keras tensors: `scoring` as a single compilable program, for any device of Keras.

Shape letters: N sentences, T longest sentence including its end token, V vocabulary.
"""

from __future__ import annotations

from typing import Any, Protocol

from keras import ops

from dactnlg.search.keras_beam import State, Tensor


class TracedModel(Protocol):
    """The interface required of a model, or of an ensemble that steps together; see `models.base.NeuralModel`."""

    def prepare(self, inputs: State) -> tuple[State, State]:
        """Return the context and the initial state of some acts."""

    def step(self, context: State, state: State, tokens: Tensor) -> tuple[Tensor, State]:
        """Advance every sentence by one token."""


def token_scores(model: TracedModel, inputs: State, owner: Tensor, tokens: Tensor, lengths: Tensor) -> Tensor:
    """Return the log probability of every token except `<bos>`, (N, T). Can be traced and compiled.

    Args:
        model: the model that scores.
        inputs: the model's inputs for some acts.
        owner: the act of each sentence, (N,).
        tokens: sentences that begin with `<bos>`, time first, (T + 1, N).
        lengths: how many tokens of each sentence to score, (N,); the remaining scores are 0.
    """
    context, state = (
        {name: ops.take(part, owner, axis=0) for name, part in parts.items()} for parts in model.prepare(inputs)
    )
    names, steps = list(state), ops.max(lengths)

    def running(t: Tensor, *_: Any) -> Tensor:
        return t < steps

    def advance(t: Tensor, scores: Tensor, *parts: Tensor) -> tuple[Tensor, ...]:
        """Read one token of every sentence."""
        logits, new = model.step(context, dict(zip(names, parts, strict=True)), ops.take(tokens, t, axis=0))  # (N, V)
        following = ops.take(tokens, t + 1, axis=0)[:, None]
        found = ops.take_along_axis(ops.log_softmax(logits), following, axis=1)
        scores = ops.slice_update(scores, (t, 0), ops.transpose(found))
        return (t + 1, scores, *(new[name] for name in names))

    first = ops.zeros(ops.shape(tokens[1:]), "float32")
    _, scores, *_ = ops.while_loop(running, advance, (ops.convert_to_tensor(0, "int32"), first, *state.values()))
    real = ops.arange(ops.shape(scores)[0], dtype="int32")[:, None] < lengths
    return ops.transpose(ops.where(real, scores, 0.0))
