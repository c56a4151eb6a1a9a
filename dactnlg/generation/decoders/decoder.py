"""Searching for sentences with a trained model: batched and cached."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

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

Arrays = dict[str, Any]
REQUIRED, OWED = "required", "owed"
"""Names of the input arrays for the constraints: placeholders, (B, R), and sets of trigger words, (B, A)."""
Tracer = Callable[[list[Any]], NDArray[np.float32]]
"""states (N, ...) -> what they show of the act, (N, entries); see `NeuralModel.traced`."""
REMEMBERED = 10_000, 24 << 20
"""Limits of the cache of hypotheses: number of inputs, and bytes."""
ROWS = 256
"""Maximum number of sentences drawn, or scored, in one batch."""
RULES = Rules(BOS_ID, EOS_ID, (PAD_ID, BOS_ID, UNK_ID))
"""What may be generated without constraints."""


class Plan(NamedTuple):
    """Parameters of a search for hypotheses.

    Attributes:
        width: beam width.
        hard: whether exactly the required placeholders are generated.
        keep: how many of the best hypotheses must be finished before a search may stop.
    """

    width: int
    hard: bool
    keep: int = 1


class Decoder:
    """Base class of decoders: searches once for equal inputs, and in batches. Several threads may use one.

    Args:
        preprocessor: the preprocessor of a run.
        inputs: names of the arrays that the model takes; see `Preprocessor.arrays`.
        max_length: longest sentence in tokens.

    Attributes:
        reuse: search once for turns that are equal to the model, and cache the hypotheses; False to measure the search
            itself.
        lexicalized, sees_context: whether the model uses the values of turns, and what the user has said before.
        traced: what `tracer` shows; see `NeuralModel.traced`.
    """

    traced: str | None = None
    reuse = True

    def __init__(self, preprocessor: Preprocessor, inputs: Sequence[str], *, max_length: int = 80) -> None:
        self.preprocessor, self.model_inputs, self.max_length = preprocessor, inputs, max_length
        self.lexicalized, self.sees_context = not LEXICALIZED.isdisjoint(inputs), CONTEXT in inputs
        self._slots = RequireSlots(preprocessor.kinds, len(preprocessor.placeholders))
        self._words = RequireWords(preprocessor.triggers)
        self._memory: Memory[list[Hypothesis]] = Memory(*REMEMBERED)

    def search_all(self, inputs: Arrays, plan: Plan) -> list[list[Hypothesis]]:
        """Return the hypotheses of each input, best first."""
        raise NotImplementedError

    def stepper(self, inputs: Arrays) -> tuple[Step, list[Any]]:
        """Return the model's step in the form that NumPy searches take, and the initial state of every input."""
        raise NotImplementedError

    def read(self, inputs: Arrays, rows: Sequence[Sequence[int]], owner: NDArray[np.intp]) -> NDArray[np.float32]:
        """Return the log probability of every token of the sentences including their end tokens, (N, T), padded with 0.

        Args:
            inputs: the arrays of some acts.
            rows: N sentences as token numbers, without begin and end.
            owner: the act of each sentence, (N,).
        """
        step, state = self.stepper(inputs)
        return token_scores(step, state, rows, owner=owner, rules=RULES)

    def tracer(self, inputs: Arrays) -> Tracer | None:
        """Return a function from the states of `stepper` to what they show of the act; None if they show nothing."""
        return None

    def search(
        self,
        turns: Sequence[Turn],
        plan: Plan,
        owed: Sequence[Iterable[str]] = (),
        contexts: Sequence[str] = (),
    ) -> list[list[Hypothesis]]:
        """Return each turn's `keep` best hypotheses, best first. Turns share the lists: do not change them.

        Args:
            turns: the acts.
            plan: how to search.
            owed: for each turn, the special values for which the sentence must contain a trigger word.
            contexts: for each turn, what the user has said before; if omitted, empty for all.
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
        """Draw sentences for each turn, in the order drawn; some may be equal.

        Args:
            turns: the acts.
            places: the position of each act in its sequence.
            sampling: the sampling parameters.
            draws: numbers of the draws to return for each act; a draw depends only on seed, position and its number.
            hard: whether exactly the required placeholders are generated.
            seed: the overall seed.
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
        """Return the log probability of every token of one sentence per turn, with its end, (N, T), padded with 0.

        Args:
            turns: the acts.
            rows: one sentence for each turn as token numbers, without begin and end.
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
        # As in a search: the last digits of a matrix product depend on the number of threads.
        with one_blas_thread:
            scores: NDArray[np.float32] = self.read(self.inputs([turn], contexts=[context]), rows, owner).sum(axis=1)
        return scores

    def constrained(self, inputs: Arrays, *, hard: bool) -> tuple[Rules, ConstrainedStep, list[Any]]:
        """Return the rules for some inputs, the model's step under them, and the initial state of every input."""
        rules, owed = self.rules(inputs, hard=hard)
        step, state = self.stepper(inputs)
        return rules, ConstrainedStep(step, rules), [*state, *owed]

    def rules(self, inputs: Arrays, *, hard: bool) -> tuple[Rules, list[Any]]:
        """Return what may be generated for some inputs, and the initial owed array of each constraint, each (B, C)."""
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
        """Clear the cache, so that previous searches do not influence the following ones."""
        self._memory.clear()

    def inputs(self, turns: Sequence[Turn], owed: Sequence[Iterable[str]] = (), contexts: Sequence[str] = ()) -> Arrays:
        """Return the arrays of some turns, for the model and for the constraints."""
        inputs: Arrays = self.preprocessor.arrays(turns, self.model_inputs, contexts=contexts)
        inputs[REQUIRED] = self.preprocessor.required_counts(turns)
        if owed:
            inputs[OWED] = self.preprocessor.owed_triggers(owed)
        return inputs

    def mapping(self, tasks: int) -> Any:
        """Return a context manager that yields a `map` function for this many tasks; here it runs in one thread."""
        return parallel_map(min(tasks, 1))


def take(inputs: Arrays, rows: Any) -> Arrays:
    """Return the given rows of every array."""
    return {name: array[rows] for name, array in inputs.items()}


def held_bytes(key: tuple[Any, ...], hypotheses: Sequence[Hypothesis]) -> int:
    """Return the approximate size in bytes of cached hypotheses with their key."""
    return 300 + len(key[0]) + sum([200 + 20 * len(hypothesis.tokens) for hypothesis in hypotheses])


def row_keys(inputs: Arrays, options: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    """Return a key for every row of the inputs; rows with equal keys have equal search results."""
    # The key includes the shape, because padding differs between calls.
    shapes = tuple(array.shape[1:] for array in inputs.values())
    flat = [np.ascontiguousarray(a.reshape(len(a), -1)).view(np.uint8) for a in inputs.values()]
    rows = np.concatenate(flat, axis=1)
    return [(row.tobytes(), shapes, options) for row in rows]
