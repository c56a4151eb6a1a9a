"""Training in NumPy: all weights are stored in one vector, which Adam updates as a whole."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dactnlg.models.numpy.adam import Adam
from dactnlg.models.numpy.cells import Floats
from dactnlg.models.numpy.gradients import Batch, GradientModel
from dactnlg.models.numpy.seq2seq_gradients import Seq2SeqGradients
from dactnlg.models.weights import check_shapes

Arrays = dict[str, NDArray[Any]]


class NumpyLearner:
    """Trains a model batch by batch.

    Args:
        weights: the initial ones, by name.
        learning_rate: the initial one.
        clip_norm: largest norm of the whole gradient.
        section: the keys of the model's section; only those that the loss depends on are used.

    Attributes:
        learning_rate: of the following steps.
    """

    def __init__(
        self, weights: Mapping[str, Floats], learning_rate: float, clip_norm: float, section: Mapping[str, Any]
    ) -> None:
        self.learning_rate = learning_rate
        shapes = [weight.shape for weight in weights.values()]
        vector, self._gradient = (np.zeros(sum(map(math.prod, shapes)), np.float32) for _ in range(2))
        self._adam = Adam(vector, clip_norm)
        self._weights = dict(zip(weights, split(vector, shapes), strict=True))
        gradients = dict(zip(weights, split(self._gradient, shapes), strict=True))
        options = {name: section[name] for name in ("dropout", "alpha", "eta", "xi") if name in section}
        kind = Seq2SeqGradients if "mixture" in weights else GradientModel
        self._model = kind(self._weights, gradients, **options)
        moments = (("weights", vector), ("mean", self._adam.mean), ("square", self._adam.square))
        self._arrays = {
            f"{kind}/{name}": part
            for kind, array in moments
            for name, part in zip(weights, split(array, shapes), strict=True)
        }
        self._rng = np.random.default_rng(0)
        for name, weight in weights.items():
            self._weights[name][...] = weight

    def reseed(self, seed: int) -> None:
        """Reset the random number generator of dropout."""
        self._rng = np.random.default_rng(seed)

    def learn(self, batch: Batch) -> float:
        """Take one gradient step and return the loss before it."""
        loss = self._model.loss(batch, self._rng)
        self._model.backward()
        self._adam.step(self._gradient, self.learning_rate)
        return loss

    def loss(self, batch: Batch) -> float:
        """Return the loss without dropout."""
        return self._model.loss(batch)

    def weights(self) -> Arrays:
        """Return the weights by name."""
        return dict(self._weights)

    def state(self) -> Arrays:
        """Return all that `restore` needs to continue training, by name."""
        return {**self._arrays, "steps": np.array(self._adam.steps), "learning_rate": np.array(self.learning_rate)}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Continue from what `state` returned.

        Raises:
            RunError: it belongs to another model.
        """
        shapes = {name: array.shape for name, array in self._arrays.items()} | {"steps": (), "learning_rate": ()}
        check_shapes(state, shapes, "the checkpoint")
        for name, array in self._arrays.items():
            array[...] = state[name]
        self._adam.steps, self.learning_rate = int(state["steps"]), float(state["learning_rate"])


def split(vector: Floats, shapes: Sequence[tuple[int, ...]]) -> list[Floats]:
    """Return consecutive parts of a vector as views, one of each shape."""
    ends = np.cumsum([math.prod(shape) for shape in shapes])
    parts = np.split(vector, ends[:-1])
    return [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]
