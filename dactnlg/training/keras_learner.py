"""Training with Keras, on whatever device Keras runs on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import keras
import numpy as np
from numpy.typing import NDArray

from dactnlg.data.batching import Batch, Dataset
from dactnlg.models.backend import jit_compile, make_deterministic, retraces, to_numpy
from dactnlg.models.weights import check_shapes, named_weights
from dactnlg.training.devices.process_group import ProcessGroup
from dactnlg.training.devices.workers import Cluster

if TYPE_CHECKING:
    from dactnlg.models.base import NeuralModel

Arrays = dict[str, NDArray[Any]]


class KerasLearner:
    """Trains with Keras' training step, alone or together with other processes.

    Args:
        model: the model.
        learning_rate: the initial one.
        clip_norm: largest norm of the whole gradient.
        sample: data whose array shapes the step is compiled for.
        batch_size: the number of rows that it is compiled for.
        group: the processes that train together; the model was created in its scope.
    """

    def __init__(
        self,
        model: NeuralModel,
        learning_rate: float,
        clip_norm: float,
        *,
        sample: Dataset,
        batch_size: int,
        group: ProcessGroup | None = None,
    ) -> None:
        make_deterministic()
        self.group = group or ProcessGroup(Cluster())
        with self.group.scope():
            self.model, self.optimizer = model, _compile(model, learning_rate, self.group.clip_norm(clip_norm))
        if retraces():
            self._warm_up(sample, batch_size)

    @property
    def learning_rate(self) -> float:
        """The optimizer's learning rate."""
        return float(to_numpy(self.optimizer.learning_rate))

    @learning_rate.setter
    def learning_rate(self, value: float) -> None:
        with self.group.scope():
            self.optimizer.learning_rate = value

    def reseed(self, seed: int) -> None:
        """Reset the random number generators, such as those of dropout."""
        with self.group.scope():
            self.group.reseed(self.model, seed)

    def learn(self, batch: Batch) -> float:
        """Take one gradient step and return the loss before it."""
        with self.group.scope():
            return self.group.learn(self.model, batch)

    def loss(self, batch: Batch) -> float:
        """Return the loss without dropout."""
        with self.group.scope():
            return self.group.loss(self.model, batch)

    def weights(self) -> Arrays:
        """Return the weights by name."""
        return {name: to_numpy(weight) for name, weight in named_weights(self.model).items()}

    def state(self) -> Arrays:
        """Return all that `restore` needs to continue, by name; the optimizer's variables by Keras' order."""
        return {name: to_numpy(variable) for name, variable in self._variables().items()}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Continue from what `state` returned; only rank 0 needs it, the others may pass an empty mapping.

        Raises:
            RunError: it belongs to another model or another optimizer.
        """
        variables = self._variables()
        if self.group.rank == 0:
            check_shapes(state, {name: tuple(v.shape) for name, v in variables.items()}, "the checkpoint")
        values = [np.asarray(state.get(name, to_numpy(variable))) for name, variable in variables.items()]
        with self.group.scope():
            for variable, value in zip(variables.values(), self.group.broadcast_arrays(values), strict=True):
                variable.assign(value)

    def _variables(self) -> dict[str, Any]:
        weights = {f"weights/{name}": weight for name, weight in named_weights(self.model).items()}
        return weights | {f"optimizer/{i}": variable for i, variable in enumerate(self.optimizer.variables)}

    def _warm_up(self, data: Dataset, size: int) -> None:
        """Compile the training step for sentences of any length, leaving the model unchanged.

        Keras compiles for the first batch's length, then for any length. Which sentences run through the first program
        would depend on where a run starts, and the two may differ in a last digit: a resumed run would not be the same.
        """
        variables = (*self.model.variables, *self.optimizer.variables)
        kept = [to_numpy(variable).copy() for variable in variables]
        for length in (1, 2):
            self.learn(data.empty(size, length))
            self.loss(data.empty(size, length))
        with self.group.scope():
            for variable, value in zip(variables, kept, strict=True):
                variable.assign(value)


def _compile(model: NeuralModel, learning_rate: float, clip_norm: float) -> keras.optimizers.Optimizer:
    optimizer: keras.optimizers.Optimizer = keras.optimizers.Adam(learning_rate, global_clipnorm=clip_norm)
    if model.dtype_policy.name == "mixed_float16":
        # Against underflow of small gradients. Keras would add it itself, but then not save its state.
        optimizer = keras.optimizers.LossScaleOptimizer(optimizer)
    model.compile(optimizer=optimizer, jit_compile=jit_compile())
    optimizer.build(model.trainable_variables)
    return optimizer
