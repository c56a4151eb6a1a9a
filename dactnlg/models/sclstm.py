"""The semantically controlled LSTM (Wen et al. 2015b; "d-scLSTM" in Sharma et al. 2017, section 4.3)."""

from __future__ import annotations

from typing import Any

from keras import ops

from dactnlg.models.base import Tensor, Tensors, mean_rows, positions, real_tokens
from dactnlg.models.cells import SCLSTMCell
from dactnlg.models.recurrent import RecurrentModel
from dactnlg.models.sections import SCLSTMSection
from dactnlg.text.context import CONTEXT
from dactnlg.text.encoding import Sizes


class SCLSTM(RecurrentModel):
    """An LSTM whose cell carries the DA vector and removes from it what has been generated.

    Args:
        sizes: see `RecurrentModel`.
        alpha: weight of the hidden state in the reading gate.
        eta: weight of the penalty on removing much in one step.
        xi: base of that penalty (Wen et al. 2015b, equation 13).
        context: whether the mean vector of the user's preceding words is added to the gates.
        **kwargs: see `RecurrentModel`.
    """

    Section = SCLSTMSection
    traced = "left"

    def __init__(
        self,
        sizes: Sizes,
        alpha: float = 0.5,
        eta: float = 1e-4,
        xi: float = 100.0,
        *,
        context: bool = False,
        **kwargs: Any,
    ) -> None:
        self._act_size, self._alpha = sizes.act, alpha
        super().__init__(sizes, **kwargs)
        self.eta, self.xi = eta, xi
        self.sees_context = context
        if context:
            self.inputs = (*self.inputs, CONTEXT)
            size = self.embedding.shape[1]
            self.context_words = self.add_weight((sizes.context, size), "uniform", name="context_words")
            shape = (size, self.cell.gate_size)
            self.context_projection = self.add_weight(shape, "glorot_uniform", name="context_projection")

    def make_cell(self) -> SCLSTMCell:
        """Return a cell that carries the act."""
        return SCLSTMCell(self.hidden_size, self._act_size, self._alpha)

    def act_gates(self, inputs: Tensors) -> Tensor | None:
        """Return what the user's words add to the gates, (B, 4H + D); 0 without words, None if they are ignored."""
        if not self.sees_context:
            return None
        return ops.matmul(mean_rows(self.context_words, inputs[CONTEXT]), self.context_projection)

    def first_state(self, inputs: Tensors) -> Tensors:
        """Return zeros for h and c, and the whole DA vector."""
        return {**super().first_state(inputs), "d": inputs["act"]}

    def trace(self, context: Tensors, state: Tensors) -> Tensor:
        """Return what the reading gates have left of the DA vector, (N, D)."""
        return state["d"]

    def batch_loss(self, batch: Tensors, *, training: bool = False) -> Tensor:
        """Return cross entropy and penalty per real token."""
        outputs = self.outputs(*self.prepare(batch), batch["tokens"])
        weights = ops.cast(real_tokens(batch), "float32") * batch["weights"][:, None]
        # Rows that only pad the batch have length 0.
        rows = ops.cast(batch["lengths"] > 0, "float32") * batch["weights"]
        penalty = ops.sum(self.penalty(outputs[..., self.hidden_size :], batch) * rows)
        entropy = self.cross_entropy(batch, self._project(outputs, training=training))
        return entropy + penalty / ops.maximum(ops.sum(weights), 1.0)

    def penalty(self, d: Tensor, batch: Tensors) -> Tensor:
        """Return ||d_T|| + sum_t eta xi^||d_{t+1} - d_t||, (B,), with T each sentence's last real token.

        Args:
            d: what is left of the acts after every token, (B, T, D).
            batch: see `NeuralModel.batch_loss`.
        """
        d, act = ops.cast(d, "float32"), ops.cast(batch["act"], "float32")
        before = ops.concatenate([act[:, None], d[:, :-1]], axis=1)
        change = self.eta * ops.power(self.xi, _norm(d - before))  # (B, T)
        real = ops.cast(real_tokens(batch), d.dtype)
        last = ops.cast(positions(batch["tokens"]) == batch["lengths"][:, None] - 1, d.dtype)  # (B, T)
        return _norm(ops.sum(d * last[..., None], axis=1)) + ops.sum(change * real, axis=1)


def _norm(x: Tensor) -> Tensor:
    # The square root's gradient is infinite at 0, the norm of a used-up act; the small term keeps gradients finite.
    return ops.sqrt(ops.sum(ops.square(x), axis=-1) + 1e-10)
