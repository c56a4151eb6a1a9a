"""What `seq2seq` attends to, in NumPy, forward and backward: the entries' vectors, read in both directions.

See `models.attention.EntryEmbedding` and `Seq2Seq.prepare`.

Shape letters: B acts, M vectors of an act (its own and its entries'), or words of the user; N positions attended to
(both); S length of a vector, E units of a direction.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dactnlg.models.numpy.cells import Floats
from dactnlg.models.numpy.encoder import Sequences
from dactnlg.models.numpy.loops import Ints, LookUp, LSTMLoop, apart, together
from dactnlg.text.context import CONTEXT

Weights = Mapping[str, Floats]
UNSEEN = np.float32(-1e9)
"""Added to the scores of masked positions."""
LEAST = np.float32(1e-30)
"""Added to copying probabilities before their logarithm is taken; see `models.attention`."""
KERAS_ORDER = [0, 1, 3, 2]
"""The permutation, its own inverse, between the gates of `cells` and of Keras' LSTM, which has the candidate third."""


class EntryVectors:
    """The vectors of the act and its entries; call `forward` for a batch, then `backward`.

    Args:
        weights: the model's weights by name.
    """

    def __init__(self, weights: Weights) -> None:
        self.weights = weights

    def forward(self, act: Floats, entries: Ints, words: Ints) -> Floats:
        """Return vectors, (B, M, S), for DA vectors, (B, D), entries, (B, M - 1, 2), and words, (B, M - 1, L)."""
        w = self.weights
        self.act, self.entries, self.words = act, entries, words
        self.share = 1 / np.maximum(np.count_nonzero(words, axis=-1), 1).astype(np.float32)[..., None]
        slots = _sum(w["entries/entries"], entries) + _sum(w["entries/words"], words) * self.share
        return np.concatenate([(act @ w["entries/act"])[:, None], slots], axis=1)

    def backward(self, gradients: Floats, out: Weights) -> None:
        """Fill `out` with the gradients of the tables, given those of the vectors, (B, M, S)."""
        np.matmul(self.act.T, gradients[:, 0], out=out["entries/act"])
        own = gradients[:, 1:]
        for name, numbers, each in (("entries", self.entries, own), ("words", self.words, own * self.share)):
            _sum_back(each, numbers, out[f"entries/{name}"])


class TwoWayReader:
    """A bidirectional LSTM that returns all its states; call `forward` for a batch, then `backward`.

    Args:
        name: the prefix of its weights' names.
        weights: the model's weights by name.
    """

    def __init__(self, name: str, weights: Weights) -> None:
        self.weights = weights
        self.ways = [f"{name}/{way}_layer/cell" for way in ("forward", "backward")]

    def forward(self, vectors: Floats, lengths: Ints) -> Floats:
        """Return the states, (B, M, 2E), 0 for padding, of vectors, (B, M, S), given the lengths of the rows, (B,)."""
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
        """Fill `out` with the gradients of the weights and return the vectors', given those of the states."""
        found = np.zeros(self.shape, np.float32)
        halves = np.split(gradients, 2, axis=2)
        for where, loop, steps, place, half in zip(self.ways, self.loops, self.steps, self.places, halves, strict=True):
            gates = together(loop.backward(half[place])[KERAS_ORDER])  # (all M, 4E)
            out[f"{where}/recurrent_kernel"][:] = together(loop.kernel_gradients()[KERAS_ORDER])
            np.matmul(steps.T, gates, out=out[f"{where}/kernel"])
            np.add.reduce(gates, axis=0, out=out[f"{where}/bias"])
            found[place] += gates @ self.weights[f"{where}/kernel"].T
        return found


class ActMemory:
    """What can be attended to: the entries of acts, then the user's words; call `forward`, then `backward`.

    Args:
        weights: the model's weights by name.
    """

    def __init__(self, weights: Weights) -> None:
        self.weights = weights
        self.vectors, self.reader = EntryVectors(weights), TwoWayReader("encoder", weights)
        self.hears = TwoWayReader("context_encoder", weights) if "context_words" in weights else None

    def forward(self, inputs: Mapping[str, NDArray[Any]]) -> tuple[Floats, NDArray[np.bool_]]:
        """Return what can be attended to, (B, N, 2E), and which of it is not padding, (B, N)."""
        entries = inputs["entries"]
        lengths = 1 + np.count_nonzero(entries.any(axis=-1), axis=1)
        vectors = self.vectors.forward(inputs["act"].astype(np.float32), entries, inputs["words"])
        memory = self.reader.forward(vectors, lengths)
        real = np.arange(memory.shape[1]) < lengths[:, None]
        self.own = memory.shape[1]
        if self.hears is not None:
            self.said = said = inputs[CONTEXT]
            # Without words the reader reads one padding token, which attention masks.
            words = np.maximum(np.count_nonzero(said, axis=1), 1)
            heard = self.hears.forward(self.weights["context_words"][said], words)
            memory, real = np.concatenate([memory, heard], axis=1), np.concatenate([real, said > 0], axis=1)
        return memory, real

    def backward(self, gradients: Floats, out: Weights) -> None:
        """Fill `out` with the gradients of all its weights, given those of its output."""
        self.vectors.backward(self.reader.backward(gradients[:, : self.own], out), out)
        if self.hears is not None:
            words = self.hears.backward(gradients[:, self.own :], out)
            real = np.nonzero(self.said)
            out["context_words"][:] = LookUp(self.said[real], len(out["context_words"])).back(words[real])


def unseen(visible: NDArray[np.bool_]) -> Floats:
    """Return what is added to scores: 0 where visible, else `UNSEEN`."""
    found: Floats = np.where(visible, np.float32(0), UNSEEN)
    return found


def softmax(scores: Floats) -> Floats:
    """Return the softmax over the last axis."""
    odds: Floats = np.exp(scores - scores.max(axis=-1, keepdims=True))
    odds /= odds.sum(axis=-1, keepdims=True)
    return odds


def _sum(table: Floats, numbers: Ints) -> Floats:
    """Return sums of rows of a table, (..., K) -> (..., S); index 0 adds nothing."""
    rows = table[numbers]
    rows[numbers == 0] = 0.0
    found: Floats = rows.sum(axis=-2)
    return found


def _sum_back(gradients: Floats, numbers: Ints, out: Floats) -> None:
    """Fill `out` with the gradients of a table, given those of `_sum`."""
    *places, _ = np.nonzero(numbers)
    out[:] = LookUp(numbers[numbers > 0], len(out)).back(gradients[tuple(places)])
