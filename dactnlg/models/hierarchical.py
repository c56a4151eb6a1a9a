"""The hierarchical lex-delex sc-LSTM ("hld-scLSTM", Sharma et al. 2017, section 4.4)."""

from __future__ import annotations

from typing import Any

import keras
from keras import ops

from dactnlg.models.base import Inputs, Tensor
from dactnlg.models.sclstm import SCLSTM


@keras.saving.register_keras_serializable("dactnlg")
class HierarchicalSCLSTM(SCLSTM):
    """An sc-LSTM decoder that also sees the values, through an encoder of two floors.

    The lower LSTM, shared by all entries, reads the words of one value. Its last state, joined with the one-hot
    act-slot entry, is one step of the upper LSTM, whose final state E goes to every step of the decoder together with
    the whole DA vector.

    Args:
        word_count: how many value words there are.
        value_size: hidden units of the lower LSTM, and length of a value word's vector.
        encoder_size: hidden units of the upper LSTM, the length of E.
        **kwargs: see `SCLSTM` and `NeuralModel`.
    """

    lexicalized = True

    def __init__(self, word_count: int, value_size: int = 50, encoder_size: int = 100, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.word_count, self.value_size, self.encoder_size = word_count, value_size, encoder_size
        gates = self.cell.gate_size
        self.words = self.add_weight((word_count, value_size), "uniform", name="words")
        # Row 0 stands for no entry; a one-hot vector times a matrix is a row of it.
        self.entries = self.add_weight((self.act_size + 1, value_size), "glorot_uniform", name="entries")
        self.lower = keras.layers.LSTM(value_size, name="lower")
        self.upper = keras.layers.LSTM(encoder_size, name="upper")
        self.lower.build((None, None, value_size))
        self.upper.build((None, None, 2 * value_size))
        self.encoder_projection = self.add_weight((encoder_size, gates), "glorot_uniform", name="encoder_projection")
        self.act_projection = self.add_weight((self.act_size, gates), "glorot_uniform", name="act_projection")

    def get_config(self) -> dict[str, Any]:
        """Return the keywords that build the model again."""
        own = {"word_count": self.word_count, "value_size": self.value_size, "encoder_size": self.encoder_size}
        return {**super().get_config(), **own}

    def encode(self, inputs: Inputs) -> Tensor:
        """Return E, (B, encoder_size), from `entries` (B, N, 2) and `words` (B, N, L); 0 is padding in both."""
        entries, words = inputs["entries"], inputs["words"]
        # Dynamic sizes: the splits of a corpus differ in their longest act and value.
        _, count, length = ops.shape(words)
        flat = ops.reshape(words, (-1, length))  # (B * N, L)
        # An entry without a value gets one unknown word to read: a sequence cannot be all padding.
        first = ops.cast(ops.arange(length) == 0, "bool")[None, :]
        values = self.lower(_take(self.words, flat), mask=ops.logical_or(flat > 0, first))
        values = ops.reshape(values, (-1, count, self.value_size))  # (B, N, value_size)
        rows = _take(self.entries, entries)
        slots = ops.sum(rows * ops.cast(entries > 0, rows.dtype)[..., None], axis=2)  # (B, N, value_size)
        first = ops.cast(ops.arange(count) == 0, "bool")[None, :]
        steps = ops.concatenate([values, slots], axis=-1)
        return self.upper(steps, mask=ops.logical_or(ops.any(entries > 0, axis=2), first))

    def context(self, inputs: Inputs) -> Tensor:
        """Return the projected E and DA vector, (B, 4H + D)."""
        act = ops.matmul(inputs["act"], self.act_projection)
        return ops.matmul(self.encode(inputs), self.encoder_projection) + act


def _take(weight: Tensor, rows: Tensor) -> Tensor:
    # TensorFlow has the slope of rows of a weight row by row, and would clip the gradient before equal rows are summed.
    return ops.take(ops.multiply(weight, 1.0), rows, axis=0)
