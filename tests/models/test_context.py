"""Models with context, the preceding user turn: padding, empty contexts, and models without it unchanged."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
import pytest
from keras import ops
from small_models import draw_weights

from dactnlg import models
from dactnlg.errors import ConfigError
from dactnlg.models import build_model
from dactnlg.models.backend import to_numpy
from dactnlg.models.base import NeuralModel
from dactnlg.models.weights import example_batch, named_weights
from dactnlg.runs.config import load_config, read_config
from dactnlg.text.encoding import Sizes

V, D, W, C = 11, 5, 9, 12
SIZES = {"hidden_size": 7, "embedding_size": 6}
KEYWORDS: dict[str, dict[str, int]] = {
    "sclstm": SIZES,
    "hierarchical": {**SIZES, "value_size": 4, "encoder_size": 5},
    "seq2seq": {**SIZES, "encoder_size": 5},
}


def build(name: str, *, context: bool) -> NeuralModel:
    keras.utils.set_random_seed(1)
    model = build_model(
        name, Sizes(V, D, W, C if context else 0), **KEYWORDS[name], **({"context": True} if context else {})
    )
    draw_weights(model)
    return model


def batch(context: np.ndarray) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(2)
    size = len(context)
    tokens = rng.integers(4, V, (size, 6)).astype(np.int32)
    return {
        "act": rng.integers(0, 2, (size, D)).astype(np.float32),
        "entries": rng.integers(1, D + 1, (size, 4, 2)).astype(np.int32),
        "words": rng.integers(0, W, (size, 4, 4)).astype(np.int32),
        "context": context,
        "tokens": tokens[:, :-1],
        "targets": tokens[:, 1:],
        "lengths": np.full(size, 5, np.int32),
        "weights": np.ones(size, np.float32),
    }


def logits(model: NeuralModel, context: np.ndarray) -> np.ndarray:
    tensors: dict[str, Any] = {name: ops.convert_to_tensor(array) for name, array in batch(context).items()}
    found: np.ndarray = to_numpy(model.logits(tensors))
    return found


SAID = np.array([[4, 5, 6, 0], [7, 0, 0, 0], [0, 0, 0, 0]], np.int32)


@pytest.mark.parametrize("name", KEYWORDS)
def test_context_words_change_logits_and_padding_does_not(name: str) -> None:
    model = build(name, context=True)
    found = logits(model, SAID)
    np.testing.assert_allclose(logits(model, np.pad(SAID, ((0, 0), (0, 12)))), found, atol=1e-6)
    other = SAID.copy()
    other[0, 1] = 9
    changed = np.abs(logits(model, other) - found).max(axis=(1, 2))
    assert changed[0] > 1e-3 and np.all(changed[1:] < 1e-6), "a row's words are its own"


@pytest.mark.parametrize("name", KEYWORDS)
def test_an_empty_context_equals_a_model_without_context(name: str) -> None:
    model, plain = build(name, context=True), build(name, context=False)
    weights, shared = named_weights(model), named_weights(plain)
    assert set(weights) - set(shared) and set(shared) <= set(weights)
    for path, weight in shared.items():
        weight.assign(weights[path])
    nothing = np.zeros_like(SAID)
    np.testing.assert_allclose(logits(model, nothing), logits(plain, nothing), atol=1e-6)
    assert np.abs(logits(model, SAID) - logits(plain, SAID))[:2].max() > 1e-3


@pytest.mark.parametrize("name", KEYWORDS)
def test_every_weight_of_the_context_learns(name: str) -> None:
    model = build(name, context=True)
    learner = keras.optimizers.SGD(0.5)
    before = {path: to_numpy(weight).copy() for path, weight in named_weights(model).items() if "context" in path}
    assert before
    model.compile(learner)
    model.train_on_batch(batch(SAID))
    after = {path: to_numpy(weight) for path, weight in named_weights(model).items()}
    assert all(np.abs(after[path] - weight).max() > 1e-6 for path, weight in before.items())
    if "context_words" in before and name != "seq2seq":
        unsaid = sorted(set(range(C)) - {4, 5, 6, 7})
        assert np.array_equal(after["context_words"][unsaid], before["context_words"][unsaid])


def test_a_false_context_key_is_left_out() -> None:
    """Configurations without context, and their hashes, are the same as before contexts were introduced."""
    for name in KEYWORDS:
        section = load_config(f"trails-{name}", [], models).model
        assert not section.sees_context
        assert "context" not in section.model_dump() and "context" not in section.keywords()
        told = load_config(f"trails-{name}", ["model.context=false"], models).model
        assert told == section and told.model_dump_json() == section.model_dump_json()
        seeing = load_config(f"trails-{name}", ["model.context=true"], models)
        assert seeing.model.sees_context and seeing.model.keywords()["context"] is True
        assert read_config(seeing.model_dump(), [], models) == seeing
    with pytest.raises(ConfigError, match="context"):
        load_config("trails-lstm", ["model.context=true"], models)
    with pytest.raises(ConfigError, match="context"):
        load_config("trails-sclstm", ["model.context=3"], models)


def test_models_with_context_ask_for_its_array() -> None:
    for name in KEYWORDS:
        plain, seeing = build(name, context=False), build(name, context=True)
        assert seeing.inputs == (*plain.inputs, "context")
        assert set(example_batch(seeing)) - set(example_batch(plain)) == {"context"}
