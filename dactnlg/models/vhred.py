"""HRED with a latent variable for each answer (Serban et al. 2017: VHRED)."""

from __future__ import annotations

import math
from typing import Any

import keras
from keras import ops

from dactnlg.models.base import Tensor, Tensors
from dactnlg.models.cvae import gaussian_divergence
from dactnlg.models.dialogue_sections import VHREDSection
from dactnlg.models.hred import HRED
from dactnlg.text.encoding import Sizes

Gaussian = tuple[Tensor, Tensor]
"""Mean and log variance, each (B, Z)."""


class VHRED(HRED):
    """HRED whose decoder is conditioned on the context and z: prior p(z|context), posterior q(z|context, target).

    The loss is the summed cross entropy + kl_mult * KL(q || p), with kl_mult rising to exactly 1 over `annealing`
    batches; less than `free_bits` in a dimension costs nothing (Kingma et al. 2016, appendix C.8), so that z is used.
    In generation z = mean + deviation * `noise`: zeros give the prior's mean, normal numbers a draw.

    Args:
        sizes: see `HRED`.
        latent_size: Z.
        annealing, free_bits: see `VHREDSection`.
        **kwargs: see `HRED`.
    """

    inputs: tuple[str, ...] = ("turns", "turn_lengths", "noise")

    Section = VHREDSection

    def __init__(
        self, sizes: Sizes, latent_size: int = 64, annealing: int = 25_000, free_bits: float = 0.0, **kwargs: Any
    ) -> None:
        super().__init__(sizes, latent_size=latent_size, **kwargs)
        self.free_bits = free_bits
        latent, self.annealing = latent_size, annealing
        self.prior_layer = keras.layers.Dense(latent, "tanh")
        self.prior_output = keras.layers.Dense(2 * latent)
        self.posterior_layer = keras.layers.Dense(latent, "tanh")
        self.posterior_output = keras.layers.Dense(2 * latent)
        self.batches = self.add_weight((), "zeros", trainable=False, name="batches")

    def condition_size(self) -> int:
        """Return C + Z."""
        return super().condition_size() + self.latent_size

    def prior(self, *known: Tensor) -> Gaussian:
        """Return p(z|context)."""
        return halves(self.prior_output(self.prior_layer(ops.concatenate(known, axis=-1))))

    def posterior(self, *known: Tensor) -> Gaussian:
        """Return q(z|context, target)."""
        return halves(self.posterior_output(self.posterior_layer(ops.concatenate(known, axis=-1))))

    def condition(self, inputs: Tensors) -> Tensor:
        """Return the context and z from the prior, (B, C + Z)."""
        state = super().condition(inputs)
        return ops.concatenate([state, placed(self.prior(state), inputs["noise"])], axis=-1)

    def informed(self, batch: Tensors, *, draw: bool, training: bool) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Return the context and z from the posterior; see `HRED.informed`."""
        states = self.read_context(batch, self.read_turns(batch))
        state = states[:, -1]
        prior, posterior = self.prior(state), self.posterior(state, self.read_target(batch))
        z = self.drawn(posterior, draw=draw)
        divergence = gaussian_divergence(posterior, prior)
        ratio = log_density(z, prior) - log_density(z, posterior)
        return ops.concatenate([state, z], axis=-1), states, divergence, ratio

    def drawn(self, gaussian: Gaussian, *, draw: bool) -> Tensor:
        """Return a draw, or the mean, (B, Z)."""
        if not draw:
            return gaussian[0]
        return placed(gaussian, keras.random.normal(ops.shape(gaussian[0]), dtype=gaussian[0].dtype, seed=self.noise))

    def kl_mult(self, *, training: bool) -> Any:
        """Return the weight of the KL term and, in training, advance its annealing by one batch; otherwise it is 1."""
        if not training:
            return 1.0
        weight = ops.minimum(self.batches.value / self.annealing, 1.0)
        self.batches.assign(self.batches.value + 1.0)
        return weight


def placed(gaussian: Gaussian, noise: Tensor) -> Tensor:
    """Return mean + deviation * noise."""
    mean, spread = gaussian
    return mean + ops.exp(0.5 * spread) * ops.cast(noise, mean.dtype)


def log_density(z: Tensor, gaussian: Gaussian) -> Tensor:
    """Return the log density of z, (B,), under a Gaussian with diagonal covariance."""
    mean, spread = gaussian
    return -0.5 * ops.sum(math.log(2 * math.pi) + spread + ops.square(z - mean) * ops.exp(-spread), axis=-1)


def standard(like: Tensor) -> Gaussian:
    """Return N(0, I) in the shape of a tensor."""
    return ops.zeros_like(like), ops.zeros_like(like)


def halves(both: Tensor) -> Gaussian:
    """Split concatenated mean and log variance, (B, 2Z)."""
    mean, spread = ops.split(both, 2, axis=-1)
    return mean, spread
