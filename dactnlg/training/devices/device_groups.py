"""Process groups of several devices or processes, implemented with Keras' backends.

JAX      `keras.distribution.DataParallel`, `keras.distribution.initialize` for processes; the step is Keras' own.
TensorFlow   `tf.distribute.MirroredStrategy`, `MultiWorkerMirroredStrategy` for processes; the step is ours, because
         Keras' own would clip each device's gradient separately, and `fit` does not accept such batches.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NoReturn

import keras
import numpy as np

from dactnlg.data.batching import Batch
from dactnlg.errors import WorkerError
from dactnlg.models.backend import backend_errors
from dactnlg.training.devices.process_group import Array, ProcessGroup
from dactnlg.training.devices.rendezvous import rendezvous
from dactnlg.training.devices.workers import Cluster

if TYPE_CHECKING:
    from dactnlg.models.base import NeuralModel

JOIN_SECONDS = 300
"""How many seconds a worker waits for the others to start."""
_LOSS = re.compile(r"reset|closed|abort|refused|gloo|timed? ?out|deadline", re.IGNORECASE)


class JaxGroup(ProcessGroup):
    """JAX devices; Keras divides the batch among them and XLA sums the gradients."""

    def __init__(self, cluster: Cluster) -> None:
        import jax

        super().__init__(cluster)
        if cluster.addresses:
            keras.distribution.initialize(",".join(cluster.addresses), cluster.workers, cluster.rank)
        cluster.check_devices(jax.local_device_count(), "jax")
        everyones = [[d for d in jax.devices() if d.process_index == worker] for worker in range(cluster.workers)]
        names = [f"{device.platform}:{device.id}" for devices in everyones for device in devices[: cluster.devices]]
        self.distribution = keras.distribution.DataParallel(devices=names, auto_shard_dataset=False)

    def scope(self) -> contextlib.AbstractContextManager[Any]:
        """Return Keras' distribution scope."""
        return self.distribution.scope()

    def rows(self, batch: Batch) -> Batch:
        """Return this process's rows; Keras combines them with the others'."""
        cluster = self.cluster
        share = _padded(batch, cluster.parts)
        size = len(share["lengths"]) // cluster.workers
        return {name: array[cluster.rank * size : (cluster.rank + 1) * size] for name, array in share.items()}

    def total(self, array: Array) -> Array:
        """Return the sum of all processes' arrays."""
        if self.cluster.workers == 1:
            return array
        from jax.experimental import multihost_utils

        everyones: Array = np.asarray(multihost_utils.process_allgather(array))
        total: Array = everyones.sum(axis=0, dtype=array.dtype)
        return total

    def lose(self, message: str) -> NoReturn:
        """End the process at once; JAX would wait a minute for the lost one and then abort."""
        print(f"dactnlg: {message}", file=sys.stderr, flush=True)
        os._exit(2)


class TensorFlowGroup(ProcessGroup):
    """Replicas of a TensorFlow strategy: each computes its rows, and results are summed over all."""

    def __init__(self, cluster: Cluster) -> None:
        from dactnlg.training.devices.mirrored import choose_strategy

        super().__init__(cluster)
        self.strategy = choose_strategy(cluster)
        self._programs: dict[bool, Callable[[Any], Any]] = {}

    def scope(self) -> contextlib.AbstractContextManager[Any]:
        """Return the strategy's scope."""
        scope: contextlib.AbstractContextManager[Any] = self.strategy.scope()
        return scope

    def clip_norm(self, norm: float) -> float:
        """Return a device's share of the norm: each clips its share of the gradient."""
        return norm / self.cluster.parts

    def reseed(self, model: NeuralModel, seed: int) -> None:
        """Reset a model's random number generators; every device draws numbers of its own for its rows."""
        from dactnlg.training.devices.mirrored import replica

        self.strategy.run(lambda: model.reseed(seed, replica()))

    def learn(self, model: NeuralModel, batch: Batch) -> float:
        """Take one gradient step on a whole batch and return the loss before it."""
        return self._run(model, batch, training=True)

    def loss(self, model: NeuralModel, batch: Batch) -> float:
        """Return the loss of a whole batch without dropout."""
        return self._run(model, batch, training=False)

    def total(self, array: Array) -> Array:
        """Return the sum of all processes' arrays."""
        if self.cluster.workers == 1:
            return array
        # One device of each process contributes the array, its others zeros.
        parts = self._distribute(lambda part: array if part % self.cluster.devices == 0 else np.zeros_like(array))
        return np.asarray(self.strategy.reduce("SUM", parts, axis=None))

    def _run(self, model: NeuralModel, batch: Batch, *, training: bool) -> float:
        from dactnlg.training.devices.mirrored import program

        if training not in self._programs:
            self._programs[training] = program(self.strategy, model, training=training)
        whole = _padded(batch, self.cluster.parts)
        size = len(whole["lengths"]) // self.cluster.parts
        rows = self._distribute(
            lambda part: {name: array[part * size : (part + 1) * size] for name, array in whole.items()}
        )
        return float(self._programs[training](rows))

    def _distribute(self, part: Callable[[int], Any]) -> Any:
        import tensorflow as tf

        return self.strategy.experimental_distribute_values_from_function(
            lambda context: tf.nest.map_structure(tf.constant, part(context.replica_id_in_sync_group))
        )


@contextlib.contextmanager
def join_process_group(cluster: Cluster) -> Iterator[ProcessGroup]:
    """Yield the group of this process and the others, once all processes have started.

    Args:
        cluster: several devices or workers.

    Raises:
        WorkerError: Keras' backend does not support it or has too few devices, or other workers did not start.
    """
    backend = keras.backend.backend()
    groups: dict[str, type[ProcessGroup]] = {"jax": JaxGroup, "tensorflow": TensorFlowGroup}
    if backend not in groups:
        raise WorkerError(
            f"Keras' backend {backend} cannot train on several devices or in several processes; "
            "set KERAS_BACKEND=jax or KERAS_BACKEND=tensorflow"
        )
    if cluster.workers > 1:
        rendezvous(cluster, JOIN_SECONDS)
    try:
        group = groups[backend](cluster)
    except backend_errors() as error:
        # Other workers did not start, or this process has already used the backend.
        raise WorkerError(f"the workers did not come together: {_reason(error)}") from error
    failures: tuple[type[Exception], ...] = (OSError, *backend_errors())
    try:
        yield group
    except failures as error:
        # A rank 0 with a full disk counts as lost, too: it must not wait for the others, nor they for it.
        if cluster.workers == 1:
            raise
        group.lose(f"training with the other workers has failed ({_reason(error)}); start all again with --resume")


def _reason(error: Exception) -> str:
    """Return the line of a long message that says what has happened."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
    return next((line for line in lines if _LOSS.search(line)), lines[0])[:300]


def _padded(batch: Batch, parts: int) -> Batch:
    """Return a batch padded at its end to a multiple of `parts` rows; rows of length 0 do not affect the loss."""
    size = len(batch["lengths"])
    more = -size % parts
    if not more:
        return batch
    padded = {name: np.concatenate([array, np.repeat(array[:1], more, axis=0)]) for name, array in batch.items()}
    padded["lengths"][size:] = 0
    return padded
