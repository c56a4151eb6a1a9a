"""Copying from the act: the pointer of a pointer-generator (See, Liu and Manning 2017, section 2.2)."""

from __future__ import annotations

from typing import Any

import keras
from keras import ops

from dactnlg.models.attention import Tensor, attend, bias_of

LEAST = 1e-30
"""Added to probabilities before their logarithm is taken."""


class CopyMechanism(keras.layers.Layer):
    """Mixes the distribution that a decoder generates with one over tokens that it can copy.

    p(w) = (1 - g) softmax(logits)(w) + g sum_{i: token i is w} a_i, where a is the softmax of query times key over the
    S tokens that can be copied, and g a sigmoid of the query; g is 0 if there are none. A token's key combines its own
    vector with that of its entry, so it shows what would be copied and from which entry.

    Args:
        memory_size: F, length of an entry's vector.
        embedding_size: E, length of a token's vector.
        hidden_size: H, length of a query.
    """

    def __init__(self, memory_size: int, embedding_size: int, hidden_size: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.places = self.add_weight((memory_size, hidden_size), "glorot_uniform", name="places")
        self.tokens = self.add_weight((embedding_size, hidden_size), "glorot_uniform", name="tokens")
        self.gate = self.add_weight((hidden_size, 1), "glorot_uniform", name="gate")
        self.gate_bias = self.add_weight((1,), "zeros", name="gate_bias")
        self.built = True

    def prepare(self, tokens: Tensor, embedded: Tensor, memory: Tensor, places: Tensor) -> dict[str, Tensor]:
        """Return the part of the context that `mix` needs, by name.

        Args:
            tokens: indices of the tokens that can be copied, (B, S); 0 is padding.
            embedded: their vectors, (B, S, E).
            memory: the vectors of the entries, (B, M, F).
            places: the entry that each token belongs to, (B, S).
        """
        entries = ops.take_along_axis(memory, places[..., None], axis=1)
        keys = ops.matmul(entries, self.places) + ops.matmul(embedded, self.tokens)
        return {"copies": tokens, "copy_keys": keys}

    def mix(self, context: dict[str, Tensor], queries: Tensor, logits: Tensor) -> Tensor:
        """Return the log probabilities of the next tokens, (B, T, V).

        Args:
            context: contains what `prepare` returned.
            queries: one for each word to generate, (B, T, H).
            logits: of generating, without copying, (B, T, V).
        """
        tokens = ops.cast(context["copies"], "int32")
        real = tokens > 0
        # In single precision: the gradients of tokens that are hardly ever copied would underflow in half precision.
        words = ops.one_hot(tokens, logits.shape[-1], dtype="float32")  # (B, S, V)
        copied = attend(queries[:, :, None], context["copy_keys"], words, bias_of(real)[:, None])[:, :, 0]
        closed = bias_of(ops.any(real, axis=1))[:, None, None]
        gate = ops.cast(ops.matmul(queries, self.gate) + self.gate_bias, "float32") + closed
        generated = ops.log_softmax(ops.cast(logits, "float32")) - ops.softplus(gate)
        said = ops.log(copied + LEAST) - ops.softplus(-gate)
        mixed: Tensor = ops.logsumexp(ops.stack([generated, said]), axis=0)
        return mixed
