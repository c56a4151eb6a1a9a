"""Constraints: NumPy and Keras arrays give the same results, and both kinds of steps apply them alike."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from keras import ops

from dactnlg.models.backend import to_numpy
from dactnlg.search import keras_beam
from dactnlg.search.constraints import Constraint, RequireSlots, RequireWords, Rules
from dactnlg.search.hypotheses import IMPOSSIBLE
from dactnlg.search.numpy_step import ConstrainedStep

BOS, EOS = 0, 1


class Case(NamedTuple):
    """A constraint, what sentences owe it, and the tokens that they generate: (N, C) and (T, N)."""

    constraint: Constraint
    owed: np.ndarray
    tokens: np.ndarray


def tokens_of(rng: np.random.Generator, size: int, count: int, length: int) -> np.ndarray:
    return rng.integers(0, size, (length, count)).astype(np.int32)


@st.composite
def slots(draw: st.DrawFn) -> Case:
    """Draw tokens for placeholders, perhaps several for one, and sentences that may violate the constraint."""
    placeholders, others = draw(st.integers(1, 4)), draw(st.integers(0, 4))
    stretch = [*range(placeholders), *draw(st.lists(st.integers(0, placeholders - 1), max_size=3))]
    # Anywhere after the special tokens, in any order, sometimes with no word after them.
    kinds = [-1] * draw(st.integers(2, 5)) + draw(st.permutations(stretch)) + [-1] * others
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    count = draw(st.integers(1, 5))
    owed = rng.integers(0, 2, (count, placeholders)).astype(np.float32)
    tokens = tokens_of(rng, len(kinds), count, draw(st.integers(1, 6)))
    return Case(RequireSlots(np.array(kinds, np.int32), placeholders), owed, tokens)


@st.composite
def words(draw: st.DrawFn) -> Case:
    """Draw sets of tokens, which may overlap or be empty."""
    size, sets, count = draw(st.integers(2, 9)), draw(st.integers(0, 4)), draw(st.integers(1, 5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    member = rng.random((size, sets)) < draw(st.sampled_from([0.1, 0.5]))
    owed = rng.integers(0, 2, (count, sets)).astype(np.float32)
    return Case(RequireWords(member), owed, tokens_of(rng, size, count, draw(st.integers(1, 6))))


@given(st.one_of(slots(), words()))
def test_numpy_and_keras_constraints_agree(case: Case) -> None:
    constraint, owed, tokens = case
    tensor = ops.convert_to_tensor(owed)
    for last in tokens:
        owed = constraint.advance(np, owed, last)
        tensor = constraint.advance(ops, tensor, ops.convert_to_tensor(last))
        np.testing.assert_array_equal(to_numpy(tensor), owed)
        forbidden = constraint.forbidden(np, owed)
        assert forbidden.shape == (len(owed), constraint.high - constraint.low)
        np.testing.assert_array_equal(to_numpy(constraint.forbidden(ops, tensor)), forbidden)
        np.testing.assert_array_equal(to_numpy(constraint.pending(ops, tensor)), constraint.pending(np, owed))


@given(st.one_of(slots(), words()), st.lists(st.integers(0, 12), max_size=3))
def test_both_kinds_of_steps_forbid_the_same(case: Case, blocked: list[int]) -> None:
    constraint, owed, tokens = case
    size = max(constraint.high, int(tokens.max()) + 1, 13)
    logits = np.random.default_rng(0).normal(size=(len(owed), size)).astype(np.float32)
    rules = Rules(BOS, EOS, tuple(blocked), (constraint,))

    def step(state: list[Any], last: Any, owner: Any) -> tuple[Any, list[Any]]:
        return logits.copy(), state

    ours, (_, now) = ConstrainedStep(step, rules)([np.zeros((len(owed), 1)), owed], tokens[0], np.arange(len(owed)))
    tensors = ops.convert_to_tensor(logits), [ops.convert_to_tensor(owed)], ops.convert_to_tensor(tokens[0])
    theirs, (then,) = keras_beam.constrained(ops.log_softmax(tensors[0]), tensors[1], tensors[2], rules)
    possible = ours > IMPOSSIBLE / 2
    np.testing.assert_array_equal(to_numpy(theirs) > IMPOSSIBLE / 2, possible)
    np.testing.assert_allclose(to_numpy(theirs)[possible], ours[possible], atol=1e-5)
    np.testing.assert_array_equal(to_numpy(then), now)
    assert not possible[:, blocked].any()


@given(slots())
def test_slots_are_owed_until_they_are_generated(case: Case) -> None:
    """The count of a constraint is what the sentence so far lacks, counted from its tokens."""
    constraint, required, tokens = case
    assert isinstance(constraint, RequireSlots)
    owed, kinds = required, np.full(max(int(tokens.max()) + 1, constraint.high), -1)
    kinds[constraint.low : constraint.high] = constraint._kinds
    for t, last in enumerate(tokens):
        owed = constraint.advance(np, owed, last)
        for row in range(len(required)):
            generated = [kinds[token] for token in tokens[: t + 1, row]]
            lacking = [required[row, kind] - generated.count(kind) for kind in range(required.shape[1])]
            assert owed[row].tolist() == lacking
            assert constraint.pending(np, owed)[row] == any(lack > 0 for lack in lacking)
            wrong = [lacking[kind] <= 0 for kind in kinds[constraint.low : constraint.high]]
            assert constraint.forbidden(np, owed)[row].tolist() == wrong


@given(words())
def test_a_set_is_owed_until_one_of_its_words_is_generated(case: Case) -> None:
    constraint, first, tokens = case
    assert isinstance(constraint, RequireWords)
    owed, member = first, constraint._others == 0
    for t, last in enumerate(tokens):
        owed = constraint.advance(np, owed, last)
        lacking = first.astype(bool) & ~member[tokens[: t + 1]].any(axis=0)
        np.testing.assert_array_equal(owed > 0.5, lacking)
        np.testing.assert_array_equal(constraint.pending(np, owed), lacking.any(axis=1))


@pytest.mark.parametrize("xp", [np, ops])
def test_a_vocabulary_without_placeholders_forbids_nothing(xp: Any) -> None:
    constraint = RequireSlots(np.full(6, -1, np.int32), 0)
    owed = constraint.advance(xp, np.zeros((2, 0), np.float32), np.array([3, 4]))
    assert constraint.low == constraint.high
    assert not to_numpy(constraint.pending(xp, owed)).any()
