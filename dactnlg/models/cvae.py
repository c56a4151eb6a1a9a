"""A conditional variational autoencoder (Zhao et al. 2017, section 3; Bowman et al. 2016).

A sentence is generated from its act and a latent variable for everything that the act leaves open.
"""

from __future__ import annotations

from typing import Any

import keras
from keras import ops

from dactnlg.models.base import Tensor, Tensors, real_tokens, rows_of
from dactnlg.models.lstm import LSTM
from dactnlg.models.sections import CVAESection
from dactnlg.text.encoding import Sizes


class CVAE(LSTM):
    """The LSTM decoder with a latent variable added to its gates.

    Training draws z from the posterior q(z|x, y), a Gaussian computed from act and sentence; the loss is the negative
    evidence lower bound: cross entropy + KL(q || p), with the prior p(z|x) computed from the act alone. Generation uses
    the prior's mean. To prevent posterior collapse, the KL term is annealed from 0 to 1 (Bowman et al. 2016, section
    3.1), and less than `free_bits` in a dimension costs nothing (Kingma et al. 2016, appendix C.8).

    Args:
        sizes: see `RecurrentModel`.
        latent_size: Z, length of the latent variable.
        annealing: batches until the KL term has its full weight.
        free_bits: nats of KL per dimension that cost nothing, on average over a batch.
        **kwargs: see `RecurrentModel`.
    """

    Section = CVAESection

    def __init__(
        self, sizes: Sizes, latent_size: int = 32, annealing: int = 1000, free_bits: float = 0.05, **kwargs: Any
    ) -> None:
        super().__init__(sizes, **kwargs)
        self.annealing, self.free_bits = annealing, free_bits
        hidden = self.hidden_size
        self.reader = keras.layers.LSTM(hidden)
        self.prior_kernel = self.add_weight((sizes.act, 2 * latent_size), "glorot_uniform", name="prior_kernel")
        shape = (hidden + sizes.act, 2 * latent_size)
        self.posterior_kernel = self.add_weight(shape, "glorot_uniform", name="posterior_kernel")
        shape = (latent_size, self.cell.gate_size)
        self.latent_projection = self.add_weight(shape, "glorot_uniform", name="latent_projection")
        self.batches = self.add_weight((), "zeros", trainable=False, name="batches")
        self.noise = keras.random.SeedGenerator(0)

    def prior(self, act: Tensor) -> tuple[Tensor, Tensor]:
        """Return mean and log variance of p(z|x), each (B, Z)."""
        mean, spread = ops.split(ops.matmul(act, self.prior_kernel), 2, axis=-1)
        return mean, spread

    def posterior(self, batch: Tensors) -> tuple[Tensor, Tensor]:
        """Return mean and log variance of q(z|x, y), each (B, Z)."""
        read = self.reader(rows_of(self.embedding, batch["targets"]), mask=real_tokens(batch))  # (B, H)
        both = ops.concatenate([read, batch["act"]], axis=-1)
        mean, spread = ops.split(ops.matmul(both, self.posterior_kernel), 2, axis=-1)
        return mean, spread

    def act_gates(self, inputs: Tensors) -> Tensor:
        """Return what the act and the latent variable (`z`, or else the prior's mean) add to the gates, (B, 4H)."""
        z = inputs["z"] if "z" in inputs else self.prior(inputs["act"])[0]
        return super().act_gates(inputs) + ops.matmul(z, self.latent_projection)

    def batch_loss(self, batch: Tensors, *, training: bool = False) -> Tensor:
        """Return the negative evidence lower bound of a batch per real token; see `NeuralModel.batch_loss`.

        In training z is drawn, and the KL term is annealed and has free bits; otherwise z is the posterior's mean and
        the KL term is used in full.
        """
        prior, posterior = self.prior(batch["act"]), self.posterior(batch)
        mean, spread = posterior
        rows = batch["weights"] * ops.cast(batch["lengths"] > 0, "float32")  # (B,)
        apart = ops.cast(gaussian_divergence(posterior, prior), "float32")  # (B, Z)
        divergence = ops.sum(apart * rows[:, None], axis=0)
        weight: Any = 1.0
        z = mean
        if training:
            z = mean + ops.exp(0.5 * spread) * keras.random.normal(ops.shape(mean), dtype=mean.dtype, seed=self.noise)
            divergence = ops.maximum(divergence, self.free_bits * ops.sum(rows))
            weight = ops.minimum(self.batches.value / self.annealing, 1.0)
            self.batches.assign(self.batches.value + 1.0)
        given = {**batch, "z": z}
        context = {"gates": self.act_gates(given)}
        logits = self._project(self.outputs(context, self.first_state(given), batch["tokens"]), training=training)
        tokens = ops.sum(ops.cast(real_tokens(batch), "float32") * batch["weights"][:, None])
        whole: Tensor = self.cross_entropy(batch, logits) + weight * ops.sum(divergence) / ops.maximum(tokens, 1.0)
        return whole


def gaussian_divergence(one: tuple[Tensor, Tensor], other: tuple[Tensor, Tensor]) -> Tensor:
    """Return KL(one || other) by dimension, (B, Z), of diagonal Gaussians, each given as mean and log variance."""
    mean, spread = one
    other_mean, other_spread = other
    ratio = ops.exp(spread - other_spread) + ops.square(mean - other_mean) * ops.exp(-other_spread)
    return 0.5 * (ratio - 1.0 - spread + other_spread)
