"""A trained `seq2seq` in NumPy, for search without Keras; `models.seq2seq` has its equations.

Shape letters: B acts, N sentences, M positions attended to, S tokens that can be copied, H hidden units, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dactnlg._utils.threads import one_blas_thread
from dactnlg.models.numpy.cells import HALVES, Floats, lstm_cell
from dactnlg.models.numpy.layers import logits, token_gates
from dactnlg.models.numpy.loops import apart
from dactnlg.models.numpy.memory import LEAST, ActMemory, softmax, unseen
from dactnlg.text.copying import COPIES

Ints = NDArray[np.intp]
State = list[Floats]


class Copies(NamedTuple):
    """What can be copied from a batch of acts.

    Attributes:
        tokens: (B, S); 0 is padding.
        keys: (B, S, H).
        bias: added to scores, (B, S).
        same: 1 for pairs of positions with the same token, (B, S, S).
        closed: added to the gate, (B,): closes it where nothing can be copied.
    """

    tokens: Ints
    keys: Floats
    bias: Floats
    same: Floats
    closed: Floats

    def of(self, owner: Ints) -> Copies:
        """Return the rows of each sentence, given the index of its act, (N,)."""
        return Copies(self.tokens[owner], self.keys[owner], self.bias[owner], self.same[owner], self.closed[owner])


class Looking(NamedTuple):
    """What is the same at every step of a search over a batch of acts.

    Attributes:
        gates: what each act adds to the gates, (4, B, H).
        keys: of the positions attended to, (B, M, H).
        seen: what each position, if attended to, adds to the mixture, (B, M, H).
        bias: added to scores, (B, M).
        copies: None if the model does not copy.
    """

    gates: Floats
    keys: Floats
    seen: Floats
    bias: Floats
    copies: Copies | None = None


class NumpySeq2Seq:
    """A trained `seq2seq`, for search only.

    Args:
        inputs: the preprocessor's arrays that it needs.
        weights: its weights by name.
    """

    traced = "attention"

    def __init__(self, inputs: tuple[str, ...], weights: Mapping[str, Floats]) -> None:
        self.inputs, self.weights = inputs, weights
        kernel = weights["cell/recurrent"]
        # The last digits of a matrix product depend on the number of threads.
        with one_blas_thread:
            table = token_gates(weights)
        self.hidden_size = len(kernel)
        # The weights include the factors `HALVES`; a token's contribution to the gates is looked up.
        self._kernel, self._table = apart(kernel) * HALVES, apart(table) * HALVES

    def trace(self, context: Looking, state: State) -> Floats:
        """Return the attention weights of the next word on the act and its entries, (N, M)."""
        return softmax(_scores(state[0], context.keys) + context.bias)

    def prepare(self, inputs: Mapping[str, NDArray[Any]]) -> tuple[Looking, State]:
        """Return the context and the initial state for a batch of acts; see `Seq2Seq.prepare`."""
        w, act = self.weights, inputs["act"].astype(np.float32)
        memory, real = ActMemory(w).forward(inputs)
        share = real.astype(np.float32)[..., None]
        mean = (memory * share).sum(axis=1) / share.sum(axis=1)
        h, c = np.split(np.tanh(mean @ w["start"]), 2, axis=1)
        seen = memory @ w["mixture"][: memory.shape[-1]]
        gates = apart(act @ w["act_projection"]) * HALVES
        copies = self._copies(memory, inputs[COPIES]) if COPIES in self.inputs else None
        return Looking(gates, memory @ w["score"], seen, unseen(real), copies), [h, c]

    def step(self, context: Looking, state: State, tokens: Ints, owner: Ints) -> tuple[Floats, State]:
        """Advance every sentence by one token; see `NumpyModel.step`."""
        gates = np.matmul(state[0], self._kernel)  # (4, N, H)
        gates += self._table.take(tokens, axis=1)
        gates += context.gates.take(owner, axis=1)
        c, tanh_c, h = (np.empty_like(state[1]) for _ in range(3))
        lstm_cell(gates, state[1], c, tanh_c, h)
        looks = softmax(_scores(h, context.keys[owner]) + context.bias[owner])
        mixed = np.matmul(looks[:, None], context.seen[owner])[:, 0]
        mixed += h @ self.weights["mixture"][-self.hidden_size :]
        np.tanh(mixed, out=mixed)
        found = logits(self.weights, mixed)
        if context.copies is not None:
            self._copy(context.copies.of(owner), mixed, found)
        return found, [h, c]

    def _copies(self, memory: Floats, copies: Ints) -> Copies:
        w, (tokens, places) = self.weights, np.moveaxis(copies, -1, 0)
        entries = np.take_along_axis(memory, places[..., None], axis=1)
        keys = entries @ w["copy_mechanism/places"] + w["embedding"][tokens] @ w["copy_mechanism/tokens"]
        real = tokens > 0
        same = (tokens[:, :, None] == tokens[:, None]).astype(np.float32)
        return Copies(tokens, keys, unseen(real), same, unseen(real.any(axis=1)))

    def _copy(self, copies: Copies, mixed: Floats, found: Floats) -> None:
        """Replace the logits `found` by the log probabilities of `CopyMechanism.mix`, in place."""
        w, rows = self.weights, np.arange(len(mixed))[:, None]
        gate = (mixed @ w["copy_mechanism/gate"])[:, 0] + w["copy_mechanism/gate_bias"] + copies.closed
        found -= found.max(axis=1, keepdims=True)
        found -= np.log(np.exp(found).sum(axis=1, keepdims=True))
        found -= np.logaddexp(np.float32(0), gate)[:, None]
        shares = softmax(_scores(mixed, copies.keys) + copies.bias)
        # A token at several positions gets the sum of their shares.
        copied = np.log(np.matmul(shares[:, None], copies.same)[:, 0] + LEAST)
        copied -= np.logaddexp(np.float32(0), -gate)[:, None]
        found[rows, copies.tokens] = np.logaddexp(found[rows, copies.tokens], copied)


def _scores(queries: Floats, keys: Floats) -> Floats:
    """Return the products of each query with its keys, (N, H) and (N, M, H) -> (N, M)."""
    found: Floats = np.matmul(keys, queries[..., None])[..., 0]
    return found
