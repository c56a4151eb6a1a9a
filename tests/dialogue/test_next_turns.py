"""Language models of turns, and encoder-decoders of the last turns: loss, padding, and what they have access to."""

from __future__ import annotations

import math
from importlib import import_module
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
from helpers import write_dialogues
from numpy.typing import NDArray
from test_dialogue_models import batch_of, loss
from test_dialogue_models import model_of as conversation_model_of

from dactnlg.dialogue.evaluation import evaluate_dialogue
from dactnlg.dialogue.responder import Responder
from dactnlg.models import build_model
from dactnlg.models.backend import computing, jit_compile, to_numpy
from dactnlg.text.encoding import Sizes
from dactnlg.training.train import train

GRU = {"hidden_size": 6, "embedding_size": 5, "dropout": 0.0, "word_drop": 0.0}
TRANSFORMER = {"hidden_size": 8, "heads": 2, "layers": 1, "dropout": 0.0, "word_drop": 0.0}
MODELS: dict[str, dict[str, Any]] = {
    "gru_lm": GRU,
    "vae_lm": {**GRU, "utterance_size": 4, "latent_size": 3, "annealing": 4},
    "transformer_lm": TRANSFORMER,
    "gru_seq2seq": {**GRU, "encoder_size": 4},
    "transformer_seq2seq": TRANSFORMER,
}
LANGUAGE_MODELS = ("gru_lm", "vae_lm", "transformer_lm")


def model_of(name: str, **more: Any) -> Any:
    return build_model(name, Sizes(12, 0, 0), **{**MODELS[name], **more})


def logits_of(model: Any, batch: dict[str, Any]) -> NDArray[Any]:
    return to_numpy(model.logits(batch))


@pytest.mark.parametrize("name", ["vae_lm", "vhred", "vhcr"])
def test_latent_models_learn_in_half_precision(name: str) -> None:
    with computing("mixed_bfloat16"):
        model = model_of(name) if name in MODELS else conversation_model_of(name)
    model.compile(optimizer=keras.optimizers.Adam(0.01), jit_compile=jit_compile())
    # In half precision 5001 would be rounded.
    model.batches.assign(5000.0)
    assert np.isfinite(float(model.train_on_batch(batch_of())))
    assert float(to_numpy(model.batches.value)) == 5001.0


@pytest.mark.skipif(keras.backend.backend() != "tensorflow", reason="others leave no masks to cuDNN")
@pytest.mark.parametrize("name", ["vae_lm", "gru_seq2seq", "hred", "vhred", "vhcr"])
def test_masks_are_not_left_to_cudnn(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # With a GPU, TensorFlow refuses masks with holes and rows of nothing but padding.
    monkeypatch.setattr(import_module("keras.src.backend.tensorflow.rnn"), "_is_gpu_available", lambda: True)
    model = model_of(name) if name in MODELS else conversation_model_of(name)
    model.compile(optimizer=keras.optimizers.Adam(0.01), jit_compile=jit_compile())
    batch = {key: np.concatenate([value, value[:1]]) for key, value in batch_of().items()}
    batch["lengths"][-1] = 0
    assert np.isfinite(float(model.train_on_batch(batch)))


@pytest.mark.parametrize("name", MODELS)
def test_padding_does_not_change_the_loss_of_flat_models(name: str) -> None:
    model, batch = model_of(name), batch_of()
    before = loss(model, batch)
    padded = dict(batch)
    for key in ("tokens", "targets"):
        padded[key] = np.pad(batch[key], ((0, 0), (0, 4)), constant_values=9)
    assert loss(model, padded) == pytest.approx(before, rel=1e-5)
    # Nor do tokens after the end of a turn, rows that only fill up the batch, or missing turns.
    other = dict(batch, turns=batch["turns"].copy())
    for row, turn in np.ndindex(3, 2):
        other["turns"][row, turn, batch["turn_lengths"][row, turn] :] = 11
    assert loss(model, other) == pytest.approx(before, rel=1e-5)
    filled = {key: np.concatenate([value, value[:1]]) for key, value in batch.items()}
    filled["lengths"][-1] = 0
    filled["turn_lengths"][-1] = 0
    assert loss(model, filled) == pytest.approx(before, rel=1e-5)
    more = dict(batch, turns=np.pad(batch["turns"], ((0, 0), (0, 1), (0, 0)), constant_values=7))
    more["turn_lengths"] = np.pad(batch["turn_lengths"], ((0, 0), (0, 1)))
    assert loss(model, more) == pytest.approx(before, rel=1e-5)


@pytest.mark.parametrize("name", MODELS)
def test_inference_never_sees_the_target(name: str) -> None:
    model, batch = model_of(name), batch_of()
    assert set(model.inputs) <= {"turns", "turn_lengths", "noise"}
    other = {**batch, "targets": batch["targets"][::-1].copy(), "lengths": batch["lengths"][::-1].copy()}
    for one, two in zip(model.prepare(batch), model.prepare(other), strict=True):
        for key, value in one.items():
            np.testing.assert_array_equal(to_numpy(value), to_numpy(two[key]))
    # Nor does a token depend on later ones.
    changed = {**batch, "tokens": batch["tokens"].copy()}
    changed["tokens"][:, 3:] = 5
    np.testing.assert_allclose(logits_of(model, changed)[:, :3], logits_of(model, batch)[:, :3], atol=1e-6)


@pytest.mark.parametrize("name", MODELS)
def test_only_encoder_decoders_depend_on_the_context(name: str) -> None:
    model, batch = model_of(name), batch_of()
    other = {**batch, "turns": (batch["turns"] - 3) % 8 + 4}
    same = np.allclose(logits_of(model, batch), logits_of(model, other), atol=1e-6)
    assert same == (name in LANGUAGE_MODELS)


@pytest.mark.parametrize("name", MODELS)
def test_steps_of_flat_models_give_the_logits_of_whole_sentences(name: str) -> None:
    model, batch = model_of(name), batch_of()
    context, state = model.prepare(batch)
    stepped = []
    for time in range(batch["tokens"].shape[1]):
        logits, state = model.step(context, state, batch["tokens"][:, time])
        stepped.append(to_numpy(logits))
    np.testing.assert_allclose(np.stack(stepped, axis=1), logits_of(model, batch), atol=1e-4)


def test_the_loss_of_a_gru_is_that_of_its_equations() -> None:
    model, batch = model_of("gru_lm"), batch_of()
    model.start.assign(np.random.default_rng(1).standard_normal((1, 6)))
    names = ("embedding", "projection", "bias", "output_kernel", "output_bias", "start")
    table, projection, bias, out, shift, start = (to_numpy(getattr(model, name)).astype(float) for name in names)
    recurrent, said = to_numpy(model.cell.recurrent).astype(float), []
    for tokens, targets, length in zip(batch["tokens"], batch["targets"], batch["lengths"], strict=True):
        h = start[0]
        for token, target in zip(tokens[:length], targets[:length], strict=True):
            (r, u, c), (rh, uh, ch) = (np.split(part, 3) for part in (table[token] @ projection + bias, h @ recurrent))
            reset, keep = 1 / (1 + np.exp(-r - rh)), 1 / (1 + np.exp(-u - uh))
            h = keep * h + (1 - keep) * np.tanh(c + reset * ch)
            logits = h @ out + shift
            said.append(logits[target] - math.log(np.exp(logits).sum()))
    assert loss(model, batch) == pytest.approx(-np.mean(said), rel=1e-5)
    logs, divergence = (to_numpy(part) for part in model.log_weights(batch))
    assert logs.sum() == pytest.approx(sum(said), rel=1e-5)
    assert not divergence.any()


def test_the_loss_of_a_vae_adds_the_kl_to_a_standard_normal() -> None:
    model, batch = model_of("vae_lm", free_bits=0.0), batch_of()
    model.posterior_output.bias.assign(np.linspace(-1, 1, 6))
    mean, spread = (to_numpy(part).astype(float) for part in model.posterior(batch))
    # With the posterior's mean as noise, for in generation noise 0 is the prior's mean.
    entropy = float(to_numpy(model.cross_entropy(batch, model.logits({**batch, "noise": mean.astype(np.float32)}))))
    divergence = 0.5 * (np.exp(spread) + mean**2 - 1 - spread).sum()
    assert divergence > 0
    assert loss(model, batch) == pytest.approx(entropy + divergence / batch["lengths"].sum(), rel=1e-5)
    np.testing.assert_allclose(to_numpy(model.log_weights(batch)[1]).sum(), divergence, rtol=1e-4)


@pytest.mark.parametrize("name", ["vae_lm", "transformer_seq2seq"])
def test_flat_models_are_trained_and_evaluated(name: str, tmp_path: Path) -> None:
    write_dialogues(tmp_path, [{"turns": [f"Hello {number} .", "How are you ?", "Fine ."]} for number in range(6)])
    corpus = {"name": "dailydialog", "data_dir": str(tmp_path)}
    model = {"name": name, **MODELS[name], "longest": 8, "most_words": 50}
    training = {"epochs": 1, "batch_size": 16}
    train({"corpus": corpus, "model": model, "training": training}, tmp_path / "run", progress=False)
    responder = Responder(tmp_path / "run", max_length=4)
    histories = [("How are you?",), ()]
    assert responder.reply(histories, seeds=[1, 2]) == responder.reply(histories, seeds=[1, 2])
    scores = evaluate_dialogue(tmp_path / "run", split="valid", most=8, samples=3)["scores"]
    assert scores["perplexity"] >= scores["own-perplexity"] > 1
    assert all(math.isfinite(value) for value in scores.values())
