"""Attention over the entries of an act: the entries' vectors, copying, and the attention function that all models use.

Copying is the pointer of a pointer-generator (See, Liu and Manning 2017, section 2.2).

Shape letters: B acts, M entries plus one for the whole act, L words of a value; Q queries, S positions attended to,
A heads; E, F lengths of vectors.
"""

from __future__ import annotations

from typing import Any

import keras
from keras import ops

from dactnlg.models.base import Tensor, mean_rows, sum_rows
from dactnlg.text.encoding import Sizes

UNSEEN = -1e9
"""Added to the scores of masked positions; scores are in single precision."""
LEAST = 1e-30
"""Added to copying probabilities before their logarithm is taken."""


class EntryEmbedding(keras.layers.Layer):
    """Gives each entry of an act a vector: the fused entry's plus its slot's plus the mean of its value's words'.

    The order of words within a value is ignored. The first vector is that of the whole DA vector, not of an entry; so
    every act has something to attend to, and with several corpora this vector says whose style is wanted.

    Args:
        sizes: the sizes of the preprocessor's vocabularies.
        size: E.
    """

    def __init__(self, sizes: Sizes, size: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        # Row 0 is padding in the first two tables; it is never summed.
        self.entries = self.add_weight((sizes.act + 1, size), "glorot_uniform", name="entries")
        self.words = self.add_weight((sizes.words, size), "glorot_uniform", name="words")
        self.act = self.add_weight((sizes.act, size), "glorot_uniform", name="act")
        self.built = True

    def call(self, act: Tensor, entries: Tensor, words: Tensor) -> tuple[Tensor, Tensor]:
        """Return the vectors, (B, M, E), and which of them are not padding, (B, M).

        Args:
            act: the DA vectors, (B, D).
            entries: numbers of the entries, (B, M - 1, 2); 0 is padding.
            words: numbers of the words of their values, (B, M - 1, L); 0 is padding.
        """
        slots, values = sum_rows(self.entries, entries), mean_rows(self.words, words)  # (B, M - 1, E)
        whole = ops.matmul(act, self.act)[:, None]
        real = ops.pad(ops.any(entries > 0, axis=-1), ((0, 0), (1, 0)), constant_values=True)
        return ops.concatenate([whole, slots + values], axis=1), real


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


def attend(queries: Tensor, keys: Tensor, values: Tensor, bias: Tensor) -> Tensor:
    """Return for each query the mean of the values, weighted by the softmax of query times key.

    Args:
        queries: (B, Q, A, E), already scaled where scaling is wanted.
        keys: (B, S, E), the same for all heads.
        values: (B, S, F).
        bias: added to the scores, (B or 1, Q or 1, S).

    Returns:
        (B, Q, A, F).
    """
    _, count, heads, size = ops.shape(queries)
    rows = ops.reshape(queries, (-1, count * heads, size))  # (B, Q * A, E)
    scores = ops.matmul(rows, ops.swapaxes(keys, 1, 2))
    scores = (
        ops.reshape(ops.cast(scores, "float32"), (-1, count, heads, ops.shape(keys)[1]))
        + ops.cast(bias, "float32")[:, :, None]
    )
    # Not `ops.softmax`, which issues a warning for an axis of length 1.
    weights = ops.exp(scores - ops.max(scores, axis=-1, keepdims=True))
    weights = ops.cast(weights / ops.sum(weights, axis=-1, keepdims=True), values.dtype)  # (B, Q, A, S)
    seen = ops.matmul(ops.reshape(weights, (-1, count * heads, ops.shape(keys)[1])), values)
    return ops.reshape(seen, (-1, count, heads, values.shape[-1]))


def bias_of(visible: Tensor) -> Tensor:
    """Return what is added to scores, in the shape of the flags: 0 where visible, else `UNSEEN`."""
    return (1.0 - ops.cast(visible, "float32")) * UNSEEN
