"""HRED with a latent variable for each answer (Serban et al. 2017: VHRED)."""

from __future__ import annotations

from typing import Any

import keras
from keras import ops

from dactnlg.models.base import Tensor, Tensors
from dactnlg.models.dialogue_sections import VHREDSection
from dactnlg.models.hred import HRED
from dactnlg.models.latent import Gaussian, LatentModel, gaussian_divergence, halves, log_density, placed
from dactnlg.text.encoding import Sizes


class VHRED(LatentModel, HRED):
    """HRED whose decoder is conditioned on the context and z: prior p(z|context), posterior q(z|context, target).

    The loss is the summed cross entropy + kl_mult * KL(q || p); see `LatentModel`.
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
        self.batches = self.add_weight((), "zeros", trainable=False, autocast=False, name="batches")

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
        z = self.drawn(posterior) if draw else posterior[0]
        divergence = gaussian_divergence(posterior, prior)
        ratio = log_density(z, prior) - log_density(z, posterior)
        return ops.concatenate([state, z], axis=-1), states, divergence, ratio
