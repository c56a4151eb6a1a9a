"""Loss and gradient by hand against the Keras models and TensorFlow's tape."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
import pytest
from keras import ops

from dactnlg.models.base import NeuralModel
from dactnlg.models.hierarchical import HierarchicalSCLSTM
from dactnlg.models.lstm import LSTM
from dactnlg.models.numpy.gradients import GradientModel, weight_names
from dactnlg.models.numpy.loops import LookUp, apart, together
from dactnlg.models.sclstm import SCLSTM

V, D, W = 13, 6, 9
CLASSES: dict[str, type[NeuralModel]] = {"lstm": LSTM, "sclstm": SCLSTM, "hierarchical": HierarchicalSCLSTM}


def build(name: str, **options: Any) -> NeuralModel:
    keras.utils.set_random_seed(3)
    if name == "hierarchical":
        options |= {"word_count": W, "value_size": 4, "encoder_size": 5}
    model = CLASSES[name](vocabulary_size=V, act_size=D, hidden_size=7, embedding_size=6, **options)
    # Weights as large as trained ones: where all gates are half open many a mistake would not show.
    rng = np.random.default_rng(4)
    model.set_weights([rng.normal(0, 0.5, weight.shape).astype(weight.dtype) for weight in model.get_weights()])
    return model


def batch(seed: int = 5) -> dict[str, np.ndarray]:
    """Sentences of many lengths, weights that differ, an empty row, an empty act, values of no word to four."""
    rng = np.random.default_rng(seed)
    lengths = np.array([3, 7, 1, 6, 0], np.int32)
    size, width = len(lengths), 8
    tokens = rng.integers(4, V, (size, width + 1)).astype(np.int32)
    tokens[np.arange(width + 1) > lengths[:, None]] = 0
    act = (rng.random((size, D)) < 0.5).astype(np.float32)
    act[:, 2] = act[2] = 0.0
    entries = rng.integers(1, D + 1, (size, 4, 2)).astype(np.int32)
    entries[np.arange(4) >= np.array([4, 1, 0, 2, 3])[:, None]] = 0
    entries[0, 1, 0] = 0  # a slot known only by itself
    words = rng.integers(1, W, (size, 4, 4)).astype(np.int32)
    words[np.arange(4) >= rng.integers(0, 5, (size, 4, 1))] = 0
    words[3, 0], words[entries.sum(axis=2) == 0] = words[0, 0], 0
    weights = rng.uniform(0.5, 3, size).astype(np.float32)
    sentence = {"tokens": tokens[:, :-1], "targets": tokens[:, 1:], "lengths": lengths, "weights": weights}
    return {"act": act, "entries": entries, "words": words, **sentence}


def by_hand(model: NeuralModel) -> GradientModel:
    values = [np.asarray(weight) for weight in model.trainable_variables]
    names = weight_names(type(model).__name__)
    slopes = {name: np.full_like(value, np.nan) for name, value in zip(names, values, strict=True)}
    return GradientModel(model.get_config(), dict(zip(names, values, strict=True)), slopes)


def by_tape(model: NeuralModel, inputs: dict[str, np.ndarray]) -> tuple[float, list[np.ndarray]]:
    import tensorflow as tf

    tensors = {name: ops.convert_to_tensor(array) for name, array in inputs.items()}
    with tf.GradientTape() as tape:
        value = model.compute_loss(x=tensors, y_pred=model(tensors, training=False))
    found = tape.gradient(value, model.trainable_variables)
    return float(value), [np.asarray(tf.convert_to_tensor(gradient)) for gradient in found]


tape = pytest.mark.skipif(keras.backend.backend() != "tensorflow", reason="the reference is TensorFlow's tape")


@tape
@pytest.mark.parametrize("name", CLASSES)
def test_loss_and_gradient_are_those_of_the_keras_model(name: str) -> None:
    # Penalties that weigh as much as the words: a mistake in their slopes must show.
    model = build(name, **({} if name == "lstm" else {"eta": 0.1, "xi": 5.0, "alpha": 0.7}))
    ours = by_hand(model)
    for seed in (5, 6):
        expected, gradients = by_tape(model, batch(seed))
        assert ours.loss(batch(seed)) == pytest.approx(expected, rel=1e-6)
        ours.backward()
        for (path, slope), gradient in zip(ours.slopes.items(), gradients, strict=True):
            largest = np.abs(gradient).max()
            assert largest > 1e-5, path
            np.testing.assert_allclose(slope, gradient, atol=min(1e-5, 1e-4 * largest), rtol=1e-5, err_msg=path)


@tape
@pytest.mark.parametrize("name", CLASSES)
def test_the_names_are_in_keras_order(name: str) -> None:
    model = build(name)
    names = weight_names(type(model).__name__)
    for path, variable in zip(names, model.trainable_variables, strict=True):
        place, _, rest = path.rpartition("/")
        assert place in variable.path
        assert rest.isdigit() or rest.startswith(variable.path.split("/")[-1])


@tape
def test_dropout_drops_its_share_and_scales_the_rest() -> None:
    model = build("sclstm", dropout=0.4)
    ours = by_hand(model)
    rng = np.random.default_rng(0)
    plain = ours.loss(batch())
    losses = [ours.loss(batch(), rng) for _ in range(200)]
    assert ours.kept is not None
    assert 0.2 < np.mean(ours.kept == 0) < 0.6
    assert set(np.unique(ours.kept)) == {np.float32(0), np.float32(1 / 0.6)}
    assert abs(np.mean(losses) - plain) < np.abs(np.array(losses) - plain).max()
    # The slopes are those of the loss with these units dropped: a small step along them lowers it by their square.
    before = ours.loss(batch(), np.random.default_rng(1))
    ours.backward()
    squares = sum(float(np.square(slope).sum()) for slope in ours.slopes.values())
    step = 1e-3 / squares
    for path, slope in ours.slopes.items():
        ours.weights[path][...] = ours.weights[path] - step * slope
    assert before - ours.loss(batch(), np.random.default_rng(1)) == pytest.approx(1e-3, rel=0.05)


def test_gates_come_apart_and_together() -> None:
    rows = np.arange(24, dtype=np.float32).reshape(2, 12)
    for order in ((0, 1, 2, 3), (0, 1, 3, 2), (3, 0, 1, 2)):
        parts = apart(rows, order)
        assert [part[0, 0] / 3 for part in parts] == list(order)
        np.testing.assert_array_equal(together(parts, order), rows)


def test_rows_are_summed_by_their_number() -> None:
    rng = np.random.default_rng(0)
    index, rows = rng.integers(0, 9, 50), rng.normal(size=(2, 50, 3)).astype(np.float32)
    index[index == 4] = 5
    expected = np.stack([rows[:, index == number].sum(axis=1) for number in range(11)], axis=1)
    np.testing.assert_allclose(LookUp(index, 11).back(rows), expected, atol=1e-5)
