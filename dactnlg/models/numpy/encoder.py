"""The encoder of the hierarchical model in NumPy, forward and backward; see `HierarchicalSCLSTM.encode`.

Shape letters: B rows, N entries of an act, L words of a value, M steps of all rows, packed; S value size, C encoder
size.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from dactnlg.models.numpy.cells import Floats
from dactnlg.models.numpy.loops import Ints, LookUp, LSTMLoop, Packing, apart, together

Weights = Mapping[str, Floats]


class EntryEncoder:
    """Reads the words of every value, then the entries of an act; call `forward` for a batch, then `backward`.

    Args:
        weights: the model's weights by name.
    """

    def __init__(self, weights: Weights) -> None:
        self.weights = weights
        self.lower, self.upper = EncoderLayer("lower", weights), EncoderLayer("upper", weights)

    def forward(self, entries: NDArray[np.int32], words: NDArray[np.int32]) -> Floats:
        """Return E, (B, C), for entries, (B, N, 2), and words, (B, N, L), padded with 0 only at the end."""
        w = self.weights
        # An act without entries still takes one step, on padding.
        self.acts = Sequences(np.maximum(np.count_nonzero(entries.any(axis=2), axis=1), 1))
        self.entries = self.acts.pack(entries)  # (M, 2)
        # Acts share most of their values, so each distinct value is read only once.
        distinct, self.where = np.unique(self.acts.pack(words), axis=0, return_inverse=True)
        self.values = Sequences(np.maximum(np.count_nonzero(distinct, axis=1), 1))
        self.words = self.values.pack(distinct)
        slots = (w["entries"][self.entries] * (self.entries > 0)[..., None]).sum(axis=1)  # (M, S)
        read = self.lower.forward(self.values, w["words"][self.words])[self.where]
        return self.upper.forward(self.acts, np.concatenate([read, slots], axis=1))

    def backward(self, gradients: Floats, out: Weights) -> None:
        """Fill `out` with the gradients of the encoder's weights, given those of E, (B, C)."""
        size = out["words"].shape[1]
        read, slots = np.split(self.upper.backward(gradients, out), [size], axis=1)  # (M, S) each
        out["entries"][:] = sum(LookUp(self.entries[:, k], len(out["entries"])).back(slots) for k in range(2))
        # Row 0 is padding.
        out["entries"][0] = 0.0
        words = self.lower.backward(LookUp(self.where, len(self.values.order)).back(read), out)
        out["words"][:] = LookUp(self.words, len(out["words"])).back(words)


class Sequences:
    """Packs rows of any lengths in any order.

    Args:
        lengths: of the rows, none zero, (B,).
    """

    def __init__(self, lengths: Ints) -> None:
        self.order = np.argsort(-lengths, kind="stable")
        self.packing = Packing(lengths[self.order])

    def pack(self, x: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return (B, longest, ...) packed, (M, ...)."""
        packed: NDArray[np.int32] = x[self.order[self.packing.rows], self.packing.times]
        return packed


class EncoderLayer:
    """One LSTM that returns its last states; see `models.cells.LSTMEncoder`.

    Args:
        name: the prefix of its weights' names.
        weights: the model's weights by name.
    """

    def __init__(self, name: str, weights: Weights) -> None:
        self.name, self.weights = name, weights

    def forward(self, sequences: Sequences, steps: Floats) -> Floats:
        """Return the state after the last step of each row, (B, H), for packed steps, (M, S)."""
        w, name = self.weights, self.name
        self.sequences, self.steps = sequences, steps
        self.loop = LSTMLoop(sequences.packing, apart(w[f"{name}/cell/recurrent"]))
        self.loop.forward(apart(steps @ w[f"{name}/projection"] + w[f"{name}/bias"]))
        last = np.empty((len(sequences.order), len(w[f"{name}/cell/recurrent"])), np.float32)
        last[sequences.order] = self.loop.h[sequences.packing.last]
        return last

    def backward(self, gradients: Floats, out: Weights) -> Floats:
        """Fill `out` with the weights' gradients and return the steps', (M, S), given the last states', (B, H)."""
        name = self.name
        states = np.zeros((len(self.steps), gradients.shape[1]), np.float32)
        states[self.sequences.packing.last - len(gradients)] = gradients[self.sequences.order]
        gates = together(self.loop.backward(states))  # (M, 4H)
        out[f"{name}/cell/recurrent"][:] = together(self.loop.kernel_gradients())
        np.matmul(self.steps.T, gates, out=out[f"{name}/projection"])
        np.add.reduce(gates, axis=0, out=out[f"{name}/bias"])
        return gates @ self.weights[f"{name}/projection"].T
