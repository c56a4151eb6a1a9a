"""A small Transformer over the entries of the act (Vaswani et al. 2017)."""

from __future__ import annotations

import math
from typing import Any

import keras
import numpy as np
from keras import ops

from dactnlg.models.attention import EntryEmbedding, attend, bias_of
from dactnlg.models.base import NeuralModel, Tensor, Tensors, positions, rows_of
from dactnlg.models.sections import TransformerSection
from dactnlg.text.encoding import Sizes


class Transformer(NeuralModel):
    """An encoder of the act's entries and a decoder that attends to them, without recurrence.

    Training processes all words at once; a search keeps the keys and values of the last `window` words in its state
    ("past0", ... per layer). The sublayers are as in Vaswani et al. (2017, section 3), but with the norm before each
    (Xiong et al. 2020: no warm-up is needed), and with one head of keys and values for all heads of queries (Shazeer
    2019, section 3: less to keep per hypothesis). Positions are the paper's sinusoids (section 3.5), so there is no
    limit on length; entries have none, as their order carries no meaning. The output layer is the transposed token
    embedding (section 3.4).

    Shape letters: B acts, N sentences, T time, M entries, H hidden units, W window.

    Args:
        sizes: the sizes of the preprocessor's vocabularies.
        hidden_size: H.
        heads: per attention; must divide H.
        layers: of the encoder, and of the decoder.
        dropout: share of units dropped in training.
        window: W, how many tokens back a word sees.
    """

    inputs: tuple[str, ...] = ("act", "entries", "words")

    Section = TransformerSection

    def __init__(
        self,
        sizes: Sizes,
        hidden_size: int = 128,
        heads: int = 4,
        layers: int = 2,
        dropout: float = 0.0,
        window: int = 64,
        **kwargs: Any,
    ) -> None:
        super().__init__(sizes, **kwargs)
        self.hidden_size, self.window, self.head_size = hidden_size, window, hidden_size // heads
        self.make_reader()
        self.embedding = self.add_weight((sizes.vocabulary, hidden_size), "uniform", name="embedding")
        self.output_bias = self.add_weight((sizes.vocabulary,), "zeros", name="output_bias")
        self.dropout = keras.layers.Dropout(dropout)
        self.encoder = [Layer(hidden_size, heads, dropout, decodes=False) for _ in range(layers)]
        self.decoder = [Layer(hidden_size, heads, dropout, decodes=True) for _ in range(layers)]
        self.encoded, self.decoded = keras.layers.LayerNormalization(), keras.layers.LayerNormalization()

    def make_reader(self) -> None:
        """Create the layers that `read` needs."""
        self.entries = EntryEmbedding(self.sizes, self.hidden_size, name="entries")

    def read(self, inputs: Tensors) -> tuple[Tensor, Tensor]:
        """Return the encoder's input vectors, (B, M, H), and which of them are not padding, (B, M)."""
        vectors, real = self.entries(inputs["act"], inputs["entries"], inputs["words"])
        return vectors, real

    def prepare(self, inputs: Tensors) -> tuple[Tensors, Tensors]:
        """Return each decoder layer's keys and values of the entries, and a state without words."""
        x, real = self.read(inputs)
        x, bias = self.dropout(x), bias_of(real)
        for layer in self.encoder:
            x, _ = layer(x, bias[:, None])
        x = self.encoded(x)  # (B, M, H)
        context = {f"act{i}": layer.act.memory(x) for i, layer in enumerate(self.decoder)}
        count = ops.shape(x)[0]
        past = ops.zeros((count, self.window, 2 * self.head_size), x.dtype)
        state = {f"past{i}": past for i in range(len(self.decoder))}
        # Not an integer: where Keras runs a step as a cell, states must be floats.
        return {**context, "bias": bias}, {**state, "time": ops.zeros((count, 1), "float32")}

    def step(self, context: Tensors, state: Tensors, tokens: Tensor) -> tuple[Tensor, Tensors]:
        """Advance every sentence by one token; see `NeuralModel.step`."""
        time = state["time"]  # (N, 1)
        # The window's last place is the preceding word; places before the sentence's first word are empty.
        ages = ops.arange(self.window, -1, -1, dtype="float32")[None, :]
        logits, new = self._decode(context, tokens[:, None], time, bias_of(ages <= time)[:, None], state)
        return logits[:, 0], {**{name: part[:, 1:] for name, part in new.items()}, "time": time + 1}

    def logits(self, batch: Tensors, *, training: bool = False) -> Tensor:
        """Return the logits of the next token at every position, (B, T, V), computed in parallel."""
        context, _ = self.prepare(batch)
        time = positions(batch["tokens"])  # (1, T)
        ages = time[0][:, None] - time  # (T, T)
        seen = ops.logical_and(ages >= 0, ages <= self.window)
        logits, _ = self._decode(context, batch["tokens"], time, bias_of(seen)[None], {})
        return logits

    def _decode(
        self, context: Tensors, tokens: Tensor, time: Tensor, bias: Tensor, past: Tensors
    ) -> tuple[Tensor, Tensors]:
        """Return the logits after each token, and by layer the keys and values of the past and these tokens.

        Args:
            context: see `prepare`.
            tokens: (N, T).
            time: the positions of the tokens, (N or 1, T).
            bias: which tokens each token may see, (N or 1, T, past and T).
            past: keys and values of the preceding tokens, by layer, if any.
        """
        x = rows_of(self.embedding, tokens) * math.sqrt(self.hidden_size)
        x = self.dropout(x + ops.cast(sines(time, self.hidden_size), x.dtype))
        seen = {}
        for i, layer in enumerate(self.decoder):
            act = context[f"act{i}"], context["bias"][:, None]
            x, seen[f"past{i}"] = layer(x, bias, past.get(f"past{i}"), act)
        return ops.matmul(self.decoded(x), ops.transpose(self.embedding)) + self.output_bias, seen


class Attention(keras.layers.Layer):
    """Attention with several heads of queries to one head of keys and values (Shazeer 2019, section 3)."""

    def __init__(self, size: int, heads: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.heads, self.head_size = heads, size // heads
        self.query = keras.layers.Dense(size, use_bias=False)
        self.memory = keras.layers.Dense(2 * self.head_size, use_bias=False)
        self.output_layer = keras.layers.Dense(size)

    def call(self, x: Tensor, memory: Tensor, bias: Tensor) -> Tensor:
        """Return the attention of x, (N, T, H), to the memory, (N, S, keys and values), as (N, T, H)."""
        count = ops.shape(x)[1]
        queries = self.query(x) / math.sqrt(self.head_size)
        queries = ops.reshape(queries, (-1, count, self.heads, self.head_size))
        keys, values = ops.split(memory, 2, axis=-1)
        seen = attend(queries, keys, values, bias)
        return self.output_layer(ops.reshape(seen, (-1, count, self.heads * self.head_size)))


class Layer(keras.layers.Layer):
    """A layer of the encoder, or of the decoder, which also attends to the act.

    Args:
        size: H.
        heads: per attention.
        dropout: share of a sublayer's output dropped in training.
        decodes: whether the layer attends to the act.
    """

    def __init__(self, size: int, heads: int, dropout: float, *, decodes: bool, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.itself, self.itself_norm = Attention(size, heads), keras.layers.LayerNormalization()
        if decodes:
            self.act, self.act_norm = Attention(size, heads), keras.layers.LayerNormalization()
        self.inner, self.inner_norm = keras.layers.Dense(4 * size, "relu"), keras.layers.LayerNormalization()
        self.outer = keras.layers.Dense(size)
        self.dropout = keras.layers.Dropout(dropout)

    def call(
        self, x: Tensor, bias: Tensor, past: Tensor | None = None, act: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Tensor, Tensor]:
        """Return the layer's output, (N, T, H), and the keys and values of the past and x, (N, past and T, ...).

        Args:
            x: (N, T, H).
            bias: which positions each position of x may see, (N or 1, T or 1, past and T).
            past: keys and values of positions before x, if any.
            act: keys and values of the act, and their bias.
        """
        normal = self.itself_norm(x)
        seen = self.itself.memory(normal)
        if past is not None:
            seen = ops.concatenate([past, seen], axis=1)
        x = x + self.dropout(self.itself(normal, seen, bias))
        if act is not None:
            x = x + self.dropout(self.act(self.act_norm(x), *act))
        return x + self.dropout(self.outer(self.inner(self.inner_norm(x)))), seen


def sines(places: Tensor, size: int) -> Tensor:
    """Return the sinusoidal encoding of positions (Vaswani et al. 2017, section 3.5), (..., size)."""
    rates = np.exp(np.arange(size) // 2 * (-2.0 * math.log(10_000.0) / size))
    shifts = np.arange(size) % 2 * (math.pi / 2)
    angles = ops.cast(places, "float32")[..., None] * rates.astype(np.float32) + shifts.astype(np.float32)
    found: Tensor = ops.sin(angles)
    return found
