"""What recurrent decoders share: the token embedding, a cell over projected tokens, and the output layer.

A subclass chooses the cell, what the act adds to the cell's gates, and the cell's initial state.

Shape letters: B acts, N sentences, T time, V vocabulary, E embedding, H hidden units, G gates of the cell.
"""

from __future__ import annotations

from typing import Any

import keras
from keras import ops

from dactnlg.models.base import NeuralModel, Tensor, Tensors, rows_of
from dactnlg.models.cells import open_memory_gate
from dactnlg.text.encoding import Sizes


class RecurrentModel(NeuralModel):
    """A recurrent decoder: an LSTM, or a GRU in dialogue models.

    Args:
        sizes: V and the lengths of the inputs.
        hidden_size: H.
        embedding_size: E.
        dropout: share of the output units dropped in training.
    """

    def __init__(
        self, sizes: Sizes, hidden_size: int = 100, embedding_size: int = 100, dropout: float = 0.0, **kwargs: Any
    ) -> None:
        super().__init__(sizes, **kwargs)
        self.hidden_size = hidden_size
        self.cell = self.make_cell()
        gates = self.cell.gate_size
        self.embedding = self.add_weight(
            (sizes.vocabulary, embedding_size), self.embedding_initializer(), name="embedding"
        )
        self.projection = self.add_weight((embedding_size, gates), "glorot_uniform", name="projection")
        self.bias = self.add_weight((gates,), open_memory_gate(hidden_size), name="bias")
        self.output_kernel = self.add_weight((hidden_size, sizes.vocabulary), "glorot_uniform", name="output_kernel")
        self.output_bias = self.add_weight((sizes.vocabulary,), "zeros", name="output_bias")
        self.dropout = keras.layers.Dropout(dropout)
        self.rnn = keras.layers.RNN(self.cell, return_sequences=True)
        self.built = True

    def embedding_initializer(self) -> Any:
        """Return the initializer of the token embedding: uniform numbers in [-.05, .05]."""
        return "uniform"

    def make_cell(self) -> Any:
        """Return the recurrent cell."""
        raise NotImplementedError

    def act_gates(self, inputs: Tensors) -> Tensor | None:
        """Return what the act adds to the gates at every step, (B, G), or None."""
        return None

    def first_state(self, inputs: Tensors) -> Tensors:
        """Return the cell's state before the first token, each part (B, ...), in the cell's own order."""
        zeros = ops.zeros((ops.shape(inputs["act"])[0], self.hidden_size), inputs["act"].dtype)
        return {"h": zeros, "c": zeros}

    def prepare(self, inputs: Tensors) -> tuple[Tensors, Tensors]:
        """Return the act's contribution to the gates, if any, and the initial state."""
        gates = self.act_gates(inputs)
        return {} if gates is None else {"gates": gates}, self.first_state(inputs)

    def step(self, context: Tensors, state: Tensors, tokens: Tensor) -> tuple[Tensor, Tensors]:
        """Advance every sentence by one token; see `NeuralModel.step`."""
        output, state = self.advance(context, state, tokens)
        return self._project(output), state

    def advance(self, context: Tensors, state: Tensors, tokens: Tensor) -> tuple[Tensor, Tensors]:
        """Return the cell's output after one more token, (N, ...), and the new state."""
        gates = self._token_gates(tokens)  # (N, G)
        if "gates" in context:
            gates = gates + context["gates"]
        output, parts = self.cell(gates, list(state.values()))
        return output, dict(zip(state, parts, strict=True))

    def outputs(self, context: Tensors, state: Tensors, tokens: Tensor) -> Tensor:
        """Return the cell's output after every token of whole sentences, (B, T, ...)."""
        gates = self._token_gates(tokens)  # (B, T, G)
        if "gates" in context:
            gates = gates + context["gates"][:, None]
        # The recurrence needs no mask: padding comes last, so no real step sees it.
        return self.rnn(gates, initial_state=list(state.values()))

    def logits(self, batch: Tensors, *, training: bool = False) -> Tensor:
        """Return the logits of the next token at every position, (B, T, V)."""
        return self._project(self.outputs(*self.prepare(batch), batch["tokens"]), training=training)

    def _token_gates(self, tokens: Tensor) -> Tensor:
        return ops.matmul(rows_of(self.embedding, tokens), self.projection) + self.bias

    def _project(self, outputs: Tensor, *, training: bool = False) -> Tensor:
        hidden = self.dropout(outputs[..., : self.hidden_size], training=training)
        return ops.matmul(hidden, self.output_kernel) + self.output_bias
