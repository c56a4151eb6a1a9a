"""The equations of the recurrent cells, shared by training, search and encoders.

A cell takes input already projected onto its gates, and adds the recurrent part. Arrays may have any leading
dimensions: (B, ...) under `keras.layers.RNN` in training, (N, ...) in a search.

Shape letters: H hidden units, D entries of the DA vector, G gates (4H, or 4H + D).
"""

from __future__ import annotations

from typing import Any, TypeAlias

import keras
from keras import ops

Tensor: TypeAlias = keras.KerasTensor


class LSTMCell(keras.layers.Layer):
    """The LSTM cell (Hochreiter and Schmidhuber 1997); gates in the order input, forget, output, candidate.

    Args:
        hidden_size: H.
    """

    def __init__(self, hidden_size: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.hidden_size = hidden_size
        self.gate_size = 4 * hidden_size
        self.state_size: list[int] = [hidden_size, hidden_size]
        self.output_size = hidden_size
        self.recurrent = self.add_weight((hidden_size, self.gate_size), "orthogonal", name="recurrent")
        self.built = True

    def call(self, gates: Tensor, states: list[Tensor], *, training: bool = False) -> tuple[Tensor, list[Tensor]]:
        """Take one step.

        Args:
            gates: projected input, (..., 4H).
            states: h and c, each (..., H).
            training: unused.

        Returns:
            The output h, (..., H), and the new states.
        """
        h, c = states
        gates = gates + ops.matmul(h, self.recurrent)  # (..., 4H)
        h, c = _update(gates, c, self.hidden_size, 0.0)
        return h, [h, c]


class GRUCell(keras.layers.Layer):
    """The GRU cell (Cho et al. 2014), reset gate after the matrix product; gates in the order reset, update, candidate.

    Args:
        hidden_size: H.
    """

    def __init__(self, hidden_size: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.hidden_size = hidden_size
        self.gate_size = 3 * hidden_size
        self.state_size: list[int] = [hidden_size]
        self.output_size = hidden_size
        self.recurrent = self.add_weight((hidden_size, self.gate_size), "orthogonal", name="recurrent")
        self.built = True

    def call(self, gates: Tensor, states: list[Tensor], *, training: bool = False) -> tuple[Tensor, list[Tensor]]:
        """Take one step.

        Args:
            gates: projected input, (..., 3H).
            states: h, (..., H).
            training: unused.

        Returns:
            The output h, (..., H), and the new state.
        """
        (h,), size = states, self.hidden_size
        again = ops.matmul(h, self.recurrent)  # (..., 3H)
        reset, keep = (
            ops.sigmoid(gates[..., k * size : (k + 1) * size] + again[..., k * size : (k + 1) * size]) for k in range(2)
        )
        candidate = ops.tanh(gates[..., 2 * size :] + reset * again[..., 2 * size :])
        h = keep * h + (1.0 - keep) * candidate
        return h, [h]


class SCLSTMCell(keras.layers.Layer):
    """The semantically controlled LSTM cell (Wen et al. 2015b, section 3.1), which carries the act d.

    r = sigma(W_wr w + alpha W_hr h);  d = r * d_prev;  c = f * c_prev + i * c~ + tanh(W_dc d);  h = o * tanh(c)

    Args:
        hidden_size: H.
        act_size: D, the length of the DA vector.
        alpha: weight of the hidden state in the reading gate.
    """

    def __init__(self, hidden_size: int, act_size: int, alpha: float = 0.5, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.hidden_size, self.act_size, self.alpha = hidden_size, act_size, alpha
        self.gate_size = 4 * hidden_size + act_size
        self.state_size: list[int] = [hidden_size, hidden_size, act_size]
        # The output includes d: the loss depends on how the act was used up.
        self.output_size = hidden_size + act_size
        self.recurrent = self.add_weight((hidden_size, 4 * hidden_size), "orthogonal", name="recurrent")
        self.reading = self.add_weight((hidden_size, act_size), "glorot_uniform", name="reading")
        self.act = self.add_weight((act_size, hidden_size), "glorot_uniform", name="act")
        self.built = True

    def call(self, gates: Tensor, states: list[Tensor], *, training: bool = False) -> tuple[Tensor, list[Tensor]]:
        """Take one step.

        Args:
            gates: projected input, (..., 4H + D).
            states: h and c, each (..., H), and d, (..., D).
            training: unused.

        Returns:
            The output [h; d], (..., H + D), and the new states.
        """
        h, c, d = states
        # One matrix product for the LSTM's gates and the reading gate.
        kernel = ops.concatenate([self.recurrent, self.alpha * self.reading], axis=-1)  # (H, 4H + D)
        gates = gates + ops.matmul(h, kernel)
        d = ops.sigmoid(gates[..., 4 * self.hidden_size :]) * d  # (..., D)
        h, c = _update(gates, c, self.hidden_size, ops.tanh(ops.matmul(d, self.act)))
        return ops.concatenate([h, d], axis=-1), [h, c, d]


class LSTMEncoder(keras.layers.Layer):
    """Reads sequences with an LSTM and returns its last hidden states.

    Args:
        input_size: length of one step of a sequence.
        hidden_size: H.
    """

    def __init__(self, input_size: int, hidden_size: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.cell = LSTMCell(hidden_size)
        self.projection = self.add_weight((input_size, 4 * hidden_size), "glorot_uniform", name="projection")
        self.bias = self.add_weight((4 * hidden_size,), open_memory_gate(hidden_size), name="bias")
        self.rnn = keras.layers.RNN(self.cell)
        self.supports_masking = True
        self.built = True

    def call(self, steps: Tensor, mask: Tensor) -> Tensor:
        """Return the state after the last unmasked step, (B, H), given steps, (B, T, input), and a mask, (B, T)."""
        return self.rnn(ops.matmul(steps, self.projection) + self.bias, mask=mask)


def open_memory_gate(hidden_size: int) -> Any:
    """Return an initializer for a bias, (G,): 1 for an LSTM's forget gate or a GRU's update gate, and 0 elsewhere."""

    def initialize(shape: tuple[int, ...], dtype: Any = None) -> Tensor:
        ones = ops.ones((hidden_size,), dtype)
        rest = ops.zeros((shape[0] - 2 * hidden_size,), dtype)
        return ops.concatenate([ops.zeros((hidden_size,), dtype), ones, rest])

    return initialize


def _update(gates: Tensor, c: Tensor, size: int, extra: Tensor | float) -> tuple[Tensor, Tensor]:
    i, f, o = (ops.sigmoid(gates[..., k * size : (k + 1) * size]) for k in range(3))
    c = f * c + i * ops.tanh(gates[..., 3 * size : 4 * size]) + extra  # (..., H)
    return o * ops.tanh(c), c
