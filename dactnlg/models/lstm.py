"""The LSTM that reads the whole DA vector at every step (Sharma et al. 2017, section 4.2)."""

from __future__ import annotations

from typing import Any

from keras import ops

from dactnlg.models.base import Tensor, Tensors
from dactnlg.models.cells import LSTMCell
from dactnlg.models.recurrent import RecurrentModel
from dactnlg.models.sections import LSTMSection
from dactnlg.text.encoding import Sizes


class LSTM(RecurrentModel):
    """A plain LSTM decoder; it does not keep track of which parts of the act it has generated.

    Args:
        sizes: see `RecurrentModel`.
        **kwargs: see `RecurrentModel`.
    """

    Section = LSTMSection

    def __init__(self, sizes: Sizes, **kwargs: Any) -> None:
        super().__init__(sizes, **kwargs)
        shape = (sizes.act, self.cell.gate_size)
        self.act_projection = self.add_weight(shape, "glorot_uniform", name="act_projection")

    def make_cell(self) -> LSTMCell:
        """Return a plain LSTM cell."""
        return LSTMCell(self.hidden_size)

    def act_gates(self, inputs: Tensors) -> Tensor:
        """Return the projected DA vector, (B, 4H)."""
        return ops.matmul(inputs["act"], self.act_projection)
