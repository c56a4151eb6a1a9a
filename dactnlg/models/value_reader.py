"""The encoder of the hierarchical model in NumPy, forth and back; see `HierarchicalSCLSTM.encode`.

Shape letters: B batch, N entries of an act, L words of a value, U distinct values of a batch, S value size,
C encoder size.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dactnlg.layers.loops import Floats, LSTMLoop, apart, sum_by, together

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
        counts = np.maximum((entries > 0).any(axis=2).sum(axis=1), 1)  # (B,)
        self.entries = entries[:, : counts.max()].transpose(1, 0, 2)  # (N, B, 2)
        values = words[:, : counts.max()].transpose(1, 0, 2).reshape(-1, words.shape[2])  # (N B, L)
        # Acts share most of their values: each is read once.
        distinct, where = np.unique(values, axis=0, return_inverse=True)
        self.where = where.ravel()  # (N B,)
        lengths = np.maximum((distinct > 0).sum(axis=1), 1)  # (U,)
        self.words = distinct[:, : lengths.max()].T  # (L, U)
        self.values = self.lower.forward(w["words"][self.words], lengths)  # (U, S)
        real = (self.entries > 0)[..., None]
        slots = (w["entries"][self.entries] * real).sum(axis=2)  # (N, B, S)
        read = self.values[self.where].reshape(slots.shape)
        return self.upper.forward(np.concatenate([read, slots], axis=-1), counts)

    def backward(self, slopes: Floats) -> None:
        """Fill in the encoder's slopes, given those of E, (B, C)."""
        g, size = self.slopes, self.values.shape[1]
        steps = self.upper.backward(slopes).reshape(-1, 2 * size)  # (N B, 2 S)
        entries = self.entries.reshape(-1, 2)
        g["entries"][:] = sum(sum_by(entries[:, k], steps[:, size:], len(g["entries"])) for k in range(2))
        # Row 0 stands for no entry.
        g["entries"][0] = 0.0
        words = self.lower.backward(sum_by(self.where, steps[:, :size], len(self.values)))  # (L, U, S)
        g["words"][:] = sum_by(self.words.ravel(), words.reshape(-1, size), len(g["words"]))


class Floor:
    """One of Keras' LSTMs that gives its last state.

    Args:
        name: which; the names of its weights begin with it.
        weights: see `GradientModel`.
        slopes: see `GradientModel`.
    """

    def __init__(self, name: str, weights: Mapping[str, Any], slopes: Mapping[str, Any]) -> None:
        self.weights, self.slopes = ([arrays[f"{name}/{k}"] for k in range(3)] for arrays in (weights, slopes))

    def forward(self, steps: Floats, lengths: NDArray[np.integer]) -> Floats:
        """Return the state after the last real step of each row, (B, H), for steps, (T, B, S)."""
        kernel, recurrent, bias = self.weights
        self.steps, self.last = steps, (lengths - 1, np.arange(len(lengths)))
        gates = apart(steps.reshape(-1, steps.shape[2]) @ kernel + bias, KERAS)
        self.loop = LSTMLoop(apart(recurrent, KERAS))
        states = self.loop.forward(gates.reshape(4, *steps.shape[:2], -1))
        return states[1:][self.last]

    def backward(self, slopes: Floats) -> Floats:
        """Fill in the slopes of the weights and return those of the steps, (T, B, S), given the last states'."""
        kernel, recurrent, bias = self.slopes
        states = np.zeros((len(self.steps), *slopes.shape), np.float32)
        states[self.last] = slopes
        gates = self.loop.backward(states)
        recurrent[:] = together(self.loop.kernel_slopes(gates), KERAS)
        rows = together(gates.reshape(4, -1, slopes.shape[1]), KERAS)  # (T B, 4H)
        np.matmul(self.steps.reshape(len(rows), -1).T, rows, out=kernel)
        np.add.reduce(rows, axis=0, out=bias)
        return (rows @ self.weights[0].T).reshape(self.steps.shape)
