"""A trained `seq2seq` in NumPy, to be searched without Keras; `models.seq2seq` has its equations.

Shape letters: B acts, N sentences, M entries with one more for the act, S tokens that can be copied, H hidden units,
E length of an entry's vector, V vocabulary.
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
Flags = NDArray[np.bool_]
State = list[Floats]


class Copies(NamedTuple):
    """What can be copied of some acts.

    Attributes:
        tokens: (B, S); 0 is padding.
        keys: (B, S, H).
        bias: added to scores, (B, S).
        same: 1 for places that hold the same token, (B, S, S).
        closed: added to the gate, (B,): where nothing can be copied.
    """

    tokens: Ints
    keys: Floats
    bias: Floats
    same: Floats
    closed: Floats

    def of(self, owner: Ints) -> Copies:
        """Return those of each sentence, given its act."""
        return Copies(self.tokens[owner], self.keys[owner], self.bias[owner], self.same[owner], self.closed[owner])


class Looking(NamedTuple):
    """What stays the same at every step of a search over some acts.

    Attributes:
        gates: what is added to an act's gates, (4, B, H).
        keys: of what there is to look at, (B, M, H).
        seen: what looking at each adds to the mixture, (B, M, H).
        bias: added to scores, (B, M).
        copies: None where a model copies nothing.
    """

    gates: Floats
    keys: Floats
    seen: Floats
    bias: Floats
    copies: Copies | None = None


class NumpySeq2Seq:
    """A trained `seq2seq` that can only be searched.

    Args:
        inputs: the arrays that it wants from the preprocessor.
        weights: its weights by name.
    """

    traced = "attention"

    def __init__(self, inputs: tuple[str, ...], weights: Mapping[str, Floats]) -> None:
        self.inputs, self.weights = inputs, weights
        kernel = weights["cell/recurrent"]
        # The last digits of a product depend on the threads that share it.
        with one_blas_thread:
            table = token_gates(weights)
        self.hidden_size = len(kernel)
        # The halves of `cells` are in the weights; a token's share of the gates is looked up.
        self._kernel, self._table = apart(kernel) * HALVES, apart(table) * HALVES

    def trace(self, context: Looking, state: State) -> Floats:
        """Return the weights with which the next word looks at the act and its entries, (N, M)."""
        return softmax(_scores(state[0], context.keys) + context.bias)

    def prepare(self, inputs: Mapping[str, NDArray[Any]]) -> tuple[Looking, State]:
        """Return what sentences for some acts begin with; see `Seq2Seq.prepare`."""
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
        """Put the log probabilities of `CopyMechanism.mix` in the place of logits."""
        w, rows = self.weights, np.arange(len(mixed))[:, None]
        gate = (mixed @ w["copy_mechanism/gate"])[:, 0] + w["copy_mechanism/gate_bias"] + copies.closed
        found -= found.max(axis=1, keepdims=True)
        found -= np.log(np.exp(found).sum(axis=1, keepdims=True))
        found -= np.logaddexp(np.float32(0), gate)[:, None]
        shares = softmax(_scores(mixed, copies.keys) + copies.bias)
        # A token that several places hold has the shares of all of them.
        copied = np.log(np.matmul(shares[:, None], copies.same)[:, 0] + LEAST)
        copied -= np.logaddexp(np.float32(0), -gate)[:, None]
        found[rows, copies.tokens] = np.logaddexp(found[rows, copies.tokens], copied)


def _scores(queries: Floats, keys: Floats) -> Floats:
    """Return what each query scores of its keys, (N, H) and (N, M, H) -> (N, M)."""
    found: Floats = np.matmul(keys, queries[..., None])[..., 0]
    return found
