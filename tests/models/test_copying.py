"""Copying from the act: the mixture against its formula, what can be copied, and words that are only ever copied."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
from keras import ops
from small_models import Batch, D, V, W, draw_weights, inputs, tensors_of
from spelling import LETTERS, SLOTS, SPELLING, spelling

from dactnlg import models
from dactnlg.data.corpus import load_corpus
from dactnlg.data.pairs import build_preprocessor
from dactnlg.models import build_model
from dactnlg.models.backend import computing, jit_compile, to_numpy
from dactnlg.models.base import NeuralModel
from dactnlg.models.weights import assign_weights, load_arrays, named_weights, save_arrays
from dactnlg.runs.config import load_config
from dactnlg.text.encoding import Sizes
from dactnlg.text.placeholders import is_placeholder
from dactnlg.text.vocabulary import UNK_ID

COPIES = np.array([[[5, 1], [7, 3], [5, 4], [0, 0]], [[9, 2], [0, 0], [0, 0], [0, 0]], [[0, 0]] * 4], np.int32)
"""What can be copied of three acts: a token of two entries, one token, and nothing."""


def build(*, copying: bool = True) -> NeuralModel:
    keras.utils.set_random_seed(1)
    model = build_model("seq2seq", Sizes(V, D, W), hidden_size=7, embedding_size=6, encoder_size=5, copying=copying)
    draw_weights(model)
    return model


def batch(copies: np.ndarray = COPIES) -> Batch:
    return {**inputs([6, 5, 6], 6), "copies": copies}


def softmax(x: np.ndarray) -> np.ndarray:
    exponential: np.ndarray = np.exp(x - x.max(axis=-1, keepdims=True))
    return exponential / exponential.sum(axis=-1, keepdims=True)


def test_the_mixture_follows_see_2017() -> None:
    """See et al. 2017, equations 8 and 9, one word at a time."""
    model: Any = build()
    mechanism = model.copy_mechanism
    rng = np.random.default_rng(0)
    memory, embedded, queries, logits = (
        rng.normal(size=size).astype(np.float32) for size in ((3, 5, 10), (3, 4, 6), (3, 2, 7), (3, 2, V))
    )
    given = [ops.convert_to_tensor(part) for part in (COPIES[..., 0], embedded, memory, COPIES[..., 1])]
    found = np.exp(to_numpy(mechanism.mix(mechanism.prepare(*given), queries, logits)))
    np.testing.assert_allclose(found.sum(axis=-1), 1, atol=1e-5)
    places, tokens, gate, bias = (
        to_numpy(weight) for weight in (mechanism.places, mechanism.tokens, mechanism.gate, mechanism.gate_bias)
    )
    for row, time in np.ndindex(3, 2):
        query, expected = queries[row, time], softmax(logits[row, time])
        held = [(token, place, i) for i, (token, place) in enumerate(COPIES[row]) if token]
        if held:
            keys = np.array([memory[row, place] @ places + embedded[row, i] @ tokens for _, place, i in held])
            share = 1 / (1 + np.exp(-(query @ gate + bias)[0]))
            expected = (1 - share) * expected
            for (token, _, _), weight in zip(held, softmax(keys @ query), strict=True):
                expected[token] += share * weight
        np.testing.assert_allclose(found[row, time], expected, atol=1e-5)


def test_without_anything_to_copy_it_equals_the_model_without_copying() -> None:
    model, plain = build(), build(copying=False)
    weights, shared = named_weights(model), named_weights(plain)
    assert set(weights) - set(shared) == {
        f"copy_mechanism/{name}" for name in ("places", "tokens", "gate", "gate_bias")
    }
    for path, weight in shared.items():
        weight.assign(weights[path])
    found = to_numpy(model.logits(tensors_of(batch())))
    without = to_numpy(ops.log_softmax(plain.logits(tensors_of(batch()))))
    np.testing.assert_allclose(found[2], without[2], atol=1e-5)
    assert np.abs(found[:2] - without[:2]).max() > 1e-2


def test_padding_of_copies_changes_nothing() -> None:
    model = build()
    found = to_numpy(model.logits(tensors_of(batch())))
    padded = batch(np.pad(COPIES, ((0, 0), (0, 5), (0, 0))))
    np.testing.assert_allclose(to_numpy(model.logits(tensors_of(padded))), found, atol=1e-5)


def test_steps_that_copy_equal_the_whole_sentence() -> None:
    model, tensors = build(), tensors_of(batch())
    whole = to_numpy(model.logits(tensors))
    np.testing.assert_allclose(to_numpy(NeuralModel.logits(model, tensors)), whole, atol=1e-4)
    context, state = model.prepare(tensors)
    for time in range(6):
        found, state = model.step(context, state, tensors["tokens"][:, time])
        np.testing.assert_allclose(to_numpy(found), whole[:, time], atol=1e-4)


@pytest.mark.parametrize("precision", ["float32", "mixed_bfloat16", "mixed_float16"])
def test_every_weight_of_copying_learns_in_any_precision(precision: str) -> None:
    with computing(precision):
        model = build()
    before = {path: to_numpy(weight).copy() for path, weight in named_weights(model).items() if "copy" in path}
    model.compile(keras.optimizers.SGD(0.5), jit_compile=jit_compile())
    assert np.isfinite(float(model.train_on_batch(batch())))
    after = {path: to_numpy(weight) for path, weight in named_weights(model).items()}
    assert len(before) == 4 and all(np.abs(after[path] - weight).max() > 1e-6 for path, weight in before.items())


def test_saved_weights_of_copying_are_the_same(tmp_path: Path) -> None:
    model, again = build(), build()
    save_arrays(tmp_path / "weights.safetensors", {path: to_numpy(w) for path, w in named_weights(model).items()})
    for weight in named_weights(again).values():
        weight.assign(np.zeros(weight.shape, np.float32))
    assign_weights(again, load_arrays(tmp_path / "weights.safetensors"), "the file")
    found = [to_numpy(each.logits(tensors_of(batch()))) for each in (model, again)]
    np.testing.assert_array_equal(*found)


def copyable(count: int, seed: int, letters: range) -> Batch:
    """Return what `spelling` does with one letter a value, some letters of the alphabet alone, and what can be copied.

    No value has words: which letter it is is seen in what can be copied, and nowhere else.
    """
    rng = np.random.default_rng(seed)
    found = {**spelling(count, seed), "copies": np.zeros((count, 4, 2), np.int32)}
    found["words"] = np.zeros_like(found["words"])
    for array in (found["tokens"], found["targets"]):
        array[:] = 0
    for row in range(count):
        slots = [int(number) - 1 for number in found["entries"][row, :, 0] if number]
        letter = rng.choice(letters, len(slots)) + 4 + SLOTS
        found["copies"][row, : len(slots)] = [(number, place) for place, number in enumerate(letter, start=1)]
        sentence = [1, *np.ravel([(4 + slots[i], letter[i]) for i in np.argsort(slots)]), 2]
        found["tokens"][row, : len(sentence) - 1] = sentence[:-1]
        found["targets"][row, : len(sentence) - 1] = sentence[1:]
        found["lengths"][row] = len(sentence) - 1
    return found


def test_it_copies_words_that_no_sentence_of_training_had() -> None:
    """The last letter is in no training sentence: whoever says it has copied it from the act."""
    held_out, unseen = copyable(100, 9999, range(LETTERS - 1, LETTERS)), 3 + SLOTS + LETTERS
    found = []
    for copying, steps in ((True, 250), (False, 50)):
        keras.utils.set_random_seed(1)
        sizes = {"hidden_size": 32, "encoder_size": 32, "embedding_size": 16}
        model = build_model("seq2seq", SPELLING, **sizes, copying=copying)
        model.compile(optimizer=keras.optimizers.Adam(0.01, global_clipnorm=1.0), jit_compile=jit_compile())
        for seed in range(steps):
            model.train_on_batch(copyable(64, seed, range(LETTERS - 1)))
        best = to_numpy(ops.argmax(model.logits(tensors_of(held_out)), axis=-1))
        found.append((best == unseen)[held_out["targets"] == unseen].mean())
    assert found[0] > 0.9 and found[1] < 0.1, found


@pytest.mark.parametrize("lexicalized", [[], ["difficulty"]])
def test_what_can_be_copied_of_the_acts_of_a_corpus(lexicalized: list[str]) -> None:
    preprocessor, pairs = build_preprocessor(load_corpus("trails"), lexicalized=lexicalized)
    turns, tokens = [pair.turn for pair in pairs], preprocessor.vocabulary.tokens
    arrays = preprocessor.arrays(turns, ["entries", "copies"])
    words = 0
    for pair, entries, copies in zip(pairs, arrays["entries"], arrays["copies"], strict=True):
        real = copies[copies[:, 0] > 0]
        assert not copies[len(real) :].any() and np.all(real[:, 0] > UNK_ID)
        assert entries[real[:, 1] - 1].any(axis=1).all(), "it stands in an entry"
        placeholders = [tokens[number] for number in real[:, 0] if is_placeholder(tokens[number])]
        assert placeholders == [item.placeholder for item in preprocessor.delexicalizer.required(pair.turn)]
        # What is in an entry belongs to its slot.
        known = preprocessor.encoder.known(pair.turn)
        for number, place in real:
            slot = known[place - 1][1]
            assert slot is not None
            if is_placeholder(tokens[number]):
                assert tokens[number].partition("#")[0] == f"SLOT_{slot.name.upper()}"
            else:
                assert slot.name in lexicalized and tokens[number] in (slot.value or "").casefold()
                words += 1
    assert bool(words) == bool(lexicalized)


def test_a_false_copying_key_is_left_out() -> None:
    section = load_config("trails-seq2seq", [], models).model
    assert "copying" not in section.model_dump() and "copying" not in section.keywords()
    assert load_config("trails-seq2seq", ["model.copying=false"], models).model == section
    assert load_config("trails-seq2seq", ["model.copying=true"], models).model.keywords()["copying"] is True
