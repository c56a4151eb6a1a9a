"""Models with attention: what they look at, what they must not see, and that they learn to read an act."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
import pytest
from keras import ops
from small_models import Batch, V, build, inputs, tensors_of
from spelling import SPELLING, spelling

from dactnlg.models import build_model
from dactnlg.models.attention import attend, bias_of
from dactnlg.models.backend import jit_compile, keep_float32, to_numpy
from dactnlg.models.transformer import sines

MODELS = ("seq2seq", "transformer", "gpt2")


def logits(name: str, batch: Batch) -> np.ndarray:
    return to_numpy(build(name).logits(tensors_of(batch)))


def test_attention_follows_vaswani_2017() -> None:
    """Vaswani et al. 2017, equation 1, one query at a time; keys and values are the same for all heads."""
    keep_float32()
    rng = np.random.default_rng(0)
    queries, keys, values = (rng.normal(size=size).astype(np.float32) for size in ((2, 3, 4, 5), (2, 6, 5), (2, 6, 7)))
    visible = rng.random((2, 3, 6)) < 0.6
    visible[..., 0] = True
    given = (ops.convert_to_tensor(part) for part in (queries, keys, values))
    found = to_numpy(attend(*given, bias_of(ops.convert_to_tensor(visible))))
    assert found.shape == (2, 3, 4, 7)
    for row, query, head in np.ndindex(2, 3, 4):
        seen = visible[row, query]
        weights = np.exp(keys[row, seen] @ queries[row, query, head])
        expected = weights @ values[row, seen] / weights.sum()
        np.testing.assert_allclose(found[row, query, head], expected, atol=1e-5)


def test_sines_follow_vaswani_2017() -> None:
    """Vaswani et al. 2017, section 3.5."""
    found = to_numpy(sines(ops.convert_to_tensor([0, 1, 90]), 6))
    for place, i in np.ndindex(3, 3):
        angle = [0, 1, 90][place] / 10_000 ** (2 * i / 6)
        np.testing.assert_allclose(found[place, 2 * i : 2 * i + 2], [np.sin(angle), np.cos(angle)], atol=1e-5)


@pytest.mark.parametrize("name", MODELS)
def test_a_value_is_seen_and_padding_is_not(name: str) -> None:
    batch = inputs([4, 6], 6)
    batch["words"][0, 1] = [3, 4, 0, 0]
    before = logits(name, batch)
    padded = {**batch, "words": np.pad(batch["words"], ((0, 0), (0, 3), (0, 2)))}
    padded["entries"] = np.pad(batch["entries"], ((0, 0), (0, 3), (0, 0)))
    np.testing.assert_allclose(logits(name, padded), before, atol=1e-5)
    batch["words"][0, 1] = [3, 5, 0, 0]
    after = logits(name, batch)
    assert np.abs(before[0] - after[0]).max() > 1e-5
    np.testing.assert_array_equal(before[1], after[1])


@pytest.mark.parametrize("name", MODELS)
def test_an_empty_act_has_finite_logits(name: str) -> None:
    batch = inputs([4], 4)
    for part in ("act", "entries", "words"):
        batch[part] = np.zeros_like(batch[part])
    assert np.isfinite(logits(name, batch)).all()


@pytest.mark.parametrize("name", MODELS)
def test_no_word_sees_what_comes_after_it(name: str) -> None:
    batch = inputs([8], 8)
    before = logits(name, batch)
    batch["tokens"][0, 5] = 4 + (batch["tokens"][0, 5] - 3) % (V - 4)
    after = logits(name, batch)
    np.testing.assert_allclose(before[0, :5], after[0, :5], atol=1e-6)
    assert (np.abs(before[0, 5:] - after[0, 5:]).max(axis=-1) > 1e-6).all()


def test_the_transformer_sees_its_window_and_no_more() -> None:
    batch, model = inputs([8], 8), build("transformer")
    before = to_numpy(model.logits(tensors_of(batch)))
    batch["tokens"][0, 1] = 4 + (batch["tokens"][0, 1] - 3) % (V - 4)
    after = to_numpy(model.logits(tensors_of(batch)))
    changed = np.abs(before[0] - after[0]).max(axis=-1) > 1e-6
    assert changed.tolist() == [False, True, True, True, True, False, False, False]


def test_the_transformer_ignores_the_order_of_entries() -> None:
    batch, order = inputs([6, 6], 6), [2, 0, 3, 1]
    turned = {**batch, "entries": batch["entries"][:, order], "words": batch["words"][:, order]}
    np.testing.assert_allclose(logits("transformer", batch), logits("transformer", turned), atol=1e-5)


@pytest.mark.parametrize("name", MODELS)
def test_attention_learns_to_spell_unseen_acts(name: str) -> None:
    keras.utils.set_random_seed(1)
    sizes: dict[str, Any] = {"seq2seq": {"encoder_size": 32, "embedding_size": 16}}.get(name, {"heads": 2, "layers": 1})
    model = build_model(name, SPELLING, hidden_size=32, **sizes)
    model.compile(optimizer=keras.optimizers.Adam(0.01, global_clipnorm=1.0), jit_compile=jit_compile())
    for seed in range(250):
        model.train_on_batch(spelling(64, seed))
    batch = spelling(100, 9999)
    context, state = model.prepare(tensors_of(batch))
    tokens, found = ops.convert_to_tensor(batch["tokens"][:, 0]), []
    for _ in range(batch["targets"].shape[1]):
        scores, state = model.step(context, state, tokens)
        tokens = ops.cast(ops.argmax(scores, axis=-1), "int32")
        found.append(to_numpy(tokens))
    real = np.arange(11) < batch["lengths"][:, None]
    right = (np.stack(found, axis=1) == batch["targets"]) | ~real
    assert right.all(axis=1).mean() > 0.8
