"""The contract of learners, which train a model batch by batch.

`keras_learner` trains with Keras on whatever device Keras runs on; `models.numpy` has its own learner for the models
that it supports.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from numpy.typing import NDArray

from dactnlg.data.batching import Batch

Arrays = dict[str, NDArray[Any]]


class Learner(Protocol):
    """Trains a model batch by batch.

    Attributes:
        learning_rate: of the following steps.
    """

    learning_rate: float

    def reseed(self, seed: int) -> None:
        """Reset the random number generators, such as those of dropout."""

    def learn(self, batch: Batch) -> float:
        """Take one gradient step and return the loss before it."""

    def loss(self, batch: Batch) -> float:
        """Return the loss without dropout."""

    def weights(self) -> Arrays:
        """Return the weights by name."""

    def state(self) -> Arrays:
        """Return all that `restore` needs to continue, by name."""

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Continue from what `state` returned."""
