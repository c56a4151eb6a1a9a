"""Trained models as plain arrays: what a search needs of them, in NumPy, without Keras and the seconds it takes.

The equations are those of `layers.cells` and of the models; `tests/test_decoding.py` holds the two together.

Shape letters: B acts, N live beams, D entries of the DA vector, H hidden units, G gates, V vocabulary.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dactnlg.errors import RunError

Floats = NDArray[np.float32]
State = list[Floats]

SHARED = ("embedding", "projection", "bias", "output_kernel", "output_bias")
# In the order in which the models make their weights, which is the order in which Keras numbers them.
WEIGHTS = {
    "LSTM": (*SHARED, "act_projection"),
    "SCLSTM": SHARED,
    "HierarchicalSCLSTM": (*SHARED, "words", "entries", "encoder_projection", "act_projection"),
}
CELLS = {
    "LSTM": ("recurrent",),
    "SCLSTM": ("recurrent", "reading", "act"),
    "HierarchicalSCLSTM": ("recurrent", "reading", "act"),
}
FLOORS = {"HierarchicalSCLSTM": {"lower": "layers/lstm", "upper": "layers/lstm_1"}}


class Prepared(NamedTuple):
    """What is the same at every step of a search over some acts.

    Attributes:
        context: what is added to an act's gates, (B, 4H); None where a model adds nothing.
        reading: the same for its reading gate, (B, E), with E entries of the DA vector in use.
        reading_kernel: of the hidden state, (H, E); None where a model does not carry the act.
        reading_table: of the words, (V, E).
        act: from the act to the cell, (E, H).
    """

    context: Floats | None
    reading: Floats | None = None
    reading_kernel: Floats | None = None
    reading_table: Floats = np.zeros((0, 0), np.float32)
    act: Floats = np.zeros((0, 0), np.float32)


class ArrayModel:
    """A trained model that can only be searched.

    Args:
        name: the class of the Keras model.
        config: its keywords.
        weights: its weights by name; those of the cell and of the encoder's floors have their names before them
            (`cell/recurrent`, `lower/0`).
    """

    def __init__(self, name: str, config: Mapping[str, Any], weights: Mapping[str, Floats]) -> None:
        self.lexicalized = name == "HierarchicalSCLSTM"
        self.vocabulary_size, self.act_size = int(config["vocabulary_size"]), int(config["act_size"])
        self.hidden_size = int(config["hidden_size"])
        self._weights = w = {key: np.asarray(value, np.float32) for key, value in weights.items()}
        self._carries_act, self.has_context = "cell/reading" in w, "act_projection" in w
        kernel = w["cell/recurrent"]
        if self._carries_act:
            kernel = np.concatenate([kernel, np.float32(config["alpha"]) * w["cell/reading"]], axis=1)
        # A sigmoid is half a tanh of half its argument: with that half in the weights, one tanh does for all gates.
        self._halves = np.full(kernel.shape[1], 0.5, np.float32)
        self._halves[3 * self.hidden_size : 4 * self.hidden_size] = 1.0
        table = (w["embedding"] @ w["projection"] + w["bias"]) * self._halves  # (V, G)
        # The gates and what reads the act are apart: of the latter a search needs only what its acts have.
        cut = 4 * self.hidden_size
        self._kernel, self._reading = (np.ascontiguousarray(p) for p in np.split(kernel * self._halves, [cut], axis=1))
        self._table, self._reading_table = (np.ascontiguousarray(part) for part in np.split(table, [cut], axis=1))

    @classmethod
    def load(cls, path: Path) -> ArrayModel:
        """Read a `.keras` file that training wrote.

        Raises:
            RunError: it is not one.
        """
        import h5py

        try:
            with zipfile.ZipFile(path) as archive:
                description = json.loads(archive.read("config.json"))
                file = h5py.File(io.BytesIO(archive.read("model.weights.h5")))
            name = description["class_name"]
            places = {key: f"vars/{number}" for number, key in enumerate(WEIGHTS[name])}
            places |= {f"cell/{key}": f"cell/vars/{number}" for number, key in enumerate(CELLS[name])}
            for floor, place in FLOORS.get(name, {}).items():
                places |= {f"{floor}/{number}": f"{place}/cell/vars/{number}" for number in range(3)}
            return cls(name, description["config"], {key: file[place][()] for key, place in places.items()})
        except (OSError, KeyError, ValueError, zipfile.BadZipFile) as error:
            raise RunError(f"{path} is not a model that this version can read: {error}") from None

    def prepare(self, inputs: Mapping[str, NDArray[Any]], every_entry: bool = False) -> tuple[Prepared, State]:
        """Return what a search over these acts needs.

        Args:
            inputs: `act` (B, D), and `entries`, `words` for the hierarchical model.
            every_entry: whether a state holds all entries of the DA vector; else those that some act has, since an
                entry that is 0 stays so.

        Returns:
            What is the same at every step, and the first state, each (B, ...).
        """
        act = inputs["act"].astype(np.float32)
        zeros = np.zeros((len(act), self.hidden_size), np.float32)
        context = None
        if self.has_context:
            context = act @ self._weights["act_projection"]
            if self.lexicalized:
                context += self._encode(inputs["entries"], inputs["words"]) @ self._weights["encoder_projection"]
            context *= self._halves
        if not self._carries_act:
            return Prepared(context), [zeros, zeros]
        used = np.arange(self.act_size) if every_entry else np.flatnonzero(act.any(axis=0))
        cut, reading = 4 * self.hidden_size, None
        if context is not None:
            context, reading = context[:, :cut], context[:, cut + used]
        kernel, table = self._reading[:, used], np.ascontiguousarray(self._reading_table[:, used])
        return Prepared(context, reading, kernel, table, self._weights["cell/act"][used]), [zeros, zeros, act[:, used]]

    def step(
        self, prepared: Prepared, state: State, tokens: NDArray[np.intp], owner: NDArray[np.intp]
    ) -> tuple[Floats, State]:
        """Advance every beam by one word.

        Args:
            prepared: from `prepare`.
            state: each (N, ...).
            tokens: the words just said, (N,).
            owner: the act that each beam belongs to, (N,).

        Returns:
            Logits of the next word, (N, V), and the new state.
        """
        size = self.hidden_size
        gates = state[0] @ self._kernel  # (N, 4H)
        gates += self._table.take(tokens, axis=0)
        if prepared.context is not None:
            gates += prepared.context.take(owner, axis=0)
        _sigmoid_of_doubled(gates)
        i, f, o, candidate = (gates[:, k * size : (k + 1) * size] for k in range(4))
        # Whole arrays are quicker than parts of them: the candidate is made a sigmoid too, and unmade.
        c = candidate * 2.0
        c -= 1.0
        c *= i
        c += f * state[1]
        rest = []
        if prepared.reading_kernel is not None:
            d = state[0] @ prepared.reading_kernel  # (N, entries in use)
            d += prepared.reading_table.take(tokens, axis=0)
            if prepared.reading is not None:
                d += prepared.reading.take(owner, axis=0)
            _sigmoid_of_doubled(d)
            d *= state[2]
            struck = d @ prepared.act
            c += np.tanh(struck, out=struck)
            rest = [d]
        h = np.tanh(c)
        h *= o
        logits = h @ self._weights["output_kernel"]
        logits += self._weights["output_bias"]
        return logits, [h, c, *rest]

    def step_weights(self) -> dict[str, Floats]:
        """Return what `step` computes with: `kernel` (H, G), `table` (V, G), and the cell's and the output's weights.

        Halves of sigmoids are in `kernel`, `table` and the context that `prepare` gives.
        """
        names = ("cell/act", "output_kernel", "output_bias")
        rest = {name: self._weights[name] for name in names if name in self._weights}
        kernel = np.concatenate([self._kernel, self._reading], axis=1)
        return {"kernel": kernel, "table": np.concatenate([self._table, self._reading_table], axis=1), **rest}

    def _encode(self, entries: NDArray[Any], words: NDArray[Any]) -> Floats:
        """Return E, (B, encoder size); see `HierarchicalSCLSTM.encode`."""
        count, length = words.shape[1:]
        w = self._weights
        flat = words.reshape(-1, length)
        # Entries share most of their values: each is read once.
        distinct, where = np.unique(flat, axis=0, return_inverse=True)
        values = self._run("lower", w["words"][distinct], (distinct > 0) | (np.arange(length) == 0))
        values = values[where.ravel()].reshape(-1, count, values.shape[1])
        slots = (w["entries"][entries] * (entries > 0)[..., None]).sum(axis=2)
        steps = np.concatenate([values, slots], axis=-1)
        return self._run("upper", steps, (entries > 0).any(axis=2) | (np.arange(count) == 0))

    def _run(self, floor: str, steps: Floats, mask: NDArray[np.bool_]) -> Floats:
        """Return the last state of Keras' LSTM over (B, T, ...); steps that the mask leaves out change nothing."""
        kernel, recurrent, bias = (self._weights[f"{floor}/{number}"] for number in range(3))
        size = len(recurrent)
        gates = steps @ kernel + bias
        h = c = np.zeros((len(steps), size), np.float32)
        for t in range(steps.shape[1]):
            now = gates[:, t] + h @ recurrent
            i, f, g, o = (now[:, k * size : (k + 1) * size] for k in range(4))
            new_c = _sigmoid(f) * c + _sigmoid(i) * np.tanh(g)
            new_h = _sigmoid(o) * np.tanh(new_c)
            real = mask[:, t, None]
            h, c = np.where(real, new_h, h), np.where(real, new_c, c)
        return h


def log_softmax(logits: Floats) -> Floats:
    """Return log probabilities; the logits are overwritten."""
    logits -= logits.max(axis=1, keepdims=True)
    # A product with ones sums rows several times faster than `sum`.
    total = np.exp(logits) @ _ones(logits.shape[1])
    logits -= np.log(total)[:, None]
    return logits


@lru_cache(maxsize=8)
def _ones(size: int) -> Floats:
    return np.ones(size, np.float32)


def _sigmoid_of_doubled(x: Floats) -> None:
    """Put sigmoid(2x) in the place of x."""
    np.tanh(x, out=x)
    x *= 0.5
    x += 0.5


def _sigmoid(x: Floats) -> Floats:
    return 0.5 * np.tanh(0.5 * x) + 0.5
