"""The search in NumPy finds what the compiled one finds, and what exhaustive search finds."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from keras import ops

from dactnlg.models.backend import to_numpy
from dactnlg.search import constraint, greedy, ragged
from dactnlg.search.beam import beam_search
from dactnlg.search.paths import IMPOSSIBLE, hypotheses

BOS, EOS = 0, 1


def toy(seed: int, batch: int, size: int, length: int, certainty: float = 2.0) -> tuple[np.ndarray, ragged.Step]:
    """Return tables of log probabilities by row, time and last word, and the step function that reads them."""
    table = np.random.default_rng(seed).normal(size=(batch, length, size, size)).astype(np.float32) * certainty
    table -= np.log(np.exp(table).sum(-1, keepdims=True))
    table[..., BOS] = -1e9

    def step(state: list[Any], last: Any, owner: Any) -> tuple[Any, list[Any]]:
        (time,) = state
        return table[owner, time[:, 0].astype(int), last].copy(), [time + 1]

    return table, step


def compiled_search(table: np.ndarray, width: int, keep: int, required: np.ndarray | None, kinds: np.ndarray) -> Any:
    """Search the same tables with `search.beam`."""
    batch, length, size, _ = table.shape

    def step(state: list[Any], tokens: Any) -> tuple[Any, list[Any]]:
        row, time = state
        index = ops.cast((row[..., 0] * length + time[..., 0]) * size, "int32") + tokens
        return ops.take(ops.reshape(table, (-1, size)), index, axis=0), [row, time + 1]

    state = [np.arange(batch, dtype=np.float32)[:, None, None], np.zeros((batch, 1, 1), np.float32)]
    if required is not None:
        step = constraint.require_slots(step, kinds, required.shape[1], EOS)
        state.append(required[:, None])
    tensors = [ops.convert_to_tensor(part) for part in state]
    found = beam_search(step, tensors, batch=batch, width=width, bos=BOS, eos=EOS, max_length=length, keep=keep)
    return hypotheses(*[to_numpy(part) for part in found], eos=EOS)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("hard", [False, True])
def test_the_same_as_the_compiled_search(seed: int, hard: bool) -> None:
    batch, size, length = 7, 9, 8
    width, keep = (1, 3, 5, 12)[seed % 4], 1 + seed % 3
    keep = min(keep, width)
    table, step = toy(seed, batch, size, length)
    kinds = np.array([-1, -1, 0, 0, 1, 2, -1, -1, -1], np.int32)
    required = np.random.default_rng(seed).integers(0, 2, (batch, 3)).astype(np.float32) if hard else None
    state = [np.zeros((batch, 1), np.float32)]
    if required is not None:
        step = ragged.require_slots(step, kinds, EOS)
        state += ragged.slots_owed(required, kinds)
    ours = ragged.ragged_search(step, state, width=width, bos=BOS, eos=EOS, max_length=length, keep=keep)
    theirs = compiled_search(table, width, keep, required, kinds)
    for mine, other in zip(ours, theirs, strict=True):
        # Only the kept ones are settled when a search stops: the others may have gone on longer in a batch.
        assert [h.tokens for h in mine[:keep]] == [h.tokens for h in other[:keep]]
        assert [h.finished for h in mine[:keep]] == [h.finished for h in other[:keep]]
        np.testing.assert_allclose([h.score for h in mine[:keep]], [h.score for h in other[:keep]], rtol=1e-5)


@pytest.mark.parametrize("seed", range(10))
def test_a_wide_beam_equals_exhaustive_search(seed: int) -> None:
    size, length = 5, 4
    table, step = toy(seed, 1, size, length)
    step = ragged.block_tokens(step, (BOS,))
    found = ragged.ragged_search(
        step, [np.zeros((1, 1), np.float32)], width=70, bos=BOS, eos=EOS, max_length=length, keep=70
    )[0]
    expected = []
    for count in range(length):
        for words in itertools.product(range(2, size), repeat=count):
            path = [BOS, *words, EOS]
            expected.append((float(sum(table[0, t, path[t], path[t + 1]] for t in range(count + 1))), words))
    expected.sort(reverse=True)
    finished = [h for h in found if h.finished]
    # Below them unfinished sentences take places in the beam.
    assert [h.tokens for h in finished[:10]] == [words for _, words in expected[:10]]
    np.testing.assert_allclose([h.score for h in finished[:10]], [score for score, _ in expected[:10]], rtol=1e-4)


def test_a_row_is_searched_as_if_alone() -> None:
    table, step = toy(3, 6, 7, 9)
    start = np.zeros((6, 1), np.float32)
    together = ragged.ragged_search(step, [start], width=4, bos=BOS, eos=EOS, max_length=9, keep=4)
    for row in range(6):

        def alone(state: Any, last: Any, owner: Any, row: int = row) -> Any:
            return step(state, last, owner + row)

        assert ragged.ragged_search(alone, [start[:1]], width=4, bos=BOS, eos=EOS, max_length=9, keep=4) == [
            together[row]
        ]


def test_what_cannot_finish_is_not_called_finished() -> None:
    _, step = toy(1, 1, 6, 4)
    kinds = np.array([-1, -1, 0, 1, 2, 3], np.int32)
    step = ragged.require_slots(step, kinds, EOS)
    state = [np.zeros((1, 1), np.float32), *ragged.slots_owed(np.ones((1, 4), np.float32), kinds)]
    found = ragged.ragged_search(step, state, width=5, bos=BOS, eos=EOS, max_length=4)[0]
    assert found and not any(h.finished for h in found)


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("hard", [False, True])
def test_greedy_and_bounds_find_what_the_beam_finds(seed: int, hard: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    batch, size, length = 30, 9, 8
    monkeypatch.setattr(greedy, "PATIENCE", (1, 3, 99)[seed % 3])
    # From models that hardly know what to say to those that are sure of it.
    table, step = toy(seed, batch, size, length, certainty=(1.0, 4.0, 12.0)[seed // 3 % 3])
    state = [np.zeros((batch, 1), np.float32)]
    if hard:
        kinds = np.array([-1, -1, 0, 0, 1, 2, -1, -1, -1], np.int32)
        step = ragged.require_slots(step, kinds, EOS)
        required = np.random.default_rng(seed).integers(0, 2, (batch, 3)).astype(np.float32)
        state += ragged.slots_owed(required, kinds)
    limits = {"bos": BOS, "eos": EOS, "max_length": length}
    width = 2 + seed % 6
    calls: list[int] = []

    def search(rows: Any, bounds: Any) -> Any:
        calls.append(len(rows))

        def narrowed(state: Any, last: Any, owner: Any) -> Any:
            return step(state, last, np.asarray(rows)[owner])

        return ragged.ragged_search(narrowed, [part[rows] for part in state], width=width, bounds=bounds, **limits)

    found = greedy.improve(greedy.glance(step, state, **limits), search)
    plain = ragged.ragged_search(step, state, width=width, **limits)
    assert [row[0] for row in found] == [row[0] for row in plain]
    # Not by searching for everything after all.
    assert hard or seed // 3 % 3 < 2 or calls[0] < 20


def test_a_greedy_sentence_that_the_beam_loses_is_no_bound() -> None:
    # First 2 (.40) or 3 (.38). After 2 three words are alike (.13), after 3 two (.19), so a beam of two forgets 2; but
    # what comes after 3 ends badly.
    chances = np.full((1, 4, 9, 9), 1e-6, np.float32)
    chances[0, 0, BOS, [2, 3]] = 0.4, 0.38
    chances[0, 1, 2, [4, 5, 6]] = 0.334, 0.333, 0.333
    chances[0, 1, 3, [7, 8]] = 0.5, 0.5
    chances[0, 2, [4, 5, 6], EOS] = 1.0
    chances[0, 2, [7, 8], EOS] = 0.01
    table = np.log(chances)

    def step(state: Any, last: Any, owner: Any) -> Any:
        (time,) = state
        return table[owner, time[:, 0].astype(int), last].copy(), [time + 1]

    state, limits = [np.zeros((1, 1), np.float32)], {"bos": BOS, "eos": EOS, "max_length": 4}
    plain = ragged.ragged_search(step, state, width=2, **limits)[0][0]
    assert plain.tokens[0] == 3 and plain.finished and plain.score < np.log(0.01)
    glances = greedy.glance(step, state, **limits)
    assert glances[0].best.tokens == (2, 4) and glances[0].bound > plain.score and not glances[0].settled
    asked: list[float] = []

    def search(rows: Any, bounds: Any) -> Any:
        asked.extend(bounds)
        return ragged.ragged_search(step, state, width=2, bounds=bounds, **limits)

    assert greedy.improve(glances, search)[0][0] == plain
    assert asked == [pytest.approx(glances[0].bound), IMPOSSIBLE]
