"""A conditional variational autoencoder (Zhao et al. 2017, section 3; Bowman et al. 2016).

A sentence is generated from its act and a latent variable for everything that the act leaves open.
"""

from __future__ import annotations

from typing import Any

import keras
from keras import ops

from dactnlg.models.base import Tensor, Tensors, real_tokens, rows_of
from dactnlg.models.latent import Gaussian, LatentModel, gaussian_divergence, halves
from dactnlg.models.lstm import LSTM
from dactnlg.models.sections import CVAESection
from dactnlg.text.encoding import Sizes


class CVAE(LatentModel, LSTM):
    """The LSTM decoder with a latent variable added to its gates.

    Training draws z from the posterior q(z|x, y), a Gaussian computed from act and sentence; the loss is the negative
    evidence lower bound: cross entropy + KL(q || p), with the prior p(z|x) computed from the act alone. Generation uses
    the prior's mean.

    Args:
        sizes: see `RecurrentModel`.
        latent_size: Z, length of the latent variable.
        annealing, free_bits: see `LatentModel`.
        **kwargs: see `RecurrentModel`.
    """

    Section = CVAESection

    def __init__(
        self, sizes: Sizes, latent_size: int = 32, annealing: int = 1000, free_bits: float = 0.05, **kwargs: Any
    ) -> None:
        super().__init__(sizes, **kwargs)
        self.annealing, self.free_bits = annealing, free_bits
        hidden = self.hidden_size
        # Rows that only pad a batch are all padding, which TensorFlow does not support with cuDNN.
        self.reader = keras.layers.LSTM(hidden, use_cudnn=False)
        self.prior_kernel = self.add_weight((sizes.act, 2 * latent_size), "glorot_uniform", name="prior_kernel")
        shape = (hidden + sizes.act, 2 * latent_size)
        self.posterior_kernel = self.add_weight(shape, "glorot_uniform", name="posterior_kernel")
        shape = (latent_size, self.cell.gate_size)
        self.latent_projection = self.add_weight(shape, "glorot_uniform", name="latent_projection")
        self.batches = self.add_weight((), "zeros", trainable=False, autocast=False, name="batches")
        self.noise = keras.random.SeedGenerator(0)

    def prior(self, act: Tensor) -> Gaussian:
        """Return p(z|x)."""
        return halves(ops.matmul(act, self.prior_kernel))

    def posterior(self, batch: Tensors) -> Gaussian:
        """Return q(z|x, y)."""
        read = self.reader(rows_of(self.embedding, batch["targets"]), mask=real_tokens(batch))  # (B, H)
        both = ops.concatenate([read, batch["act"]], axis=-1)
        return halves(ops.matmul(both, self.posterior_kernel))

    def act_gates(self, inputs: Tensors) -> Tensor:
        """Return what the act and the latent variable (`z`, or else the prior's mean) add to the gates, (B, 4H)."""
        z = inputs["z"] if "z" in inputs else self.prior(inputs["act"])[0]
        return super().act_gates(inputs) + ops.matmul(z, self.latent_projection)

    def batch_loss(self, batch: Tensors, *, training: bool = False) -> Tensor:
        """Return the negative evidence lower bound of a batch per real token; see `NeuralModel.batch_loss`.

        In training z is drawn, otherwise it is the posterior's mean.
        """
        prior, posterior = self.prior(batch["act"]), self.posterior(batch)
        given = {**batch, "z": self.drawn(posterior) if training else posterior[0]}
        context = {"gates": self.act_gates(given)}
        logits = self._project(self.outputs(context, self.first_state(given), batch["tokens"]), training=training)
        tokens = ops.sum(ops.cast(real_tokens(batch), "float32") * batch["weights"][:, None])
        divergence = self.kl_term(gaussian_divergence(posterior, prior), batch, training=training)
        whole: Tensor = self.cross_entropy(batch, logits) + divergence / ops.maximum(tokens, 1.0)
        return whole
