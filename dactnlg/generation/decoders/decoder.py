"""Searching for sentences with a trained model: in batches, and no work done twice."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dactnlg._utils.memory import Memory
from dactnlg._utils.threads import one_blas_thread, parallel_map
from dactnlg.acts import Turn
from dactnlg.search.constraints import Constraint, RequireSlots, RequireWords, Rules
from dactnlg.search.hypotheses import Hypothesis
from dactnlg.search.numpy_step import ConstrainedStep, Step
from dactnlg.search.sampling import Sampling, chances, sample
from dactnlg.search.scoring import token_scores
from dactnlg.text.context import CONTEXT
from dactnlg.text.preprocessor import LEXICALIZED, Preprocessor
from dactnlg.text.vocabulary import BOS_ID, EOS_ID, PAD_ID, UNK_ID

if TYPE_CHECKING:
    from numpy.typing import NDArray


Arrays = dict[str, Any]
REQUIRED, OWED = "required", "owed"
"""The arrays of the constraints beside those of the model: placeholders, (B, R), and sets of trigger words, (B, A)."""
Tracer = Callable[[list[Any]], "NDArray[np.float32]"]
"""states (N, ...) -> what can be seen of the act in them, (N, entries); see `NeuralModel.traced`."""
REMEMBERED = 10_000, 24 << 20
"""Inputs whose hypotheses are remembered, at most, and the bytes that they may take."""
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

    Attributes:
        lexicalized, sees_context: whether the model looks at the values of turns, and at what the user has said before.
        traced: what `tracer` shows; see `NeuralModel.traced`.
    """

    traced: str | None = None

    def __init__(
        self, preprocessor: Preprocessor, inputs: Sequence[str], *, max_length: int = 80, reuse: bool = True
    ) -> None:
        self.preprocessor, self.model_inputs, self.max_length, self.reuse = preprocessor, inputs, max_length, reuse
        self.lexicalized, self.sees_context = not LEXICALIZED.isdisjoint(inputs), CONTEXT in inputs
        self._slots = RequireSlots(preprocessor.kinds, len(preprocessor.placeholders))
        self._words = RequireWords(preprocessor.triggers)
        self._memory: Memory[list[Hypothesis]] = Memory(*REMEMBERED)

    def search_all(self, inputs: Arrays, plan: Plan) -> list[list[Hypothesis]]:
        """Return the hypotheses of all inputs, the best ones first."""
        raise NotImplementedError

    def stepper(self, inputs: Arrays) -> tuple[Step, list[Any]]:
        """Return the model's step as searches in NumPy take it, and the first state of every input."""
        raise NotImplementedError

    def read(self, inputs: Arrays, rows: Sequence[Sequence[int]], owner: NDArray[np.intp]) -> NDArray[np.float32]:
        """Return the log probability of every token of the sentences, ends included; 0 beyond an end, (N, T).

        Args:
            inputs: of some acts.
            rows: N sentences, token numbers without begin and end.
            owner: the act of each sentence, (N,).
        """
        step, state = self.stepper(inputs)
        return token_scores(step, state, rows, owner=owner, rules=RULES)

    def tracer(self, inputs: Arrays) -> Tracer | None:
        """Return what shows the act in a state of `stepper`; None where the model has nothing to show."""
        return None

    def search(
        self,
        turns: Sequence[Turn],
        plan: Plan,
        owed: Sequence[Iterable[str]] = (),
        contexts: Sequence[str] = (),
    ) -> list[list[Hypothesis]]:
        """Return each turn's hypotheses, the `keep` best ones first; shared between turns, they are not to be changed.

        Args:
            turns: the acts.
            plan: how they are searched for.
            owed: for each turn the special values of which a sentence must hold a trigger word.
            contexts: for each turn what the user has said before; none are as many empty ones.
        """
        if not turns:
            return []
        inputs = self.inputs(turns, owed, contexts)
        if not self.reuse:
            return self.search_all(inputs, plan)
        keys = row_keys(inputs, (plan, self.max_length))
        found = {key: self._memory.get(key) for key in dict.fromkeys(keys)}
        first = {key: row for row, key in reversed(list(enumerate(keys))) if found[key] is None}
        if first:
            rows = sorted(first.values())
            for row, hypotheses in zip(rows, self.search_all(take(inputs, rows), plan), strict=True):
                found[keys[row]] = self._memory.put(keys[row], hypotheses, held_bytes(keys[row], hypotheses))
        return [found[key] or [] for key in keys]

    def sample(
        self,
        turns: Sequence[Turn],
        places: Sequence[int],
        sampling: Sampling,
        *,
        draws: range,
        hard: bool,
        seed: int,
        contexts: Sequence[str] = (),
    ) -> list[list[Hypothesis]]:
        """Draw sentences for each turn, which stand in the order drawn and may be alike.

        Args:
            turns: the acts.
            places: where each act stands in its sequence.
            sampling: what tokens are drawn from.
            draws: which of an act's draws are wanted; each depends on seed, place and its own number alone.
            hard: whether placeholders are constrained to those required.
            seed: of everything.
            contexts: see `search`.
        """
        inputs, count = self.inputs(turns, contexts=contexts), len(draws)
        size = max(1, ROWS // count)
        parts = [slice(start, start + size) for start in range(0, len(turns), size)]

        def draw(part: slice) -> list[Hypothesis]:
            numbers = chances(seed, places[part], draws, self.max_length)
            rules, step, state = self.constrained(take(inputs, part), hard=hard)
            owner = np.repeat(np.arange(len(numbers) // count), count)
            return sample(step, state, numbers, sampling, owner=owner, rules=rules)

        with self.mapping(len(parts)) as each:
            found = list(chain.from_iterable([*each(draw, parts)]))
        return [found[start : start + count] for start in range(0, len(found), count)]

    def token_scores(
        self, turns: Sequence[Turn], rows: Sequence[Sequence[int]], contexts: Sequence[str] = ()
    ) -> NDArray[np.float32]:
        """Return the log probability of every token of one sentence for each turn, and of its end, (N, T).

        Args:
            turns: the acts.
            rows: token numbers without begin and end; what stands beyond a sentence's end is 0.
            contexts: see `search`.
        """
        inputs = self.inputs(turns, contexts=contexts)
        order = np.argsort([len(row) for row in rows], kind="stable")[::-1]
        parts = [order[start : start + ROWS] for start in range(0, len(order), ROWS)]

        def read(part: NDArray[np.intp]) -> NDArray[np.float32]:
            return self.read(take(inputs, part), [rows[row] for row in part], np.arange(len(part)))

        scores = np.zeros((len(rows), max(map(len, rows), default=0) + 1), np.float32)
        with self.mapping(len(parts)) as each:
            read_parts = [*each(read, parts)]
        for part, found in zip(parts, read_parts, strict=True):
            scores[part, : found.shape[1]] = found
        return scores

    def sentence_scores(self, turn: Turn, rows: Sequence[Sequence[int]], context: str = "") -> NDArray[np.float32]:
        """Return the log probability of each row of token numbers (without begin and end) as a sentence for a turn."""
        owner = np.zeros(len(rows), np.intp)
        # As in a search: the last digits of a product depend on the threads that share it.
        with one_blas_thread:
            scores: NDArray[np.float32] = self.read(self.inputs([turn], contexts=[context]), rows, owner).sum(axis=1)
        return scores

    def constrained(self, inputs: Arrays, *, hard: bool) -> tuple[Rules, ConstrainedStep, list[Any]]:
        """Return the rules for some inputs, the model's step under them, and the first state of every input."""
        rules, owed = self.rules(inputs, hard=hard)
        step, state = self.stepper(inputs)
        return rules, ConstrainedStep(step, rules), [*state, *owed]

    def rules(self, inputs: Arrays, *, hard: bool) -> tuple[Rules, list[Any]]:
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

    def inputs(self, turns: Sequence[Turn], owed: Sequence[Iterable[str]] = (), contexts: Sequence[str] = ()) -> Arrays:
        """Return the arrays of some turns: those of the model, and those of the constraints."""
        inputs: Arrays = self.preprocessor.arrays(turns, self.model_inputs, contexts=contexts)
        inputs[REQUIRED] = self.preprocessor.required_counts(turns)
        if owed:
            inputs[OWED] = self.preprocessor.owed_triggers(owed)
        return inputs

    def mapping(self, tasks: int) -> Any:
        """Return a context that gives the `map` for so many tasks."""
        return parallel_map(min(tasks, 1))


def take(inputs: Arrays, rows: Any) -> Arrays:
    """Return some rows of every array."""
    return {name: array[rows] for name, array in inputs.items()}


def held_bytes(key: tuple[Any, ...], hypotheses: Sequence[Hypothesis]) -> int:
    """Return about how many bytes it takes to remember some hypotheses."""
    return 300 + len(key[0]) + sum([200 + 20 * len(hypothesis.tokens) for hypothesis in hypotheses])


def row_keys(inputs: Arrays, options: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    """Return a key for every row of the inputs: equal keys, equal searches."""
    # The shape belongs to it: padding differs between calls.
    shapes = tuple(array.shape[1:] for array in inputs.values())
    flat = [np.ascontiguousarray(a.reshape(len(a), -1)).view(np.uint8) for a in inputs.values()]
    rows = np.concatenate(flat, axis=1)
    return [(row.tobytes(), shapes, options) for row in rows]
