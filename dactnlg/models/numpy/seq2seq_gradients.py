"""The loss of `seq2seq` and its gradients in NumPy; the equations are those of `models.seq2seq` and `models.attention`.

Shape letters: B sentences of a batch, T their tokens, M all of these, packed; N positions attended to, F length of
their vectors, S tokens that can be copied, V vocabulary, E embedding, H hidden units.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dactnlg.models.numpy.cells import Floats, tanh_factors
from dactnlg.models.numpy.gradients import Batch, GradientModel, Weights, kept
from dactnlg.models.numpy.loops import LookUp, LSTMLoop
from dactnlg.models.numpy.memory import LEAST, UNSEEN, ActMemory, softmax, unseen
from dactnlg.text.copying import COPIES


class Seq2SeqGradients(GradientModel):
    """A trainable `seq2seq`.

    Args:
        weights: see `GradientModel`.
        gradients: see `GradientModel`.
        dropout: share of the output units, and of the encoder's states, dropped in training.
    """

    def __init__(self, weights: Weights, gradients: Weights, *, dropout: float = 0.0) -> None:
        super().__init__(weights, gradients, dropout=dropout)
        self.reads = ActMemory(weights)
        self.copies = "copy_mechanism/gate" in weights

    def backward(self) -> None:
        """Fill `gradients` with those of the last loss."""
        w, g = self.weights, self.gradients
        self.d_memory = np.zeros_like(self.memory)
        mixed = self._entropy_back()
        copied = self._copies_back(mixed) if self.copies else None
        mixed *= tanh_factors(self.mixed)
        size = self.memory.shape[-1]
        np.matmul(self.seen.T, mixed, out=g["mixture"][:size])
        np.matmul(self.outputs.T, mixed, out=g["mixture"][size:])
        hidden = mixed @ w["mixture"][size:].T
        hidden += self._look_back(mixed @ w["mixture"][:size].T)
        self._run_back(self.loop.backward(hidden))
        self._start_back()
        if copied is not None:
            g["embedding"][:] += copied
        if self.kept_memory is not None:
            self.d_memory *= self.kept_memory
        self.reads.backward(self.d_memory, g)

    def _run(self, tokens: NDArray[np.int32]) -> Floats:
        """Return the input of the output layer after each token of (M,), as (M, H)."""
        w, packing = self.weights, self.packing
        self._remember(self.batch)
        hidden = super()._run(tokens)
        self.outputs = hidden
        dense = np.zeros((packing.count, len(packing.steps), self.size), np.float32)
        dense[packing.rows, packing.times] = hidden
        self.dense, self.keys = dense, self.memory @ w["score"]
        self.looks = softmax(np.matmul(dense, self.keys.swapaxes(1, 2)) + self.bias[:, None])  # (B, T, N)
        self.seen = np.matmul(self.looks, self.memory)[packing.rows, packing.times]  # (M, F)
        size = self.memory.shape[-1]
        mixed: Floats = np.tanh(self.seen @ w["mixture"][:size] + hidden @ w["mixture"][size:])
        self.mixed = mixed
        return mixed

    def _loop(self, kernels: Floats) -> LSTMLoop:
        loop = LSTMLoop(self.packing, kernels)
        loop.h[: self.packing.count], loop.c[: self.packing.count] = np.split(self.first, 2, axis=1)
        return loop

    def _remember(self, batch: Batch) -> None:
        """Compute what can be attended to, and the decoder's initial state."""
        memory, real = self.reads.forward(batch)
        self.kept_memory = self._kept(memory.shape)
        self.memory = memory if self.kept_memory is None else memory * self.kept_memory
        self.bias = unseen(real)
        self.share = (real / np.count_nonzero(real, axis=1)[:, None]).astype(np.float32)[..., None]  # (B, N, 1)
        self.mean = (self.memory * self.share).sum(axis=1)
        self.first = np.tanh(self.mean @ self.weights["start"])

    def _start_back(self) -> None:
        w, g = self.weights, self.gradients
        first = np.concatenate(self.loop.first_gradients, axis=1) * tanh_factors(self.first)
        np.matmul(self.mean.T, first, out=g["start"])
        self.d_memory += self.share * (first @ w["start"].T)[:, None]

    def _look_back(self, seen: Floats) -> Floats:
        """Return the gradients of the states that attend, (M, H), given those of the attended vectors, (M, F)."""
        w, g, place = self.weights, self.gradients, (self.packing.rows, self.packing.times)
        dense = np.zeros((*self.dense.shape[:2], seen.shape[1]), np.float32)
        dense[place] = seen
        scores = _softmax_back(self.looks, np.matmul(dense, self.memory.swapaxes(1, 2)))  # (B, T, N)
        self.d_memory += np.matmul(self.looks.swapaxes(1, 2), dense)
        keys = np.matmul(scores.swapaxes(1, 2), self.dense)  # (B, N, H)
        self.d_memory += keys @ w["score"].T
        size = keys.shape[-1]
        np.matmul(self.memory.reshape(-1, seen.shape[1]).T, keys.reshape(-1, size), out=g["score"])
        found: Floats = np.matmul(scores, self.keys)[place]
        return found

    def _kept(self, shape: tuple[int, ...]) -> Floats | None:
        """Return dropout factors, or None without dropout."""
        return None if self.rng is None or self.dropout == 0 else kept(self.rng, shape, self.dropout)

    def _entropy(self, hidden: Floats, targets: NDArray[np.int32], rng: np.random.Generator | None) -> float:
        """Return the weighted cross entropy of the targets, (M,), whether generated or copied."""
        loss = super()._entropy(hidden, targets, rng)
        return self._copies(targets) if self.copies else loss

    def _copies(self, targets: NDArray[np.int32]) -> float:
        w, (rows, times) = self.weights, (self.packing.rows, self.packing.times)
        self.tokens, self.places = np.moveaxis(self.batch[COPIES], -1, 0)  # (B, S) each
        real = self.tokens > 0
        self.held = np.take_along_axis(self.memory, self.places[..., None], axis=1)  # (B, S, F)
        self.embedded = w["embedding"][self.tokens]
        self.copy_keys = self.held @ w["copy_mechanism/places"] + self.embedded @ w["copy_mechanism/tokens"]
        dense = np.zeros_like(self.dense)
        dense[rows, times] = self.mixed
        self.queries = dense
        scores = np.matmul(dense, self.copy_keys.swapaxes(1, 2)) + unseen(real)[:, None]
        self.pointers = softmax(scores)[rows, times]  # (M, S)
        self.match = (self.tokens[rows] == targets[:, None]) & real[rows]
        gate = (self.mixed @ w["copy_mechanism/gate"])[:, 0] + w["copy_mechanism/gate_bias"]
        gate = np.where(real.any(axis=1)[rows], gate, UNSEEN)
        self.gate = np.exp(-np.logaddexp(np.float32(0), -gate))
        self.copied = (self.pointers * self.match).sum(axis=1) + LEAST
        # In logarithms, as a token's probability may underflow.
        generated = self.log_odds - np.log(self.sums) - np.logaddexp(np.float32(0), gate)
        said = np.logaddexp(generated, np.log(self.copied) - np.logaddexp(np.float32(0), -gate))
        self.generating = np.exp(generated - said)  # the share of the probability due to generating
        return float(-np.dot(said, self.token_shares))

    def _output_shares(self) -> Floats:
        """Return the weight of each token's cross entropy under the output layer, (M,)."""
        shares = super()._output_shares()
        return shares * self.generating if self.copies else shares

    def _copies_back(self, mixed: Floats) -> Floats:
        """Add the gradients of copying to those of the mixtures, (M, H); return those of the embedding, (V, E)."""
        w, g, place = self.weights, self.gradients, (self.packing.rows, self.packing.times)
        gate = self.token_shares * (self.gate - (1 - self.generating))
        g["copy_mechanism/gate"][:, 0] = gate @ self.mixed
        g["copy_mechanism/gate_bias"][:] = gate.sum()
        mixed += gate[:, None] * w["copy_mechanism/gate"][:, 0]
        per = self.token_shares * (1 - self.generating) / self.copied
        scores = self.pointers * (self.copied[:, None] - LEAST - self.match) * per[:, None]  # (M, S)
        dense = np.zeros((*self.dense.shape[:2], scores.shape[1]), np.float32)
        dense[place] = scores
        mixed += np.matmul(dense, self.copy_keys)[place]
        keys = np.matmul(dense.swapaxes(1, 2), self.queries)  # (B, S, H)
        flat = keys.reshape(-1, keys.shape[-1])
        for name, given in (("places", self.held), ("tokens", self.embedded)):
            np.matmul(given.reshape(-1, given.shape[-1]).T, flat, out=g[f"copy_mechanism/{name}"])
        held = keys @ w["copy_mechanism/places"].T
        np.add.at(self.d_memory, (np.arange(len(held))[:, None], self.places), held)
        embedded = (flat @ w["copy_mechanism/tokens"].T)[self.tokens.ravel() > 0]
        found: Floats = LookUp(self.tokens[self.tokens > 0], len(w["embedding"])).back(embedded)
        return found


def _softmax_back(weights: Floats, gradients: Floats) -> Floats:
    """Return the gradients of scores, given their softmax and its gradients."""
    found: Floats = weights * (gradients - (weights * gradients).sum(axis=-1, keepdims=True))
    return found
