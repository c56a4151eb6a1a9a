"""Trained models for search in NumPy, without the seconds that importing Keras takes.

Shape letters: B acts, N sentences, D entries of the DA vector, H hidden units, G gates, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dactnlg._utils.threads import one_blas_thread
from dactnlg.models.numpy.cells import HALVES, Floats, lstm_cell, reading_cell
from dactnlg.models.numpy.encoder import EntryEncoder
from dactnlg.models.numpy.layers import act_gates, context_mean, logits, token_gates
from dactnlg.models.numpy.loops import apart
from dactnlg.text.context import CONTEXT

Ints = NDArray[np.intp]
State = list[Floats]


class Context(NamedTuple):
    """What is the same at every step of a search over a batch of acts.

    Attributes:
        gates: what each act adds to the gates, (4, B, H); None if nothing.
        reading: what each act adds to the reading gate, (B, E), for the E entries of the DA vector in use; or None.
        reading_kernel: from the hidden state to the reading gate, (H, E); None if the model does not carry the act.
        reading_table: what each token adds to the reading gate, (V, E).
        act: from the act to the cell, (E, H).
    """

    gates: Floats | None
    reading: Floats | None = None
    reading_kernel: Floats | None = None
    reading_table: Floats = np.zeros((0, 0), np.float32)
    act: Floats = np.zeros((0, 0), np.float32)


class NumpyModel:
    """A trained `lstm`, `sclstm` or `hierarchical`, for search only.

    Args:
        inputs: the preprocessor's arrays that it needs.
        weights: its weights by name.
        alpha: weight of the hidden state in the reading gate.
    """

    def __init__(self, inputs: tuple[str, ...], weights: Mapping[str, Floats], alpha: float = 0.0) -> None:
        self.inputs, self.weights = inputs, weights
        kernel = weights["cell/recurrent"]
        # The last digits of a matrix product depend on the number of threads.
        with one_blas_thread:
            table = token_gates(weights)
        self.hidden_size = len(kernel)
        self._carries_act = "cell/reading" in weights
        # The weights include the factors `HALVES`; a token's contribution to the gates is looked up.
        cut = 4 * self.hidden_size
        self._kernel, self._table = apart(kernel) * HALVES, apart(table[:, :cut]) * HALVES
        if self._carries_act:
            self._reading_kernel = 0.5 * np.float32(alpha) * weights["cell/reading"]
            self._reading_table = 0.5 * table[:, cut:]

    @property
    def traced(self) -> str | None:
        """What `trace` returns; see `NeuralModel`."""
        return "left" if self._carries_act else None

    def trace(self, _context: Context, state: State) -> Floats:
        """Return what is left of the DA vector, (N, E), for those entries that some act has."""
        return state[2]

    def prepare(self, inputs: Mapping[str, NDArray[Any]]) -> tuple[Context, State]:
        """Return the context and the initial state for a batch of acts.

        Args:
            inputs: `act` (B, D); for the hierarchical model `entries` and `words`; `context` (B, C) if the model sees
                the user's words.

        Returns:
            The context, and the initial state, each (B, ...).
        """
        act = inputs["act"].astype(np.float32)
        zeros = np.zeros((len(act), self.hidden_size), np.float32)
        summary = None
        if "encoder_projection" in self.weights:
            summary = EntryEncoder(self.weights).forward(inputs["entries"], inputs["words"])
        said = context_mean(self.weights, inputs[CONTEXT]) if CONTEXT in self.inputs else None
        gates, cut = act_gates(self.weights, act, summary, said), 4 * self.hidden_size
        own = None if gates is None else apart(gates[:, :cut]) * HALVES
        if not self._carries_act:
            return Context(own), [zeros, zeros]
        # An entry that is 0 stays 0: a search needs only those that some act has.
        used = np.flatnonzero(act.any(axis=0))
        reading = None if gates is None else 0.5 * gates[:, cut + used]
        kernel, table = self._reading_kernel[:, used], np.ascontiguousarray(self._reading_table[:, used])
        return Context(own, reading, kernel, table, self.weights["cell/act"][used]), [zeros, zeros, act[:, used]]

    def step(self, context: Context, state: State, tokens: Ints, owner: Ints) -> tuple[Floats, State]:
        """Advance every sentence by one token.

        Args:
            context: from `prepare`.
            state: each (N, ...).
            tokens: the tokens just generated, (N,).
            owner: the index of each sentence's act, (N,).

        Returns:
            Logits of the next token, (N, V), and the new state.
        """
        gates = np.matmul(state[0], self._kernel)  # (4, N, H)
        gates += self._table.take(tokens, axis=1)
        if context.gates is not None:
            gates += context.gates.take(owner, axis=1)
        c, tanh_c, h = (np.empty_like(state[1]) for _ in range(3))
        rest, read = [], None
        if context.reading_kernel is not None:
            reading = state[0] @ context.reading_kernel  # (N, E)
            reading += context.reading_table.take(tokens, axis=0)
            if context.reading is not None:
                reading += context.reading.take(owner, axis=0)
            d, read = np.empty_like(reading), np.empty_like(h)
            reading_cell(reading, state[2], context.act, d, read)
            rest = [d]
        lstm_cell(gates, state[1], c, tanh_c, h, read)
        return logits(self.weights, h), [h, c, *rest]
