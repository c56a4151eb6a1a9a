"""Searching with Keras: one compiled program per batch size, on any device of the backend."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dactnlg._utils.memory import ENTRY, Memory
from dactnlg.acts import Turn
from dactnlg.generation.decoders.decoder import OWED, REQUIRED, Arrays, Decoder, Plan, Tracer
from dactnlg.models.backend import compiled, to_numpy
from dactnlg.search.hypotheses import Hypothesis, hypotheses
from dactnlg.search.keras_beam import Found, beam_search, repeated
from dactnlg.search.keras_scoring import token_scores
from dactnlg.search.numpy_step import Step
from dactnlg.text.context import CONTEXT
from dactnlg.text.copying import COPIES
from dactnlg.text.preprocessor import Preprocessor
from dactnlg.text.vocabulary import BOS_ID, EOS_ID

if TYPE_CHECKING:
    from dactnlg.generation.decoders.ensemble import KerasEnsemble
    from dactnlg.models.base import NeuralModel

BATCH_SIZES = (1, 16, 128)
"""Batches are padded to one of these sizes, so that a search is compiled for few shapes."""
PADDED = {"entries": (1,), "words": (1, 2), COPIES: (1,), CONTEXT: (1,)}
"""The axes of a model's inputs whose length depends on the acts; they are padded with 0."""
LENGTH = 16
"""Sentences to be scored are padded to a multiple of this many tokens."""
PROGRAMS = 8
"""Compiled searches that are kept: clients choose beam widths, and each has a program of some megabytes."""
MOST = 1 << 28
"""Maximum number of elements in the states of a search, as far as smaller batches can achieve it."""


class KerasDecoder(Decoder):
    """A Keras model with its preprocessor, ready to search.

    Args:
        model: the trained model, or an ensemble.
        preprocessor: its preprocessor.
        max_length: longest sentence in tokens.
        batch_sizes: sizes that batches are padded to, smallest first; a GPU has room for larger ones.
    """

    def __init__(
        self,
        model: NeuralModel | KerasEnsemble,
        preprocessor: Preprocessor,
        *,
        max_length: int = 80,
        batch_sizes: Sequence[int] = BATCH_SIZES,
    ) -> None:
        super().__init__(preprocessor, model.inputs, max_length=max_length)
        self.model, self.batch_sizes, self.traced = model, batch_sizes, model.traced
        # Elements in the state of one hypothesis; unknown before the first act.
        self._numbers = 0
        self._programs: Memory[Callable[..., Any]] = Memory(PROGRAMS, PROGRAMS * ENTRY)

    def search_all(self, inputs: Arrays, plan: Plan) -> list[list[Hypothesis]]:
        """Return the hypotheses of each input, best first."""
        count, found = len(inputs[REQUIRED]), list[list[Hypothesis]]()
        inputs = {**inputs, **self._taken(inputs)}
        # `keep` is an argument of the program, so that plans that differ only in it share one.
        keep, plan = np.int32(min(plan.keep, plan.width)), plan._replace(keep=1)
        key = (plan, OWED in inputs)
        program = self._programs.get(key) or self._programs.put(key, compiled(partial(self.trace, plan=plan)), 0)
        sizes = self._fitting(inputs, plan.width) if count else self.batch_sizes
        for start in range(0, count, sizes[-1]):
            end = min(start + sizes[-1], count)
            size = next(size for size in sizes if size >= end - start)
            batch = {name: filled(array[start:end], size) for name, array in inputs.items()}
            history, parents, scores, finished = (to_numpy(part) for part in program(batch, keep=keep))
            found += hypotheses(history, parents, scores, finished, EOS_ID)[: end - start]
        return found

    def _taken(self, inputs: Arrays) -> Arrays:
        """Return the model's inputs, padded so that a program is compiled for few shapes."""
        return {name: padded(inputs[name], PADDED.get(name, ())) for name in self.model_inputs}

    def _fitting(self, inputs: Arrays, width: int) -> Sequence[int]:
        """Return the batch sizes whose states do not exceed `MOST`; the smallest one in any case."""
        if not self._numbers:
            _, state = self.model.prepare({name: inputs[name][:1] for name in self.model_inputs})
            self._numbers = sum(math.prod(part.shape[1:]) for part in state.values())
        return [size for size in self.batch_sizes if size * width * self._numbers <= MOST] or self.batch_sizes[:1]

    def trace(self, inputs: dict[str, Any], plan: Plan, keep: Any = None) -> Found:
        """Run a beam search for a batch of inputs, each (B, ...). Can be traced and compiled.

        Args:
            inputs: for the model and the constraints.
            plan: how to search.
            keep: replaces the plan's; an integer that need not be known when the program is compiled.
        """
        context, state = self.model.prepare({name: inputs[name] for name in self.model_inputs})
        rules, owed = self.rules(inputs, hard=plan.hard)
        step = partial(self.model.step, repeated(context, plan.width))
        keep = min(plan.keep, plan.width) if keep is None else keep
        return beam_search(
            step, repeated(state, plan.width), owed, rules, width=plan.width, max_length=self.max_length, keep=keep
        )

    def stepper(self, inputs: Arrays) -> tuple[Step, list[Any]]:
        """Return the model's step on arrays instead of tensors, and the initial state of every input."""
        context, state = self.model.prepare({name: inputs[name] for name in self.model_inputs})
        constants, names = {name: to_numpy(part) for name, part in context.items()}, list(state)

        def step(parts: list[Any], last: Any, owner: Any) -> tuple[Any, list[Any]]:
            # Padded to a power of two, so that a step is compiled for few sizes.
            count, size = len(last), power_of_two(len(last))
            rows = {name: filled(part[owner], size) for name, part in constants.items()}
            # Ordered, because JAX sorts the keys of plain dictionaries, and models may rely on the order of states.
            now = OrderedDict((name, filled(part, size)) for name, part in zip(names, parts, strict=True))
            logits, new = self._step(rows, now, filled(last.astype(np.int32), size))
            return to_numpy(logits)[:count].copy(), [to_numpy(new[name])[:count] for name in names]

        return step, [to_numpy(part) for part in state.values()]

    def read(self, inputs: Arrays, rows: Sequence[Sequence[int]], owner: NDArray[np.intp]) -> NDArray[np.float32]:
        """Return the log probability of every token of the sentences; see `Decoder.read`."""
        scores = to_numpy(self._reader(*self._given(inputs, rows, owner)))
        return scores[: len(rows), : max(map(len, rows), default=0) + 1]

    def sentence_scores(self, turn: Turn, rows: Sequence[Sequence[int]], context: str = "") -> NDArray[np.float32]:
        """Return the log probability of each row as a sentence for a turn; see `Decoder.sentence_scores`."""
        inputs, owner = self.inputs([turn], contexts=[context]), np.zeros(len(rows), np.intp)
        scores: NDArray[np.float32] = to_numpy(self._reader(*self._given(inputs, rows, owner))).sum(axis=1)
        return scores[: len(rows)]

    def _given(self, inputs: Arrays, rows: Sequence[Sequence[int]], owner: NDArray[np.intp]) -> tuple[Any, ...]:
        """Return the arguments for `_reader`, padded so that it is compiled for few shapes."""
        size, longest = power_of_two(len(rows)), max(map(len, rows), default=0) + 1
        tokens = np.full((-(-longest // LENGTH) * LENGTH + 1, size), EOS_ID, np.int32)
        lengths = np.zeros(size, np.int32)
        for column, row in enumerate(rows):
            tokens[: len(row) + 1, column] = [BOS_ID, *row]
            lengths[column] = len(row) + 1
        return self._taken(inputs), np.resize(owner, size).astype(np.int32), tokens, lengths

    @cached_property
    def _reader(self) -> Callable[..., Any]:
        """`token_scores` of the model, compiled."""
        return compiled(partial(token_scores, self.model), any_shape=True)

    def tracer(self, inputs: Arrays) -> Tracer | None:
        """Return a function that shows the act in states; see `Decoder.tracer`."""
        if not self.traced:
            return None
        context, first = self.model.prepare({name: inputs[name] for name in self.model_inputs})
        # Only those entries of the DA vector that some act has, as in the NumPy decoder.
        used = np.flatnonzero(inputs["act"].any(axis=0)) if self.traced == "left" else slice(None)

        def show(state: list[Any]) -> NDArray[np.float32]:
            shown: NDArray[np.float32] = to_numpy(self.model.trace(context, dict(zip(first, state, strict=True))))
            return shown[:, used]

        return show

    @cached_property
    def _step(self) -> Callable[..., Any]:
        """The model's step, compiled; searches in NumPy take single steps."""
        return compiled(self.model.step)


def power_of_two(count: int) -> int:
    """Return the smallest power of two that is at least `count`."""
    return 1 << max(count - 1, 0).bit_length()


def padded(array: NDArray[Any], axes: Sequence[int]) -> NDArray[Any]:
    """Pad an array with 0 along some axes, to a power of two of at least 8."""
    sizes = [max(power_of_two(size), 8) if axis in axes else size for axis, size in enumerate(array.shape)]
    return np.pad(array, [(0, more - size) for more, size in zip(sizes, array.shape, strict=True)])


def filled(array: NDArray[Any], size: int) -> NDArray[Any]:
    """Pad an array to `size` rows by repeating its first row at the end."""
    return np.concatenate([array, np.repeat(array[:1], size - len(array), axis=0)])
