"""Searching in NumPy: greedy sentences first, beam search for what may beat them, several batches in parallel."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dactnlg._utils.threads import parallel_map
from dactnlg.generation.decoders.decoder import REQUIRED, Arrays, Decoder, Plan, Tracer, take
from dactnlg.search.greedy import GreedyBound, greedy_bounds
from dactnlg.search.hypotheses import IMPOSSIBLE, Hypothesis
from dactnlg.search.numpy_beam import beam_search
from dactnlg.search.numpy_step import Floats, Ints, State, Step
from dactnlg.text.preprocessor import Preprocessor

CHUNK = 64
"""Acts per batch of a beam search: more exceed the CPU cache, fewer pay for the overhead of each call."""
FEW = 8
"""With fewer acts than this, beam search is started without greedy sentences."""
GREEDY_CHUNK = 256
"""Acts per batch of greedy sentences."""


class StepModel(Protocol):
    """The interface required of a model: a `NumpyModel`, or an ensemble of them.

    Attributes:
        inputs: names of the arrays that it takes from the preprocessor.
    """

    inputs: tuple[str, ...]

    @property
    def traced(self) -> str | None:
        """What `trace` shows, if anything; see `NeuralModel.traced`."""

    def trace(self, context: Any, state: State) -> Floats:
        """Return what the state after a step shows of the act, (N, entries)."""

    def prepare(self, inputs: Arrays) -> tuple[Any, State]:
        """Return the context and the initial state of some acts; see `NumpyModel.prepare`."""

    def step(self, context: Any, state: State, tokens: Ints, owner: Ints) -> tuple[Floats, State]:
        """Advance every sentence by one token; see `NumpyModel.step`."""


class NumpyDecoder(Decoder):
    """A NumPy model with its preprocessor, ready to search on the CPU, several batches in parallel.

    Args:
        model: the trained model, or an ensemble.
        preprocessor: its preprocessor.
        max_length: longest sentence in tokens.
    """

    def __init__(self, model: StepModel, preprocessor: Preprocessor, *, max_length: int = 80) -> None:
        super().__init__(preprocessor, model.inputs, max_length=max_length)
        self.model, self.traced = model, model.traced

    def search_all(self, inputs: Arrays, plan: Plan) -> list[list[Hypothesis]]:
        """Return the hypotheses of each input, best first."""
        count = len(inputs[REQUIRED])
        found: list[list[Hypothesis]] = [[] for _ in range(count)]
        rows, unbounded = np.arange(count), np.full(count, IMPOSSIBLE, np.float32)
        limits = [unbounded]
        # Greedy sentences first, unless several hypotheses are to be kept (the best one's score is no bound for the
        # others), the beam is itself greedy, or there are few acts: these take as long with one hypothesis as with ten,
        # and those not settled would need both searches.
        if plan.keep == 1 and plan.width > 1 and count >= FEW:
            batches = Batches(inputs, GREEDY_CHUNK)
            with parallel_map(len(batches.parts)) as each:
                greedy = batches.in_order([*each(partial(self._greedy_batch, inputs, plan), batches.parts)])
            found = [[bound.best] for bound in greedy]
            rows = np.flatnonzero([not bound.settled for bound in greedy])
            # A beam may lose the greedy sentence on its way and end with a worse one: then search again, unbounded.
            limits = [np.array([bound.bound for bound in greedy], np.float32), unbounded]
        for bounds in limits:
            if not len(rows):
                break
            # With a bound, few hypotheses per act remain, so batches can be larger.
            batches = Batches(take(inputs, rows), CHUNK if np.mean(bounds[rows] > IMPOSSIBLE) < 0.5 else 2 * CHUNK)
            parts = [rows[part] for part in batches.parts]
            with parallel_map(len(parts)) as each:
                searched = batches.in_order([*each(partial(self._search_batch, inputs, plan, bounds), parts)])
            for row, hypotheses in zip(rows, searched, strict=True):
                found[row] = hypotheses
            lost = [bounds[row] > IMPOSSIBLE and not (found[row] and found[row][0].finished) for row in rows]
            rows = rows[np.array(lost, bool)]
        return found

    def stepper(self, inputs: Arrays) -> tuple[Step, list[Any]]:
        """Return the model's step and the initial state of every input."""
        context, state = self.model.prepare(inputs)
        return partial(self.model.step, context), state

    def tracer(self, inputs: Arrays) -> Tracer | None:
        """Return a function that shows the act in states; see `Decoder.tracer`."""
        return partial(self.model.trace, self.model.prepare(inputs)[0]) if self.traced else None

    def mapping(self, tasks: int) -> Any:
        """Return a context manager that yields a `map` function for this many tasks, with a thread for each CPU."""
        return parallel_map(tasks)

    def _search_batch(
        self, inputs: Arrays, plan: Plan, bounds: NDArray[np.float32], rows: NDArray[np.intp]
    ) -> list[list[Hypothesis]]:
        rules, step, state = self.constrained(take(inputs, rows), hard=plan.hard)
        keep, length = min(plan.keep, plan.width), self.max_length
        return beam_search(step, state, rules, width=plan.width, max_length=length, keep=keep, bounds=bounds[rows])

    def _greedy_batch(self, inputs: Arrays, plan: Plan, rows: NDArray[np.intp]) -> list[GreedyBound]:
        rules, step, state = self.constrained(take(inputs, rows), hard=plan.hard)
        return greedy_bounds(step, state, rules, max_length=self.max_length)


class Batches:
    """Groups the rows of inputs into batches of acts of similar size, which end at about the same step; largest first.

    Args:
        inputs: the arrays.
        largest: maximum number of rows per batch.

    Attributes:
        parts: the row numbers of each batch.
    """

    def __init__(self, inputs: Arrays, largest: int) -> None:
        sizes = sum(array.reshape(len(array), -1).astype(bool).sum(axis=1) for array in inputs.values())
        order = np.argsort(-np.asarray(sizes), kind="stable")
        self.parts = [order[start : start + largest] for start in range(0, len(order), largest)]

    def in_order(self, found: Sequence[Sequence[Any]]) -> list[Any]:
        """Return the results of all batches as one list, in the order of the rows."""
        result: list[Any] = [None] * sum(map(len, self.parts))
        for part, results in zip(self.parts, found, strict=True):
            for row, one in zip(part.tolist(), results, strict=True):
                result[row] = one
        return result
