"""Gaussian latent variables: draws, densities, and the KL term of a model's loss."""

from __future__ import annotations

import math
from typing import Any

import keras
from keras import ops

from dactnlg.models.backend import summed_over_devices
from dactnlg.models.base import NeuralModel, Tensor, Tensors

Gaussian = tuple[Tensor, Tensor]
"""Mean and log variance of a Gaussian with diagonal covariance, each (B, Z)."""


class LatentModel(NeuralModel):
    """A model with a latent variable; a subclass creates the attributes.

    To prevent posterior collapse, the weight of the KL term rises from 0 to exactly 1 in training (Bowman et al. 2016,
    section 3.1), and less than `free_bits` in a dimension costs nothing (Kingma et al. 2016, appendix C.8).

    Attributes:
        annealing: batches until the KL term has its full weight.
        free_bits: nats of KL per dimension that cost nothing, on average over a batch.
        batches: the number of training batches so far, a weight without axes.
        noise: the random number generator of draws.
    """

    annealing: int
    free_bits: float
    batches: Any
    noise: keras.random.SeedGenerator

    def drawn(self, gaussian: Gaussian) -> Tensor:
        """Return a draw, (B, Z)."""
        mean = gaussian[0]
        return placed(gaussian, keras.random.normal(ops.shape(mean), dtype=mean.dtype, seed=self.noise))

    def kl_term(self, divergence: Tensor, batch: Tensors, *, training: bool) -> Tensor:
        """Return the weighted KL of a batch, summed over rows and dimensions.

        Args:
            divergence: KL(q || p) of each row and dimension, (B, Z).
            batch: see `NeuralModel.batch_loss`.
            training: whether the term is annealed and has free bits; otherwise it is used in full.
        """
        rows = batch["weights"] * ops.cast(batch["lengths"] > 0, "float32")  # (B,)
        apart = ops.sum(ops.cast(divergence, "float32") * rows[:, None], axis=0)  # (Z,)
        if training:
            free = self.free_bits * ops.sum(rows)
            # The mean is over the whole batch, of which a device may have only a part.
            apart = ops.where(summed_over_devices(apart) >= summed_over_devices(free), apart, free)
        total: Tensor = self.kl_mult(training=training) * ops.sum(apart)
        return total

    def kl_mult(self, *, training: bool) -> Any:
        """Return the weight of the KL term and, in training, advance its annealing by one batch; otherwise it is 1."""
        if not training:
            return 1.0
        weight = ops.minimum(self.batches.value / self.annealing, 1.0)
        self.batches.assign(self.batches.value + 1.0)
        return weight


def halves(both: Tensor) -> Gaussian:
    """Split concatenated mean and log variance, (B, 2Z)."""
    mean, spread = ops.split(both, 2, axis=-1)
    return mean, spread


def standard(like: Tensor) -> Gaussian:
    """Return N(0, I) in the shape of a tensor."""
    return ops.zeros_like(like), ops.zeros_like(like)


def placed(gaussian: Gaussian, noise: Tensor) -> Tensor:
    """Return mean + deviation * noise."""
    mean, spread = gaussian
    return mean + ops.exp(0.5 * spread) * ops.cast(noise, mean.dtype)


def gaussian_divergence(one: Gaussian, other: Gaussian) -> Tensor:
    """Return KL(one || other) by dimension, (B, Z)."""
    mean, spread = one
    other_mean, other_spread = other
    ratio = ops.exp(spread - other_spread) + ops.square(mean - other_mean) * ops.exp(-other_spread)
    return 0.5 * (ratio - 1.0 - spread + other_spread)


def log_density(z: Tensor, gaussian: Gaussian) -> Tensor:
    """Return the log density of z, (B,)."""
    mean, spread = gaussian
    return -0.5 * ops.sum(math.log(2 * math.pi) + spread + ops.square(z - mean) * ops.exp(-spread), axis=-1)
