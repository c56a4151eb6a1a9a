"""The semantically controlled LSTM (Wen et al. 2015b; "d-scLSTM" in Sharma et al. 2017, section 4.3)."""

from __future__ import annotations

from typing import Any

import keras
from keras import ops

from dactnlg.models.base import Inputs, NeuralModel, State, Tensor, positions
from dactnlg.models.cells import SCLSTMCell


@keras.saving.register_keras_serializable("dactnlg")
class SCLSTM(NeuralModel):
    """An LSTM whose cell carries the DA vector and strikes out what has been said.

    Args:
        alpha: weight of the hidden state in the reading gate.
        eta: weight of the penalty on striking out much at once.
        xi: base of that penalty (Wen et al. 2015b, equation 13).
        **kwargs: sizes, see `NeuralModel`.
    """

    def __init__(self, alpha: float = 0.5, eta: float = 1e-4, xi: float = 100.0, **kwargs: Any) -> None:
        self.alpha, self.eta, self.xi = alpha, eta, xi
        super().__init__(**kwargs)

    def get_config(self) -> dict[str, Any]:
        """Return the keywords that build the model again."""
        return {**super().get_config(), "alpha": self.alpha, "eta": self.eta, "xi": self.xi}

    def make_cell(self) -> SCLSTMCell:
        """Return a cell that carries the act."""
        return SCLSTMCell(self.hidden_size, self.act_size, self.alpha)

    def context(self, inputs: Inputs) -> Tensor:
        """Return nothing: the act reaches the cell through its state alone."""
        return ops.zeros((1, self.cell.gate_size), inputs["act"].dtype)

    def initial_state(self, inputs: Inputs) -> State:
        """Return zeros for h and c, and the whole DA vector."""
        zeros = self.zeros(inputs["act"])
        return [zeros, zeros, inputs["act"]]

    def penalty(self, outputs: Tensor, inputs: Inputs, mask: Tensor) -> Tensor:
        """Return ||d_T|| + sum_t eta xi^||d_{t+1} - d_t||, (B,), with d_T read at each sentence's last real step."""
        act = ops.cast(inputs["act"], "float32")
        d = ops.cast(outputs[..., self.hidden_size :], "float32")  # (B, T, D)
        before = ops.concatenate([act[:, None], d[:, :-1]], axis=1)
        real = ops.cast(mask, d.dtype)
        change = self.eta * ops.power(self.xi, _norm(d - before))  # (B, T)
        last = ops.cast(positions(inputs["tokens"]) == inputs["lengths"][:, None] - 1, d.dtype)  # (B, T)
        return _norm(ops.sum(d * last[..., None], axis=1)) + ops.sum(change * real, axis=1)


def _norm(x: Tensor) -> Tensor:
    # The square root's slope is infinite at 0, where a used-up act ends; the small term keeps gradients finite.
    return ops.sqrt(ops.sum(ops.square(x), axis=-1) + 1e-10)
