"""HRED, VHRED and VHCR: likelihood, KL, distillation, padding, and what generation has access to."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest

from dactnlg.data.teacher_arrays import TeacherArrays, load_teacher_arrays
from dactnlg.dialogue.likelihood import estimate
from dactnlg.errors import UserError
from dactnlg.models import build_model
from dactnlg.models.backend import to_numpy
from dactnlg.models.latent import gaussian_divergence, log_density
from dactnlg.text.encoding import Sizes

SMALL = {
    "hidden_size": 6,
    "embedding_size": 5,
    "utterance_size": 4,
    "context_size": 7,
    "word_drop": 0.0,
    "dropout": 0.0,
}
MODELS = ("hred", "vhred", "vhcr")
LATENT = {"hred": {}, "vhred": {"latent_size": 3, "annealing": 4}, "vhcr": {"latent_size": 3, "annealing": 4}}


def model_of(name: str, **more: Any) -> Any:
    return build_model(name, Sizes(12, 0, 0), **{**SMALL, **LATENT[name], "emotions": 2, "vector_size": 3, **more})


def batch_of(rows: int = 3, turns: int = 2, longest: int = 4) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    lengths = np.array([[longest, 2], [3, 0], [1, longest]], np.int32)[:rows]
    context = rng.integers(4, 12, (rows, turns, longest)).astype(np.int32)
    tokens = rng.integers(4, 12, (rows, 6)).astype(np.int32)
    tokens[:, 0] = 1
    said = np.array([5, 3, 2], np.int32)[:rows]
    emotions = np.full((rows, turns, 2), 0.5, np.float32)
    return {
        "turns": context,
        "turn_lengths": lengths,
        "tokens": tokens[:, :-1],
        "targets": tokens[:, 1:],
        "lengths": said,
        "weights": np.ones(rows, np.float32),
        "noise": np.zeros((rows, 3), np.float32),
        "conversation_noise": np.zeros((rows, 3), np.float32),
        "emotions": emotions,
        "vectors": rng.standard_normal((rows, turns, 3)).astype(np.float32),
    }


def loss(model: Any, batch: dict[str, Any], *, training: bool = False) -> float:
    return float(to_numpy(model.batch_loss(batch, training=training)))


def test_the_kl_of_gaussians_is_that_of_the_formula() -> None:
    one = np.array([[0.3, -1.0]], np.float32), np.array([[0.2, -0.7]], np.float32)
    other = np.zeros((1, 2), np.float32), np.full((1, 2), math.log(4.0), np.float32)
    assert float(np.abs(to_numpy(gaussian_divergence(one, one))).max()) < 1e-6
    standard = np.zeros((1, 2), np.float32), np.zeros((1, 2), np.float32)
    # KL(N(0, 1) || N(0, 4)) = log 2 + 1/8 - 1/2, and KL(N(0, 4) || N(0, 1)) = -log 2 + 2 - 1/2.
    np.testing.assert_allclose(to_numpy(gaussian_divergence(standard, other)), math.log(2) + 1 / 8 - 0.5, rtol=1e-5)
    np.testing.assert_allclose(to_numpy(gaussian_divergence(other, standard)), 1.5 - math.log(2), rtol=1e-5)


@pytest.mark.parametrize("name", ["vhred", "vhcr"])
def test_the_weight_of_the_kl_rises_to_exactly_1(name: str) -> None:
    model = model_of(name)
    found = [float(to_numpy(model.kl_mult(training=True) * np.float32(1))) for _ in range(7)]
    assert found == [0.0, 0.25, 0.5, 0.75, 1.0, 1.0, 1.0]
    assert model.kl_mult(training=False) == 1.0


@pytest.mark.parametrize(("name", "dimensions"), [("vhred", 3), ("vhcr", 6)])
def test_a_kl_below_the_free_bits_costs_the_free_bits(name: str, dimensions: int) -> None:
    batch, found = batch_of(), []
    for free in (0.0, 50.0, 70.0):
        keras.utils.set_random_seed(2)
        model = model_of(name, free_bits=free)
        model.batches.assign(4.0)
        found.append(loss(model, batch, training=True))
        # In evaluation the whole KL counts.
        assert loss(model, batch) == pytest.approx(loss(without_free_bits(model, name), batch), rel=1e-5)
    tokens = batch["lengths"].sum()
    assert found[0] < found[1]
    assert found[2] - found[1] == pytest.approx(20.0 * dimensions * 3 / tokens, rel=1e-4)


def without_free_bits(model: Any, name: str) -> Any:
    """Return a model with the same weights and without free bits."""
    other = model_of(name)
    other.set_weights(model.get_weights())
    return other


@pytest.mark.parametrize("name", MODELS)
def test_padding_does_not_change_the_loss(name: str) -> None:
    model, batch = model_of(name), batch_of()
    before = loss(model, batch)
    padded = dict(batch)
    padded["turns"] = np.pad(batch["turns"], ((0, 0), (0, 2), (0, 3)), constant_values=7)
    padded["turn_lengths"] = np.pad(batch["turn_lengths"], ((0, 0), (0, 2)))
    for key in ("tokens", "targets"):
        padded[key] = np.pad(batch[key], ((0, 0), (0, 4)), constant_values=9)
    assert loss(model, padded) == pytest.approx(before, rel=1e-5)
    # Nor do tokens after the end of a turn, or rows that only fill up the batch.
    other = dict(batch, turns=batch["turns"].copy())
    for row, turn in np.ndindex(3, 2):
        other["turns"][row, turn, batch["turn_lengths"][row, turn] :] = 11
    assert loss(model, other) == pytest.approx(before, rel=1e-5)
    filled = {key: np.concatenate([value, value[:1]]) for key, value in batch.items()}
    filled["lengths"][-1] = 0
    assert loss(model, filled) == pytest.approx(before, rel=1e-5)


@pytest.mark.parametrize("name", MODELS)
def test_generation_never_sees_the_target(name: str) -> None:
    model, batch = model_of(name), batch_of()
    assert not {"tokens", "targets", "lengths", "emotions", "vectors"} & set(model.inputs)
    other = {**batch, "targets": batch["targets"][::-1].copy(), "lengths": batch["lengths"][::-1].copy()}
    for one, two in zip(model.prepare(batch)[0].values(), model.prepare(other)[0].values(), strict=True):
        np.testing.assert_array_equal(to_numpy(one), to_numpy(two))
    # The inputs of inference suffice.
    model.prepare({key: batch[key] for key in model.inputs})


@pytest.mark.parametrize("name", MODELS)
def test_steps_give_the_logits_of_whole_sentences(name: str) -> None:
    model, batch = model_of(name), batch_of()
    context, state = model.prepare(batch)
    whole = to_numpy(model.logits(batch))
    for t in range(batch["tokens"].shape[1]):
        logits, state = model.step(context, state, batch["tokens"][:, t])
        np.testing.assert_allclose(to_numpy(logits), whole[:, t], atol=1e-5)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("ei", ["emotion", "embedding", "both"])
def test_distillation_adds_the_weighted_losses_over_the_tokens(name: str, ei: str) -> None:
    model, batch = model_of(name, ei=ei, emotion_weight=2.0, embedding_weight=3.0), batch_of()
    states = model.informed(batch, draw=False, training=False)[1]
    found = float(to_numpy(model.distillation(batch, states)))
    real, wanted, states = batch["turn_lengths"] > 0, 0.0, to_numpy(states)
    if ei in ("emotion", "both"):
        logits = states @ to_numpy(model.emotion_head)
        logs = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
        wanted += 2.0 * float((-(batch["emotions"] * logs).sum(-1))[real].mean())
    if ei in ("embedding", "both"):
        apart = states @ to_numpy(model.embedding_head) - batch["vectors"]
        wanted += 3.0 * float((apart**2).mean(-1)[real].mean())
    assert found == pytest.approx(wanted, rel=1e-4)


def test_teacher_arrays_as_inputs_add_no_loss_but_change_it() -> None:
    model, batch = model_of("hred", ei="input"), batch_of()
    states = model.informed(batch, draw=False, training=False)[1]
    assert model.distillation(batch, states) == 0.0
    assert not hasattr(model, "emotion_head")
    assert not hasattr(model, "embedding_head")
    # Training and evaluation have one loss: no term is added.
    assert loss(model, batch, training=True) == pytest.approx(loss(model, batch), rel=1e-6)
    other = {**batch, "vectors": batch["vectors"] + 1}
    assert abs(loss(model, other) - loss(model, batch)) > 1e-6


@pytest.mark.parametrize("name", ["vhred", "vhcr"])
def test_the_importance_weighted_estimate_is_above_the_elbo(name: str) -> None:
    model, batch = model_of(name), batch_of()
    logs = np.array([to_numpy(model.log_weights(batch)[0]) for _ in range(10)])
    # Jensen's inequality: the log of the mean weight is at least the mean of the log weights, which is the ELBO.
    assert (estimate(logs) >= logs.mean(0)).all()
    assert (estimate(logs) < 0).all()


def test_variational_perplexity_of_a_known_likelihood_within_a_percent() -> None:
    # z ~ N(0, 1), x | z ~ N(z, 1): x ~ N(0, 2). The proposal is wider than the posterior, N(x/2, 1/2), and off it.
    rng = np.random.default_rng(1)
    x = rng.standard_normal(400) * math.sqrt(2)
    q = (0.4 * x[:, None]).astype(np.float32), np.full((400, 1), math.log(0.8), np.float32)
    zero = np.zeros((400, 1), np.float32)
    logs = []
    for _ in range(100):
        z = (q[0] + np.exp(0.5 * q[1]) * rng.standard_normal((400, 1))).astype(np.float32)
        said = to_numpy(log_density(x[:, None].astype(np.float32), (z, zero)))
        logs.append(said + to_numpy(log_density(z, (zero, zero))) - to_numpy(log_density(z, q)))
    exact = -0.5 * (math.log(2 * math.pi * 2) + x**2 / 2)
    assert math.exp(-estimate(np.array(logs)).mean()) == pytest.approx(math.exp(-exact.mean()), rel=0.01)


def test_the_latent_variable_of_a_conversation_is_the_same_in_every_row() -> None:
    model, batch = model_of("vhcr"), batch_of()
    same = np.random.default_rng(3).standard_normal(3).astype(np.float32)
    batch["conversation_noise"][:] = same
    told = to_numpy(model.condition(batch))
    np.testing.assert_allclose(told[:, -3:], np.tile(same, (3, 1)), rtol=1e-6)


def test_teacher_arrays_are_saved_with_an_id_from_their_content(tmp_path: Path) -> None:
    arrays = TeacherArrays("deepmoji", ["a", "b"], np.eye(2, dtype=np.float32), np.ones((2, 3), np.float32))
    file = tmp_path / "t.npz"
    arrays.save(file)
    found = load_teacher_arrays(file)
    assert found.id == arrays.id
    other = TeacherArrays("deepmoji", ["a", "b"], np.eye(2, dtype=np.float32), np.zeros((2, 3), np.float32))
    assert other.id != arrays.id
    given = found.of([["b"], ["a", "b", "a"]], turns=2)
    np.testing.assert_array_equal(given["emotions"][:, :, 1], [[1, 0], [1, 0]])
    with pytest.raises(UserError, match="nothing for the text 'c'"):
        found.of([["c"]], 2)
    # A long text does not pad the others; files of other programs may hold an array of texts.
    texts = ["x" * 100_000, "é\n\0", *map(str, range(98))]
    TeacherArrays("e", texts, np.ones((100, 1), np.float32), np.ones((100, 1), np.float32)).save(file)
    assert file.stat().st_size < 200_000 and load_teacher_arrays(file).texts == texts
    np.savez(file, name="deepmoji", texts=np.array(["a", "b"]), emotions=arrays.emotions, vectors=arrays.vectors)
    assert load_teacher_arrays(file).id == arrays.id
    for texts_of in (np.frombuffer(b'{"a": 1}', np.uint8), np.frombuffer(b'["a', np.uint8), np.array("a")):
        np.savez(file, name="x", texts=texts_of, emotions=arrays.emotions, vectors=arrays.vectors)
        with pytest.raises(UserError, match="no arrays of a teacher"):
            load_teacher_arrays(file)
    file.write_bytes(b"PK damaged")
    with pytest.raises(UserError, match="no arrays of a teacher"):
        load_teacher_arrays(file)
