"""The models' loss and its slopes in NumPy, by hand: on a processor several times faster than a framework's.

The equations are those of the Keras models, which are what is saved, what other devices train, and what
`tests/test_gradients.py` compares with to the last digits.

Shape letters: B sentences of a batch, M their words, U distinct ones among them, V vocabulary, E embedding,
H hidden units, D entries of the DA vector, G gates (4H, or 4H + D). A slope is the loss's derivative in something.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dactnlg.models.numpy.arrays import CELLS, FLOORS, WEIGHTS
from dactnlg.models.numpy.loops import Floats, LookUp, LSTMLoop, Packing, SCLSTMLoop, apart, together
from dactnlg.models.numpy.value_reader import ValueReader

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

    def loss(self, batch: Arrays, rng: np.random.Generator | None = None, whole: float | None = None) -> float:
        """Return the loss as `NeuralModel.compute_loss` defines it.

        Args:
            batch: see `Dataset.batches`.
            rng: draws the units to drop; None for none.
            whole: the weighted words of the batch that this is a part of; the loss is the part's share then.
        """
        # The longest sentences first, and no row that only fills up the batch.
        order = np.argsort(-batch["lengths"], kind="stable")[: np.count_nonzero(batch["lengths"])]
        self.batch = {name: array[order] for name, array in batch.items()}
        lengths, weights = self.batch["lengths"], self.batch["weights"]
        self.packing = packing = Packing(lengths)
        # What a sentence's penalty, and each of its words, counts for.
        whole = max(float(np.dot(lengths, weights)), 1.0) if whole is None else whole
        self.shares = (weights / whole).astype(np.float32)  # (B,)
        self.word_shares = self.shares[packing.rows]  # (M,)
        words = packing.rows, packing.times
        loss = self._entropy(self._run(self.batch["tokens"][words]), self.batch["targets"][words], rng)
        return loss + self._penalty(self.loop.d) if isinstance(self.loop, SCLSTMLoop) else loss

    def backward(self) -> None:
        """Fill in the slopes of the last loss."""
        hidden_slopes = self._entropy_back()
        if isinstance(self.loop, SCLSTMLoop):
            self.loop.start_back(self._penalty_back())
        self._run_back(self.loop.backward(hidden_slopes))

    def _run(self, tokens: NDArray[np.int32]) -> Floats:
        """Return the hidden state after each word of (M,), as (M, H)."""
        w, four = self.weights, 4 * self.size
        # Each distinct word is projected once.
        self.distinct, self.where = np.unique(tokens, return_inverse=True)
        table = w["embedding"][self.distinct] @ w["projection"] + w["bias"]  # (U, G)
        # `take`, for an index would leave the gates of one word side by side in memory.
        gates = np.take(apart(table[:, :four]), self.where, axis=1)  # (4, M, H)
        context = self._context()  # (B, G)
        if context is not None:
            gates += np.take(apart(context[:, :four]), self.packing.rows, axis=1)
        kernels = apart(w["cell/recurrent"])
        if not self.carries_act:
            self.loop = LSTMLoop(self.packing, kernels)
            return self.loop.forward(gates)
        # Entries that no act of the batch has stay zero, and so do their slopes.
        act = self.batch["act"]
        self.used = used = np.flatnonzero(act.any(axis=0))
        reading = table[:, four + used][self.where]  # (M, used)
        if context is not None:
            reading += context[:, four + used][self.packing.rows]
        parts = self.alpha * w["cell/reading"][:, used], w["cell/act"][used]
        self.loop = SCLSTMLoop(self.packing, kernels, *parts, act[:, used], reading)
        return self.loop.forward(gates)

    def _run_back(self, gates: Floats) -> None:
        """Fill in the slopes of what leads to the gates, given those of the gates, (4, M, H)."""
        w, g, four = self.weights, self.slopes, 4 * self.size
        table = np.zeros((len(self.distinct), len(w["bias"])), np.float32)  # (U, G)
        words = LookUp(self.where, len(table))
        table[:, :four] = together(words.back(gates))
        g["cell/recurrent"][:] = together(self.loop.kernel_slopes())
        if isinstance(self.loop, SCLSTMLoop):
            table[:, four + self.used] = words.back(self.loop.reading)
            g["cell/reading"][:] = g["cell/act"][:] = 0.0
            g["cell/reading"][:, self.used] = self.alpha * self.loop.reading_kernel_slopes()
            g["cell/act"][self.used] = self.loop.act_kernel_slopes()
        np.add.reduce(table, axis=0, out=g["bias"])
        np.matmul(w["embedding"][self.distinct].T, table, out=g["projection"])
        g["embedding"][:] = 0.0
        g["embedding"][self.distinct] = table @ w["projection"].T
        self._context_back(gates)

    def _context(self) -> Floats | None:
        """Return what is added to the gates at every step, (B, G), if anything is."""
        if "act_projection" not in self.weights:
            return None
        context: Floats = self.batch["act"] @ self.weights["act_projection"]
        if self.reader is not None:
            self.summary = self.reader.forward(self.batch["entries"], self.batch["words"])
            context += self.summary @ self.weights["encoder_projection"]
        return context

    def _context_back(self, gates: Floats) -> None:
        if "act_projection" not in self.weights:
            return
        slopes = np.zeros((self.packing.count, len(self.weights["bias"])), np.float32)  # (B, G)
        slopes[:, : 4 * self.size] = together(self.packing.sum_steps(gates))
        if isinstance(self.loop, SCLSTMLoop):
            slopes[:, 4 * self.size + self.used] = self.packing.sum_steps(self.loop.reading)
        np.matmul(self.batch["act"].T, slopes, out=self.slopes["act_projection"])
        if self.reader is not None:
            np.matmul(self.summary.T, slopes, out=self.slopes["encoder_projection"])
            self.reader.backward(slopes @ self.weights["encoder_projection"].T)

    def _entropy(self, hidden: Floats, targets: NDArray[np.int32], rng: np.random.Generator | None) -> float:
        """Return the cross entropy of the words, (M,), given the hidden states before them, (M, H)."""
        self.hidden, self.kept = hidden, None
        if rng is not None and self.dropout > 0:
            # Sixteen bits are random enough to tell which units to drop, and drawn in half the time.
            drawn = rng.integers(0, 2**16, hidden.shape, np.uint16)
            self.kept = np.multiply(drawn >= round(self.dropout * 2**16), np.float32(1 / (1 - self.dropout)))
            self.hidden = hidden * self.kept
        logits = self.hidden @ self.weights["output_kernel"]  # (M, V)
        logits += self.weights["output_bias"]
        logits -= np.maximum.reduce(logits, axis=1, keepdims=True)
        self.said = (np.arange(len(targets)), targets)
        chosen = logits[self.said]
        self.odds = np.exp(logits, out=logits)
        self.sums = np.add.reduce(self.odds, axis=1)
        return float(np.dot(np.log(self.sums) - chosen, self.word_shares))

    def _entropy_back(self) -> Floats:
        """Fill in the output layer's slopes and return those of the hidden states, (M, H)."""
        # The slopes of the logits are these, times `scale`: cheaper to put to the hidden states than to all words.
        slopes, scale = self.odds, self.word_shares / self.sums  # (M, V), in the odds' place, and (M,)
        slopes[self.said] -= self.sums
        np.matmul((self.hidden * scale[:, None]).T, slopes, out=self.slopes["output_kernel"])
        np.matmul(scale, slopes, out=self.slopes["output_bias"])
        hidden = slopes @ self.weights["output_kernel"].T
        hidden *= scale[:, None]
        if self.kept is not None:
            hidden *= self.kept
        return hidden

    def _penalty(self, d: Floats) -> float:
        """Return what `SCLSTM.penalty` adds to the loss, given the acts, (B + M, used)."""
        self.change = d[self.packing.count :] - d[self.packing.before]
        self.left = d[self.packing.last]
        self.change_norm, self.left_norm = _norm(self.change), _norm(self.left)  # (M,), (B,)
        self.cost = self.word_shares * np.float32(self.eta) * np.float32(self.xi) ** self.change_norm
        return float(np.dot(self.left_norm, self.shares) + np.add.reduce(self.cost))

    def _penalty_back(self) -> Floats:
        """Return its slopes in the acts after each word, (M, used)."""
        first = self.packing.count
        self.change *= (self.cost * np.float32(math.log(self.xi)) / self.change_norm)[:, None]
        slopes = self.change.copy()
        slopes[self.packing.before[first:] - first] -= self.change[first:]
        slopes[self.packing.last - first] += self.left * (self.shares / self.left_norm)[:, None]
        return slopes


def _norm(x: Floats) -> Floats:
    norm: Floats = np.sqrt(np.einsum("...d,...d->...", x, x) + np.float32(1e-10))
    return norm
