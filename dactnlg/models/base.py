"""What every neural model shares: the word table, the output layer, the loss, and the loop over a sentence.

A subclass says which cell it has, what it adds to the cell's gates (`context`) and where the cell starts
(`initial_state`). The base owns the rest: `call` runs over whole sentences while training, `step` advances a search.

Shape letters: B batch, K beams, T time, V vocabulary, H hidden units, D entries of the DA vector, G gates.
"""

from __future__ import annotations

from typing import Any

import keras
from keras import ops

Tensor = Any
Inputs = dict[str, Any]
Context = dict[str, Tensor]
State = list[Tensor]


class NeuralModel(keras.Model):
    """A decoder of delexicalised sentences, conditioned on an act.

    Args:
        vocabulary_size: V.
        act_size: D.
        hidden_size: H.
        embedding_size: length of a word vector.
        dropout: share of the output units dropped while training.
    """

    lexicalized = False
    """Whether the model sees values; where it does not, its output depends on the DA vector alone."""

    def __init__(
        self,
        vocabulary_size: int,
        act_size: int,
        hidden_size: int = 100,
        embedding_size: int = 100,
        dropout: float = 0.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.vocabulary_size, self.act_size = vocabulary_size, act_size
        self.hidden_size, self.embedding_size = hidden_size, embedding_size
        self.dropout_rate = dropout
        self.cell = self.make_cell()
        gates = self.cell.gate_size
        self.embedding = self.add_weight((vocabulary_size, embedding_size), "uniform", name="embedding")
        self.projection = self.add_weight((embedding_size, gates), "glorot_uniform", name="projection")
        self.bias = self.add_weight((gates,), _open_forget_gate(hidden_size), name="bias")
        self.output_kernel = self.add_weight((hidden_size, vocabulary_size), "glorot_uniform", name="output_kernel")
        self.output_bias = self.add_weight((vocabulary_size,), "zeros", name="output_bias")
        self.dropout = keras.layers.Dropout(dropout)
        self.rnn = keras.layers.RNN(self.cell, return_sequences=True)
        self.built = True

    def get_config(self) -> dict[str, Any]:
        """Return the keywords that build the model again."""
        return {
            "vocabulary_size": self.vocabulary_size,
            "act_size": self.act_size,
            "hidden_size": self.hidden_size,
            "embedding_size": self.embedding_size,
            "dropout": self.dropout_rate,
        }

    def make_cell(self) -> Any:
        """Return the recurrent cell."""
        raise NotImplementedError

    def context(self, inputs: Inputs) -> Tensor:
        """Return what is added to the gates at every step, (B, G)."""
        raise NotImplementedError

    def initial_state(self, inputs: Inputs) -> State:
        """Return the cell's state before the first word, each (B, ...)."""
        raise NotImplementedError

    def penalty(self, outputs: Tensor, inputs: Inputs, mask: Tensor) -> Tensor | None:
        """Return what the loss adds for each sentence, (B,), given the cell's outputs and a mask, (B, T)."""
        return None

    def call(self, inputs: Inputs, training: bool = False) -> dict[str, Tensor]:
        """Return the logits of every next word, (B, T, V), and the penalty, (B,), for whole sentences.

        Args:
            inputs: `act` (B, D), `tokens` (B, T) beginning with `<bos>`, `lengths` (B,), and what the model needs.
            training: whether dropout is on.
        """
        tokens, lengths = inputs["tokens"], inputs["lengths"]
        mask = positions(tokens) < lengths[:, None]  # (B, T)
        table = ops.matmul(self.embedding, self.projection)  # (V, G)
        gates = ops.take(table, tokens, axis=0) + (self.context(inputs) + self.bias)[:, None]  # (B, T, G)
        # No mask inside the recurrence: padding comes last, so no real step can see it.
        outputs = self.rnn(gates, initial_state=self.initial_state(inputs))
        hidden = self.dropout(outputs[..., : self.hidden_size], training=training)
        # Whatever the layers compute in, the loss is added up in single precision.
        logits = ops.cast(ops.matmul(hidden, self.output_kernel) + self.output_bias, "float32")  # (B, T, V)
        penalty = self.penalty(outputs, inputs, mask)
        return {"logits": logits, "penalty": ops.zeros_like(logits[:, 0, 0]) if penalty is None else penalty}

    def compute_loss(
        self,
        x: Inputs | None = None,
        y: Tensor = None,
        y_pred: dict[str, Tensor] | None = None,
        sample_weight: Tensor = None,
        training: bool = True,
    ) -> Tensor:
        """Return cross entropy and penalties of the real words, per real word; pairs count by their weights."""
        if x is None or y_pred is None:
            raise ValueError("compute_loss needs the inputs and the predictions")
        mask = positions(x["tokens"]) < x["lengths"][:, None]  # (B, T)
        real = ops.cast(mask, "float32") * x["weights"][:, None]
        entropy = keras.losses.sparse_categorical_crossentropy(x["targets"], y_pred["logits"], from_logits=True)
        # Rows that only fill up a batch have length 0.
        row = ops.cast(x["lengths"] > 0, "float32") * x["weights"]
        return (ops.sum(entropy * real) + ops.sum(y_pred["penalty"] * row)) / ops.maximum(ops.sum(real), 1.0)

    def prepare(self, inputs: Inputs) -> tuple[Context, State]:
        """Return what a search over these acts needs: the constants and the first state, each (B, 1, ...)."""
        table = ops.matmul(self.embedding, self.projection)
        context = {"table": table, "gates": (self.context(inputs) + self.bias)[:, None]}
        return context, [part[:, None] for part in self.initial_state(inputs)]

    def step(self, context: Context, state: State, tokens: Tensor) -> tuple[Tensor, State]:
        """Advance every beam by one word.

        Args:
            context: from `prepare`.
            state: the cell's state, each (B, K, ...).
            tokens: the words just emitted, (B, K).

        Returns:
            Logits of the next word, (B, K, V), and the new state.
        """
        gates = ops.take(context["table"], tokens, axis=0) + context["gates"]  # (B, K, G)
        output, state = self.cell(gates, state)
        return ops.matmul(output[..., : self.hidden_size], self.output_kernel) + self.output_bias, state

    def reseed(self, seed: int) -> None:
        """Start dropout's random numbers anew; without dropout there are none."""
        if self.dropout_rate > 0:
            state = self.dropout.seed_generator.state
            state.assign(ops.convert_to_tensor([seed, 0], state.dtype))

    def zeros(self, like: Tensor) -> Tensor:
        """Return a zero state, (B, H), for a batch of acts, (B, D)."""
        return ops.zeros((ops.shape(like)[0], self.hidden_size), like.dtype)


def positions(tokens: Tensor) -> Tensor:
    """Return 0, 1, 2, ... for the words of (B, T), as (1, T)."""
    return ops.arange(ops.shape(tokens)[1], dtype="int32")[None, :]


def _open_forget_gate(hidden_size: int) -> Any:
    def initialize(shape: tuple[int, ...], dtype: Any = None) -> Tensor:
        ones = ops.ones((hidden_size,), dtype)
        rest = ops.zeros((shape[0] - 2 * hidden_size,), dtype)
        return ops.concatenate([ops.zeros((hidden_size,), dtype), ones, rest])

    return initialize
