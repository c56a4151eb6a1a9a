"""The cells and models: equations against NumPy, padding, gradients, and what each model may and may not see."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
import pytest
from keras import ops
from small_models import KEYWORDS, MODELS, D, V, W, build, inputs, loss, tensors_of

from dactnlg import models
from dactnlg.errors import UnknownNameError
from dactnlg.models import build_model
from dactnlg.models.backend import computing, jit_compile, to_numpy
from dactnlg.models.base import NeuralModel
from dactnlg.models.cells import SCLSTMCell
from dactnlg.models.dialogue_sections import DIALOGUE
from dactnlg.models.hierarchical import HierarchicalSCLSTM
from dactnlg.models.sclstm import SCLSTM
from dactnlg.runs.config import RANDOM
from dactnlg.text.encoding import Sizes


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def test_sclstm_cell_follows_wen_2015() -> None:
    rng = np.random.default_rng(0)
    cell = SCLSTMCell(3, 4, alpha=0.5)
    gates, h, c, d = (rng.normal(size=(2, n)).astype(np.float32) for n in (16, 3, 3, 4))
    output, states = cell(ops.convert_to_tensor(gates), [ops.convert_to_tensor(s) for s in (h, c, d)])
    u, r, a = (to_numpy(w) for w in (cell.recurrent, cell.reading, cell.act))
    i, f, o, candidate = np.split(gates[:, :12] + h @ u, 4, axis=1)
    reading = sigmoid(gates[:, 12:] + 0.5 * h @ r)
    d_new = reading * d
    c_new = sigmoid(f) * c + sigmoid(i) * np.tanh(candidate) + np.tanh(d_new @ a)
    h_new = sigmoid(o) * np.tanh(c_new)
    np.testing.assert_allclose(to_numpy(output), np.concatenate([h_new, d_new], 1), atol=1e-5)
    for state, expected in zip(states, (h_new, c_new, d_new), strict=True):
        np.testing.assert_allclose(to_numpy(state), expected, atol=1e-5)


def test_sclstm_penalty_follows_wen_2015() -> None:
    model = build("sclstm")
    assert isinstance(model, SCLSTM)
    batch = inputs([3, 6], 6)
    rng = np.random.default_rng(5)
    d = rng.uniform(size=(2, 6, D)).astype(np.float32)
    got = to_numpy(model.penalty(ops.convert_to_tensor(d), tensors_of(batch)))
    for row, length in enumerate(batch["lengths"]):
        steps = np.concatenate([batch["act"][row][None], d[row, :length]])
        change = sum(1e-4 * 100 ** np.linalg.norm(b - a) for a, b in zip(steps, steps[1:], strict=False))
        assert got[row] == pytest.approx(np.linalg.norm(d[row, length - 1]) + change, rel=1e-4)


@pytest.mark.parametrize("name", MODELS)
def test_padding_does_not_change_the_loss(name: str) -> None:
    model = build(name)
    short, long = inputs([3, 6, 5], 6), inputs([3, 6, 5], 6)
    for key in ("tokens", "targets"):
        long[key] = np.pad(long[key], ((0, 0), (0, 9)))
    assert float(loss(model, short)) == pytest.approx(float(loss(model, long)), rel=1e-5)
    # Rows that pad a batch do not count either.
    filled = {key: np.concatenate([array, array[:2]]) for key, array in short.items()}
    filled["lengths"][3:] = 0
    assert float(loss(model, filled)) == pytest.approx(float(loss(model, short)), rel=1e-5)


@pytest.mark.parametrize("name", MODELS)
def test_every_weight_gets_a_finite_gradient(name: str) -> None:
    if keras.backend.backend() != "tensorflow":
        pytest.skip("gradients are taken with TensorFlow's tape")
    import tensorflow as tf

    model = build(name)
    batch = inputs([3, 6, 5], 6)
    batch["act"][0] = 0.0  # an act that is used up: the norm's gradient must not be infinite there
    with tf.GradientTape() as tape:
        value = loss(model, batch)
    for weight, gradient in zip(
        model.trainable_variables, tape.gradient(value, model.trainable_variables), strict=True
    ):
        assert gradient is not None, weight.path
        dense = np.asarray(tf.convert_to_tensor(gradient))
        assert np.isfinite(dense).all() and np.abs(dense).sum() > 0, weight.path


@pytest.mark.parametrize("name", MODELS)
def test_step_by_step_equals_the_whole_sentence(name: str) -> None:
    model = build(name)
    tensors = tensors_of(inputs([6, 6], 6))
    whole = to_numpy(model.logits(tensors))
    context, state = model.prepare(tensors)
    for t in range(6):
        logits, state = model.step(context, state, tensors["tokens"][:, t])
        np.testing.assert_allclose(to_numpy(logits), whole[:, t], atol=1e-4)


@pytest.mark.parametrize("name", MODELS)
def test_the_default_logits_equal_the_fast_ones(name: str) -> None:
    """By default `logits` runs `step` over the tokens, which these models do faster."""
    model = build(name)
    tensors = tensors_of(inputs([3, 6, 5], 6))
    assert type(model).logits is not NeuralModel.logits
    by_steps = NeuralModel.logits(model, tensors)
    assert by_steps.shape == (3, 6, V)
    np.testing.assert_allclose(to_numpy(by_steps), to_numpy(model.logits(tensors)), atol=1e-5)
    np.testing.assert_allclose(
        float(NeuralModel.cross_entropy(model, tensors, by_steps)),
        float(model.cross_entropy(tensors, model.logits(tensors))),
        rtol=1e-6,
    )


@pytest.mark.parametrize("name", MODELS)
def test_the_default_logits_lead_to_the_same_gradients(name: str) -> None:
    if keras.backend.backend() != "tensorflow":
        pytest.skip("gradients are taken with TensorFlow's tape")
    import tensorflow as tf

    model = build(name)
    tensors = tensors_of(inputs([3, 6, 5], 6))
    found = []
    for logits in (model.logits, lambda batch: NeuralModel.logits(model, batch)):
        with tf.GradientTape() as tape:
            value = model.cross_entropy(tensors, logits(tensors))
        gradients = tape.gradient(value, model.trainable_variables)
        # None: weights that only read the targets, as a posterior does, have no part in the logits.
        found.append([np.asarray(tf.convert_to_tensor(0.0 if each is None else each)) for each in gradients])
    for weight, fast, by_steps in zip(model.trainable_variables, *found, strict=True):
        np.testing.assert_allclose(by_steps, fast, atol=1e-6, err_msg=weight.path)


def test_changing_only_a_value_changes_the_encoders_state() -> None:
    model = build("hierarchical")
    assert isinstance(model, HierarchicalSCLSTM)
    batch = inputs([4], 4)
    batch["words"][0, 1] = [3, 4, 0, 0]
    before = to_numpy(model.encode(tensors_of(batch)))
    batch["words"][0, 1] = [3, 5, 0, 0]
    after = to_numpy(model.encode(tensors_of(batch)))
    assert np.abs(before - after).max() > 1e-5
    # Padding after the last word and the last entry changes nothing.
    padded = {**batch, "words": np.pad(batch["words"], ((0, 0), (0, 3), (0, 2)))}
    padded["entries"] = np.pad(batch["entries"], ((0, 0), (0, 3), (0, 0)))
    np.testing.assert_allclose(to_numpy(model.encode(tensors_of(padded))), after, atol=1e-5)


@pytest.mark.parametrize("name", MODELS)
def test_batches_of_any_shape_are_learned_from(name: str) -> None:
    # Splits differ in their longest sentence, act and value; a compiled step must take them all.
    model = build(name)
    model.compile(optimizer=keras.optimizers.Adam(0.01), jit_compile=False)
    # On TensorFlow the second shape compiles the step for any shape, such as the third.
    for width, entries, words in ((6, 4, 4), (9, 8, 6), (7, 5, 8)):
        batch = inputs([3, 6, 5], width)
        batch["entries"] = np.pad(batch["entries"], ((0, 0), (0, entries - 4), (0, 0)))
        batch["words"] = np.pad(batch["words"], ((0, 0), (0, entries - 4), (0, words - 4)))
        assert np.isfinite(float(model.train_on_batch(batch)))
    assert np.isfinite(float(model.test_on_batch(batch)))


class Echo(NeuralModel):
    """A model whose logits tell which token it was given, and whether its state was kept."""

    def __init__(self, sizes: Sizes, **kwargs: Any) -> None:
        super().__init__(sizes, **kwargs)
        self.table = self.add_weight((sizes.vocabulary, 2), "zeros", name="table")

    def prepare(self, inputs: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        return {"act": inputs["act"]}, {"sum": inputs["act"][:, :1] * 0}

    def step(self, context: dict[str, Any], state: dict[str, Any], tokens: Any) -> tuple[Any, dict[str, Any]]:
        rows = ops.take(ops.multiply(self.table, 1.0), tokens, axis=0)  # (N, 2)
        total = state["sum"] + rows[:, :1]
        return ops.concatenate([rows, total, context["act"]], axis=-1), {"sum": total}


@pytest.mark.parametrize("precision", ["float32", "mixed_bfloat16", "mixed_float16"])
def test_the_default_logits_step_over_the_tokens_given(precision: str) -> None:
    # In half precision whole numbers above 256, or 2048, are rounded: tokens must stay integers.
    with computing(precision):
        model = Echo(Sizes(5000, 2, 1))
    tokens = np.array([[4097, 2049, 4999], [257, 3, 4998]], np.int32)
    values = np.arange(5000) % 2
    model.table.assign(np.stack([values, 1 - values], axis=1).astype(np.float32))
    seen: list[Any] = []

    def batch_loss(batch: Any, *, training: bool) -> Any:
        seen.append((batch, model.logits(batch)))
        return ops.zeros(())

    model.batch_loss = batch_loss  # type: ignore[method-assign]
    weights = np.array([1.0, 300.3], np.float32)
    model(tensors_of({"act": np.ones((2, 2), np.float32), "tokens": tokens, "weights": weights}))
    ((batch, logits),) = seen
    np.testing.assert_array_equal(to_numpy(ops.cast(logits, "float32"))[..., 0], tokens % 2)
    np.testing.assert_array_equal(to_numpy(ops.cast(logits, "float32"))[..., 2], np.cumsum(tokens % 2, axis=1))
    # The act is in half precision, the weights of pairs are not.
    assert keras.backend.standardize_dtype(batch["act"].dtype) == model.compute_dtype
    np.testing.assert_array_equal(to_numpy(batch["weights"]), weights)


@pytest.mark.parametrize("precision", ["mixed_bfloat16", "mixed_float16"])
@pytest.mark.parametrize("name", MODELS)
def test_half_precision_gives_nearly_the_same_loss(name: str, precision: str) -> None:
    batch = inputs([3, 6, 5], 6)
    batch["weights"] = np.array([1.0, 300.3, 2.7], np.float32)
    single = float(loss(build(name), batch))
    with computing(precision):
        model = build(name)
    half = float(loss(model, batch))
    assert half == pytest.approx(single, rel=0.01) and half != single
    assert {weight.dtype for weight in model.trainable_variables} == {"float32"}


@pytest.mark.parametrize("precision", ["mixed_bfloat16", "mixed_float16"])
def test_a_latent_model_learns_in_half_precision_and_counts_its_batches(precision: str) -> None:
    with computing(precision):
        model: Any = build("cvae")
    model.compile(optimizer=keras.optimizers.Adam(0.01), jit_compile=jit_compile())
    # In half precision 5001 would be rounded.
    model.batches.assign(5000.0)
    assert np.isfinite(float(model.train_on_batch(inputs([3, 6, 5], 6))))
    assert float(to_numpy(model.batches.value)) == 5001.0


def test_layers_drop_different_values_and_the_same_again_after_the_same_seed() -> None:
    keras.utils.set_random_seed(1)
    model: Any = build_model("transformer", Sizes(V, D, W), **{**KEYWORDS["transformer"], "layers": 2, "dropout": 0.5})
    layers = [layer for layer in model._flatten_layers() if isinstance(layer, keras.layers.Dropout)]
    assert len(layers) > 1

    def dropped(seed: int) -> list[bytes]:
        model.reseed(seed)
        return [to_numpy(layer(np.ones((4, 25), np.float32), training=True)).tobytes() for layer in layers]

    assert len({*dropped(3), *dropped(4)}) == 2 * len(layers)
    assert dropped(3) == dropped(3)


def test_models_are_found_by_their_files() -> None:
    assert models.names() == sorted([*MODELS, RANDOM, *DIALOGUE])
    for name in models.names():
        assert models.section(name).model_validate({"name": name}).name == name
        if name != RANDOM:
            # The section that is read without Keras is that of the class.
            assert models.model_class(name).Section is models.section(name)
    with pytest.raises(UnknownNameError, match="did you mean 'sclstm'"):
        models.section("sc_lstm")
    with pytest.raises(UnknownNameError):
        models.model_class("numpy.cells")


@pytest.mark.parametrize("name", MODELS)
def test_the_defaults_of_section_and_class_are_the_same(name: str) -> None:
    keywords = models.section(name)(name=name).keywords()
    model = build_model(name, Sizes(V, D, W))
    given = build_model(name, Sizes(V, D, W), **keywords)
    assert [weight.shape for weight in model.weights] == [weight.shape for weight in given.weights]
