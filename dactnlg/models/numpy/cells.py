"""The equations of the recurrent cells and their gradients in NumPy.

`models.cells` has the same equations in Keras; tests compare the two. Gates are stored as (4, N, H), in the order
input, forget, output, candidate. Sigmoids are computed by tanh, which is fastest in NumPy, as
sigmoid(x) = tanh(x / 2) / 2 + 1/2; the arguments of the first three gates are therefore passed halved (`HALVES`).

Shape letters: N sentences, H hidden units, D entries of the DA vector.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

HALVES = np.array([0.5, 0.5, 0.5, 1.0], np.float32)[:, None, None]
"""The factors of the gates' arguments before `lstm_cell`."""


def sigmoid_of_double(x: Floats) -> Floats:
    """Replace x by sigmoid(2x) in place and return it."""
    np.tanh(x, out=x)
    x *= 0.5
    x += 0.5
    return x


def lstm_cell(gates: Floats, before: Floats, c: Floats, tanh_c: Floats, h: Floats, extra: Floats | None = None) -> None:
    """Take one step of an LSTM (Hochreiter and Schmidhuber 1997).

    Args:
        gates: arguments of the gates times `HALVES`, (4, N, H); overwritten with the gates.
        before: the cell states before the step, (N, H).
        c: output, the cell states after the step, (N, H).
        tanh_c: output, their tanh, (N, H).
        h: output, the hidden states after the step, (N, H).
        extra: added to the cell states, (N, H).
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
    """Return the local derivatives of `lstm_cell` for backpropagation.

    Args:
        gates: as `lstm_cell` left them, (4, N, H).
        before: the cell states before the step, (N, H).
        tanh_c: the tanh of the cell states after it, (N, H).

    Returns:
        The derivatives by the gates' arguments, (4, N, H): of the hidden states for the output gate, of the cell states
        for the others; and those of the hidden states by the cell states, (N, H). The derivative of the cell states by
        the previous ones is the forget gate.
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
    """Remove from the act what has been generated (Wen et al. 2015b, section 3.1).

    Args:
        reading: half the argument of the reading gate, (N, D); overwritten with the gate.
        before: what is left of the act before the step, (N, D).
        act_kernel: from the act to the cell, (D, H).
        d: output, what is left of the act after the step, (N, D).
        read: output, what the act adds to the cell, (N, H).
    """
    sigmoid_of_double(reading)
    np.multiply(reading, before, out=d)
    np.matmul(d, act_kernel, out=read)
    np.tanh(read, out=read)


def reading_cell_factors(reading: Floats, before: Floats, read: Floats) -> tuple[Floats, Floats]:
    """Return the local derivatives of `reading_cell` for backpropagation.

    Args:
        reading, before, read: as `reading_cell` left them.

    Returns:
        The derivatives of d by the reading gate's argument, (N, D), and those of `read` by the product of d and the
        act's kernel, (N, H). The derivative of d by `before` is the reading gate.
    """
    to_reading = 1.0 - reading
    to_reading *= reading
    to_reading *= before
    return to_reading, tanh_factors(read)


def tanh_factors(y: Floats) -> Floats:
    """Return the derivative of tanh, 1 - y^2, given its value y."""
    factors: Floats = np.multiply(y, y)
    np.subtract(1.0, factors, out=factors)
    return factors
