"""Searching for sentences with a trained model: in batches, and no work done twice."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dactnlg._utils.memory import Memory
from dactnlg._utils.threads import parallel_map
from dactnlg.acts import Turn
from dactnlg.search.constraints import Constraint, RequireSlots, RequireWords, Rules
from dactnlg.search.greedy import GreedyBound, greedy_bounds
from dactnlg.search.hypotheses import IMPOSSIBLE, Hypothesis
from dactnlg.search.numpy_beam import beam_search
from dactnlg.search.numpy_step import ConstrainedStep, Step
from dactnlg.search.sampling import Sampling, chances, sample
from dactnlg.search.scoring import token_scores
from dactnlg.text.preprocessor import LEXICALIZED, Preprocessor
from dactnlg.text.vocabulary import BOS_ID, EOS_ID, PAD_ID, UNK_ID

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dactnlg.models.numpy.inference import NumpyModel

Arrays = dict[str, Any]
REQUIRED, OWED = "required", "owed"
"""The arrays of the constraints beside those of the model: placeholders, (B, R), and sets of trigger words, (B, A)."""
CHUNK = 64
"""Acts searched for together: more do not fit the processor's nearest memory, fewer pay for each call."""
FEW = 8
"""Acts for which a search is worth no greedy sentence first."""
GREEDY_CHUNK = 256
"""Acts whose greedy sentences are searched for together."""
REMEMBERED = 10_000
"""Inputs whose hypotheses are remembered."""
ROWS = 256
"""Sentences drawn, or scored, side by side."""
RULES = Rules(BOS_ID, EOS_ID, (PAD_ID, BOS_ID, UNK_ID))
"""What may be generated without a constraint."""


class Plan(NamedTuple):
    """How hypotheses are searched for.

    Attributes:
        width: beam width.
        hard: whether placeholders are constrained to those required.
        keep: how many hypotheses must be finished before a search may stop.
    """

    width: int
    hard: bool
    keep: int = 1


class Decoder:
    """What every decoder does: equal inputs once, the rest in batches. Several threads may use one.

    Args:
        preprocessor: the preprocessor of a run.
        inputs: the arrays that the model wants; see `Preprocessor.arrays`.
        max_length: longest sentence in tokens.
        reuse: search once for turns that look alike to the model, and remember what was found; False to measure the
            search itself.
    """

    def __init__(
        self, preprocessor: Preprocessor, inputs: Sequence[str], *, max_length: int = 80, reuse: bool = True
    ) -> None:
        self.preprocessor, self.model_inputs, self.max_length, self.reuse = preprocessor, inputs, max_length, reuse
        self.lexicalized = not LEXICALIZED.isdisjoint(inputs)
        self._slots = RequireSlots(preprocessor.kinds, len(preprocessor.placeholders))
        self._words = RequireWords(preprocessor.triggers)
        self._memory: Memory[list[Hypothesis]] = Memory(REMEMBERED)

    def search_all(self, inputs: Arrays, plan: Plan) -> list[list[Hypothesis]]:
        """Return the hypotheses of all inputs, the best ones first."""
        raise NotImplementedError

    def stepper(self, inputs: Arrays) -> tuple[Step, list[Any]]:
        """Return the model's step as searches in NumPy take it, and the first state of every input."""
        raise NotImplementedError

    def search(self, turns: Sequence[Turn], plan: Plan, owed: Sequence[Iterable[str]] = ()) -> list[list[Hypothesis]]:
        """Return each turn's hypotheses, the `keep` best ones first; shared between turns, they are not to be changed.

        Args:
            turns: the acts.
            plan: how they are searched for.
            owed: for each turn the special values of which a sentence must hold a trigger word.
        """
        if not turns:
            return []
        inputs = self.inputs(turns, owed)
        if not self.reuse:
            return self.search_all(inputs, plan)
        keys = row_keys(inputs, (plan, self.max_length))
        found = {key: self._memory.get(key) for key in dict.fromkeys(keys)}
        first = {key: row for row, key in reversed(list(enumerate(keys))) if found[key] is None}
        if first:
            rows = sorted(first.values())
            for row, hypotheses in zip(rows, self.search_all(take(inputs, rows), plan), strict=True):
                found[keys[row]] = self._memory.put(keys[row], hypotheses)
        return [found[key] or [] for key in keys]

    def sample(
        self, turns: Sequence[Turn], places: Sequence[int], sampling: Sampling, *, draws: range, hard: bool, seed: int
    ) -> list[list[Hypothesis]]:
        """Draw sentences for each turn, which stand in the order drawn and may be alike.

        Args:
            turns: the acts.
            places: where each act stands in its sequence.
            sampling: what tokens are drawn from.
            draws: which of an act's draws are wanted; each depends on seed, place and its own number alone.
            hard: whether placeholders are constrained to those required.
            seed: of everything.
        """
        inputs, count = self.inputs(turns), len(draws)
        size = max(1, ROWS // count)
        parts = [slice(start, start + size) for start in range(0, len(turns), size)]

        def draw(part: slice) -> list[Hypothesis]:
            numbers = chances(seed, places[part], draws, self.max_length)
            rules, step, state = self.constrained(take(inputs, part), hard)
            owner = np.repeat(np.arange(len(numbers) // count), count)
            return sample(step, state, numbers, sampling, owner=owner, rules=rules)

        with self.mapping(len(parts)) as each:
            found = list(chain.from_iterable([*each(draw, parts)]))
        return [found[start : start + count] for start in range(0, len(found), count)]

    def token_scores(self, turns: Sequence[Turn], rows: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        """Return the log probability of every token of one sentence for each turn, and of its end, (N, T).

        Args:
            turns: the acts.
            rows: token numbers without begin and end; what stands beyond a sentence's end is 0.
        """
        inputs = self.inputs(turns)
        order = np.argsort([len(row) for row in rows], kind="stable")[::-1]
        parts = [order[start : start + ROWS] for start in range(0, len(order), ROWS)]

        def read(part: NDArray[np.intp]) -> NDArray[np.float32]:
            step, state = self.stepper(take(inputs, part))
            return token_scores(step, state, [rows[row] for row in part], owner=np.arange(len(part)), rules=RULES)

        scores = np.zeros((len(rows), max(map(len, rows), default=0) + 1), np.float32)
        with self.mapping(len(parts)) as each:
            read_parts = [*each(read, parts)]
        for part, found in zip(parts, read_parts, strict=True):
            scores[part, : found.shape[1]] = found
        return scores

    def sentence_scores(self, turn: Turn, rows: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        """Return the log probability of each row of token numbers (without begin and end) as a sentence for a turn."""
        step, state = self.stepper(self.inputs([turn]))
        scores: NDArray[np.float32] = token_scores(
            step, state, rows, owner=np.zeros(len(rows), np.intp), rules=RULES
        ).sum(axis=1)
        return scores

    def constrained(self, inputs: Arrays, hard: bool) -> tuple[Rules, ConstrainedStep, list[Any]]:
        """Return the rules for some inputs, the model's step under them, and the first state of every input."""
        rules, owed = self.rules(inputs, hard)
        step, state = self.stepper(inputs)
        return rules, ConstrainedStep(step, rules), [*state, *owed]

    def rules(self, inputs: Arrays, hard: bool) -> tuple[Rules, list[Any]]:
        """Return what may be generated for some inputs, and what each constraint is owed at first, each (B, C)."""
        constraints: list[Constraint] = []
        owed = []
        if hard and self.preprocessor.placeholders:
            constraints.append(self._slots)
            owed.append(inputs[REQUIRED])
        if OWED in inputs:
            constraints.append(self._words)
            owed.append(inputs[OWED])
        return replace(RULES, constraints=tuple(constraints)), owed

    def forget(self) -> None:
        """Drop what is remembered: what comes is searched for as if it came first."""
        self._memory.clear()

    def inputs(self, turns: Sequence[Turn], owed: Sequence[Iterable[str]] = ()) -> Arrays:
        """Return the arrays of some turns: those of the model, and those of the constraints."""
        inputs: Arrays = self.preprocessor.arrays(turns, self.model_inputs)
        inputs[REQUIRED] = self.preprocessor.required_counts(turns)
        if owed:
            inputs[OWED] = self.preprocessor.owed_triggers(owed)
        return inputs

    def mapping(self, tasks: int) -> Any:
        """Return a context that gives the `map` for so many tasks."""
        return parallel_map(min(tasks, 1))


class NumpyDecoder(Decoder):
    """A NumPy model with its preprocessor, ready to search on the processor, several batches side by side.

    Args:
        model: the trained model.
        preprocessor: its preprocessor.
        max_length: longest sentence in tokens.
        reuse: see `Decoder`.
    """

    def __init__(
        self, model: NumpyModel, preprocessor: Preprocessor, *, max_length: int = 80, reuse: bool = True
    ) -> None:
        super().__init__(preprocessor, model.inputs, max_length=max_length, reuse=reuse)
        self.model = model

    def search_all(self, inputs: Arrays, plan: Plan) -> list[list[Hypothesis]]:
        """Return the hypotheses of all inputs, the best ones first."""
        count = len(inputs[REQUIRED])
        found: list[list[Hypothesis]] = [[] for _ in range(count)]
        rows, unbounded = np.arange(count), np.full(count, IMPOSSIBLE, np.float32)
        limits = [unbounded]
        # With more to keep, the best one's score bounds nothing, and a beam of one is greedy itself. A few acts take as
        # long for one hypothesis as for ten, and those that are not settled would need both.
        if plan.keep == 1 and plan.width > 1 and count >= FEW:
            batches = Batches(inputs, GREEDY_CHUNK)
            with parallel_map(len(batches.parts)) as each:
                greedy = batches.in_order([*each(partial(self._greedy_batch, inputs, plan), batches.parts)])
            found = [[bound.best] for bound in greedy]
            rows = np.flatnonzero([not bound.settled for bound in greedy])
            # A beam may lose the greedy sentence on its way and end with a worse one: then once more, unbounded.
            limits = [np.array([bound.bound for bound in greedy], np.float32), unbounded]
        for bounds in limits:
            # Where a bound is known, few hypotheses are left of an act, so more acts are worth a call.
            batches = Batches(take(inputs, rows), CHUNK if np.mean(bounds[rows] > IMPOSSIBLE) < 0.5 else 2 * CHUNK)
            parts = [rows[part] for part in batches.parts]
            with parallel_map(len(parts)) as each:
                searched = batches.in_order([*each(partial(self._search_batch, inputs, plan, bounds), parts)])
            for row, hypotheses in zip(rows, searched, strict=True):
                found[row] = hypotheses
            lost = [bounds[row] > IMPOSSIBLE and not (found[row] and found[row][0].finished) for row in rows]
            rows = rows[np.array(lost, bool)]
            if not len(rows):
                break
        return found

    def stepper(self, inputs: Arrays) -> tuple[Step, list[Any]]:
        """Return the model's step and the first state of every input."""
        context, state = self.model.prepare(inputs)
        return partial(self.model.step, context), state

    def mapping(self, tasks: int) -> Any:
        """Return a context that gives the `map` for so many tasks: a thread for each processor."""
        return parallel_map(tasks)

    def _search_batch(
        self, inputs: Arrays, plan: Plan, bounds: NDArray[np.float32], rows: NDArray[np.intp]
    ) -> list[list[Hypothesis]]:
        rules, step, state = self.constrained(take(inputs, rows), plan.hard)
        keep, length = min(plan.keep, plan.width), self.max_length
        return beam_search(step, state, rules, width=plan.width, max_length=length, keep=keep, bounds=bounds[rows])

    def _greedy_batch(self, inputs: Arrays, plan: Plan, rows: NDArray[np.intp]) -> list[GreedyBound]:
        rules, step, state = self.constrained(take(inputs, rows), plan.hard)
        return greedy_bounds(step, state, rules, max_length=self.max_length)


class Batches:
    """Rows of inputs in batches of acts of like size, which end at about the same step; the longest first.

    Args:
        inputs: the arrays.
        largest: rows of a batch.

    Attributes:
        parts: the rows of each batch.
    """

    def __init__(self, inputs: Arrays, largest: int) -> None:
        sizes = sum(array.reshape(len(array), -1).astype(bool).sum(axis=1) for array in inputs.values())
        order = np.argsort(-np.asarray(sizes), kind="stable")
        self.parts = [order[start : start + largest] for start in range(0, len(order), largest)]

    def in_order(self, found: Sequence[Sequence[Any]]) -> list[Any]:
        """Return what was found for each batch as one list in the order of the rows."""
        result: list[Any] = [None] * sum(map(len, self.parts))
        for part, results in zip(self.parts, found, strict=True):
            for row, one in zip(part.tolist(), results, strict=True):
                result[row] = one
        return result


def take(inputs: Arrays, rows: Any) -> Arrays:
    """Return some rows of every array."""
    return {name: array[rows] for name, array in inputs.items()}


def row_keys(inputs: Arrays, options: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    """Return a key for every row of the inputs: equal keys, equal searches."""
    # The shape belongs to it: padding differs between calls.
    shapes = tuple(array.shape[1:] for array in inputs.values())
    flat = [np.ascontiguousarray(a.reshape(len(a), -1)).view(np.uint8) for a in inputs.values()]
    rows = np.concatenate(flat, axis=1)
    return [(row.tobytes(), shapes, options) for row in rows]
