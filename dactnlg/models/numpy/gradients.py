"""The loss of the LSTM decoders and its gradients in NumPy: on a CPU several times faster than a framework.

The equations are those of the Keras models; tests compare the two to the last digits.

Shape letters: B sentences of a batch, M their tokens, U distinct ones among them, V vocabulary, E embedding,
H hidden units, D entries of the DA vector, G gates (4H, or 4H + D).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dactnlg.models.numpy.cells import Floats
from dactnlg.models.numpy.encoder import EntryEncoder
from dactnlg.models.numpy.layers import act_gates, context_mean, context_mean_gradients, logits, token_gates
from dactnlg.models.numpy.loops import LookUp, LSTMLoop, Packing, SCLSTMLoop, apart, together
from dactnlg.text.context import CONTEXT

Batch = Mapping[str, NDArray[Any]]
Weights = Mapping[str, Floats]


class GradientModel:
    """A trainable model: call `loss` for a batch, then `backward` for the gradients of all weights.

    Args:
        weights: the model's weights by name, read again for every batch.
        gradients: arrays of the same shapes, which `backward` fills.
        dropout: share of the output units dropped in training.
        alpha, eta, xi: see `SCLSTM`.
    """

    def __init__(
        self,
        weights: Weights,
        gradients: Weights,
        *,
        dropout: float = 0.0,
        alpha: float = 0.0,
        eta: float = 0.0,
        xi: float = 1.0,
    ) -> None:
        self.weights, self.gradients = weights, gradients
        self.dropout, self.size = dropout, len(weights["cell/recurrent"])
        self.alpha, self.eta, self.xi = alpha, eta, xi
        self.carries_act = "cell/reading" in weights
        self.sees_context = "context_projection" in weights
        self.encoder = EntryEncoder(weights) if "encoder_projection" in weights else None

    def loss(self, batch: Batch, rng: np.random.Generator | None = None) -> float:
        """Return the loss as `NeuralModel.batch_loss` defines it.

        Args:
            batch: see `Dataset.batches`.
            rng: draws the units to drop; None for no dropout.
        """
        # The longest sentences first, without rows that only pad the batch.
        order = np.argsort(-batch["lengths"], kind="stable")[: np.count_nonzero(batch["lengths"])]
        self.batch = {name: array[order] for name, array in batch.items()}
        lengths, weights = self.batch["lengths"], self.batch["weights"]
        self.packing = packing = Packing(lengths)
        # The weight in the loss of a sentence's penalty, and of each of its tokens.
        self.shares = (weights / max(float(np.dot(lengths, weights)), 1.0)).astype(np.float32)  # (B,)
        self.token_shares = self.shares[packing.rows]  # (M,)
        tokens, self.rng = (packing.rows, packing.times), rng
        loss = self._entropy(self._run(self.batch["tokens"][tokens]), self.batch["targets"][tokens], rng)
        return loss + self._penalty(self.loop.d) if isinstance(self.loop, SCLSTMLoop) else loss

    def backward(self) -> None:
        """Fill `gradients` with those of the last loss."""
        hidden = self._entropy_back()
        if isinstance(self.loop, SCLSTMLoop):
            self.loop.start_back(self._penalty_back())
        self._run_back(self.loop.backward(hidden))

    def _run(self, tokens: NDArray[np.int32]) -> Floats:
        """Return the hidden state after each token of (M,), as (M, H)."""
        w, four = self.weights, 4 * self.size
        # Each distinct token is projected once.
        self.distinct, self.where = np.unique(tokens, return_inverse=True)
        table = token_gates(w, self.distinct)  # (U, G)
        # `take`, because indexing would store the four gates of a token next to each other.
        gates = np.take(apart(table[:, :four]), self.where, axis=1)  # (4, M, H)
        shares = self._act_gates()  # (B, G)
        if shares is not None:
            gates += np.take(apart(shares[:, :four]), self.packing.rows, axis=1)
        kernels = apart(w["cell/recurrent"])
        if not self.carries_act:
            self.loop = self._loop(kernels)
            return self.loop.forward(gates)
        # Entries that no act of the batch has stay zero, as do their gradients.
        act = self.batch["act"]
        self.used = used = np.flatnonzero(act.any(axis=0))
        reading = table[:, four + used][self.where]  # (M, used)
        if shares is not None:
            reading += shares[:, four + used][self.packing.rows]
        self.loop = SCLSTMLoop(
            self.packing,
            kernels,
            reading_kernel=self.alpha * w["cell/reading"][:, used],
            act_kernel=w["cell/act"][used],
            act=act[:, used],
            reading=reading,
        )
        return self.loop.forward(gates)

    def _loop(self, kernels: Floats) -> LSTMLoop:
        """Return the loop, in its initial state, of a decoder that does not carry the act."""
        return LSTMLoop(self.packing, kernels)

    def _run_back(self, gates: Floats) -> None:
        """Fill in the gradients of all weights that the gates depend on, given those of the gates, (4, M, H)."""
        w, g, four = self.weights, self.gradients, 4 * self.size
        table = np.zeros((len(self.distinct), len(w["bias"])), np.float32)  # (U, G)
        tokens = LookUp(self.where, len(table))
        table[:, :four] = together(tokens.back(gates))
        g["cell/recurrent"][:] = together(self.loop.kernel_gradients())
        if isinstance(self.loop, SCLSTMLoop):
            table[:, four + self.used] = tokens.back(self.loop.reading)
            g["cell/reading"][:] = g["cell/act"][:] = 0.0
            g["cell/reading"][:, self.used] = self.alpha * self.loop.reading_kernel_gradients()
            g["cell/act"][self.used] = self.loop.act_kernel_gradients()
        np.add.reduce(table, axis=0, out=g["bias"])
        np.matmul(w["embedding"][self.distinct].T, table, out=g["projection"])
        g["embedding"][:] = 0.0
        g["embedding"][self.distinct] = table @ w["projection"].T
        self._act_gates_back(gates)

    def _act_gates(self) -> Floats | None:
        """Return what the acts add to the gates at every step, (B, G), or None."""
        encoder, batch = self.encoder, self.batch
        self.summary = None if encoder is None else encoder.forward(batch["entries"], batch["words"])
        self.said = context_mean(self.weights, batch[CONTEXT]) if self.sees_context else None
        return act_gates(self.weights, batch["act"], self.summary, self.said)

    def _act_gates_back(self, gates: Floats) -> None:
        w, g = self.weights, self.gradients
        if "act_projection" not in w and self.said is None:
            return
        summed = np.zeros((self.packing.count, len(self.weights["bias"])), np.float32)  # (B, G)
        summed[:, : 4 * self.size] = together(self.packing.sum_steps(gates))
        if isinstance(self.loop, SCLSTMLoop):
            summed[:, 4 * self.size + self.used] = self.packing.sum_steps(self.loop.reading)
        if "act_projection" in w:
            np.matmul(self.batch["act"].T, summed, out=g["act_projection"])
        if self.encoder is not None and self.summary is not None:
            np.matmul(self.summary.T, summed, out=g["encoder_projection"])
            self.encoder.backward(summed @ w["encoder_projection"].T, g)
        if self.said is not None:
            np.matmul(self.said.T, summed, out=g["context_projection"])
            means = summed @ w["context_projection"].T
            context_mean_gradients(means, self.batch[CONTEXT], g["context_words"])

    def _entropy(self, hidden: Floats, targets: NDArray[np.int32], rng: np.random.Generator | None) -> float:
        """Return the weighted cross entropy of the targets, (M,), given the hidden states before them, (M, H)."""
        self.hidden, self.kept = hidden, None
        if rng is not None and self.dropout > 0:
            self.kept = kept(rng, hidden.shape, self.dropout)
            self.hidden = hidden * self.kept
        scores = logits(self.weights, self.hidden)  # (M, V)
        scores -= np.maximum.reduce(scores, axis=1, keepdims=True)
        self.chosen = (np.arange(len(targets)), targets)
        self.log_odds = chosen = scores[self.chosen]
        self.odds = np.exp(scores, out=scores)
        self.sums = np.add.reduce(self.odds, axis=1)
        return float(np.dot(np.log(self.sums) - chosen, self.token_shares))

    def _entropy_back(self) -> Floats:
        """Fill in the output layer's gradients and return those of the hidden states, (M, H)."""
        # The logits' gradients are these times `scale`, which is cheaper to apply to the (M, H) hidden states.
        gradients, scale = self.odds, self._output_shares() / self.sums  # (M, V), overwriting the odds, and (M,)
        gradients[self.chosen] -= self.sums
        np.matmul((self.hidden * scale[:, None]).T, gradients, out=self.gradients["output_kernel"])
        np.matmul(scale, gradients, out=self.gradients["output_bias"])
        hidden: Floats = gradients @ self.weights["output_kernel"].T
        hidden *= scale[:, None]
        if self.kept is not None:
            hidden *= self.kept
        return hidden

    def _output_shares(self) -> Floats:
        """Return the weight of each token's cross entropy under the output layer, (M,)."""
        shares: Floats = self.token_shares
        return shares

    def _penalty(self, d: Floats) -> float:
        """Return what `SCLSTM.penalty` adds to the loss, given what is left of the acts, (B + M, used)."""
        self.change = d[self.packing.count :] - d[self.packing.before]
        self.left = d[self.packing.last]
        self.change_norm, self.left_norm = _norm(self.change), _norm(self.left)  # (M,), (B,)
        self.cost = self.token_shares * np.float32(self.eta) * np.float32(self.xi) ** self.change_norm
        return float(np.dot(self.left_norm, self.shares) + np.add.reduce(self.cost))

    def _penalty_back(self) -> Floats:
        """Return the gradients of the penalty by what is left of the acts after each token, (M, used)."""
        first = self.packing.count
        self.change *= (self.cost * np.float32(math.log(self.xi)) / self.change_norm)[:, None]
        gradients: Floats = self.change.copy()
        gradients[self.packing.before[first:] - first] -= self.change[first:]
        gradients[self.packing.last - first] += self.left * (self.shares / self.left_norm)[:, None]
        return gradients


def kept(rng: np.random.Generator, shape: tuple[int, ...], dropout: float) -> Floats:
    """Return the dropout factors of units: 0, or 1 / (1 - dropout)."""
    # Sixteen random bits suffice to decide which units to drop, and are drawn in half the time.
    drawn = rng.integers(0, 2**16, shape, np.uint16)
    factors: Floats = np.multiply(drawn >= round(dropout * 2**16), np.float32(1 / (1 - dropout)))
    return factors


def _norm(x: Floats) -> Floats:
    norm: Floats = np.sqrt(np.einsum("...d,...d->...", x, x) + np.float32(1e-10))
    return norm
