"""A GRU language model of turns (Mikolov et al. 2010, cell of Cho et al. 2014), which sees no preceding turns.

The baseline whose perplexity a conversation model has to beat; CoTK's "GRU" for text without input.
"""

from __future__ import annotations

from typing import Any

from keras import ops

from dactnlg.models.answers import GRUAnswerModel
from dactnlg.models.base import Tensors
from dactnlg.models.dialogue_sections import GRUSection
from dactnlg.text.encoding import Sizes


class GRULanguageModel(GRUAnswerModel):
    """A GRU that starts every turn from the same learned state.

    Args:
        sizes: see `GRUAnswerModel`.
        **kwargs: see `GRUAnswerModel`.
    """

    inputs: tuple[str, ...] = ("turn_lengths",)

    Section = GRUSection

    def __init__(self, sizes: Sizes, **kwargs: Any) -> None:
        super().__init__(sizes, **kwargs)
        self.start = self.add_weight((1, self.hidden_size), "zeros", name="start")

    def prepare(self, inputs: Tensors) -> tuple[Tensors, Tensors]:
        """Return an empty context, and the initial state; only the batch size of the inputs is used."""
        rows = ops.shape(inputs["turn_lengths"])[0]
        return {}, {"h": ops.repeat(ops.multiply(self.start, 1.0), rows, axis=0)}
