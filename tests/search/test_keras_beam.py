"""Beam search with Keras and its constraints on scripted toys: exhaustive search decides what is right."""

from __future__ import annotations

import itertools
from functools import cache
from typing import Any

import numpy as np
import pytest
from toys import BOS, EOS, PLAIN, keras_model, random_table

from dactnlg.models.backend import compiled, to_numpy
from dactnlg.search.constraints import RequireSlots, Rules
from dactnlg.search.hypotheses import Hypothesis, hypotheses
from dactnlg.search.keras_beam import beam_search, repeated

# Tokens 2 and 3 both stand for placeholder 0 (one of them with a joiner), token 4 for placeholder 1.
KINDS = np.array([-1, -1, 0, 0, 1, -1], np.int32)
HARD = Rules(BOS, EOS, (), (RequireSlots(KINDS, 2),))


@cache
def program(width: int, rules: Rules) -> Any:
    """Return a search that is compiled once for all tables of one shape."""

    def found(table: Any, owed: Any, keep: Any) -> Any:
        step, state = keras_model(table)
        limits = {"width": width, "max_length": table.shape[1], "keep": keep}
        return beam_search(step, repeated(state, width), owed, rules, **limits)

    return compiled(found)


def search(
    table: np.ndarray, width: int, *, keep: int = 1, rules: Rules = PLAIN, owed: list[np.ndarray] | None = None
) -> list[list[Hypothesis]]:
    """Search for the acts of a table, each of which owes the same."""
    parts = [np.repeat(part, len(table), axis=0) for part in owed or []]
    found = program(width, rules)(table, parts, np.int32(keep))
    return hypotheses(*[to_numpy(part) for part in found], eos=EOS)


def exhaustive(table: np.ndarray) -> list[tuple[float, tuple[int, ...]]]:
    """Return every finished sentence of the first act of a table with its score, best first."""
    _, length, size, _ = table.shape
    found = []
    for count in range(length):
        for words in itertools.product(range(2, size), repeat=count):
            path = [BOS, *words, EOS]
            found.append((float(sum(table[0, t, path[t], path[t + 1]] for t in range(count + 1))), words))
    return sorted(found, reverse=True)


@pytest.mark.parametrize("seed", range(25))
def test_a_wide_keras_beam_equals_exhaustive_search(seed: int) -> None:
    table = random_table(seed, 1, size=5, length=4)
    # 3 words, at most 3 of them: no more than 27 unfinished prefixes and 40 sentences.
    best = search(table, width=70, keep=70)[0]
    expected = exhaustive(table)
    finished = [h for h in best if h.finished]
    assert [h.tokens for h in finished[:10]] == [words for _, words in expected[:10]]
    np.testing.assert_allclose([h.score for h in finished[:10]], [score for score, _ in expected[:10]], rtol=1e-4)


@pytest.mark.parametrize("seed", range(10))
def test_stopping_early_loses_nothing(seed: int) -> None:
    table = random_table(seed, 1, size=5, length=6)
    early, late = (search(table, width=200, keep=keep)[0][0] for keep in (1, 200))
    assert early.tokens == late.tokens == exhaustive(table)[0][1]


@pytest.mark.parametrize("seed", range(10))
def test_width_one_is_greedy(seed: int) -> None:
    table = random_table(seed, 1, size=6, length=8)
    words, last = [], BOS
    for t in range(8):
        last = int(table[0, t, last].argmax())
        if last == EOS:
            break
        words.append(last)
    assert search(table, width=1)[0][0].tokens == tuple(words)


def test_rows_of_a_batch_are_searched_independently() -> None:
    table = random_table(1, 4, size=5, length=5)
    together = search(table, width=6, keep=6)
    for row in range(4):
        alone = search(table[row : row + 1], width=6, keep=6)[0]
        assert [h.tokens for h in together[row]] == [h.tokens for h in alone]
    assert len({found[0].tokens for found in together}) > 1


@pytest.mark.parametrize("seed", range(25))
def test_hard_constraint_equals_exhaustive_search_over_valid_sentences(seed: int) -> None:
    table = random_table(seed, 1, size=6, length=5)
    for required in ([1.0, 1.0], [1.0, 0.0], [0.0, 0.0]):
        found = search(table, width=300, keep=300, rules=HARD, owed=[np.array([required], np.float32)])[0]
        best = [h for h in found if h.finished]
        valid = [
            (score, words)
            for score, words in exhaustive(table)
            if [sum(KINDS[w] == k for w in words) for k in (0, 1)] == required
        ]
        assert [h.tokens for h in best] == [words for _, words in valid][: len(best)]
        assert len(best) >= min(len(valid), 5)


def test_a_narrow_beam_under_constraint_still_generates_every_slot() -> None:
    kinds = np.array([-1, -1, *range(6), *[-1] * 4], np.int32)
    rules = Rules(BOS, EOS, (11,), (RequireSlots(kinds, 6),))
    best = search(random_table(3, 1, size=12, length=20), 2, rules=rules, owed=[np.ones((1, 6), np.float32)])[0][0]
    assert best.finished
    assert sorted(w for w in best.tokens if kinds[w] >= 0) == [2, 3, 4, 5, 6, 7]
    assert 11 not in best.tokens


def test_keras_hypotheses_that_cannot_finish_are_unfinished() -> None:
    kinds = np.array([-1, -1, 0, 1, 2, 3], np.int32)
    rules = Rules(BOS, EOS, (), (RequireSlots(kinds, 4),))
    found = search(random_table(1, 1, size=6, length=4), 5, rules=rules, owed=[np.ones((1, 4), np.float32)])[0]
    assert found and not any(h.finished for h in found)
