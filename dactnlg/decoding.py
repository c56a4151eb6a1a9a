"""Searching for sentences with a trained model: batches, compiled programs, and no work done twice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from keras import ops

from dactnlg.acts import Turn
from dactnlg.codec import Codec
from dactnlg.compilation import compiled, to_numpy
from dactnlg.search.beam import Hypothesis, beam_search, hypotheses
from dactnlg.search.constraint import block_tokens, require_slots
from dactnlg.vocabulary import BOS_ID, EOS_ID, PAD_ID, UNK_ID

if TYPE_CHECKING:
    from dactnlg.models.base import NeuralModel

BATCH_SIZES = (1, 16, 128)
"""Batches are filled up to one of these, so that a search is compiled for few shapes."""


class Decoder:
    """A model with its codec, ready to search.

    Args:
        model: the trained model.
        codec: its codec.
        max_length: longest sentence in tokens.
        reuse: decode turns that look alike to the model once per call; False to measure the search itself.
    """

    def __init__(self, model: NeuralModel, codec: Codec, max_length: int = 80, reuse: bool = True) -> None:
        self.model, self.codec, self.max_length, self.reuse = model, codec, max_length, reuse
        self._programs: dict[tuple[int, bool, int], Callable[..., Any]] = {}

    def search(self, turns: Sequence[Turn], width: int, hard: bool, keep: int = 1) -> list[list[Hypothesis]]:
        """Return each turn's hypotheses, best first.

        Args:
            turns: the acts.
            width: beam width.
            hard: whether placeholders are constrained to those required.
            keep: how many hypotheses must be finished before a search may stop.
        """
        inputs = self.inputs(turns)
        first, where = self._distinct(inputs) if self.reuse else (np.arange(len(turns)), np.arange(len(turns)))
        found: list[list[Hypothesis]] = []
        largest = BATCH_SIZES[-1]
        # Acts of like size end at about the same step, so none waits long for its neighbours.
        order = np.argsort(inputs["act"][first].sum(axis=1), kind="stable")
        for start in range(0, len(order), largest):
            rows = first[order[start : start + largest]]
            found += self._search_batch({name: array[rows] for name, array in inputs.items()}, width, hard, keep)
        by_row = dict(zip(order.tolist(), found, strict=True))
        return [by_row[int(index)] for index in where]

    def inputs(self, turns: Sequence[Turn]) -> dict[str, np.ndarray[Any, Any]]:
        """Return the arrays of some turns: what the model takes, and `required` for the constraint."""
        inputs: dict[str, Any] = {"act": self.codec.encoder.vectors(turns)}
        inputs["required"] = self.codec.required_counts(turns)
        if self.model.lexicalized:
            inputs["entries"], inputs["words"] = self.codec.encoder.sequences(turns)
        return inputs

    def _distinct(self, inputs: dict[str, np.ndarray[Any, Any]]) -> tuple[Any, Any]:
        rows = np.concatenate([a.reshape(len(a), -1).astype(np.float32) for a in inputs.values()], axis=1)
        first: dict[bytes, int] = {}
        numbers = [first.setdefault(row.tobytes(), len(first)) for row in rows]
        where = np.array(numbers, np.intp)
        index = np.zeros(len(first), np.intp)
        index[where[::-1]] = np.arange(len(numbers))[::-1]
        return index, where

    def _search_batch(
        self, inputs: dict[str, np.ndarray[Any, Any]], width: int, hard: bool, keep: int
    ) -> list[list[Hypothesis]]:
        count = len(inputs["act"])
        size = next(size for size in BATCH_SIZES if size >= count)
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
        size = len(self.codec.vocabulary)

        def step(state: list[Any], tokens: Any) -> tuple[Any, list[Any]]:
            logits, state = self.model.step(context, state, tokens)
            return ops.log_softmax(logits), state

        constrained = block_tokens(step, (PAD_ID, BOS_ID, UNK_ID), size)
        if hard and self.codec.placeholders:
            constrained = require_slots(constrained, self.codec.kinds, len(self.codec.placeholders), EOS_ID)
            state = [*state, ops.cast(inputs["required"], "float32")[:, None]]
        return beam_search(
            constrained,
            state,
            batch=inputs["act"].shape[0],
            width=width,
            bos=BOS_ID,
            eos=EOS_ID,
            max_length=self.max_length,
            keep=min(keep, width),
        )
