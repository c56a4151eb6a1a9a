"""The conditional variational autoencoder: its divergence, its bound, its annealing, and a latent variable in use."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import keras
import numpy as np
import pytest
from keras import ops
from small_models import build, inputs, tensors_of

from dactnlg.models import build_model
from dactnlg.models.backend import jit_compile, to_numpy
from dactnlg.models.cvae import CVAE
from dactnlg.models.latent import gaussian_divergence
from dactnlg.text.encoding import Sizes


def tensor(array: Any) -> Any:
    return ops.convert_to_tensor(np.asarray(array, np.float32))


def test_the_divergence_equals_a_monte_carlo_estimate() -> None:
    rng = np.random.default_rng(0)
    (m, s), (n, t) = (rng.normal(size=(2, 1, 3)), rng.normal(size=(2, 1, 3)))
    draws = m + np.exp(s / 2) * rng.normal(size=(1_000_000, 3))

    def log_density(mean: Any, spread: Any) -> Any:
        return -0.5 * (np.log(2 * np.pi) + spread + (draws - mean) ** 2 / np.exp(spread))

    expected = (log_density(m, s) - log_density(n, t)).mean(axis=0)
    found = to_numpy(gaussian_divergence((tensor(m), tensor(s)), (tensor(n), tensor(t))))[0]
    np.testing.assert_allclose(found, expected, rtol=0.02, atol=0.005)
    assert np.abs(to_numpy(gaussian_divergence((tensor(m), tensor(s)), (tensor(m), tensor(s))))).max() < 1e-6


def test_the_loss_is_cross_entropy_and_divergence_per_token() -> None:
    model, batch = build("cvae"), inputs([5, 3, 4], 6)
    assert isinstance(model, CVAE)
    given = tensors_of(batch)
    posterior, prior = model.posterior(given), model.prior(given["act"])
    context = {"gates": model.act_gates({**given, "z": posterior[0]})}
    logits = model._project(model.outputs(context, model.first_state(given), given["tokens"]))
    entropy = float(model.cross_entropy(given, logits))
    divergence = to_numpy(gaussian_divergence(posterior, prior)).sum() / 12
    assert float(model(given)) == pytest.approx(entropy + divergence, rel=1e-5)


def test_rows_that_pad_a_batch_add_no_loss() -> None:
    model, batch = build("cvae"), inputs([5, 3, 4], 6)
    filled = {name: np.concatenate([array, array[:1]]) for name, array in batch.items()}
    filled["lengths"][3] = 0
    assert float(model(tensors_of(filled))) == pytest.approx(float(model(tensors_of(batch))), rel=1e-5)


@pytest.mark.skipif(keras.backend.backend() != "tensorflow", reason="others leave no masks to cuDNN")
def test_rows_that_pad_a_batch_are_not_left_to_cudnn(monkeypatch: pytest.MonkeyPatch) -> None:
    # With a GPU, TensorFlow refuses rows of nothing but padding.
    monkeypatch.setattr(import_module("keras.src.backend.tensorflow.rnn"), "_is_gpu_available", lambda: True)
    model = build("cvae")
    model.compile(optimizer=keras.optimizers.Adam(0.01), jit_compile=jit_compile())
    batch = inputs([5, 3, 4], 6)
    batch["lengths"][-1] = 0
    assert np.isfinite(float(model.train_on_batch(batch)))


def test_annealing_counts_only_training_batches() -> None:
    keras.utils.set_random_seed(1)
    model = build_model("cvae", Sizes(11, 5, 9), hidden_size=7, embedding_size=6, latent_size=3, annealing=4)
    assert isinstance(model, CVAE)
    batch = tensors_of(inputs([5, 3, 4], 6))
    free = 3 * 3 * model.free_bits / 12
    first = float(model(batch, training=True))
    for _ in range(3):
        model(batch)
    assert float(model.batches) == 1
    for _ in range(8):
        model(batch, training=True)
    whole = [float(model(batch, training=True)) for _ in range(20)]
    assert float(model.batches) == 29
    # At first the divergence has no weight; in the end it costs at least the free bits.
    assert np.mean(whole) - first > 0.5 * free


# Two equally frequent sentences for one act, which does not say which of them.
ONE, OTHER = [1, 4, 5, 6, 2], [1, 7, 8, 9, 2]


def test_the_latent_variable_tells_what_the_act_leaves_open() -> None:
    keras.utils.set_random_seed(1)
    model = build_model("cvae", Sizes(11, 5, 9), hidden_size=16, latent_size=4, annealing=100, free_bits=0.5)
    assert isinstance(model, CVAE)
    model.compile(optimizer=keras.optimizers.Adam(0.01), jit_compile=jit_compile())
    tokens = np.array([ONE, OTHER] * 8, np.int32)
    batch = {**inputs([4] * 16, 4), "tokens": tokens[:, :-1], "targets": tokens[:, 1:]}
    batch["act"] = np.ones((16, 5), np.float32)
    for _ in range(300):
        model.train_on_batch(batch)
    given = tensors_of(batch)

    def entropy(z: Any) -> float:
        context = {"gates": model.act_gates({**given, "z": z})}
        logits = model._project(model.outputs(context, model.first_state(given), given["tokens"]))
        return float(model.cross_entropy(given, logits))

    # Without it the first of four tokens costs log 2; with it nothing does.
    assert entropy(model.posterior(given)[0]) < 0.05
    assert entropy(model.prior(given["act"])[0]) > np.log(2) / 4 - 0.05
