"""Loss, gradients and steps in NumPy against the Keras models and TensorFlow's tape."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
import pytest
from keras import ops
from small_models import draw_weights

from dactnlg.models import build_model
from dactnlg.models import numpy as numpy_models
from dactnlg.models.backend import to_numpy
from dactnlg.models.base import NeuralModel
from dactnlg.models.numpy.gradients import GradientModel
from dactnlg.models.numpy.inference import NumpyModel
from dactnlg.models.numpy.loops import LookUp, apart, together
from dactnlg.models.numpy.seq2seq_gradients import Seq2SeqGradients
from dactnlg.models.weights import named_weights
from dactnlg.text.encoding import Sizes

V, D, W, C = 13, 6, 9, 8
MODELS = tuple(numpy_models.INPUTS)
SEEING = [(name, "") for name in MODELS] + [(name, "context") for name in MODELS if name != "lstm"]
SEEING += [("seq2seq", "copying"), ("seq2seq", "context copying")]
"""Each model, and whether it uses the context and copies words."""
CARRYING = ("sclstm", "hierarchical")
"""The models with a DA vector in their state, whose loss has penalties."""


def build(name: str, **keywords: Any) -> NeuralModel:
    keras.utils.set_random_seed(3)
    keywords |= {"hierarchical": {"value_size": 4, "encoder_size": 5}, "seq2seq": {"encoder_size": 5}}.get(name, {})
    model = build_model(name, Sizes(V, D, W, C), hidden_size=7, embedding_size=6, **keywords)
    draw_weights(model)
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
    # From an empty context to eight words, some of them repeated.
    context = rng.integers(1, C, (size, 8)).astype(np.int32)
    context[np.arange(8) >= np.array([3, 0, 8, 1, 2])[:, None]] = 0
    context[2, 5:] = context[2, 0]
    sentence = {"tokens": tokens[:, :-1], "targets": tokens[:, 1:], "lengths": lengths, "weights": weights}
    # Tokens of the sentences, one twice in an act and at two entries, and one of no sentence; none in the second act.
    copies = np.zeros((size, 4, 2), np.int32)
    copies[..., 0], copies[..., 1] = tokens[:, 1:5], rng.integers(0, 2, (size, 4))
    copies[0, 1, 0], copies[0, 3] = copies[0, 0, 0], (V - 1, 3)
    copies[1] = copies[copies[..., 0] == 0] = 0
    return {"act": act, "entries": entries, "words": words, "context": context, "copies": copies, **sentence}


def by_hand(model: NeuralModel, **options: float) -> GradientModel:
    """Return the NumPy twin of a model, with arrays for its gradients that nothing has filled in yet."""
    weights = {name: np.array(to_numpy(weight)) for name, weight in named_weights(model).items()}
    kind = Seq2SeqGradients if "mixture" in weights else GradientModel
    return kind(weights, {name: np.full_like(weight, np.nan) for name, weight in weights.items()}, **options)


def by_tape(model: NeuralModel, inputs: dict[str, np.ndarray]) -> tuple[float, dict[str, np.ndarray]]:
    import tensorflow as tf

    weights = named_weights(model)
    tensors = {name: ops.convert_to_tensor(array) for name, array in inputs.items()}
    with tf.GradientTape() as tape:
        value = model(tensors, training=False)
    found = tape.gradient(value, [weight.value for weight in weights.values()])
    gradients = zip(weights, found, strict=True)
    return float(value), {name: np.asarray(tf.convert_to_tensor(gradient)) for name, gradient in gradients}


tape = pytest.mark.skipif(keras.backend.backend() != "tensorflow", reason="the reference is TensorFlow's tape")


@tape
@pytest.mark.parametrize(("name", "seen"), SEEING)
def test_loss_and_gradient_are_those_of_the_keras_model(name: str, seen: str) -> None:
    # Penalties as large as the cross-entropy, so that a mistake in their gradients shows.
    options = {"eta": 0.1, "xi": 5.0, "alpha": 0.7} if name in CARRYING else {}
    model = build(name, **options, **dict.fromkeys(seen.split(), True))
    ours = by_hand(model, **options)
    for seed in (5, 6):
        expected, gradients = by_tape(model, batch(seed))
        assert ours.loss(batch(seed)) == pytest.approx(expected, rel=1e-6)
        ours.backward()
        assert set(ours.gradients) == set(gradients)
        for path, gradient in gradients.items():
            largest = np.abs(gradient).max()
            assert largest > 1e-5, path
            found = ours.gradients[path]
            np.testing.assert_allclose(found, gradient, atol=min(1e-5, 1e-4 * largest), rtol=1e-5, err_msg=path)


@tape
def test_tokens_whose_probability_underflows_are_still_learned() -> None:
    """Neither generated nor copied: e^-300 is 0 in single precision, but its logarithm and gradients are finite."""
    model = build("seq2seq", copying=True)
    bias = named_weights(model)["output_bias"]
    bias.assign(np.where(np.arange(V) % 2, 300.0, 0.0).astype(np.float32))
    ours, given = by_hand(model), batch()
    expected, gradients = by_tape(model, given)
    assert ours.loss(given) == pytest.approx(expected, rel=1e-5) and expected > 30
    ours.backward()
    for path, gradient in gradients.items():
        largest = np.abs(gradient).max()
        np.testing.assert_allclose(ours.gradients[path], gradient, atol=1e-3 * largest + 1e-6, err_msg=path)


@pytest.mark.parametrize(("name", "context"), [(name, context) for name, context in SEEING if name != "seq2seq"])
def test_a_search_computes_what_training_learns(name: str, context: str) -> None:
    """The NumPy model that is searched, the one that learns and the Keras model have the same loss."""
    options = {"eta": 0.0, "alpha": 0.7} if name in CARRYING else {}
    model = build(name, **options, **dict.fromkeys(context.split(), True))
    inputs = {key: array[:4] for key, array in batch().items()}
    weights = {key: to_numpy(weight) for key, weight in named_weights(model).items()}
    twin = NumpyModel(model.inputs, weights, options.get("alpha", 0.0))
    kept, state = twin.prepare(inputs)
    found = []
    for tokens in inputs["tokens"].T:
        logits, state = twin.step(kept, state, tokens, np.arange(4))
        found.append(logits)
    expected = to_numpy(model.logits({key: ops.convert_to_tensor(array) for key, array in inputs.items()}))
    np.testing.assert_allclose(np.stack(found, axis=1), expected, atol=1e-5)


@pytest.mark.parametrize("name", ["sclstm", "seq2seq"])
def test_dropout_drops_its_share_and_scales_the_rest(name: str) -> None:
    options = {"alpha": 0.5, "eta": 1e-4, "xi": 100.0} if name in CARRYING else {}
    ours = by_hand(build(name, **({} if name in CARRYING else {"copying": True})), dropout=0.4, **options)
    rng = np.random.default_rng(0)
    plain = ours.loss(batch())
    losses = [ours.loss(batch(), rng) for _ in range(200)]
    assert ours.kept is not None
    assert 0.2 < np.mean(ours.kept == 0) < 0.6
    assert set(np.unique(ours.kept)) == {np.float32(0), np.float32(1 / 0.6)}
    assert abs(np.mean(losses) - plain) < np.abs(np.array(losses) - plain).max()
    # The gradients are those of the loss with these units dropped: a small step along them lowers it by their square.
    before = ours.loss(batch(), np.random.default_rng(1))
    ours.backward()
    squares = sum(float(np.square(gradient).sum()) for gradient in ours.gradients.values())
    step = 1e-3 / squares
    for path, gradient in ours.gradients.items():
        ours.weights[path][...] = ours.weights[path] - step * gradient
    assert before - ours.loss(batch(), np.random.default_rng(1)) == pytest.approx(1e-3, rel=0.05)


def test_gates_are_split_and_joined() -> None:
    rows = np.arange(24, dtype=np.float32).reshape(2, 12)
    parts = apart(rows)
    assert [part[0, 0] / 3 for part in parts] == [0, 1, 2, 3]
    np.testing.assert_array_equal(together(parts), rows)


def test_rows_are_summed_by_their_number() -> None:
    rng = np.random.default_rng(0)
    index, rows = rng.integers(0, 9, 50), rng.normal(size=(2, 50, 3)).astype(np.float32)
    index[index == 4] = 5
    expected = np.stack([rows[:, index == number].sum(axis=1) for number in range(11)], axis=1)
    np.testing.assert_allclose(LookUp(index, 11).back(rows), expected, atol=1e-5)
