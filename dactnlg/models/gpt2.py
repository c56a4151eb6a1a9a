"""GPT-2 (Radford et al. 2019) that reads the act as a prefix of its sentence; it can start from published weights."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import keras
from keras import ops

from dactnlg.models.attention import EntryEmbedding, attend, bias_of
from dactnlg.models.base import NeuralModel, Tensor, Tensors, positions, rows_of
from dactnlg.models.sections import GPT2Section
from dactnlg.text.encoding import Sizes

EPSILON = 1e-5
"""Of all layer norms."""


class GPT2(NeuralModel):
    """A decoder-only Transformer: the act is the prompt, the sentence its continuation.

    The entries of the act come first, one vector each, then the words one by one. Attention is causal over entries and
    words, as in Radford et al. (2019, section 2.3) and Radford et al. (2018, section 3.1): norms before the sublayers
    and after the last one, learned positions, and the transposed token embedding as output layer. The vocabulary is
    this package's own, so that constraints hold; `gpt2_checkpoint` derives its vectors from a checkpoint's subwords.
    Dropout applies to embeddings and sublayer outputs, not to attention weights.

    A search keeps the keys and values of the entries in the context ("act0", ... per layer), and those of the last
    `window` words in the state ("past0", ...).

    Shape letters: B acts, N sentences, T time, M entries, S positions attended to, H hidden units, A heads, P
    positions, W window.

    Args:
        sizes: the sizes of the preprocessor's vocabularies.
        hidden_size: H.
        heads: A; must divide H.
        layers: of attention.
        dropout: share of units dropped in training.
        positions: P; later positions share the last one's vector.
        window: W, how many tokens back a word sees, in addition to the act.
    """

    inputs: tuple[str, ...] = ("act", "entries", "words")

    Section = GPT2Section

    def __init__(
        self,
        sizes: Sizes,
        hidden_size: int = 128,
        heads: int = 4,
        layers: int = 2,
        dropout: float = 0.0,
        positions: int = 256,
        window: int = 64,
        **kwargs: Any,
    ) -> None:
        super().__init__(sizes, **kwargs)
        self.hidden_size, self.heads, self.window = hidden_size, heads, window
        self.entries = EntryEmbedding(sizes, hidden_size, name="entries")
        self.embedding = self.add_weight((sizes.vocabulary, hidden_size), _normal(), name="embedding")
        self.positions = self.add_weight((positions, hidden_size), _normal(), name="positions")
        self.dropout = keras.layers.Dropout(dropout)
        self.decoder = [GPT2Layer(hidden_size, heads, layers, dropout) for _ in range(layers)]
        self.norm = keras.layers.LayerNormalization(epsilon=EPSILON)

    def prepare(self, inputs: Tensors) -> tuple[Tensors, Tensors]:
        """Return each layer's keys and values of the entries, and a state without words."""
        vectors, real = self.entries(inputs["act"], inputs["entries"], inputs["words"])  # (B, M, H), (B, M)
        places = positions(real)  # (1, M)
        bias = bias_of(ops.logical_and(places[0][:, None] >= places, real[:, None]))  # (B, M, M)
        _, seen = self._read(vectors, places, bias, [()] * len(self.decoder))
        count = ops.shape(vectors)[0]
        past = ops.zeros((count, self.window, 2 * self.hidden_size), vectors.dtype)
        state = {f"past{i}": past for i in range(len(self.decoder))}
        # Not integers: where Keras runs a step as a cell, contexts and states must be floats.
        context = {f"act{i}": part for i, part in enumerate(seen)}
        return {**context, "real": ops.cast(real, "float32")}, {**state, "time": ops.zeros((count, 1), "float32")}

    def step(self, context: Tensors, state: Tensors, tokens: Tensor) -> tuple[Tensor, Tensors]:
        """Advance every sentence by one token; see `NeuralModel.step`."""
        time = state["time"]  # (N, 1)
        # The window's last place is the preceding word; places before the sentence's first word are empty.
        ages = ops.arange(self.window, -1, -1, dtype="float32")[None, :]
        past = [state[f"past{i}"] for i in range(len(self.decoder))]
        logits, new = self._decode(context, tokens[:, None], time, bias_of(ages <= time)[:, None], past)
        seen = [ops.concatenate(pair, axis=1)[:, 1:] for pair in zip(past, new, strict=True)]
        kept = {f"past{i}": part for i, part in enumerate(seen)}
        return logits[:, 0], {**kept, "time": time + 1}

    def logits(self, batch: Tensors, *, training: bool = False) -> Tensor:
        """Return the logits of the next token at every position, (B, T, V), computed in parallel."""
        context, _ = self.prepare(batch)
        time = positions(batch["tokens"])  # (1, T)
        ages = time[0][:, None] - time  # (T, T)
        seen = bias_of(ops.logical_and(ages >= 0, ages <= self.window))[None]
        return self._decode(context, batch["tokens"], time, seen, [])[0]

    def _decode(
        self, context: Tensors, tokens: Tensor, time: Tensor, bias: Tensor, past: Sequence[Tensor]
    ) -> tuple[Tensor, list[Tensor]]:
        """Return the logits after each token, and by layer the keys and values of these tokens.

        Args:
            context: see `prepare`.
            tokens: (N, T).
            time: how many tokens precede each, (N or 1, T).
            bias: which tokens each may see, (N or 1, T, past and T).
            past: keys and values of the preceding tokens, by layer, if any.
        """
        count, length = ops.shape(tokens)
        act = bias_of(context["real"])[:, None]  # (N, 1, M)
        visible = [ops.broadcast_to(part, (count, length, ops.shape(part)[2])) for part in (act, bias)]
        before = [[context[f"act{i}"], *past[i : i + 1]] for i in range(len(self.decoder))]
        places = ops.sum(context["real"], axis=1, keepdims=True) + ops.cast(time, "float32")  # (N, T)
        x, seen = self._read(rows_of(self.embedding, tokens), places, ops.concatenate(visible, axis=2), before)
        return ops.matmul(self.norm(x), ops.transpose(self.embedding)), seen

    def _read(
        self, vectors: Tensor, places: Tensor, bias: Tensor, before: Sequence[Sequence[Tensor]]
    ) -> tuple[Tensor, list[Tensor]]:
        """Return the last layer's output, (N, T, H), and the vectors' keys and values by layer, (N, T, 2H).

        Args:
            vectors: of entries or tokens, (N, T, H).
            places: their positions, (N or 1, T).
            bias: which positions each may see, (N, T, S).
            before: by layer, the keys and values of preceding positions, in pieces to concatenate.
        """
        last = float(self.positions.shape[0] - 1)
        places = ops.cast(ops.minimum(ops.cast(places, "float32"), last), "int32")
        x = self.dropout(vectors + ops.cast(rows_of(self.positions, places), vectors.dtype))
        bias, seen = ops.repeat(bias, self.heads, axis=0), []
        for layer, pieces in zip(self.decoder, before, strict=True):
            x, part = layer(x, bias, pieces)
            seen.append(part)
        return x, seen


class GPT2Layer(keras.layers.Layer):
    """Multi-head attention followed by two dense layers (Radford et al. 2018, section 3.1).

    The activation is the tanh approximation of GELU (Hendrycks and Gimpel 2016, section 2).

    Args:
        size: H.
        heads: A.
        layers: of the model; the more, the smaller the initial output weights (Radford et al. 2019, section 2.3).
        dropout: share of a sublayer's output dropped in training.
    """

    def __init__(self, size: int, heads: int, layers: int, dropout: float, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.size, self.heads, self.head_size = size, heads, size // heads
        scale = 1 / math.sqrt(2 * layers)
        self.attention_norm, self.inner_norm = (keras.layers.LayerNormalization(epsilon=EPSILON) for _ in range(2))
        self.attention = keras.layers.Dense(3 * size, kernel_initializer=_normal())
        self.attention_output = keras.layers.Dense(size, kernel_initializer=_normal(scale))
        self.inner = keras.layers.Dense(4 * size, kernel_initializer=_normal())
        self.outer = keras.layers.Dense(size, kernel_initializer=_normal(scale))
        self.dropout = keras.layers.Dropout(dropout)

    def call(self, x: Tensor, bias: Tensor, before: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
        """Return the layer's output, (N, T, H), and the keys and values of x, (N, T, 2H).

        Args:
            x: (N, T, H).
            bias: which positions each position of x may see, for each head, (N * A, T, S).
            before: keys and values of positions before x, in pieces to concatenate.
        """
        made = self.attention(self.attention_norm(x))
        own = made[..., self.size :]
        keys, values = ops.split(ops.concatenate([*before, own], axis=1), 2, axis=-1)
        queries = self._apart(made[..., : self.size] / math.sqrt(self.head_size))[:, :, None]
        seen = attend(queries, self._apart(keys), self._apart(values), bias)[:, :, 0]
        x = x + self.dropout(self.attention_output(self._together(seen)))
        inner = ops.gelu(self.inner(self.inner_norm(x)), approximate=True)
        return x + self.dropout(self.outer(inner)), own

    def _apart(self, vectors: Tensor) -> Tensor:
        """Split vectors into heads along the batch axis, (N, T, H) -> (N * A, T, H / A)."""
        length = ops.shape(vectors)[1]
        parts = ops.reshape(vectors, (-1, length, self.heads, self.head_size))
        return ops.reshape(ops.swapaxes(parts, 1, 2), (-1, length, self.head_size))

    def _together(self, parts: Tensor) -> Tensor:
        """Undo `_apart`, (N * A, T, H / A) -> (N, T, H)."""
        length = ops.shape(parts)[1]
        rows = ops.swapaxes(ops.reshape(parts, (-1, self.heads, length, self.head_size)), 1, 2)
        return ops.reshape(rows, (-1, length, self.size))


def _normal(scale: float = 1.0) -> keras.initializers.Initializer:
    """Return a new initializer of weights; one shared by two layers would draw the same numbers for both."""
    return keras.initializers.RandomNormal(stddev=0.02 * scale)
