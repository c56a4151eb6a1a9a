"""VHRED with a second latent variable for the whole conversation (Park, Cho and Kim 2018: VHCR)."""

from __future__ import annotations

from typing import Any

import keras
from keras import ops

from dactnlg.models.base import Tensor, Tensors
from dactnlg.models.dialogue_sections import VHCRSection
from dactnlg.models.latent import Gaussian, gaussian_divergence, halves, log_density, placed, standard
from dactnlg.models.vhred import VHRED
from dactnlg.text.encoding import Sizes


class VHCR(VHRED):
    """VHRED with z_conv ~ N(0, I), which conditions the GRU over turns, the prior and posterior of z, and the decoder.

    The posterior of z_conv reads all turns and the target. A training example is a context with the next turn, so
    z_conv covers this stretch, and its KL counts once per example. To keep the decoder from ignoring the latent
    variables, a share of the turns is hidden from the GRU over turns in training (section 3.3: utterance drop).

    Args:
        sizes: see `VHRED`.
        sentence_drop: see `VHCRSection`.
        **kwargs: see `VHRED`.
    """

    inputs: tuple[str, ...] = ("turns", "turn_lengths", "noise", "conversation_noise")

    Section = VHCRSection

    def __init__(self, sizes: Sizes, sentence_drop: float = 0.25, **kwargs: Any) -> None:
        super().__init__(sizes, **kwargs)
        self.sentence_drop = sentence_drop
        # The target follows missing turns, so the mask has holes, which cuDNN does not support.
        self.conversation_reader = keras.layers.GRU(self.context_size, use_cudnn=False)
        self.conversation_layer = keras.layers.Dense(2 * self.latent_size)
        size = self.utterance_size
        self.hidden_turn = self.add_weight((size,), "uniform", name="hidden_turn")

    def condition_size(self) -> int:
        """Return C + 2Z."""
        return super().condition_size() + self.latent_size

    def conversation(self, batch: Tensors, turns: Tensor, target: Tensor) -> Gaussian:
        """Return q(z_conv|turns, target)."""
        said = ops.concatenate([turns, target[:, None]], axis=1)
        mask = ops.pad(batch["turn_lengths"] > 0, ((0, 0), (0, 1)), constant_values=True)
        return halves(self.conversation_layer(self.conversation_reader(said, mask=mask)))

    def condition(self, inputs: Tensors) -> Tensor:
        """Return the context, z and z_conv from their priors, (B, C + 2Z)."""
        whole = inputs["conversation_noise"]
        state = self.read_context(inputs, self.read_turns(inputs), whole)[:, -1]
        z = placed(self.prior(state, whole), inputs["noise"])
        return ops.concatenate([state, z, whole], axis=-1)

    def informed(self, batch: Tensors, *, draw: bool, training: bool) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Return the context, z and z_conv from their posteriors; see `HRED.informed`."""
        turns, target = self.read_turns(batch), self.read_target(batch)
        theme = self.conversation(batch, turns, target)
        whole = self.drawn(theme) if draw else theme[0]
        if training and self.sentence_drop:
            chance = keras.random.uniform((*ops.shape(turns)[:2], 1), seed=self.noise)
            turns = ops.where(chance < self.sentence_drop, self.hidden_turn, turns)
        states = self.read_context(batch, turns, whole)
        state = states[:, -1]
        prior, posterior = self.prior(state, whole), self.posterior(state, whole, target)
        z = self.drawn(posterior) if draw else posterior[0]
        parts = gaussian_divergence(posterior, prior), gaussian_divergence(theme, standard(whole))
        divergence = ops.concatenate(parts, axis=-1)
        ratio = log_density(z, prior) - log_density(z, posterior)
        ratio = ratio + log_density(whole, standard(whole)) - log_density(whole, theme)
        return ops.concatenate([state, z, whole], axis=-1), states, divergence, ratio
