"""Trained models as plain arrays: what a search needs of them, in NumPy, without Keras and the seconds it takes.

The equations are those of `layers.cells` and of the models; `tests/test_decoding.py` holds the two together.

Shape letters: B acts, N live beams, D entries of the DA vector, H hidden units, G gates, V vocabulary.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

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
        self._kernel = np.ascontiguousarray(kernel * self._halves)
        self._table = (w["embedding"] @ w["projection"] + w["bias"]) * self._halves  # (V, G)

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

    def prepare(self, inputs: Mapping[str, NDArray[Any]]) -> tuple[Floats | None, State]:
        """Return what a search over these acts needs.

        Args:
            inputs: `act` (B, D), and `entries`, `words` for the hierarchical model.

        Returns:
            What is added to an act's gates at every step, (B, G), or None, and the first state, each (B, ...).
        """
        act = inputs["act"].astype(np.float32)
        zeros = np.zeros((len(act), self.hidden_size), np.float32)
        state = [zeros, zeros, act] if self._carries_act else [zeros, zeros]
        context = None
        if self.has_context:
            context = act @ self._weights["act_projection"]
            if self.lexicalized:
                context += self._encode(inputs["entries"], inputs["words"]) @ self._weights["encoder_projection"]
            context *= self._halves
        return context, state

    def step(
        self, context: Floats | None, state: State, tokens: NDArray[np.intp], owner: NDArray[np.intp]
    ) -> tuple[Floats, State]:
        """Advance every beam by one word.

        Args:
            context: from `prepare`.
            state: each (N, ...).
            tokens: the words just said, (N,).
            owner: the act that each beam belongs to, (N,).

        Returns:
            Logits of the next word, (N, V), and the new state.
        """
        size = self.hidden_size
        gates = state[0] @ self._kernel  # (N, G)
        gates += self._table[tokens]
        if context is not None:
            gates += context[owner]
        np.tanh(gates, out=gates)
        i, f, o = (gates[:, k * size : (k + 1) * size] for k in range(3))
        for part in (gates[:, : 3 * size], gates[:, 4 * size :]):
            part *= 0.5
            part += 0.5
        c = f * state[1]
        c += i * gates[:, 3 * size : 4 * size]
        rest = []
        if self._carries_act:
            d = gates[:, 4 * size :] * state[2]
            struck = d @ self._weights["cell/act"]
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
        return {"kernel": self._kernel, "table": self._table, **rest}

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
    logits -= np.log(np.exp(logits).sum(axis=1, keepdims=True))
    return logits


def _sigmoid(x: Floats) -> Floats:
    return 0.5 * np.tanh(0.5 * x) + 0.5
