"""A GRU encoder-decoder with attention (Luong et al. 2015), from the last turns to the next one."""

from __future__ import annotations

from typing import Any

import keras
from keras import ops

from dactnlg.models.answers import GRUAnswerModel, joined_turns
from dactnlg.models.attention import attend, bias_of
from dactnlg.models.base import Tensor, Tensors, rows_of
from dactnlg.models.dialogue_sections import GRUSeq2SeqSection
from dactnlg.text.encoding import Sizes


class GRUSeq2Seq(GRUAnswerModel):
    """A GRU decoder that attends to the words of the preceding turns after each of its own words.

    Two GRUs read the turns, as one text, forward and backward. The decoder starts from the mean of their states;
    attention comes after the recurrence, with the "general" score, and is not fed back into it, as in `seq2seq`. The
    attended vector is added to the decoder's output; mixing the two in one more layer learned less well.

    Args:
        sizes: see `GRUAnswerModel`.
        encoder_size: units of the encoder in either direction.
        **kwargs: see `GRUAnswerModel`.
    """

    Section = GRUSeq2SeqSection

    def __init__(self, sizes: Sizes, encoder_size: int = 128, **kwargs: Any) -> None:
        super().__init__(sizes, **kwargs)
        hidden, seen = self.hidden_size, 2 * encoder_size
        # Each turn is padded at its end, so the mask has holes, which cuDNN does not support.
        reader = keras.layers.GRU(encoder_size, return_sequences=True, use_cudnn=False)
        self.encoder: Any = keras.layers.Bidirectional(reader)  # type: ignore[attr-defined]
        self.start = self.add_weight((seen, hidden), "glorot_uniform", name="start")
        self.score = self.add_weight((seen, hidden), "glorot_uniform", name="score")
        self.mixture = self.add_weight((seen, hidden), "glorot_uniform", name="mixture")

    def prepare(self, inputs: Tensors) -> tuple[Tensors, Tensors]:
        """Return what can be attended to, and the initial state; the target is not used."""
        tokens, real = joined_turns(inputs)
        memory = self.dropout(self.encoder(rows_of(self.embedding, tokens), mask=real))  # (B, U * T, 2E)
        share = ops.cast(real, memory.dtype)[..., None]
        mean = ops.sum(memory * share, axis=1) / ops.maximum(ops.sum(share, axis=1), 1.0)
        looking = {"keys": ops.matmul(memory, self.score), "memory": memory, "bias": bias_of(real)}
        return looking, {"h": ops.tanh(ops.matmul(mean, self.start))}

    def step(self, context: Tensors, state: Tensors, tokens: Tensor) -> tuple[Tensor, Tensors]:
        """Advance every sentence by one token; see `NeuralModel.step`."""
        output, state = self.advance(context, state, tokens)
        return self._look(context, output[:, None])[:, 0], state

    def logits(self, batch: Tensors, *, training: bool = False) -> Tensor:
        """Return the logits of the next token at every position, (B, T, V)."""
        context, state = self.prepare(batch)
        return self._look(context, self.outputs(context, state, batch["tokens"]), training=training)

    def _look(self, context: Tensors, outputs: Tensor, *, training: bool = False) -> Tensor:
        """Return the logits after every output has attended to the turns, (B, T, H) -> (B, T, V)."""
        bias = context["bias"][:, None]
        seen = attend(outputs[:, :, None], context["keys"], context["memory"], bias)[:, :, 0]
        return self._project(outputs + ops.tanh(ops.matmul(seen, self.mixture)), training=training)
