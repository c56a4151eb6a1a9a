"""Models small enough to compute by hand, batches for them, and weights that show mistakes."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
from keras import ops

from dactnlg.models import build_model
from dactnlg.models.base import NeuralModel
from dactnlg.models.weights import named_weights
from dactnlg.text.encoding import Sizes

V, D, W = 11, 5, 9
"""Tokens, entries of an act, and words of values."""
Batch = dict[str, np.ndarray]
SIZES = {"hidden_size": 7, "embedding_size": 6}
KEYWORDS: dict[str, dict[str, int]] = {
    "lstm": SIZES,
    "sclstm": SIZES,
    "hierarchical": {**SIZES, "value_size": 4, "encoder_size": 5},
    "seq2seq": {**SIZES, "encoder_size": 5},
    "cvae": {**SIZES, "latent_size": 3},
    "transformer": {"hidden_size": 12, "heads": 2, "layers": 1, "window": 3},
    "gpt2": {"hidden_size": 12, "heads": 2, "layers": 2, "window": 3, "positions": 9},
}
"""The models and their sizes. Windows are shorter than the sentences, so they have to move; and so are positions."""
MODELS = tuple(KEYWORDS)


def build(name: str, seed: int = 1) -> NeuralModel:
    """Return a model with fresh weights, always the same."""
    keras.utils.set_random_seed(seed)
    return build_model(name, Sizes(V, D, W), **KEYWORDS[name])


def inputs(lengths: list[int], width: int, seed: int = 2) -> Batch:
    """Return a batch of random acts and sentences of these lengths, padded to a width."""
    rng = np.random.default_rng(seed)
    size = len(lengths)
    tokens = np.zeros((size, width + 1), np.int32)
    for row, length in enumerate(lengths):
        tokens[row, : length + 1] = [1, *rng.integers(4, V, length - 1), 2]
    return {
        "act": rng.integers(0, 2, (size, D)).astype(np.float32),
        "entries": rng.integers(1, D + 1, (size, 4, 2)).astype(np.int32),
        "words": rng.integers(0, W, (size, 4, 4)).astype(np.int32),
        "tokens": tokens[:, :-1],
        "targets": tokens[:, 1:],
        "lengths": np.array(lengths, np.int32),
        "weights": np.ones(size, np.float32),
    }


def tensors_of(batch: Batch) -> dict[str, Any]:
    """Return the arrays of a batch as tensors of the Keras backend."""
    return {name: ops.convert_to_tensor(array) for name, array in batch.items()}


def loss(model: NeuralModel, batch: Batch) -> Any:
    """Return the loss of a model on a batch."""
    return model(tensors_of(batch))


def draw_weights(model: NeuralModel, spread: float = 0.5) -> None:
    """Give a model weights as large as trained ones: where all gates are half open many mistakes do not show."""
    rng = np.random.default_rng(4)
    for weight in named_weights(model).values():
        if weight.dtype == "float32":
            weight.assign(rng.normal(0, spread, weight.shape).astype(np.float32))
