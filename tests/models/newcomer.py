"""A model as a newcomer would write it: one file in `dactnlg/models`, nothing else (see `test_newcomer.py`)."""

from __future__ import annotations

from typing import Any

import keras
from keras import ops
from pydantic import Field

from dactnlg.models.base import NeuralModel, Tensor, Tensors
from dactnlg.runs.config import ModelSection
from dactnlg.text.encoding import Sizes


class AttentiveGRU(NeuralModel):
    """A GRU decoder with dot-product attention over the entries of the act (Luong et al. 2015, section 3.1)."""

    inputs = ("entries",)

    class Section(ModelSection):
        """The configuration of the model."""

        units: int = Field(default=32, ge=1)
        dropout: float = Field(default=0.0, ge=0.0, lt=1.0)

    def __init__(self, sizes: Sizes, units: int = 32, dropout: float = 0.0, **kwargs: Any) -> None:
        super().__init__(sizes, **kwargs)
        self.entries = keras.layers.Embedding(sizes.act + 1, units)
        self.tokens = keras.layers.Embedding(sizes.vocabulary, units)
        self.dropout = keras.layers.Dropout(dropout)
        self.cell = keras.layers.GRUCell(units)
        self.output_layer = keras.layers.Dense(sizes.vocabulary)

    def prepare(self, inputs: Tensors) -> tuple[Tensors, Tensors]:
        """Return the entries' vectors, and their sum as the first state."""
        memory = self.dropout(ops.sum(self.entries(inputs["entries"]), axis=2))  # (B, N, units)
        real = ops.cast(ops.any(inputs["entries"] > 0, axis=2), memory.dtype)  # (B, N)
        return {"memory": memory, "real": real}, {"h": ops.tanh(ops.sum(memory * real[..., None], axis=1))}

    def step(self, context: Tensors, state: Tensors, tokens: Tensor) -> tuple[Tensor, Tensors]:
        """Look at the entries, then advance by one token."""
        memory, h = context["memory"], state["h"]
        scores = ops.einsum("nu,nmu->nm", h, memory) + 1e9 * (context["real"] - 1.0)
        seen = ops.einsum("nm,nmu->nu", ops.softmax(scores), memory)
        h, _ = self.cell(ops.concatenate([self.tokens(tokens), seen], axis=-1), [h])
        return self.output_layer(ops.concatenate([h, seen], axis=-1)), {"h": h}
