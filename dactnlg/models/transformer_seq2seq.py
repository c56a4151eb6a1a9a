"""A Transformer (Vaswani et al. 2017) from the last turns to the next one."""

from __future__ import annotations

import math

from keras import ops

from dactnlg.models.answers import AnswerModel, joined_turns
from dactnlg.models.base import Tensor, Tensors, positions, rows_of
from dactnlg.models.dialogue_sections import TransformerSeq2SeqSection
from dactnlg.models.transformer import Transformer, sines


class TransformerSeq2Seq(AnswerModel, Transformer):
    """`transformer` with an encoder of the preceding turns, as one text, which shares the decoder's embedding."""

    inputs: tuple[str, ...] = AnswerModel.inputs

    Section = TransformerSeq2SeqSection

    def make_reader(self) -> None:
        """Create nothing: the embedding is the decoder's."""

    def read(self, inputs: Tensors) -> tuple[Tensor, Tensor]:
        """Return the embedded words of the turns, (B, U * T, H), and which of them are not padding, (B, U * T)."""
        tokens, real = joined_turns(inputs)
        words = rows_of(self.embedding, tokens) * math.sqrt(self.hidden_size)
        return words + ops.cast(sines(positions(tokens), self.hidden_size), words.dtype), real
