"""The encoder of the hierarchical model in NumPy, forth and back; see `HierarchicalSCLSTM.encode`.

Shape letters: B rows, N entries of an act, L words of a value, M steps of all rows, S value size, C encoder size.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dactnlg.models.numpy.loops import Floats, Ints, LookUp, LSTMLoop, Packing, apart, together

# Keras' LSTM has its candidate before its output gate.
KERAS = (0, 1, 3, 2)


class ValueReader:
    """Reads the words of every value, then the entries of an act: `forward` for a batch, then `backward`.

    Args:
        weights: see `GradientModel`.
        slopes: see `GradientModel`.
    """

    def __init__(self, weights: Mapping[str, Any], slopes: Mapping[str, Any]) -> None:
        self.weights, self.slopes = weights, slopes
        self.lower, self.upper = Floor("lower", weights, slopes), Floor("upper", weights, slopes)

    def forward(self, entries: NDArray[np.int32], words: NDArray[np.int32]) -> Floats:
        """Return E, (B, C), for entries, (B, N, 2), and words, (B, N, L), padded with 0 at the end alone."""
        w = self.weights
        # Without an entry there is still one step to take: that of no entry.
        self.acts = Rows(np.maximum(np.count_nonzero(entries.any(axis=2), axis=1), 1))
        self.entries = self.acts.pack(entries)  # (M, 2)
        # Acts share most of their values: each is read once.
        distinct, self.where = np.unique(self.acts.pack(words), axis=0, return_inverse=True)
        self.values = Rows(np.maximum(np.count_nonzero(distinct, axis=1), 1))
        self.words = self.values.pack(distinct)
        slots = (w["entries"][self.entries] * (self.entries > 0)[..., None]).sum(axis=1)  # (M, S)
        read = self.lower.forward(self.values, w["words"][self.words])[self.where]
        return self.upper.forward(self.acts, np.concatenate([read, slots], axis=1))

    def backward(self, slopes: Floats) -> None:
        """Fill in the encoder's slopes, given those of E, (B, C)."""
        g, size = self.slopes, self.slopes["words"].shape[1]
        read, slots = np.split(self.upper.backward(slopes), [size], axis=1)  # (M, S) each
        g["entries"][:] = sum(LookUp(self.entries[:, k], len(g["entries"])).back(slots) for k in range(2))
        # Row 0 stands for no entry.
        g["entries"][0] = 0.0
        words = self.lower.backward(LookUp(self.where, len(self.values.order)).back(read))
        g["words"][:] = LookUp(self.words, len(g["words"])).back(words)


class Rows:
    """Rows of any length and order, and how they are packed.

    Args:
        lengths: of the rows, none zero, (B,).
    """

    def __init__(self, lengths: Ints) -> None:
        self.order = np.argsort(-lengths, kind="stable")
        self.packing = Packing(lengths[self.order])

    def pack(self, x: NDArray[Any]) -> NDArray[Any]:
        """Return (B, longest, ...) packed, (M, ...)."""
        return x[self.order[self.packing.rows], self.packing.times]


class Floor:
    """One of Keras' LSTMs that gives its last state.

    Args:
        name: which; the names of its weights begin with it.
        weights: see `GradientModel`.
        slopes: see `GradientModel`.
    """

    def __init__(self, name: str, weights: Mapping[str, Any], slopes: Mapping[str, Any]) -> None:
        self.weights, self.slopes = ([arrays[f"{name}/{k}"] for k in range(3)] for arrays in (weights, slopes))

    def forward(self, rows: Rows, steps: Floats) -> Floats:
        """Return the state after the last step of each row, (B, H), for packed steps, (M, S)."""
        kernel, recurrent, bias = self.weights
        self.rows, self.steps = rows, steps
        self.loop = LSTMLoop(rows.packing, apart(recurrent, KERAS))
        self.loop.forward(apart(steps @ kernel + bias, KERAS))
        last = np.empty((len(rows.order), len(recurrent)), np.float32)
        last[rows.order] = self.loop.h[rows.packing.last]
        return last

    def backward(self, slopes: Floats) -> Floats:
        """Fill in the slopes of the weights and return those of the steps, (M, S), given the last states'."""
        kernel, recurrent, bias = self.slopes
        states = np.zeros((len(self.steps), slopes.shape[1]), np.float32)
        states[self.rows.packing.last - len(slopes)] = slopes[self.rows.order]
        gates = together(self.loop.backward(states), KERAS)  # (M, 4H)
        recurrent[:] = together(self.loop.kernel_slopes(), KERAS)
        np.matmul(self.steps.T, gates, out=kernel)
        np.add.reduce(gates, axis=0, out=bias)
        return gates @ self.weights[0].T
