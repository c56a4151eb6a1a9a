"""The contract of every model: Keras weights behind `prepare`, `step` and `batch_loss`, and a configuration section.

Training, search, constraints, sampling, export and evaluation see these four alone. A model names the arrays that it
wants from the preprocessor (`inputs`), turns them into a context and a first state (`prepare`), and advances sentences
by one token (`step`). `batch_loss` follows from these by running `step` over the reference tokens; a model that knows a
faster way over whole sentences overrides `logits` or `batch_loss`. (Not `loss`: Keras keeps its own under that name.)

Shape letters: B acts of a batch, N sentences, T time, V vocabulary.
"""

from __future__ import annotations

from typing import Any, ClassVar, TypeAlias

import keras
from keras import ops

from dactnlg.runs.config import ModelSection
from dactnlg.text.encoding import Sizes

Tensor: TypeAlias = keras.KerasTensor
Tensors = dict[str, Tensor]


class NeuralModel(keras.Model):
    """A generator of delexicalised sentences, conditioned on what the preprocessor gives.

    A subclass in a file of its own, `dactnlg/models/NAME.py`, with a nested `Section`, is the model NAME. It is made
    with `sizes` and the keys of its section as keywords.

    Args:
        sizes: of what the preprocessor numbers.

    Attributes:
        inputs: the arrays that the model wants from the preprocessor; see `Preprocessor.arrays`.
        traced: what `trace` shows, if anything: `left`, how much of each entry of the DA vector is still to be said, or
            `attention`, how much of the next word's attention each entry of the act has, the act itself first.
    """

    inputs: tuple[str, ...] = ("act",)
    traced: ClassVar[str | None] = None
    Section: ClassVar[type[ModelSection]] = ModelSection

    def __init__(self, sizes: Sizes, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.sizes = sizes

    def float_inputs(self) -> dict[str, tuple[int, ...]]:
        """Return the shapes, without B, of inputs that no preprocessor makes: noise, and a teacher's of two turns."""
        return {}

    def prepare(self, inputs: Tensors) -> tuple[Tensors, Tensors]:
        """Return what sentences for some acts begin with.

        Args:
            inputs: the arrays named in `inputs`, each (B, ...).

        Returns:
            The context, which stays the same at every step, and the first state, both by name, each (B, ...).
        """
        raise NotImplementedError

    def step(self, context: Tensors, state: Tensors, tokens: Tensor) -> tuple[Tensor, Tensors]:
        """Advance every sentence by one token.

        Args:
            context: from `prepare`, the act's row for every sentence, each (N, ...).
            state: from `prepare` or the step before, each (N, ...).
            tokens: the tokens just generated, (N,).

        Returns:
            Logits of the next token, (N, V), and the new state.
        """
        raise NotImplementedError

    def trace(self, context: Tensors, state: Tensors) -> Tensor:
        """Return what can be seen of the act after a step, (N, entries): see `traced`."""
        raise NotImplementedError

    def logits(self, batch: Tensors, *, training: bool = False) -> Tensor:
        """Return the logits of every next token of whole sentences, (B, T, V), by running `step` over them.

        Args:
            batch: `inputs`, and `tokens` (B, T) beginning with `<bos>`.
            training: whether dropout is on.
        """
        context, state = self.prepare(batch)
        cell = _StepCell(self, context, state)
        rnn = keras.layers.RNN(cell, return_sequences=True)
        # Whole numbers stay what they are in any precision of the layers.
        tokens = ops.cast(batch["tokens"], "int32")[..., None]
        return rnn(tokens, initial_state=[*context.values(), *state.values()], training=training)

    def batch_loss(self, batch: Tensors, *, training: bool = False) -> Tensor:
        """Return the loss of a batch per real token.

        Args:
            batch: `inputs`; `tokens` and `targets` (B, T); `lengths` (B,), 0 for rows that only fill up the batch;
                `weights` (B,), how much each pair counts.
            training: whether dropout is on.
        """
        return self.cross_entropy(batch, self.logits(batch, training=training))

    def cross_entropy(self, batch: Tensors, logits: Tensor) -> Tensor:
        """Return the cross entropy of the real tokens, per real token, pairs counted by their weights."""
        weights = ops.cast(real_tokens(batch), "float32") * batch["weights"][:, None]  # (B, T)
        # Whatever the layers compute in, the loss is added up in single precision.
        logits = ops.cast(logits, "float32")
        entropy = keras.losses.sparse_categorical_crossentropy(batch["targets"], logits, from_logits=True)
        return ops.sum(entropy * weights) / ops.maximum(ops.sum(weights), 1.0)

    def call(self, batch: Tensors, *, training: bool = False) -> Tensor:
        """Return `batch_loss`: what Keras' trainer and strategies call."""
        policy = self.dtype_policy
        given = {
            name: policy.convert_input(batch[name], autocast=True, dtype=policy.compute_dtype) for name in self.inputs
        }
        return self.batch_loss({**batch, **given}, training=training)

    @property
    def input_dtype(self) -> str:
        """The precision of what Keras hands to `call`: single, for the weights of pairs must not be rounded."""
        return "float32"

    def compute_loss(
        self,
        x: Any = None,
        y: Any = None,
        y_pred: Any = None,
        sample_weight: Any = None,
        training: bool = True,  # noqa: FBT001, FBT002  (Keras' own signature)
    ) -> Tensor:
        """Return the prediction of `call`, which is the loss already."""
        loss: Tensor = y_pred
        return loss

    def reseed(self, seed: int) -> None:
        """Start the random numbers of dropout anew."""
        for variable in self.variables:
            if variable.name == "seed_generator_state":
                variable.assign(ops.convert_to_tensor([seed, 0], variable.dtype))


class _StepCell(keras.layers.Layer):
    """A model's step as the cell of a Keras RNN; the context goes round with the state.

    Args:
        model: whose step it is.
        context: from `prepare`.
        state: from `prepare`.
    """

    def __init__(self, model: NeuralModel, context: Tensors, state: Tensors) -> None:
        super().__init__()
        # Not an attribute that Keras tracks: the model's weights are the model's.
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
    """Return which tokens of a batch are no padding, (B, T)."""
    return positions(batch["tokens"]) < batch["lengths"][:, None]


def positions(tokens: Tensor) -> Tensor:
    """Return 0, 1, 2, ... for the tokens of (B, T), as (1, T)."""
    return ops.arange(ops.shape(tokens)[1], dtype="int32")[None, :]


def rows_of(weight: Tensor, numbers: Tensor) -> Tensor:
    """Return rows of a weight by their numbers, as an embedding does."""
    # TensorFlow has the gradient of rows of a weight row by row, and would clip it before equal rows are summed.
    return ops.take(ops.multiply(weight, 1.0), numbers, axis=0)


def mean_rows(weight: Tensor, numbers: Tensor) -> Tensor:
    """Return the mean of rows of a weight, (B, C) -> (B, E); number 0 is padding, and of nothing else the mean is 0."""
    rows = rows_of(weight, numbers)
    real = ops.cast(numbers > 0, rows.dtype)[..., None]
    return ops.sum(rows * real, axis=1) / ops.maximum(ops.sum(real, axis=1), 1.0)
