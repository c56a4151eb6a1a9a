"""The beam search in NumPy finds what the one with Keras finds, and what exhaustive search finds."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from keras import ops
from toys import (
    BOS,
    EOS,
    HARD,
    PLAIN,
    exact_log_softmax,
    keras_model,
    numpy_step_of,
    random_table,
    required_slots,
    start,
)

from dactnlg.models.backend import to_numpy
from dactnlg.search import keras_beam, numpy_step
from dactnlg.search.constraints import RequireSlots, Rules
from dactnlg.search.hypotheses import hypotheses
from dactnlg.search.numpy_beam import beam_search


def keras_search(table: np.ndarray, width: int, keep: int, owed: list[np.ndarray], rules: Rules) -> Any:
    """Search the same table with `search.keras_beam`."""
    step, state = keras_model(table)
    tensors = [ops.convert_to_tensor(part) for part in owed]
    limits = {"width": width, "max_length": table.shape[1], "keep": keep}
    found = keras_beam.beam_search(step, keras_beam.repeated(state, width), tensors, rules, **limits)
    return hypotheses(*[to_numpy(part) for part in found], eos=EOS)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("hard", [False, True])
def test_numpy_and_keras_beams_find_the_same(seed: int, hard: bool) -> None:
    batch, length = 7, 8
    width, keep = (1, 3, 5, 12)[seed % 4], 1 + seed % 3
    keep = min(keep, width)
    table = random_table(seed, batch, 9, length)
    rules, owed = (HARD, [required_slots(seed, batch)]) if hard else (PLAIN, [])
    step, state = numpy_step_of(table, rules), [*start(batch), *owed]
    ours = beam_search(step, state, rules, width=width, max_length=length, keep=keep)
    theirs = keras_search(table, width, keep, owed, rules)
    for mine, other in zip(ours, theirs, strict=True):
        # Only the kept ones are final when a search stops; the others may have continued longer in a batch.
        assert [h.tokens for h in mine[:keep]] == [h.tokens for h in other[:keep]]
        assert [h.finished for h in mine[:keep]] == [h.finished for h in other[:keep]]
        np.testing.assert_allclose([h.score for h in mine[:keep]], [h.score for h in other[:keep]], rtol=1e-5)


@pytest.mark.parametrize("seed", range(10))
def test_a_wide_numpy_beam_equals_exhaustive_search(seed: int) -> None:
    size, length = 5, 4
    table = random_table(seed, 1, size, length)
    rules = Rules(BOS, EOS, (BOS,))
    found = beam_search(numpy_step_of(table, rules), start(1), rules, width=70, max_length=length, keep=70)[0]
    expected = []
    for count in range(length):
        for words in itertools.product(range(2, size), repeat=count):
            path = [BOS, *words, EOS]
            expected.append((float(sum(table[0, t, path[t], path[t + 1]] for t in range(count + 1))), words))
    expected.sort(reverse=True)
    finished = [h for h in found if h.finished]
    # Further down, unfinished sentences take places in the beam.
    assert [h.tokens for h in finished[:10]] == [words for _, words in expected[:10]]
    np.testing.assert_allclose([h.score for h in finished[:10]], [score for score, _ in expected[:10]], rtol=1e-4)


def test_a_row_is_searched_as_if_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numpy_step, "log_softmax", exact_log_softmax)
    table = random_table(3, 6, 7, 9)
    together = beam_search(numpy_step_of(table), start(6), PLAIN, width=4, max_length=9, keep=4)
    for row in range(6):
        alone = numpy_step_of(table[row : row + 1])
        assert beam_search(alone, start(1), PLAIN, width=4, max_length=9, keep=4) == [together[row]]


def test_numpy_hypotheses_that_cannot_finish_are_unfinished() -> None:
    rules = Rules(BOS, EOS, (), (RequireSlots(np.array([-1, -1, 0, 1, 2, 3], np.int32), 4),))
    state = [*start(1), np.ones((1, 4), np.float32)]
    step = numpy_step_of(random_table(1, 1, 6, 4), rules)
    found = beam_search(step, state, rules, width=5, max_length=4)[0]
    assert found and not any(h.finished for h in found)
