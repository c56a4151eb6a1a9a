"""An encoder-decoder with attention over the entries of the act (Dušek and Jurčíček 2016, section 3: TGen)."""

from __future__ import annotations

from typing import Any

import keras
from keras import ops

from dactnlg.models.attention import EntryEmbedding, attend, bias_of
from dactnlg.models.base import Tensor, Tensors, rows_of
from dactnlg.models.copying import CopyMechanism
from dactnlg.models.lstm import LSTM
from dactnlg.models.sections import Seq2SeqSection
from dactnlg.text.context import CONTEXT
from dactnlg.text.copying import COPIES
from dactnlg.text.encoding import Sizes


class Seq2Seq(LSTM):
    """An LSTM decoder that looks at the entries of the act, values included, before each word.

    Two LSTMs read the entries forward and backward (Bahdanau et al. 2015, section 3.2). The decoder is `lstm`, which
    sees the whole DA vector at every step, and starts from what they have read. Attention comes after the recurrence,
    with the "general" score (Luong et al. 2015, section 3.1), and is not fed back into it: so training runs the
    recurrence over whole sentences, and looks from all words at once.

    Args:
        sizes: see `RecurrentModel`.
        encoder_size: length of an entry's vector, and units of the encoder in either direction.
        context: whether the words that the user has said before are looked at too, read by an encoder of their own
            ("context encoder", Dušek and Jurčíček 2016, A Context-aware Natural Language Generator).
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
        """Return the act's share of the gates, what there is to look at, and the state that it leads to."""
        vectors, real = self.entries(inputs["act"], inputs["entries"], inputs["words"])
        memory = self.encoder(vectors, mask=real)  # (B, M, 2E)
        if self.sees_context:
            # Behind the entries: these are where they were for whoever follows the attention.
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
        """Return what is to be looked at of the user's words, (B, C, 2E), and which of them are no padding, (B, C)."""
        spoken = numbers > 0
        # A sequence cannot be all padding: without a word the encoder reads one, and nothing looks at it.
        first = ops.cast(ops.arange(ops.shape(numbers)[1]) == 0, "bool")[None, :]
        read = self.context_encoder(rows_of(self.context_words, numbers), mask=ops.logical_or(spoken, first))
        return read, spoken

    def step(self, context: Tensors, state: Tensors, tokens: Tensor) -> tuple[Tensor, Tensors]:
        """Advance every sentence by one token; see `NeuralModel.step`."""
        output, state = self.advance(context, state, tokens)
        return self._look(context, output[:, None])[:, 0], state

    def trace(self, context: Tensors, state: Tensors) -> Tensor:
        """Return the weights with which the next word looks at the act and its entries, (N, M)."""
        # What each entry has a value of its own in comes back as its weight.
        count, entries, _ = ops.shape(context["keys"])
        alone = ops.broadcast_to(ops.eye(entries), (count, entries, entries))
        return attend(state["h"][:, None, None], context["keys"], alone, context["bias"][:, None])[:, 0, 0]

    def logits(self, batch: Tensors, *, training: bool = False) -> Tensor:
        """Return the logits of every next token, (B, T, V)."""
        context, state = self.prepare(batch)
        return self._look(context, self.outputs(context, state, batch["tokens"]), training=training)

    def _look(self, context: Tensors, outputs: Tensor, *, training: bool = False) -> Tensor:
        """Return the logits after looking at the entries from every output, (B, T, H) -> (B, T, V)."""
        bias = context["bias"][:, None]
        seen = attend(outputs[:, :, None], context["keys"], context["memory"], bias)[:, :, 0]
        mixed = ops.tanh(ops.matmul(ops.concatenate([seen, outputs], axis=-1), self.mixture))
        logits = self._project(mixed, training=training)
        return logits if self.copy_mechanism is None else self.copy_mechanism.mix(context, mixed, logits)


def _both_ways(size: int) -> keras.layers.Layer:
    """Return two LSTMs that read forward and backward."""
    reader = keras.layers.LSTM(size, return_sequences=True)
    # Keras has it, but types that mypy cannot follow.
    layer: keras.layers.Layer = keras.layers.Bidirectional(reader)  # type: ignore[attr-defined]
    return layer
