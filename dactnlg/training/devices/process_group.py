"""Training on several devices and in several processes.

Every process has all the data and makes the same batches; of each batch it computes its own rows. Weights are the same
everywhere, and so are loss and gradient, which are those of the whole batch: without dropout and latent variables, the
result is that of one process on one device, up to the order of summation.

`device_groups` has the groups that compute together; this module has the base, a single process. It needs no Keras.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from dactnlg.data.batching import Batch
from dactnlg.errors import UserError, WorkerError
from dactnlg.training.devices.workers import Cluster

if TYPE_CHECKING:
    from dactnlg.models.base import NeuralModel

Array = NDArray[Any]


class ProcessGroup:
    """The processes that train together; this base class is a single process on one device.

    Args:
        cluster: the participating devices and processes.
    """

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster

    @property
    def rank(self) -> int:
        """The number of this process; only rank 0 writes the run folder."""
        return self.cluster.rank

    def scope(self) -> contextlib.AbstractContextManager[Any]:
        """Return the context in which models and optimizers must be created."""
        return contextlib.nullcontext()

    def clip_norm(self, norm: float) -> float:
        """Return the norm to which the optimizer must clip so that the whole gradient is clipped to `norm`."""
        return norm

    def reseed(self, model: NeuralModel, seed: int) -> None:
        """Reset a model's random number generators, such as those of dropout."""
        model.reseed(seed)

    def learn(self, model: NeuralModel, batch: Batch) -> float:
        """Take one gradient step on a whole batch and return the loss before it."""
        model.reset_metrics()
        return float(model.train_on_batch(self.rows(batch)))

    def loss(self, model: NeuralModel, batch: Batch) -> float:
        """Return the loss of a whole batch without dropout."""
        model.reset_metrics()
        return float(model.test_on_batch(self.rows(batch)))

    def rows(self, batch: Batch) -> Batch:
        """Return this process's rows of a batch."""
        return batch

    def total(self, array: Array) -> Array:
        """Return the sum of all processes' arrays, which have the same shape."""
        return array

    def agree(self, asked: bool) -> bool:  # noqa: FBT001  (the flag is the message)
        """Return whether `asked` is true in any process; all must call this at the same point."""
        return bool(self.total(np.array([asked], np.int32))[0])

    def broadcast(self, text: str) -> str:
        """Return the text of rank 0 in all processes."""
        data = np.frombuffer(text.encode("utf-8"), np.uint8).astype(np.int32)
        size = int(self.total(np.array([len(data) if self.rank == 0 else 0], np.int32))[0])
        received = self.total(data if self.rank == 0 else np.zeros(size, np.int32)) if size else data[:0]
        return received.astype(np.uint8).tobytes().decode("utf-8")

    def broadcast_arrays(self, arrays: Sequence[Array]) -> list[Array]:
        """Return the arrays of rank 0 in all processes; the others pass arrays of the same shapes."""
        return [self.total(array if self.rank == 0 else np.zeros_like(array)) for array in arrays]

    def on_rank_0(self, action: Callable[[], None]) -> None:
        """Run an action on rank 0; if it raises a `UserError`, all ranks fail.

        Raises:
            UserError: the error of rank 0, or in other processes a `WorkerError` with its message.
        """
        failure: UserError | None = None
        if self.rank == 0:
            try:
                action()
            except UserError as error:
                failure = error
        message = self.broadcast(str(failure or ""))
        if failure is not None:
            raise failure
        if message:
            raise WorkerError(f"worker 0 has ended: {message}")

    def lose(self, message: str) -> NoReturn:
        """Give up because another process was lost.

        Raises:
            WorkerError: with the message.
        """
        raise WorkerError(message)

    def compare(self, fingerprint: str, what: str) -> None:
        """Check that all processes have the same fingerprint.

        Raises:
            WorkerError: in all processes, if one differs.
        """
        if self.agree(self.broadcast(fingerprint) != fingerprint):
            raise WorkerError(f"the workers differ in {what}; start all with the same command, files and version")
