"""Attention over the entries of an act: the entries' vectors, and the attention function that all models use.

Shape letters: B acts, M entries plus one for the whole act, L words of a value; Q queries, S positions attended to,
A heads; E, F lengths of vectors.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import keras
from keras import ops

from dactnlg.text.encoding import Sizes

Tensor: TypeAlias = keras.KerasTensor

UNSEEN = -1e9
"""Added to the scores of masked positions; scores are in single precision."""


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
        slots = _sum(self.entries, entries)
        count = ops.sum(ops.cast(words > 0, slots.dtype), axis=-1, keepdims=True)
        values = _sum(self.words, words) / ops.maximum(count, 1.0)  # (B, M - 1, E)
        whole = ops.matmul(act, self.act)[:, None]
        real = ops.pad(ops.any(entries > 0, axis=-1), ((0, 0), (1, 0)), constant_values=True)
        return ops.concatenate([whole, slots + values], axis=1), real


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


def _sum(table: Tensor, numbers: Tensor) -> Tensor:
    """Return sums of rows of a table, (..., K) -> (..., E); index 0 adds nothing."""
    # Multiplied by 1 as in `rows_of`: otherwise TensorFlow clips the gradient of each row separately.
    rows = ops.take(ops.multiply(table, 1.0), numbers, axis=0)
    return ops.sum(rows * ops.cast(numbers > 0, rows.dtype)[..., None], axis=-2)
