"""Beam search and constraints on scripted toys: exhaustive search decides what is right."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from keras import ops

from dactnlg.models.backend import compiled, to_numpy
from dactnlg.search.beam import beam_search
from dactnlg.search.constraint import block_tokens, require_slots
from dactnlg.search.paths import Hypothesis, hypotheses

BOS, EOS = 0, 1


def toy(seed: int, size: int, length: int) -> tuple[np.ndarray, Callable[..., Any]]:
    """Return a random model whose next word depends on the last word and the time, and its step function."""
    table = np.random.default_rng(seed).normal(size=(length, size, size)).astype(np.float32) * 2
    table -= np.log(np.exp(table).sum(-1, keepdims=True))
    table[:, :, BOS] = -1e9

    def step(state: list[Any], tokens: Any) -> tuple[Any, list[Any]]:
        (time,) = state
        flat = ops.reshape(table, (length * size, size))
        index = ops.cast(time[..., 0], "int32") * size + tokens
        return ops.take(flat, index, axis=0), [time + 1]

    return table, step


def run(step: Callable[..., Any], state: list[np.ndarray], width: int, length: int, keep: int = 1) -> list[Hypothesis]:
    """Search one row."""

    def search() -> Any:
        tensors = [ops.convert_to_tensor(part) for part in state]
        return beam_search(step, tensors, batch=1, width=width, bos=BOS, eos=EOS, max_length=length, keep=keep)

    return hypotheses(*[to_numpy(part) for part in compiled(search)()], eos=EOS)[0]


def start() -> list[np.ndarray]:
    """Return the state of a toy at time 0, (1, 1, 1)."""
    return [np.zeros((1, 1, 1), np.float32)]


def exhaustive(table: np.ndarray, length: int) -> list[tuple[float, tuple[int, ...]]]:
    """Return every finished sentence of at most `length` tokens with its score, best first."""
    size = table.shape[1]
    found = []
    for count in range(length):
        for words in itertools.product(range(2, size), repeat=count):
            path = [BOS, *words, EOS]
            found.append((float(sum(table[t, path[t], path[t + 1]] for t in range(count + 1))), words))
    return sorted(found, reverse=True)


@pytest.mark.parametrize("seed", range(25))
def test_a_wide_beam_equals_exhaustive_search(seed: int) -> None:
    size, length = 5, 4
    table, step = toy(seed, size, length)
    # 3 words, at most 3 of them: no more than 27 unfinished prefixes and 40 sentences.
    best = run(step, start(), width=70, length=length, keep=70)
    expected = exhaustive(table, length)
    finished = [h for h in best if h.finished]
    assert [h.tokens for h in finished[:10]] == [words for _, words in expected[:10]]
    np.testing.assert_allclose([h.score for h in finished[:10]], [score for score, _ in expected[:10]], rtol=1e-4)


@pytest.mark.parametrize("seed", range(10))
def test_stopping_early_loses_nothing(seed: int) -> None:
    table, step = toy(seed, 5, 6)
    early, late = (run(step, start(), width=200, length=6, keep=keep)[0] for keep in (1, 200))
    assert early.tokens == late.tokens == exhaustive(table, 6)[0][1]


@pytest.mark.parametrize("seed", range(10))
def test_width_one_is_greedy(seed: int) -> None:
    table, step = toy(seed, 6, 8)
    words, last = [], BOS
    for t in range(8):
        last = int(table[t, last].argmax())
        if last == EOS:
            break
        words.append(last)
    assert run(step, start(), width=1, length=8)[0].tokens == tuple(words)


def test_rows_of_a_batch_do_not_meet() -> None:
    tables = [toy(seed, 5, 5)[0] for seed in range(4)]
    stacked = np.stack(tables)

    def step(state: list[Any], tokens: Any) -> tuple[Any, list[Any]]:
        row, time = state
        index = (ops.cast(row[..., 0], "int32") * 5 + ops.cast(time[..., 0], "int32")) * 5 + tokens
        return ops.take(ops.reshape(stacked, (4 * 5 * 5, 5)), index, axis=0), [row, time + 1]

    state = [
        ops.convert_to_tensor(np.arange(4, dtype=np.float32)[:, None, None]),
        ops.zeros((4, 1, 1)),
    ]
    result = beam_search(step, state, batch=4, width=6, bos=BOS, eos=EOS, max_length=5, keep=6)
    together = hypotheses(*[to_numpy(part) for part in result], eos=EOS)
    for seed in range(4):
        alone = run(toy(seed, 5, 5)[1], start(), width=6, length=5, keep=6)
        assert [h.tokens for h in together[seed]] == [h.tokens for h in alone]


@pytest.mark.parametrize("seed", range(25))
def test_hard_constraint_equals_exhaustive_search_over_valid_sentences(seed: int) -> None:
    size, length = 6, 5
    table, step = toy(seed, size, length)
    # Tokens 2 and 3 both stand for placeholder 0 (one of them with a joiner), token 4 for placeholder 1.
    kinds = np.array([-1, -1, 0, 0, 1, -1], np.int32)
    for required in ([1.0, 1.0], [1.0, 0.0], [0.0, 0.0]):
        constrained = require_slots(step, kinds, 2, EOS)
        state = [*start(), np.array(required, np.float32)[None, None]]
        best = [h for h in run(constrained, state, width=300, length=length, keep=300) if h.finished]
        valid = [
            (score, words)
            for score, words in exhaustive(table, length)
            if [sum(kinds[w] == k for w in words) for k in (0, 1)] == required
        ]
        assert [h.tokens for h in best] == [words for _, words in valid][: len(best)]
        assert len(best) >= min(len(valid), 5)


def test_a_narrow_beam_under_constraint_still_says_every_slot() -> None:
    table, step = toy(3, 12, 20)
    kinds = np.array([-1, -1, *range(6), *[-1] * 4], np.int32)
    constrained = require_slots(block_tokens(step, (11,), 12), kinds, 6, EOS)
    best = run(constrained, [*start(), np.ones((1, 1, 6), np.float32)], width=2, length=20)[0]
    assert best.finished
    assert sorted(w for w in best.tokens if kinds[w] >= 0) == [2, 3, 4, 5, 6, 7]
    assert 11 not in best.tokens


def test_what_cannot_finish_is_not_called_finished() -> None:
    _, step = toy(1, 6, 4)
    kinds = np.array([-1, -1, 0, 1, 2, 3], np.int32)
    constrained = require_slots(step, kinds, 4, EOS)
    found = run(constrained, [*start(), np.ones((1, 1, 4), np.float32)], width=5, length=4)
    assert found and not any(h.finished for h in found)
