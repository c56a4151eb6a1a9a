"""A Transformer language model of turns (Vaswani et al. 2017), which sees no preceding turns."""

from __future__ import annotations

from keras import ops

from dactnlg.models.answers import AnswerModel
from dactnlg.models.base import Tensor, Tensors
from dactnlg.models.dialogue_sections import TransformerLMSection
from dactnlg.models.transformer import Transformer


class TransformerLanguageModel(AnswerModel, Transformer):
    """The decoder of `transformer`, attending to one constant, learned vector instead of an act."""

    inputs: tuple[str, ...] = ("turn_lengths",)

    Section = TransformerLMSection

    def make_reader(self) -> None:
        """Create the one vector."""
        self.nothing = self.add_weight((1, 1, self.hidden_size), "glorot_uniform", name="nothing")

    def read(self, inputs: Tensors) -> tuple[Tensor, Tensor]:
        """Return the vector, (B, 1, H), and no padding, (B, 1); only the batch size of the inputs is used."""
        rows = ops.shape(inputs["turn_lengths"])[0]
        return ops.repeat(ops.multiply(self.nothing, 1.0), rows, axis=0), ops.ones((rows, 1), "bool")
