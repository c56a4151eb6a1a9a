"""Searching for sentences with a trained model: in batches, and no work done twice."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from threadpoolctl import ThreadpoolController

from dactnlg._utils.memory import Memory
from dactnlg._utils.processors import usable_processors
from dactnlg.acts import Turn
from dactnlg.models.numpy.arrays import ArrayModel, log_softmax
from dactnlg.search.forcing import forced
from dactnlg.search.greedy import Glance, glance, improve
from dactnlg.search.paths import IMPOSSIBLE, Hypothesis
from dactnlg.search.ragged import Step, block_tokens, ragged_search, require_slots, require_words, slots_owed
from dactnlg.search.sampling import Sampling, chances, sample
from dactnlg.text.preprocessor import Preprocessor
from dactnlg.text.vocabulary import BOS_ID, EOS_ID, PAD_ID, UNK_ID

if TYPE_CHECKING:
    from numpy.typing import NDArray

Arrays = dict[str, Any]
CHUNK = 64
"""Acts searched for together: more do not fit the processor's nearest memory, fewer pay for each call."""
FEW = 8
"""Acts for which beams are worth no greedy sentence first."""
GLANCED = 256
"""Acts whose greedy sentences are said together, each with a single beam."""
REMEMBERED = 10_000
"""Inputs whose hypotheses are remembered."""
ROWS = 256
"""Sentences drawn, or read, side by side."""
_P = TypeVar("_P")
_T = TypeVar("_T")


class BaseDecoder:
    """What every decoder does: equal inputs once, the rest in batches.

    Args:
        preprocessor: the preprocessor of a run.
        lexicalized: whether the model sees values.
        max_length: longest sentence in tokens.
        reuse: search once for turns that look alike to the model, and remember what was found; False to measure the
            search itself.
    """

    largest = CHUNK

    def __init__(self, preprocessor: Preprocessor, lexicalized: bool, max_length: int = 80, reuse: bool = True) -> None:
        self.preprocessor, self.lexicalized, self.max_length, self.reuse = preprocessor, lexicalized, max_length, reuse
        self._memory: Memory[list[Hypothesis]] = Memory(REMEMBERED)

    def search_batch(self, inputs: Arrays, width: int, hard: bool, keep: int) -> list[list[Hypothesis]]:
        """Return the hypotheses of one batch of at most `largest` inputs."""
        raise NotImplementedError

    def stepper(self, inputs: Arrays) -> tuple[Step, list[Any]]:
        """Return the model's step as `search.ragged` takes it, unconstrained, and the first state of every input."""
        raise NotImplementedError

    def search(
        self, turns: Sequence[Turn], width: int, hard: bool, keep: int = 1, owed: Sequence[Iterable[str]] = ()
    ) -> list[list[Hypothesis]]:
        """Return each turn's hypotheses, the `keep` best ones first; shared between turns, they are not to be changed.

        Args:
            turns: the acts.
            width: beam width.
            hard: whether placeholders are constrained to those required.
            keep: how many hypotheses must be finished before a search may stop.
            owed: for each turn the special values of which a sentence must hold an anchor (see `dactnlg.anchors`).
        """
        if not turns:
            return []
        inputs = self.inputs(turns)
        if owed:
            inputs["owed"] = self.preprocessor.owed_anchors(owed)
        if not self.reuse:
            return self._search_all(inputs, width, hard, keep)
        keys = row_keys(inputs, (width, hard, keep, self.max_length))
        found = {key: self._memory.get(key) for key in dict.fromkeys(keys)}
        first = {key: row for row, key in reversed(list(enumerate(keys))) if found[key] is None}
        if first:
            rows = sorted(first.values())
            new = self._search_all(_rows(inputs, rows), width, hard, keep)
            for row, hypotheses in zip(rows, new, strict=True):
                found[keys[row]] = hypotheses
                self._memory.put(keys[row], hypotheses)
        return [found[key] or [] for key in keys]

    def sample(
        self, turns: Sequence[Turn], places: Sequence[int], sampling: Sampling, draws: range, hard: bool, seed: int
    ) -> list[list[Hypothesis]]:
        """Draw sentences for each turn, which stand in the order drawn and may be alike.

        Args:
            turns: the acts.
            places: where each act stands in its sequence.
            sampling: what words are drawn from.
            draws: which of an act's draws are wanted; each depends on seed, place and its own number alone.
            hard: whether placeholders are constrained to those required.
            seed: of everything.
        """
        inputs, count = self.inputs(turns), len(draws)
        size = max(1, ROWS // count)
        parts = [slice(start, start + size) for start in range(0, len(turns), size)]

        def draw(part: slice) -> list[Hypothesis]:
            numbers = chances(seed, places[part], draws, self.max_length)
            step, state = self.constrained(_rows(inputs, part), hard)
            owner = np.repeat(np.arange(len(numbers) // count), count)
            return sample(step, state, numbers, sampling, owner=owner, bos=BOS_ID, eos=EOS_ID)

        found = [hypothesis for part in self._each(draw, parts) for hypothesis in part]
        return [found[start : start + count] for start in range(0, len(found), count)]

    def token_scores(self, turns: Sequence[Turn], rows: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        """Return the log probability of every token of one sentence for each turn, and of its end, (N, T).

        Args:
            turns: the acts.
            rows: token numbers without begin and end; what stands beyond a sentence's end is 0.
        """
        inputs = self.inputs(turns)
        order = np.argsort([len(row) for row in rows], kind="stable")
        parts = [order[start : start + ROWS] for start in range(0, len(order), ROWS)]

        def read(part: NDArray[np.intp]) -> NDArray[np.float32]:
            step, state = self.stepper(_rows(inputs, part))
            owner = np.arange(len(part))
            return forced(step, state, [rows[row] for row in part], owner=owner, bos=BOS_ID, eos=EOS_ID)

        scores = np.zeros((len(rows), max(map(len, rows), default=0) + 1), np.float32)
        for part, found in zip(parts, self._each(read, parts), strict=True):
            scores[part, : found.shape[1]] = found
        return scores

    def sentence_scores(self, turn: Turn, rows: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        """Return the log probability of each row of token numbers (without begin and end) as a sentence for a turn."""
        step, state = self.stepper(self.inputs([turn]))
        return forced(step, state, rows, owner=np.zeros(len(rows), np.intp), bos=BOS_ID, eos=EOS_ID).sum(axis=1)

    def constrained(self, inputs: Arrays, hard: bool) -> tuple[Step, list[Any]]:
        """Return `stepper` without the tokens that are never said, under the hard constraint if asked for."""
        step, state = self.stepper(inputs)
        step = block_tokens(step, (PAD_ID, BOS_ID, UNK_ID))
        if hard and self.preprocessor.placeholders:
            step = require_slots(step, self.preprocessor.kinds, EOS_ID)
            state = [*state, *slots_owed(inputs["required"], self.preprocessor.kinds)]
        if "owed" in inputs:
            step = require_words(step, self.preprocessor.anchor_words, EOS_ID)
            state = [*state, inputs["owed"]]
        return step, state

    def forget(self) -> None:
        """Drop what is remembered: the model has changed."""
        self._memory.clear()

    def inputs(self, turns: Sequence[Turn]) -> Arrays:
        """Return the arrays of some turns: what the model takes, and `required` for the constraint."""
        inputs: Arrays = {"act": self.preprocessor.encoder.vectors(turns)}
        inputs["required"] = self.preprocessor.required_counts(turns)
        if self.lexicalized:
            inputs["entries"], inputs["words"] = self.preprocessor.encoder.sequences(turns)
        return inputs

    def _search_all(self, inputs: Arrays, width: int, hard: bool, keep: int) -> list[list[Hypothesis]]:
        return self._in_batches(lambda batch: self.search_batch(batch, width, hard, keep), inputs, self.largest)

    def _in_batches(self, work: Callable[[Arrays], list[_T]], inputs: Arrays, largest: int) -> list[_T]:
        # Acts of like size end at about the same step, so none waits long for its neighbours.
        order = np.argsort(inputs["act"].sum(axis=1), kind="stable")
        parts = [order[start : start + largest] for start in range(0, len(order), largest)]
        found = self._each(work, [_rows(inputs, part) for part in parts])
        result = dict(zip(order.tolist(), (one for batch in found for one in batch), strict=True))
        return [result[row] for row in range(len(order))]

    def _each(self, work: Callable[[_P], _T], parts: Sequence[_P]) -> list[_T]:
        """Do the work for all parts, of which the last take longest."""
        return [work(part) for part in parts]


class Decoder(BaseDecoder):
    """A model's arrays with its preprocessor, ready to search on the CPU, several batches side by side.

    Args:
        model: the trained model.
        preprocessor: its preprocessor.
        max_length: longest sentence in tokens.
        reuse: see `BaseDecoder`.
    """

    def __init__(self, model: ArrayModel, preprocessor: Preprocessor, max_length: int = 80, reuse: bool = True) -> None:
        super().__init__(preprocessor, model.lexicalized, max_length, reuse)
        self.model = model

    def search_batch(self, inputs: Arrays, width: int, hard: bool, keep: int) -> list[list[Hypothesis]]:
        """Return the hypotheses of one batch."""
        step, state = self.constrained(inputs, hard)
        return ragged_search(
            step,
            state,
            width=width,
            bos=BOS_ID,
            eos=EOS_ID,
            max_length=self.max_length,
            keep=min(keep, width),
            bounds=inputs.get("bounds"),
        )

    def _search_all(self, inputs: Arrays, width: int, hard: bool, keep: int) -> list[list[Hypothesis]]:
        # With more to keep, the best one's score bounds nothing, and a beam of one is greedy itself. A few acts take as
        # long for one beam as for ten, and those that are not settled would need both.
        if keep > 1 or width == 1 or len(inputs["act"]) < FEW:
            return super()._search_all(inputs, width, hard, keep)
        glances = self._in_batches(lambda batch: self._glance(batch, hard), inputs, GLANCED)

        def beams(rows: Sequence[int], bounds: NDArray[np.float32]) -> list[list[Hypothesis]]:
            # Where a bound is known, few beams are left of an act, so more acts are worth a call.
            largest = CHUNK if np.mean(bounds > IMPOSSIBLE) < 0.5 else 2 * CHUNK
            some = _rows(inputs, rows) | {"bounds": bounds}
            return self._in_batches(lambda batch: self.search_batch(batch, width, hard, keep), some, largest)

        return improve(glances, beams)

    def _glance(self, inputs: Arrays, hard: bool) -> list[Glance]:
        step, state = self.constrained(inputs, hard)
        return glance(step, state, bos=BOS_ID, eos=EOS_ID, max_length=self.max_length)

    def stepper(self, inputs: Arrays) -> tuple[Step, list[Any]]:
        """Return the model's step, unconstrained, and the first state of every input."""
        prepared, state = self.model.prepare(inputs)

        def step(state: list[Any], last: Any, owner: Any) -> tuple[Any, list[Any]]:
            logits, state = self.model.step(prepared, state, last, owner)
            return log_softmax(logits), state

        return step, state

    def _each(self, work: Callable[[_P], _T], parts: Sequence[_P]) -> list[_T]:
        # The products are small: a thread for each batch is worth more than several for a product.
        with _libraries().limit(limits=1, user_api="blas"):
            threads = min(len(parts), usable_processors())
            if threads <= 1:
                return super()._each(work, parts)
            with ThreadPoolExecutor(threads) as pool:
                # The longest first, so that none is left over when the others are done.
                return list(pool.map(work, parts[::-1]))[::-1]


def _rows(inputs: Arrays, rows: Any) -> Arrays:
    return {name: array[rows] for name, array in inputs.items()}


def row_keys(inputs: Arrays, options: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    """Return a key for every row of the inputs: equal keys, equal searches."""
    # The shape belongs to it: padding differs between calls.
    shapes = tuple(array.shape[1:] for array in inputs.values())
    flat = [np.ascontiguousarray(a.reshape(len(a), -1)).view(np.uint8) for a in inputs.values()]
    rows = np.concatenate(flat, axis=1)
    return [(row.tobytes(), shapes, options) for row in rows]


@cache
def _libraries() -> ThreadpoolController:
    return ThreadpoolController()
