"""`seq2seq` in NumPy: what Keras computes, with what it can look at and copy or without; sizes of any kind."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from keras import ops
from keras.utils import set_random_seed
from small_models import D, V, W, draw_weights, inputs, tensors_of

from dactnlg import models
from dactnlg.models import build_model
from dactnlg.models import numpy as numpy_models
from dactnlg.models.backend import to_numpy
from dactnlg.models.numpy.initial import weights_of
from dactnlg.models.numpy.seq2seq import NumpySeq2Seq
from dactnlg.models.weights import named_weights
from dactnlg.runs.config import load_config
from dactnlg.search.numpy_step import log_softmax
from dactnlg.text.encoding import Sizes

C = 12
SIZES = Sizes(V, D, W, C)
SEEN = [{}, {"context": True}, {"copying": True}, {"context": True, "copying": True}]


def both(seen: dict[str, bool]) -> tuple[Any, NumpySeq2Seq]:
    """Return a model with large random weights in Keras and in NumPy."""
    set_random_seed(1)
    keys = {"hidden_size": 7, "embedding_size": 6, "encoder_size": 5, **seen}
    model = build_model("seq2seq", SIZES, **keys)
    draw_weights(model, 0.7)
    weights = {name: to_numpy(weight) for name, weight in named_weights(model).items()}
    overrides = [f"model.{key}={str(value).lower()}" for key, value in keys.items()]
    section = load_config("trails-seq2seq", overrides, models).model
    shapes = {name: weight.shape for name, weight in weights_of(section, SIZES).items()}
    assert {name: weight.shape for name, weight in weights.items()} == shapes
    searched = numpy_models.searching(section, weights)
    assert isinstance(searched, NumpySeq2Seq) and set(searched.inputs) == set(model.inputs)
    return model, searched


def acts() -> dict[str, np.ndarray]:
    """Return four acts: with many entries, with few, with nothing but its DA vector, and with nothing at all."""
    rng = np.random.default_rng(7)
    batch = inputs([6, 6, 6, 6], 6)
    batch["entries"][1, 2:], batch["words"][1, 2:] = 0, 0
    for name in ("entries", "words"):
        batch[name][2:] = 0
    batch["act"][3] = 0
    batch["context"] = rng.integers(1, C, (4, 5)).astype(np.int32)
    batch["context"][1, 3:], batch["context"][3] = 0, 0
    tokens = np.array([[5, 7, 5, 9], [8, 0, 0, 0], [0] * 4, [0] * 4])
    batch["copies"] = np.stack([tokens, np.array([[1, 2, 4, 3], [2, 0, 0, 0], [0] * 4, [0] * 4])], -1).astype(np.int32)
    return batch


@pytest.mark.parametrize("seen", SEEN, ids=lambda seen: "+".join(seen) or "plain")
def test_numpy_seq2seq_computes_what_keras_computes(seen: dict[str, bool]) -> None:
    model, searched = both(seen)
    batch = acts()
    ours, state = searched.prepare(batch)
    theirs, expected = model.prepare(tensors_of(batch))
    # Three sentences of the first act, and one of each other.
    owner = np.array([0, 1, 0, 2, 3, 0])
    theirs = {name: ops.take(part, owner, axis=0) for name, part in theirs.items()}
    expected = {name: ops.take(part, owner, axis=0) for name, part in expected.items()}
    now, rng = [part[owner] for part in state], np.random.default_rng(3)
    for _ in range(5):
        tokens = rng.integers(1, V, len(owner))
        found, now = searched.step(ours, now, tokens, owner)
        logits, expected = model.step(theirs, expected, ops.convert_to_tensor(tokens.astype(np.int32)))
        np.testing.assert_allclose(log_softmax(found), to_numpy(ops.log_softmax(logits)), atol=2e-5)
        for part, name in zip(now, ("h", "c"), strict=True):
            np.testing.assert_allclose(part, to_numpy(expected[name]), atol=1e-5)
        looks = searched.trace(ours._replace(keys=ours.keys[owner], bias=ours.bias[owner]), now)
        np.testing.assert_allclose(looks, to_numpy(model.trace(theirs, expected)), atol=1e-5)
        np.testing.assert_allclose(looks.sum(axis=1), 1, atol=1e-5)
    if "copying" in seen:
        np.testing.assert_allclose(np.exp(found).sum(axis=1), 1, atol=1e-5)


@pytest.mark.parametrize("seen", SEEN, ids=lambda seen: "+".join(seen) or "plain")
def test_padding_changes_nothing_in_numpy_seq2seq(seen: dict[str, bool]) -> None:
    _, searched = both(seen)
    batch, tokens, owner = acts(), np.array([4, 5, 6, 7]), np.arange(4)
    wider = {"entries": (0, 3, 0), "words": (0, 3, 2), "context": (0, 4), "copies": (0, 2, 0)}
    padded = {**batch, **{k: np.pad(batch[k], [(0, more) for more in sizes]) for k, sizes in wider.items()}}
    found = [searched.step(*searched.prepare(each), tokens, owner) for each in (batch, padded)]
    np.testing.assert_allclose(found[0][0], found[1][0], atol=1e-5)
    np.testing.assert_allclose(found[0][1], found[1][1], atol=1e-5)
