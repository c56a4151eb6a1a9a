"""Greedy bounds change nothing: with them a decoder finds what the beam search finds without them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from toys import (
    BOS,
    EOS,
    HARD,
    KINDS,
    PLAIN,
    exact_log_softmax,
    numpy_model,
    numpy_step_of,
    random_table,
    required_slots,
    start,
)

from dactnlg.data.corpus import load_corpus
from dactnlg.generation.decoders import numpy_decoder
from dactnlg.generation.decoders.decoder import Plan
from dactnlg.generation.decoders.numpy_decoder import NumpyDecoder
from dactnlg.generation.generator import Generator
from dactnlg.search import greedy, numpy_step
from dactnlg.search.constraints import Rules
from dactnlg.search.hypotheses import IMPOSSIBLE
from dactnlg.search.numpy_beam import beam_search


class ToyDecoder(NumpyDecoder):
    """Searches with a table instead of a model."""

    def __init__(self, table: np.ndarray) -> None:
        preprocessor: Any = SimpleNamespace(kinds=KINDS, placeholders=["a", "b", "c"], triggers=np.zeros((9, 0), bool))
        model: Any = SimpleNamespace(inputs=("act",), traced=None)
        super().__init__(model, preprocessor, max_length=table.shape[1])
        self.table = table

    def stepper(self, inputs: Any) -> tuple[Any, list[Any]]:
        return numpy_model(self.table[inputs["row"]]), start(len(inputs["row"]))

    def rules(self, inputs: Any, hard: bool) -> tuple[Rules, list[Any]]:
        return (HARD, [inputs["required"]]) if hard else (PLAIN, [])

    def find(self, width: int, required: np.ndarray, hard: bool) -> list[Any]:
        inputs = {"row": np.arange(len(self.table)), "required": required}
        return self.search_all(inputs, Plan(width, hard=hard))


@pytest.fixture
def searches(monkeypatch: pytest.MonkeyPatch) -> list[list[float]]:
    """The bounds of every beam search of a decoder."""
    seen: list[list[float]] = []

    def recorded(step: Any, state: Any, rules: Any, *, bounds: Any, **limits: Any) -> Any:
        seen.append(bounds.tolist())
        return beam_search(step, state, rules, bounds=bounds, **limits)

    monkeypatch.setattr(numpy_decoder, "beam_search", recorded)
    return seen


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("hard", [False, True])
def test_greedy_and_bounds_find_what_the_beam_finds(
    seed: int, hard: bool, searches: list[list[float]], monkeypatch: pytest.MonkeyPatch
) -> None:
    batch, length = 30, 8
    monkeypatch.setattr(numpy_step, "log_softmax", exact_log_softmax)
    monkeypatch.setattr(greedy, "PATIENCE", (1, 3, 99)[seed % 3])
    # From nearly uniform distributions to nearly certain ones.
    table = random_table(seed, batch, 9, length, certainty=(1.0, 4.0, 12.0)[seed // 3 % 3])
    required = required_slots(seed, batch)
    rules, owed = (HARD, [required]) if hard else (PLAIN, [])
    width = 2 + seed % 6
    found = ToyDecoder(table).find(width, required, hard)
    step, state = numpy_step_of(table, rules), [*start(batch), *owed]
    plain = beam_search(step, state, rules, width=width, max_length=length)
    assert [row[0] for row in found] == [row[0] for row in plain]
    # And most acts needed no beam search.
    assert hard or seed // 3 % 3 < 2 or sum(map(len, searches)) < 20


def test_a_greedy_sentence_that_the_beam_loses_is_no_bound(
    searches: list[list[float]], monkeypatch: pytest.MonkeyPatch
) -> None:
    # First 2 (.40) or 3 (.38). After 2 three words are equal (.13), after 3 two (.19), so a beam of two drops 2; but
    # what comes after 3 ends badly.
    chances = np.full((1, 4, 9, 9), 1e-6, np.float32)
    chances[0, 0, BOS, [2, 3]] = 0.4, 0.38
    chances[0, 1, 2, [4, 5, 6]] = 0.334, 0.333, 0.333
    chances[0, 1, 3, [7, 8]] = 0.5, 0.5
    chances[0, 2, [4, 5, 6], EOS] = 1.0
    # The remaining mass leads to sentences that cannot end in time.
    chances[0, 2, [7, 8], EOS], chances[0, 2, [7, 8], BOS] = 0.01, 0.99
    chances[0, 0, BOS, BOS] = 0.22
    table = np.log(chances)
    plain = beam_search(numpy_step_of(table), start(1), PLAIN, width=2, max_length=4)[0][0]
    (bound,) = greedy.greedy_bounds(numpy_step_of(table), start(1), PLAIN, max_length=4)
    assert bound.best.tokens == (2, 4) and bound.bound > plain.score and not bound.settled
    # By default, few acts are not searched for greedily first.
    monkeypatch.setattr(numpy_decoder, "FEW", 1)
    found = ToyDecoder(table).find(2, np.zeros((1, 3), np.float32), hard=False)
    assert found[0][0] == plain
    assert searches == [[pytest.approx(bound.bound)], [IMPOSSIBLE]]


def test_acts_that_are_all_settled_need_no_beam(
    poor_run: Callable[[str], Path], searches: list[list[float]], monkeypatch: pytest.MonkeyPatch
) -> None:
    # A model that reads words has inputs of three axes.
    decoder = Generator.load(poor_run("hierarchical")).decoder
    assert isinstance(decoder, NumpyDecoder)
    turns = [example.turn for example in load_corpus("trails").split("test")[:20]]
    sure = numpy_decoder.greedy_bounds

    def settled(*arguments: Any, **more: Any) -> list[greedy.GreedyBound]:
        return [bound._replace(settled=True) for bound in sure(*arguments, **more)]

    monkeypatch.setattr(numpy_decoder, "greedy_bounds", settled)
    found = decoder.search_all(decoder.inputs(turns), Plan(6, hard=True))
    assert [len(row) for row in found] == [1] * len(turns)
    assert searches == []
