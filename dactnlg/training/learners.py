"""How a model learns from a batch: by hand in NumPy, or by Keras' own means on whatever device Keras runs on.

Both work on a Keras model and its Adam optimizer, so that either's checkpoint is the other's too.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import keras
import numpy as np
from numpy.typing import NDArray

from dactnlg.data.batching import Batch, Dataset
from dactnlg.models import load_model
from dactnlg.models.backend import jit_compile, make_deterministic, retraces, to_numpy
from dactnlg.models.numpy.micro_batches import MicroBatches, cut
from dactnlg.training.team import Team
from dactnlg.training.workers import Cluster

if TYPE_CHECKING:
    from dactnlg.models.base import NeuralModel

Floats = NDArray[np.float32]


class Learner(Protocol):
    """Changes a model batch by batch.

    Attributes:
        learning_rate: for the batches to come.
    """

    learning_rate: float

    def reseed(self, seed: int) -> None:
        """Start dropout's random numbers anew."""

    def learn(self, batch: Batch) -> float:
        """Take one step along the gradient and return the loss before it."""

    def loss(self, batch: Batch) -> float:
        """Return the loss without dropout."""

    def save(self, path: Path) -> None:
        """Write the model and the optimizer's state as a `.keras` file."""

    def restore(self, path: Path) -> None:
        """Go on from a file that `save` wrote."""


class KerasLearner:
    """Learns by Keras' training step, alone or with others.

    Args:
        model: the model.
        learning_rate: at first.
        clip_norm: largest norm of the whole gradient.
        sample: some data, for the shapes to compile for.
        batch_size: the number of rows to compile for.
        team: who learns; the model has been made in its scope.
    """

    def __init__(
        self,
        model: NeuralModel,
        learning_rate: float,
        clip_norm: float,
        sample: Dataset,
        batch_size: int,
        team: Team | None = None,
    ) -> None:
        make_deterministic()
        self.team = team or Team(Cluster())
        with self.team.scope():
            self.model, self.optimizer = model, _compile(model, learning_rate, self.team.clip_norm(clip_norm))
        if retraces():
            self._warm_up(sample, batch_size)

    @property
    def learning_rate(self) -> float:
        """The optimizer's."""
        return float(to_numpy(self.optimizer.learning_rate))

    @learning_rate.setter
    def learning_rate(self, value: float) -> None:
        with self.team.scope():
            self.optimizer.learning_rate = value

    def reseed(self, seed: int) -> None:
        """Start dropout's random numbers anew."""
        with self.team.scope():
            self.model.reseed(seed)

    def learn(self, batch: Batch) -> float:
        """Take one step along the gradient and return the loss before it."""
        with self.team.scope():
            return self.team.learn(self.model, batch)

    def loss(self, batch: Batch) -> float:
        """Return the loss without dropout."""
        with self.team.scope():
            return self.team.loss(self.model, batch)

    def save(self, path: Path) -> None:
        """Write the model and the optimizer's state as a `.keras` file."""
        self.model.save(path)

    def restore(self, path: Path) -> None:
        """Go on from a file that `save` wrote; the chief reads it for all."""
        variables = _variables(self.model)
        values = [to_numpy(variable) for variable in variables]
        if self.team.chief:
            with self.team.apart():
                values = _saved_values(path)
        with self.team.scope():
            for variable, value in zip(variables, self.team.spread(values), strict=True):
                variable.assign(value)

    def _warm_up(self, data: Dataset, size: int) -> None:
        """Have the training step compiled for sentences of any length, and leave the model as it was.

        Keras compiles for the first batch's length, then for any length. Which sentences meet the first program would
        depend on where a run begins, and two programs may differ in a last digit: a resumed run would not be the same.
        """
        variables = (*self.model.variables, *self.optimizer.variables)
        kept = [to_numpy(variable).copy() for variable in variables]
        for length in (1, 2):
            self.learn(data.empty(size, length))
            self.loss(data.empty(size, length))
        with self.team.scope():
            for variable, value in zip(variables, kept, strict=True):
                variable.assign(value)


class ArrayLearner:
    """Learns in NumPy: all weights stand in one vector, which Adam (Kingma and Ba 2015) moves as a whole.

    Args:
        model: the model.
        learning_rate: at first.
        clip_norm: largest norm of the whole gradient.
        parts: micro-batches of a batch; on them hang the last digits of what is learned, not on who shares them.
    """

    def __init__(self, model: NeuralModel, learning_rate: float, clip_norm: float, parts: int = 1) -> None:
        self.model, self.optimizer = model, _compile(model, learning_rate, clip_norm)
        self.clip_norm = clip_norm
        shapes = [tuple(variable.shape) for variable in model.trainable_variables]
        self.gradient = MicroBatches(type(model).__name__, model.get_config(), shapes, parts)
        self._mean, self._square, self._work = (np.zeros_like(self.gradient.weights) for _ in range(3))
        # Keras' Adam has, after its count of steps and its learning rate, both moments of one weight after another.
        moments = self.optimizer.variables[2:]
        self._pairs = [
            *zip(model.trainable_variables, cut(self.gradient.weights, shapes), strict=True),
            *zip(moments[0::2], cut(self._mean, shapes), strict=True),
            *zip(moments[1::2], cut(self._square, shapes), strict=True),
        ]
        self._rng = np.random.default_rng(0)
        self._steps = 0
        self._read()

    @property
    def learning_rate(self) -> float:
        """The optimizer's."""
        return self._rate

    @learning_rate.setter
    def learning_rate(self, value: float) -> None:
        # By way of the optimizer, which rounds it: a resumed run reads it from there.
        self.optimizer.learning_rate = value
        self._rate = float(self.optimizer.learning_rate)

    def reseed(self, seed: int) -> None:
        """Start dropout's random numbers anew."""
        self._rng = np.random.default_rng(seed)

    def learn(self, batch: Batch) -> float:
        """Take one step along the gradient and return the loss before it."""
        loss = self.gradient.learn(batch, self._rng)
        self._step()
        return loss

    def loss(self, batch: Batch) -> float:
        """Return the loss without dropout."""
        return self.gradient.loss(batch)

    def save(self, path: Path) -> None:
        """Write the model and the optimizer's state as a `.keras` file."""
        for variable, array in self._pairs:
            variable.assign(array)
        self.optimizer.iterations.assign(self._steps)
        self.model.save(path)

    def restore(self, path: Path) -> None:
        """Go on from a file that `save` wrote."""
        _restore(self.model, path)
        self._read()

    def _read(self) -> None:
        for variable, array in self._pairs:
            array[...] = to_numpy(variable)
        self._steps = int(to_numpy(self.optimizer.iterations))
        self._rate = float(self.optimizer.learning_rate)

    def _step(self) -> None:
        """Move the weights as Keras' Adam does, the whole gradient clipped."""
        adam, slopes, mean, square = self.optimizer, self.gradient.slopes, self._mean, self._square
        norm = math.sqrt(float(np.dot(slopes, slopes)))
        if norm > self.clip_norm:
            slopes *= np.float32(self.clip_norm / norm)
        self._steps += 1
        rate = self._rate * math.sqrt(1 - adam.beta_2**self._steps) / (1 - adam.beta_1**self._steps)
        work = np.multiply(slopes, slopes, out=self._work)
        work -= square
        work *= np.float32(1 - adam.beta_2)
        square += work
        np.subtract(slopes, mean, out=work)
        work *= np.float32(1 - adam.beta_1)
        mean += work
        np.sqrt(square, out=work)
        work += np.float32(adam.epsilon)
        np.divide(mean, work, out=work)
        work *= np.float32(rate)
        self.gradient.weights -= work


def _compile(model: NeuralModel, learning_rate: float, clip_norm: float) -> keras.optimizers.Optimizer:
    optimizer: keras.optimizers.Optimizer = keras.optimizers.Adam(learning_rate, global_clipnorm=clip_norm)
    if model.dtype_policy.name == "mixed_float16":
        # Small slopes would be lost. Keras would do so by itself, but then leave it out of what it saves.
        optimizer = keras.optimizers.LossScaleOptimizer(optimizer)
    model.compile(optimizer=optimizer, jit_compile=jit_compile())
    optimizer.build(model.trainable_variables)
    return optimizer


def _variables(model: NeuralModel) -> list[Any]:
    """Return what a checkpoint keeps of a compiled model: its weights and the optimizer's state."""
    return [*model.weights, *model.optimizer.variables]


def _saved_values(path: Path) -> list[NDArray[Any]]:
    return [to_numpy(variable) for variable in _variables(load_model(path, compiled=True))]


def _restore(model: NeuralModel, path: Path) -> None:
    """Load weights and the optimizer's state into a compiled model."""
    for variable, value in zip(_variables(model), _saved_values(path), strict=True):
        variable.assign(value)
