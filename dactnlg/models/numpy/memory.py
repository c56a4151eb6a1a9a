"""What `seq2seq` looks at, in NumPy, forward and backward: the vectors of entries, read in both directions.

See `models.attention.EntryEmbedding` and `Seq2Seq.prepare`.

Shape letters: B acts, M things of each, one after the other; S length of a vector, E units of a direction.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from dactnlg.models.numpy.cells import Floats
from dactnlg.models.numpy.encoder import Sequences
from dactnlg.models.numpy.loops import Ints, LookUp, LSTMLoop, apart, together

Weights = Mapping[str, Floats]
KERAS_ORDER = [0, 1, 3, 2]
"""The gates of `cells` in the order of Keras' own LSTM, which has the candidate third; and the other way round."""


class EntryVectors:
    """The vectors of the act and its entries: `forward` for a batch, then `backward`.

    Args:
        weights: the model's weights by name.
    """

    def __init__(self, weights: Weights) -> None:
        self.weights = weights

    def forward(self, act: Floats, entries: Ints, words: Ints) -> Floats:
        """Return the vectors, (B, M, S), of DA vectors, (B, D), entries, (B, M - 1, 2), and words, (B, M - 1, L)."""
        w = self.weights
        self.act, self.entries, self.words = act, entries, words
        self.share = 1 / np.maximum(np.count_nonzero(words, axis=-1), 1).astype(np.float32)[..., None]
        slots = _sum(w["entries/entries"], entries) + _sum(w["entries/words"], words) * self.share
        return np.concatenate([(act @ w["entries/act"])[:, None], slots], axis=1)

    def backward(self, gradients: Floats, out: Weights) -> None:
        """Fill in the gradients of the tables, given those of the vectors, (B, M, S)."""
        np.matmul(self.act.T, gradients[:, 0], out=out["entries/act"])
        own = gradients[:, 1:]
        for name, numbers, each in (("entries", self.entries, own), ("words", self.words, own * self.share)):
            _sum_back(each, numbers, out[f"entries/{name}"])


class TwoWayReader:
    """Two LSTMs that read forward and backward, and give all their states; `forward` for a batch, then `backward`.

    Args:
        name: what the names of their weights begin with.
        weights: the model's weights by name.
    """

    def __init__(self, name: str, weights: Weights) -> None:
        self.weights = weights
        self.ways = [f"{name}/{way}_layer/cell" for way in ("forward", "backward")]

    def forward(self, vectors: Floats, lengths: Ints) -> Floats:
        """Return the states, (B, M, 2E), 0 behind the end; `lengths` are the numbers of vectors of each act."""
        self.sequences, self.shape = Sequences(lengths), vectors.shape
        rows = self.sequences.order[self.sequences.packing.rows]
        times = self.sequences.packing.times
        self.places = [(rows, times), (rows, lengths[rows] - 1 - times)]
        self.steps = [vectors[place] for place in self.places]
        self.loops, found = list[LSTMLoop](), list[Floats]()
        for where, steps, place in zip(self.ways, self.steps, self.places, strict=True):
            recurrent = self.weights[f"{where}/recurrent_kernel"]
            loop = LSTMLoop(self.sequences.packing, apart(recurrent)[KERAS_ORDER])
            states = np.zeros((*vectors.shape[:2], len(recurrent)), np.float32)
            gates = steps @ self.weights[f"{where}/kernel"] + self.weights[f"{where}/bias"]
            states[place] = loop.forward(apart(gates)[KERAS_ORDER])
            self.loops.append(loop)
            found.append(states)
        return np.concatenate(found, axis=2)

    def backward(self, gradients: Floats, out: Weights) -> Floats:
        """Fill in the gradients of the weights, and return those of the vectors, given those of the states."""
        found = np.zeros(self.shape, np.float32)
        halves = np.split(gradients, 2, axis=2)
        for where, loop, steps, place, half in zip(self.ways, self.loops, self.steps, self.places, halves, strict=True):
            gates = together(loop.backward(half[place])[KERAS_ORDER])  # (all M, 4E)
            out[f"{where}/recurrent_kernel"][:] = together(loop.kernel_gradients()[KERAS_ORDER])
            np.matmul(steps.T, gates, out=out[f"{where}/kernel"])
            np.add.reduce(gates, axis=0, out=out[f"{where}/bias"])
            found[place] += gates @ self.weights[f"{where}/kernel"].T
        return found


def lengths_of(entries: Ints) -> NDArray[np.intp]:
    """Return how many vectors each act has, (B,): that of the act, and those of its entries, (B, M - 1, 2)."""
    found: NDArray[np.intp] = 1 + np.count_nonzero(entries.any(axis=-1), axis=1)
    return found


def said_lengths(numbers: Ints) -> NDArray[np.intp]:
    """Return how many words are read of what users have said, (B, C) -> (B,): of nothing one, not looked at."""
    found: NDArray[np.intp] = np.maximum(np.count_nonzero(numbers, axis=1), 1)
    return found


def _sum(table: Floats, numbers: Ints) -> Floats:
    """Return the sums of rows of a table, (..., K) -> (..., S); number 0 has none."""
    rows = table[numbers]
    rows[numbers == 0] = 0.0
    found: Floats = rows.sum(axis=-2)
    return found


def _sum_back(gradients: Floats, numbers: Ints, out: Floats) -> None:
    """Fill in the gradients of a table, given those of `_sum`."""
    *places, _ = np.nonzero(numbers)
    out[:] = LookUp(numbers[numbers > 0], len(out)).back(gradients[tuple(places)])
