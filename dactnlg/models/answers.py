"""What all models of the next turn share: dropped words, the loss and the likelihood."""

from __future__ import annotations

from typing import Any

import keras
from keras import ops

from dactnlg.models.base import NeuralModel, Tensor, Tensors, positions, real_tokens
from dactnlg.models.cells import GRUCell
from dactnlg.models.recurrent import RecurrentModel
from dactnlg.text.encoding import Sizes
from dactnlg.text.vocabulary import UNK_ID


class AnswerModel(NeuralModel):
    """A model of the next turn; a subclass provides the decoder and its initial state.

    Args:
        sizes: see `NeuralModel`.
        word_drop: see `DialogueSection`.
        latent_size: Z, if a subclass has a latent variable.
        **kwargs: the decoder's.
    """

    inputs: tuple[str, ...] = ("turns", "turn_lengths")

    def __init__(self, sizes: Sizes, word_drop: float = 0.25, latent_size: int = 0, **kwargs: Any) -> None:
        super().__init__(sizes, **kwargs)
        self.word_drop, self.latent_size = word_drop, latent_size
        self.noise = keras.random.SeedGenerator(0)

    def float_inputs(self) -> dict[str, tuple[int, ...]]:
        """Return the shape of the noise of the latent variable; see `NeuralModel.float_inputs`."""
        return {"noise": (self.latent_size,)}

    def batch_loss(self, batch: Tensors, *, training: bool = False) -> Tensor:
        """Return the loss of a batch per real token; see `NeuralModel.batch_loss`."""
        given = {**batch, "tokens": self.dropped(batch["tokens"])} if training else batch
        return self.cross_entropy(batch, self.logits(given, training=training))

    def dropped(self, tokens: Tensor) -> Tensor:
        """Return the decoder's input words, (B, T), some replaced by `<unk>`, but never the first."""
        chance = keras.random.uniform(ops.shape(tokens), seed=self.noise)
        return ops.where(ops.logical_and(chance < self.word_drop, positions(tokens) > 0), UNK_ID, tokens)

    def log_weights(self, batch: Tensors) -> tuple[Tensor, Tensor]:
        """Return the log likelihood of each target in nats, (B,), and a KL of 0, (B,); see `HRED.log_weights`."""
        said = log_likelihood(batch, self.logits(batch))
        return said, ops.zeros_like(said)


class GRUAnswerModel(AnswerModel, RecurrentModel):
    """A model of the next turn that decodes with a GRU; see `AnswerModel` and `RecurrentModel`."""

    def make_cell(self) -> GRUCell:
        """Return the decoder's cell."""
        return GRUCell(self.hidden_size)

    def embedding_initializer(self) -> keras.initializers.Initializer:
        """Return a normal initializer: from smaller numbers, turn encoders learn to tell words apart epochs later."""
        return keras.initializers.RandomNormal(stddev=0.5)


def joined_turns(inputs: Tensors) -> tuple[Tensor, Tensor]:
    """Return the words of the turns as one text, and which of them are not padding, both (B, U * T)."""
    turns, lengths = ops.cast(inputs["turns"], "int32"), ops.cast(inputs["turn_lengths"], "int32")
    _, count, longest = turns.shape
    real = positions(turns[0])[None] < lengths[..., None]  # (B, U, T)
    return ops.reshape(turns, (-1, count * longest)), ops.reshape(real, (-1, count * longest))


def log_likelihood(batch: Tensors, logits: Tensor) -> Tensor:
    """Return the summed log probability of the real tokens of each target, (B,), in nats."""
    logs = ops.log_softmax(ops.cast(logits, "float32"))
    logs = ops.take_along_axis(logs, ops.cast(batch["targets"], "int32")[..., None], axis=-1)[..., 0]
    return ops.sum(logs * ops.cast(real_tokens(batch), "float32"), axis=1)
