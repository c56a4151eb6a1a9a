"""The equations of the recurrent cells in NumPy, with their gradients beside them.

`models.cells` has the same equations in Keras; tests hold the two together. Gates stand in the order input, forget,
output, candidate, and lie apart: (4, N, H). A sigmoid is half a tanh, NumPy's fastest curve, of half the argument,
plus a half: what goes in is halved for the first three gates (`HALVES`).

Shape letters: N sentences, H hidden units, D entries of the DA vector.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

HALVES = np.array([0.5, 0.5, 0.5, 1.0], np.float32)[:, None, None]
"""What a cell's gates are multiplied with before `lstm_cell`."""


def sigmoid_of_double(x: Floats) -> Floats:
    """Put sigmoid(2x) in the place of x and return it."""
    np.tanh(x, out=x)
    x *= 0.5
    x += 0.5
    return x


def lstm_cell(gates: Floats, before: Floats, c: Floats, tanh_c: Floats, h: Floats, extra: Floats | None = None) -> None:
    """Take one step of an LSTM (Hochreiter and Schmidhuber 1997).

    Args:
        gates: arguments of the gates times `HALVES`, (4, N, H); the gates themselves afterwards.
        before: the cells before the step, (N, H).
        c: for the cells after it, (N, H).
        tanh_c: for their tanh, (N, H).
        h: for the hidden states after it, (N, H).
        extra: what is added to the cells, (N, H).
    """
    np.tanh(gates, out=gates)
    sigmoids = gates[:3]
    sigmoids *= 0.5
    sigmoids += 0.5
    np.multiply(gates[1], before, out=c)
    c += np.multiply(gates[0], gates[3], out=tanh_c)
    if extra is not None:
        c += extra
    np.tanh(c, out=tanh_c)
    np.multiply(gates[2], tanh_c, out=h)


def lstm_cell_factors(gates: Floats, before: Floats, tanh_c: Floats) -> tuple[Floats, Floats]:
    """Return what gradients are multiplied with on their way back through `lstm_cell`.

    Args:
        gates: as `lstm_cell` left them, (4, N, H).
        before: the cells before the step, (N, H).
        tanh_c: the tanh of the cells after it, (N, H).

    Returns:
        To the arguments of the gates, (4, N, H), of the output gate from the hidden states, of the others from the
        cells; and from the hidden states to the cells, (N, H). To the cells before, the factor is the forget gate.
    """
    i, _, o, candidate = gates
    through = 1.0 - gates
    through[:3] *= gates[:3]
    through[0] *= candidate
    through[1] *= before
    through[2] *= tanh_c
    through[3] *= 1.0 + candidate
    through[3] *= i
    from_hidden = tanh_factors(tanh_c)
    from_hidden *= o
    return through, from_hidden


def reading_cell(reading: Floats, before: Floats, act_kernel: Floats, d: Floats, read: Floats) -> None:
    """Strike out of the act what has been generated (Wen et al. 2015b, section 3.1).

    Args:
        reading: half the argument of the reading gate, (N, D); the gate itself afterwards.
        before: what is left of the act before the step, (N, D).
        act_kernel: from the act to the cell, (D, H).
        d: for what is left of it after the step, (N, D).
        read: for what the act adds to the cell, (N, H).
    """
    sigmoid_of_double(reading)
    np.multiply(reading, before, out=d)
    np.matmul(d, act_kernel, out=read)
    np.tanh(read, out=read)


def reading_cell_factors(reading: Floats, before: Floats, read: Floats) -> tuple[Floats, Floats]:
    """Return what gradients are multiplied with on their way back through `reading_cell`.

    Args:
        reading, before, read: as `reading_cell` left them.

    Returns:
        From what is left of the act to the argument of the reading gate, (N, D), and from the cell to the product with
        the act's kernel, (N, H). To what was left before, the factor is the reading gate.
    """
    to_reading = 1.0 - reading
    to_reading *= reading
    to_reading *= before
    return to_reading, tanh_factors(read)


def tanh_factors(y: Floats) -> Floats:
    """Return the derivative of tanh, given its value."""
    factors: Floats = np.multiply(y, y)
    np.subtract(1.0, factors, out=factors)
    return factors
