"""The LSTM that reads the whole DA vector at every step (Sharma et al. 2017, section 4.2)."""

from __future__ import annotations

from typing import Any

import keras
from keras import ops

from dactnlg.models.base import Inputs, NeuralModel, State, Tensor
from dactnlg.models.cells import LSTMCell


@keras.saving.register_keras_serializable("dactnlg")
class LSTM(NeuralModel):
    """A plain LSTM decoder; nothing keeps count of what it has said."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.act_projection = self.add_weight((self.act_size, 4 * self.hidden_size), "glorot_uniform", name="act")

    def make_cell(self) -> LSTMCell:
        """Return a plain LSTM cell."""
        return LSTMCell(self.hidden_size)

    def context(self, inputs: Inputs) -> Tensor:
        """Return the projected DA vector, (B, 4H)."""
        return ops.matmul(inputs["act"], self.act_projection)

    def initial_state(self, inputs: Inputs) -> State:
        """Return zeros."""
        zeros = self.zeros(inputs["act"])
        return [zeros, zeros]
