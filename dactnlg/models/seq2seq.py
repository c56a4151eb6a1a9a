"""An encoder-decoder with attention over the entries of the act (Dušek and Jurčíček 2016, section 3: TGen)."""

from __future__ import annotations

from typing import Any

import keras
from keras import ops

from dactnlg.models.attention import CopyMechanism, EntryEmbedding, attend, bias_of
from dactnlg.models.base import Tensor, Tensors, rows_of
from dactnlg.models.lstm import LSTM
from dactnlg.models.sections import Seq2SeqSection
from dactnlg.text.context import CONTEXT
from dactnlg.text.copying import COPIES
from dactnlg.text.encoding import Sizes


class Seq2Seq(LSTM):
    """An LSTM decoder that attends to the entries of the act, values included, before each word.

    Two LSTMs read the entries forward and backward (Bahdanau et al. 2015, section 3.2). The decoder is `lstm`, which
    sees the whole DA vector at every step; it starts from the mean of the encoder's states. Attention comes after the
    recurrence, with the "general" score (Luong et al. 2015, section 3.1), and is not fed back into it: so training runs
    the recurrence over whole sentences, and computes the attention of all words at once.

    Args:
        sizes: see `RecurrentModel`.
        encoder_size: length of an entry's vector, and units of the encoder in either direction.
        context: whether the decoder also attends to the user's preceding words, read by a separate encoder ("context
            encoder", Dušek and Jurčíček 2016, A Context-aware Natural Language Generator).
        copying: whether words can be copied from the act, see `CopyMechanism`.
        **kwargs: see `RecurrentModel`.
    """

    inputs: tuple[str, ...] = ("act", "entries", "words")

    Section = Seq2SeqSection
    traced = "attention"

    def __init__(
        self, sizes: Sizes, encoder_size: int = 100, *, context: bool = False, copying: bool = False, **kwargs: Any
    ) -> None:
        super().__init__(sizes, **kwargs)
        hidden, seen = self.hidden_size, 2 * encoder_size
        self.entries = EntryEmbedding(sizes, encoder_size, name="entries")
        self.encoder = _both_ways(encoder_size)
        self.start = self.add_weight((seen, 2 * hidden), "glorot_uniform", name="start")
        self.score = self.add_weight((seen, hidden), "glorot_uniform", name="score")
        self.mixture = self.add_weight((hidden + seen, hidden), "glorot_uniform", name="mixture")
        self.sees_context = context
        if context:
            self.inputs = (*self.inputs, CONTEXT)
            self.context_words = self.add_weight((sizes.context, encoder_size), "uniform", name="context_words")
            self.context_encoder = _both_ways(encoder_size)
        self.copy_mechanism = CopyMechanism(seen, self.embedding.shape[1], hidden) if copying else None
        if copying:
            self.inputs = (*self.inputs, COPIES)

    def prepare(self, inputs: Tensors) -> tuple[Tensors, Tensors]:
        """Return the act's contribution to the gates and what can be attended to, and the initial state."""
        vectors, real = self.entries(inputs["act"], inputs["entries"], inputs["words"])
        memory = self.encoder(vectors, mask=real)  # (B, M, 2E)
        if self.sees_context:
            # After the entries, whose positions in a trace of the attention then stay the same.
            said, spoken = self._context(inputs[CONTEXT])
            memory, real = ops.concatenate([memory, said], axis=1), ops.concatenate([real, spoken], axis=1)
        memory = self.dropout(memory)
        share = ops.cast(real, memory.dtype)[..., None]
        mean = ops.sum(memory * share, axis=1) / ops.sum(share, axis=1)
        h, c = ops.split(ops.tanh(ops.matmul(mean, self.start)), 2, axis=-1)
        looking = {"keys": ops.matmul(memory, self.score), "memory": memory, "bias": bias_of(real)}
        if self.copy_mechanism is not None:
            tokens, places = ops.cast(inputs[COPIES][..., 0], "int32"), ops.cast(inputs[COPIES][..., 1], "int32")
            looking |= self.copy_mechanism.prepare(tokens, rows_of(self.embedding, tokens), memory, places)
        return {"gates": self.act_gates(inputs), **looking}, {"h": h, "c": c}

    def _context(self, numbers: Tensor) -> tuple[Tensor, Tensor]:
        """Return the encoded words of the user, (B, C, 2E), and which of them are not padding, (B, C)."""
        spoken = numbers > 0
        # A sequence must not be all padding: without words the encoder reads one token, which attention masks.
        first = ops.cast(ops.arange(ops.shape(numbers)[1]) == 0, "bool")[None, :]
        read = self.context_encoder(rows_of(self.context_words, numbers), mask=ops.logical_or(spoken, first))
        return read, spoken

    def step(self, context: Tensors, state: Tensors, tokens: Tensor) -> tuple[Tensor, Tensors]:
        """Advance every sentence by one token; see `NeuralModel.step`."""
        output, state = self.advance(context, state, tokens)
        return self._look(context, output[:, None])[:, 0], state

    def trace(self, context: Tensors, state: Tensors) -> Tensor:
        """Return the attention weights of the next word on the act and its entries, (N, M)."""
        # With the identity for values, attention returns its own weights.
        count, entries, _ = ops.shape(context["keys"])
        alone = ops.broadcast_to(ops.eye(entries), (count, entries, entries))
        return attend(state["h"][:, None, None], context["keys"], alone, context["bias"][:, None])[:, 0, 0]

    def logits(self, batch: Tensors, *, training: bool = False) -> Tensor:
        """Return the logits of the next token at every position, (B, T, V)."""
        context, state = self.prepare(batch)
        return self._look(context, self.outputs(context, state, batch["tokens"]), training=training)

    def _look(self, context: Tensors, outputs: Tensor, *, training: bool = False) -> Tensor:
        """Return the logits after every output has attended to the entries, (B, T, H) -> (B, T, V)."""
        bias = context["bias"][:, None]
        seen = attend(outputs[:, :, None], context["keys"], context["memory"], bias)[:, :, 0]
        mixed = ops.tanh(ops.matmul(ops.concatenate([seen, outputs], axis=-1), self.mixture))
        logits = self._project(mixed, training=training)
        return logits if self.copy_mechanism is None else self.copy_mechanism.mix(context, mixed, logits)


def _both_ways(size: int) -> keras.layers.Layer:
    """Return a bidirectional LSTM."""
    reader = keras.layers.LSTM(size, return_sequences=True)
    # mypy does not find `Bidirectional` in Keras.
    layer: keras.layers.Layer = keras.layers.Bidirectional(reader)  # type: ignore[attr-defined]
    return layer
