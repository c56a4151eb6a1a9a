"""Searching with Keras: one compiled program for each batch size, on whatever device the backend has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from keras import ops

from dactnlg.acts import Turn
from dactnlg.data.batching import bucket
from dactnlg.generation.decoder import Arrays, BaseDecoder
from dactnlg.models.backend import compiled, to_numpy
from dactnlg.search.beam import beam_search
from dactnlg.search.constraint import block_tokens, require_slots, require_words
from dactnlg.search.paths import Hypothesis, hypotheses
from dactnlg.search.ragged import Step
from dactnlg.text.preprocessor import Preprocessor
from dactnlg.text.vocabulary import BOS_ID, EOS_ID, PAD_ID, UNK_ID

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dactnlg.models.base import NeuralModel

BATCH_SIZES = (1, 16, 128)
"""Batches are filled up to one of these, so that a search is compiled for few shapes."""
CHUNK = 256


class CompiledDecoder(BaseDecoder):
    """A Keras model with its preprocessor, ready to search.

    Args:
        model: the trained model.
        preprocessor: its preprocessor.
        max_length: longest sentence in tokens.
        reuse: see `BaseDecoder`.
        batch_sizes: what batches are filled up to, the smallest first; a GPU has room for larger ones.
    """

    def __init__(
        self,
        model: NeuralModel,
        preprocessor: Preprocessor,
        max_length: int = 80,
        reuse: bool = True,
        batch_sizes: Sequence[int] = BATCH_SIZES,
    ) -> None:
        super().__init__(preprocessor, model.lexicalized, max_length, reuse)
        self.model, self.batch_sizes, self.largest = model, batch_sizes, batch_sizes[-1]
        self._programs: dict[tuple[int, bool, int], Callable[..., Any]] = {}

    @cached_property
    def _advance(self) -> Callable[..., Any]:
        """The model's step, compiled; only sampling takes single steps."""
        return compiled(self.model.step)

    def search_batch(self, inputs: Arrays, width: int, hard: bool, keep: int) -> list[list[Hypothesis]]:
        """Return the hypotheses of one batch."""
        count = len(inputs["act"])
        size = next(size for size in self.batch_sizes if size >= count)
        padded = {name: np.concatenate([a, np.repeat(a[:1], size - count, axis=0)]) for name, a in inputs.items()}
        program = self._program(width, hard, keep)
        history, parents, scores, finished = (to_numpy(part) for part in program(padded))
        return hypotheses(history, parents, scores, finished, EOS_ID)[:count]

    def _program(self, width: int, hard: bool, keep: int) -> Callable[..., Any]:
        key = (width, hard, keep)
        if key not in self._programs:

            def program(inputs: dict[str, Any]) -> Any:
                return self.trace(inputs, width, hard, keep)

            self._programs[key] = compiled(program)
        return self._programs[key]

    def trace(self, inputs: dict[str, Any], width: int, hard: bool, keep: int) -> Any:
        """Return `beam_search`'s tensors for a batch of inputs, (B, ...) each; can be traced and compiled."""
        context, state = self.model.prepare(inputs)
        size = len(self.preprocessor.vocabulary)

        def step(state: list[Any], tokens: Any) -> tuple[Any, list[Any]]:
            logits, state = self.model.step(context, state, tokens)
            return ops.log_softmax(logits), state

        constrained = block_tokens(step, (PAD_ID, BOS_ID, UNK_ID), size)
        if hard and self.preprocessor.placeholders:
            constrained = require_slots(
                constrained, self.preprocessor.kinds, len(self.preprocessor.placeholders), EOS_ID
            )
            state = [*state, ops.cast(inputs["required"], "float32")[:, None]]
        if "owed" in inputs:
            constrained = require_words(constrained, self.preprocessor.anchor_words, EOS_ID)
            state = [*state, ops.cast(inputs["owed"], "float32")[:, None]]
        return beam_search(
            constrained,
            state,
            batch=ops.shape(inputs["act"])[0],
            width=width,
            bos=BOS_ID,
            eos=EOS_ID,
            max_length=self.max_length,
            keep=min(keep, width),
        )

    def stepper(self, inputs: Arrays) -> tuple[Step, list[Any]]:
        """Return the model's step, unconstrained, with arrays in the place of tensors, and the first states."""
        context, state = self.model.prepare(inputs)
        gates = to_numpy(context["gates"])[:, 0]
        # Some models have no constants of an act's own.
        gates = np.broadcast_to(gates, (len(inputs["act"]), gates.shape[1]))

        def step(state: list[Any], last: Any, owner: Any) -> tuple[Any, list[Any]]:
            tensors = [_filled(part)[:, None] for part in (gates[owner], last.astype(np.int32), *state)]
            logits, new = self._advance({**context, "gates": tensors[0]}, tensors[2:], tensors[1])
            log_probs = to_numpy(ops.log_softmax(logits))
            return log_probs[: len(last), 0].copy(), [to_numpy(part)[: len(last), 0] for part in new]

        return step, [to_numpy(part)[:, 0] for part in state]

    def sentence_scores(self, turn: Turn, rows: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        """Return the log probability of each row of token numbers (without begin and end) as a sentence for a turn."""
        inputs = self.inputs([turn])
        length = bucket(max(map(len, rows)) + 1)
        scores = []
        for start in range(0, len(rows), CHUNK):
            chunk = rows[start : start + CHUNK]
            tokens = np.zeros((len(chunk), length + 1), np.int32)
            for index, row in enumerate(chunk):
                tokens[index, : len(row) + 2] = [BOS_ID, *row, EOS_ID]
            lengths = np.array([len(row) + 1 for row in chunk], np.int32)
            arrays = {
                name: np.repeat(array, len(chunk), axis=0) for name, array in inputs.items() if name != "required"
            }
            logits = self.model({**arrays, "tokens": tokens[:, :-1], "lengths": lengths})["logits"]
            log_probs = to_numpy(ops.log_softmax(logits))
            picked = np.take_along_axis(log_probs, tokens[:, 1:, None], axis=2)[..., 0]  # (rows, T)
            scores.append((picked * (np.arange(length)[None] < lengths[:, None])).sum(axis=1))
        return np.concatenate(scores)


def _filled(array: NDArray[Any]) -> NDArray[Any]:
    """Fill up to a power of two, so that a step is compiled for few sizes."""
    missing = (1 << (len(array) - 1).bit_length()) - len(array)
    return np.concatenate([array, np.repeat(array[:1], missing, axis=0)])
