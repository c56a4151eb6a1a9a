"""The contract of every model: Keras weights behind `prepare`, `step` and `batch_loss`, and a configuration section.

Training, search, constraints, sampling, export and evaluation use only these four. A model names the preprocessor's
arrays that it needs (`inputs`), turns them into a context and an initial state (`prepare`), and advances sentences by
one token (`step`). By default `batch_loss` runs `step` over the reference tokens; a model with a faster way to process
whole sentences overrides `logits` or `batch_loss`. (Not `loss`, a name that Keras uses itself.)

Shape letters: B acts of a batch, N sentences, T time, V vocabulary.
"""

from __future__ import annotations

from typing import Any, ClassVar, TypeAlias

import keras
import numpy as np
from keras import ops

from dactnlg.runs.config import ModelSection
from dactnlg.text.encoding import Sizes

Tensor: TypeAlias = keras.KerasTensor
Tensors = dict[str, Tensor]


class NeuralModel(keras.Model):
    """A generator of delexicalised sentences, conditioned on the preprocessor's arrays.

    A subclass with a nested `Section` in its own file, `dactnlg/models/NAME.py`, is the model NAME. Its constructor
    takes `sizes`, and the keys of its section as keyword arguments.

    Args:
        sizes: the sizes of the preprocessor's vocabularies.

    Attributes:
        inputs: the preprocessor's arrays that the model needs; see `Preprocessor.arrays`.
        traced: what `trace` returns, if supported: `left`, how much of each entry of the DA vector is still to be said,
            or `attention`, the share of the next word's attention on the act itself, then on each of its entries.
    """

    inputs: tuple[str, ...] = ("act",)
    traced: ClassVar[str | None] = None
    Section: ClassVar[type[ModelSection]] = ModelSection

    def __init__(self, sizes: Sizes, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.sizes = sizes

    def float_inputs(self) -> dict[str, tuple[int, ...]]:
        """Return the shapes, without B, of inputs not from the preprocessor: noise, and a teacher's for two turns."""
        return {}

    def prepare(self, inputs: Tensors) -> tuple[Tensors, Tensors]:
        """Return the context and the initial state for a batch of acts.

        Args:
            inputs: the arrays named in `inputs`, each (B, ...).

        Returns:
            The context, which is the same at every step, and the initial state, both by name, each (B, ...).
        """
        raise NotImplementedError

    def step(self, context: Tensors, state: Tensors, tokens: Tensor) -> tuple[Tensor, Tensors]:
        """Advance every sentence by one token.

        Args:
            context: from `prepare`, with each sentence's row being that of its act, each (N, ...).
            state: from `prepare` or the previous step, each (N, ...).
            tokens: the tokens just generated, (N,).

        Returns:
            Logits of the next token, (N, V), and the new state.
        """
        raise NotImplementedError

    def trace(self, context: Tensors, state: Tensors) -> Tensor:
        """Return the quantity that `traced` names, after a step, (N, entries)."""
        raise NotImplementedError

    def logits(self, batch: Tensors, *, training: bool = False) -> Tensor:
        """Return the logits of the next token at every position of whole sentences, (B, T, V), by running `step`.

        Args:
            batch: `inputs`, and `tokens` (B, T) beginning with `<bos>`.
            training: whether dropout is on.
        """
        context, state = self.prepare(batch)
        cell = _StepCell(self, context, state)
        rnn = keras.layers.RNN(cell, return_sequences=True)
        # As integers, tokens are unaffected by the layers' precision.
        tokens = ops.cast(batch["tokens"], "int32")[..., None]
        return rnn(tokens, initial_state=[*context.values(), *state.values()], training=training)

    def batch_loss(self, batch: Tensors, *, training: bool = False) -> Tensor:
        """Return the loss of a batch per real token.

        Args:
            batch: `inputs`; `tokens` and `targets` (B, T); `lengths` (B,), 0 for rows that only pad the batch;
                `weights` (B,), how much each pair counts.
            training: whether dropout is on.
        """
        return self.cross_entropy(batch, self.logits(batch, training=training))

    def cross_entropy(self, batch: Tensors, logits: Tensor) -> Tensor:
        """Return the mean cross entropy of the real tokens, each counted with the weight of its pair."""
        weights = ops.cast(real_tokens(batch), "float32") * batch["weights"][:, None]  # (B, T)
        # Whatever the layers' precision, the loss is summed in single precision.
        logits = ops.cast(logits, "float32")
        entropy = keras.losses.sparse_categorical_crossentropy(batch["targets"], logits, from_logits=True)
        return ops.sum(entropy * weights) / ops.maximum(ops.sum(weights), 1.0)

    def call(self, batch: Tensors, *, training: bool = False) -> Tensor:
        """Return `batch_loss`; Keras' trainer and strategies call this method."""
        policy = self.dtype_policy
        given = {
            name: policy.convert_input(batch[name], autocast=True, dtype=policy.compute_dtype) for name in self.inputs
        }
        return self.batch_loss({**batch, **given}, training=training)

    @property
    def input_dtype(self) -> str:
        """The precision of the arrays that Keras passes to `call`: single, so that weights of pairs are not rounded."""
        return "float32"

    def compute_loss(
        self,
        x: Any = None,
        y: Any = None,
        y_pred: Any = None,
        sample_weight: Any = None,
        training: bool = True,  # noqa: FBT001, FBT002  (Keras' own signature)
    ) -> Tensor:
        """Return the output of `call`, which is already the loss."""
        loss: Tensor = y_pred
        return loss

    def reseed(self, seed: int, device: int = 0) -> None:
        """Reset the random number generators, such as those of dropout, each to draws of its own on every device."""
        for number, state in enumerate(self.seed_states()):
            own = int(np.random.default_rng([seed, number, device]).integers(2**31))
            state.assign(ops.convert_to_tensor([own, 0], state.dtype))

    def seed_states(self) -> list[keras.Variable]:
        """Return the states of the random number generators."""
        return [variable for variable in self.variables if variable.name == "seed_generator_state"]


class _StepCell(keras.layers.Layer):
    """A model's step as the cell of a Keras RNN; the context is passed along as part of the state.

    Args:
        model: the model.
        context: from `prepare`.
        state: from `prepare`.
    """

    def __init__(self, model: NeuralModel, context: Tensors, state: Tensors) -> None:
        super().__init__()
        # Not the model itself: Keras would track its weights as this layer's.
        self._step = model.step
        self._names = (list(context), list(state))
        self.state_size = [part.shape[-1] for part in (*context.values(), *state.values())]
        self.output_size = model.sizes.vocabulary
        self.built = True

    def call(self, inputs: Tensor, states: list[Tensor], *, training: bool = False) -> tuple[Tensor, list[Tensor]]:
        """Return the logits of the next tokens, (B, V), and the new states."""
        context_names, state_names = self._names
        context = dict(zip(context_names, states, strict=False))
        state = dict(zip(state_names, states[len(context) :], strict=True))
        logits, new = self._step(context, state, inputs[..., 0])
        return logits, [*context.values(), *(new[name] for name in state_names)]


def real_tokens(batch: Tensors) -> Tensor:
    """Return which tokens of a batch are not padding, (B, T)."""
    return positions(batch["tokens"]) < batch["lengths"][:, None]


def positions(tokens: Tensor) -> Tensor:
    """Return 0, 1, 2, ... for the tokens of (B, T), as (1, T)."""
    return ops.arange(ops.shape(tokens)[1], dtype="int32")[None, :]


def rows_of(weight: Tensor, numbers: Tensor) -> Tensor:
    """Return rows of a weight by index, as an embedding does."""
    # The gradient of a plain `take` is sparse in TensorFlow, which would clip it before summing repeated rows.
    return ops.take(ops.multiply(weight, 1.0), numbers, axis=0)


def sum_rows(weight: Tensor, numbers: Tensor) -> Tensor:
    """Return the sum of rows of a weight, (..., C) -> (..., E); index 0 is padding and adds nothing."""
    rows = rows_of(weight, numbers)
    return ops.sum(rows * ops.cast(numbers > 0, rows.dtype)[..., None], axis=-2)


def mean_rows(weight: Tensor, numbers: Tensor) -> Tensor:
    """Return the mean of rows of a weight, (..., C) -> (..., E); index 0 is padding, whose mean alone is 0."""
    total = sum_rows(weight, numbers)
    return total / ops.maximum(ops.sum(ops.cast(numbers > 0, total.dtype), axis=-1, keepdims=True), 1.0)
