"""A GRU language model with a latent variable for each turn (Bowman et al. 2016), which sees no preceding turns."""

from __future__ import annotations

from typing import Any

import keras
from keras import ops

from dactnlg.models.answers import GRUAnswerModel, log_likelihood
from dactnlg.models.base import Tensor, Tensors, real_tokens, rows_of
from dactnlg.models.dialogue_sections import VAELMSection
from dactnlg.models.latent import Gaussian, LatentModel, gaussian_divergence, halves, log_density, standard
from dactnlg.text.encoding import Sizes


class VAELanguageModel(LatentModel, GRUAnswerModel):
    """A GRU conditioned on z: prior N(0, I), posterior from the turn itself.

    The loss is the summed cross entropy + kl_mult * KL(q || N(0, I)); see `LatentModel`. In generation z = `noise`:
    zeros give the prior's mean, normal numbers a draw.

    Args:
        sizes: see `GRUAnswerModel`.
        latent_size: Z.
        utterance_size, annealing, free_bits: see `VAELMSection`.
        **kwargs: see `GRUAnswerModel`.
    """

    inputs: tuple[str, ...] = ("noise",)

    Section = VAELMSection

    def __init__(
        self,
        sizes: Sizes,
        latent_size: int = 64,
        utterance_size: int = 256,
        annealing: int = 25_000,
        free_bits: float = 0.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(sizes, latent_size=latent_size, **kwargs)
        self.annealing, self.free_bits = annealing, free_bits
        # Rows that only pad a batch are all padding, which TensorFlow does not support with cuDNN.
        self.reader = keras.layers.GRU(utterance_size, use_cudnn=False)
        self.posterior_output = keras.layers.Dense(2 * latent_size)
        self.gate_kernel = self.add_weight((latent_size, self.cell.gate_size), "glorot_uniform", name="gate_kernel")
        self.start_kernel = self.add_weight((latent_size, self.hidden_size), "glorot_uniform", name="start_kernel")
        self.batches = self.add_weight((), "zeros", trainable=False, autocast=False, name="batches")

    def prepare(self, inputs: Tensors) -> tuple[Tensors, Tensors]:
        """Return what the noise adds to the gates, and the initial state."""
        return self._begun(inputs["noise"])

    def _begun(self, z: Tensor) -> tuple[Tensors, Tensors]:
        return {"gates": ops.matmul(z, self.gate_kernel)}, {"h": ops.tanh(ops.matmul(z, self.start_kernel))}

    def posterior(self, batch: Tensors) -> Gaussian:
        """Return q(z|target)."""
        read = self.reader(rows_of(self.embedding, batch["targets"]), mask=real_tokens(batch))
        return halves(self.posterior_output(read))

    def batch_loss(self, batch: Tensors, *, training: bool = False) -> Tensor:
        """Return the loss of a batch per real token; z is drawn in training, otherwise the posterior's mean."""
        posterior = self.posterior(batch)
        tokens, z = batch["tokens"], posterior[0]
        divergence = self.kl_term(gaussian_divergence(posterior, standard(z)), batch, training=training)
        if training:
            tokens, z = self.dropped(tokens), self.drawn(posterior)
        logits = self._project(self.outputs(*self._begun(z), tokens), training=training)
        count = ops.sum(ops.cast(real_tokens(batch), "float32") * batch["weights"][:, None])
        whole: Tensor = self.cross_entropy(batch, logits) + divergence / ops.maximum(count, 1.0)
        return whole

    def log_weights(self, batch: Tensors) -> tuple[Tensor, Tensor]:
        """Return log p(target, z) - log q(z|target) for one draw of z, and the KL; see `HRED.log_weights`."""
        posterior = self.posterior(batch)
        z = self.drawn(posterior)
        said = log_likelihood(batch, self._project(self.outputs(*self._begun(z), batch["tokens"])))
        ratio = ops.cast(log_density(z, standard(z)) - log_density(z, posterior), "float32")
        divergence = ops.sum(gaussian_divergence(posterior, standard(z)), axis=-1)
        return said + ratio, ops.cast(divergence, "float32")
