"""The models' loss and its slopes in NumPy, by hand: on a processor several times faster than a framework's.

The equations are those of the Keras models, which are what is saved, what other devices train, and what
`tests/test_gradients.py` compares with to the last digits.

Shape letters: T time, B batch, M real words of a batch, U distinct words of a batch, V vocabulary, E embedding,
H hidden units, D entries of the DA vector, G gates (4H, or 4H + D). A slope is the loss's derivative in something.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dactnlg.layers.loops import Floats, LSTMLoop, SCLSTMLoop, apart, flat, sum_by, together
from dactnlg.models.arrays import CELLS, FLOORS, WEIGHTS
from dactnlg.models.value_reader import ValueReader

Arrays = Mapping[str, Any]


def weight_names(kind: str) -> list[str]:
    """Return the names of a model's weights, given its class, in the order in which Keras has them."""
    names = [*WEIGHTS[kind], *(f"cell/{name}" for name in CELLS[kind])]
    return names + [f"{floor}/{number}" for floor in FLOORS.get(kind, ()) for number in range(3)]


class GradientModel:
    """A model that learns: `loss` for a batch, then `backward` for the loss's slope in every weight.

    Args:
        config: the keywords of the Keras model.
        weights: its weights by name (see `weight_names`), read anew for every batch.
        slopes: arrays of the same shapes, for `backward` to fill.
    """

    def __init__(self, config: Arrays, weights: Arrays, slopes: Arrays) -> None:
        self.weights, self.slopes = weights, slopes
        self.dropout, self.size = float(config["dropout"]), int(config["hidden_size"])
        self.carries_act = "cell/reading" in weights
        self.reader = ValueReader(weights, slopes) if "words" in weights else None
        if self.carries_act:
            self.alpha, self.eta, self.xi = (float(config[name]) for name in ("alpha", "eta", "xi"))

    def loss(self, batch: Arrays, rng: np.random.Generator | None = None) -> float:
        """Return the loss as `NeuralModel.compute_loss` defines it.

        Args:
            batch: see `Dataset.batches`.
            rng: draws the units to drop; None for none.
        """
        self.batch, self.lengths = batch, batch["lengths"]
        steps = max(int(self.lengths.max()), 1)
        self.real = np.arange(steps)[:, None] < self.lengths  # (T, B)
        # What a sentence's words, and its penalty, count for.
        total = max(float(np.dot(self.lengths, batch["weights"])), 1.0)
        self.shares = np.where(self.lengths > 0, batch["weights"] / total, 0).astype(np.float32)  # (B,)
        hidden = self._run(batch["tokens"][:, :steps].T)
        loss = self._entropy(hidden, batch["targets"][:, :steps].T[self.real], rng)
        return loss + self._penalty(self.loop.d) if isinstance(self.loop, SCLSTMLoop) else loss

    def backward(self) -> None:
        """Fill in the slopes of the last loss."""
        hidden_slopes = self._entropy_back()
        if isinstance(self.loop, SCLSTMLoop):
            self.loop.start_back(self._penalty_back())
        self._run_back(self.loop.backward(hidden_slopes))

    def _run(self, tokens: NDArray[np.int32]) -> Floats:
        """Return the hidden states after each word of (T, B), as (T, B, H)."""
        w, batch, four = self.weights, self.batch, 4 * self.size
        # Each distinct word is projected once.
        self.distinct, where = np.unique(tokens, return_inverse=True)
        self.where = where.reshape(tokens.shape)  # (T, B)
        table = w["embedding"][self.distinct] @ w["projection"] + w["bias"]  # (U, G)
        gates = np.take(apart(table[:, :four]), self.where, axis=1)  # (4, T, B, H)
        context = self._context()  # (B, G)
        if context is not None:
            gates += apart(context[:, :four])[:, None]
        kernels = apart(w["cell/recurrent"])
        if not self.carries_act:
            self.loop = LSTMLoop(kernels)
            return self.loop.forward(gates)[1:]
        # Entries that no act of the batch has stay zero, and so do their slopes.
        self.used = np.flatnonzero(batch["act"].any(axis=0))
        reading = table[:, four + self.used][self.where]  # (T, B, used)
        if context is not None:
            reading += context[:, four + self.used]
        loop = SCLSTMLoop(kernels, self.alpha * w["cell/reading"][:, self.used], w["cell/act"][self.used])
        loop.start(reading, batch["act"][:, self.used])
        self.loop = loop
        return loop.forward(gates)[1:]

    def _run_back(self, gates: Floats) -> None:
        """Fill in the slopes of what leads to the gates, given those of the gates, (4, T, B, H)."""
        w, g, four = self.weights, self.slopes, 4 * self.size
        where, count = self.where.ravel(), len(self.distinct)
        table = np.zeros((count, len(w["bias"])), np.float32)  # (U, G)
        context = np.zeros((gates.shape[2], len(w["bias"])), np.float32)  # (B, G)
        table[:, :four] = together(sum_by(where, gates.reshape(4, -1, self.size), count))
        context[:, :four] = together(np.add.reduce(gates, axis=1))
        g["cell/recurrent"][:] = together(self.loop.kernel_slopes(gates))
        if isinstance(self.loop, SCLSTMLoop):
            reading = self.loop.reading_slopes
            table[:, four + self.used] = sum_by(where, flat(reading), count)
            context[:, four + self.used] = np.add.reduce(reading, axis=0)
            g["cell/reading"][:] = g["cell/act"][:] = 0.0
            g["cell/reading"][:, self.used] = self.alpha * self.loop.reading_kernel_slopes()
            g["cell/act"][self.used] = self.loop.act_kernel_slopes()
        np.add.reduce(table, axis=0, out=g["bias"])
        np.matmul(w["embedding"][self.distinct].T, table, out=g["projection"])
        g["embedding"][:] = 0.0
        g["embedding"][self.distinct] = table @ w["projection"].T
        self._context_back(context)

    def _context(self) -> Floats | None:
        """Return what is added to the gates at every step, (B, G), if anything is."""
        if "act_projection" not in self.weights:
            return None
        context: Floats = self.batch["act"] @ self.weights["act_projection"]
        if self.reader is not None:
            self.summary = self.reader.forward(self.batch["entries"], self.batch["words"])
            context += self.summary @ self.weights["encoder_projection"]
        return context

    def _context_back(self, slopes: Floats) -> None:
        if "act_projection" not in self.weights:
            return
        np.matmul(self.batch["act"].T, slopes, out=self.slopes["act_projection"])
        if self.reader is not None:
            np.matmul(self.summary.T, slopes, out=self.slopes["encoder_projection"])
            self.reader.backward(slopes @ self.weights["encoder_projection"].T)

    def _entropy(self, hidden: Floats, targets: NDArray[np.int32], rng: np.random.Generator | None) -> float:
        """Return the cross entropy of the real words, (M,), given all hidden states, (T, B, H)."""
        self.hidden, self.kept = hidden[self.real], None  # (M, H)
        if rng is not None and self.dropout > 0:
            self.kept = (rng.random(self.hidden.shape, np.float32) >= self.dropout) / np.float32(1 - self.dropout)
            self.hidden *= self.kept
        logits = self.hidden @ self.weights["output_kernel"]  # (M, V)
        logits += self.weights["output_bias"]
        logits -= np.maximum.reduce(logits, axis=1, keepdims=True)
        self.said = (np.arange(len(targets)), targets)
        chosen = logits[self.said]
        self.odds = np.exp(logits, out=logits)
        self.sums = np.add.reduce(logits, axis=1)
        self.word_shares = np.broadcast_to(self.shares, self.real.shape)[self.real]  # (M,)
        return float(np.dot(np.log(self.sums) - chosen, self.word_shares))

    def _entropy_back(self) -> Floats:
        """Fill in the output layer's slopes and return those of the hidden states, (T, B, H)."""
        g, slopes = self.slopes, self.odds  # (M, V), in its place
        slopes *= (self.word_shares / self.sums)[:, None]
        slopes[self.said] -= self.word_shares
        np.matmul(self.hidden.T, slopes, out=g["output_kernel"])
        np.add.reduce(slopes, axis=0, out=g["output_bias"])
        hidden = slopes @ self.weights["output_kernel"].T
        if self.kept is not None:
            hidden *= self.kept
        everywhere = np.zeros((*self.real.shape, self.size), np.float32)
        everywhere[self.real] = hidden
        return everywhere

    def _penalty(self, d: Floats) -> float:
        """Return what `SCLSTM.penalty` adds to the loss, given the acts, (T + 1, B, used)."""
        self.change = np.diff(d, axis=0)
        self.change_norm = _norm(self.change)  # (T, B)
        self.left = d[self.lengths, np.arange(d.shape[1])]
        self.left_norm = _norm(self.left)
        self.cost = (self.eta * self.xi**self.change_norm * self.real).astype(np.float32)
        return float(np.dot(self.left_norm + np.add.reduce(self.cost, axis=0), self.shares))

    def _penalty_back(self) -> Floats:
        """Return its slopes in the acts but the first, (T, B, used)."""
        factor = self.cost * (np.float32(math.log(self.xi)) * self.shares) / self.change_norm
        self.change *= factor[..., None]
        slopes = self.change.copy()
        slopes[:-1] -= self.change[1:]
        # A row that only fills up a batch has no last word; its share is zero.
        last = np.maximum(self.lengths - 1, 0), np.arange(len(self.lengths))
        slopes[last] += self.left * (self.shares / self.left_norm)[:, None]
        return slopes


def _norm(x: Floats) -> Floats:
    norm: Floats = np.sqrt(np.einsum("...d,...d->...", x, x) + np.float32(1e-10))
    return norm
