"""The loop of an LSTM, with or without an act, over whole sentences and back again, in NumPy.

On a processor the products of one step are so small that a framework spends most of its time between them. Here a
step is some fifteen calls forth and twenty-five back, the four gates lie apart so that each call meets one piece of
memory, and what need not wait for its step (the kernels' slopes) is one large product after the loop. `layers.cells`
has the equations; `tests/test_gradients.py` holds the two together.

Shape letters: T time, B batch, H hidden units, D entries of the act. Gates stand in the order input, forget, output,
candidate. A slope is the loss's derivative in the array of the same shape.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Ints = NDArray[np.integer]


class LSTMLoop:
    """One pass over a batch: `forward` once, then, where slopes are wanted, `backward` once.

    Args:
        kernels: what the hidden state adds to each gate, (4, H, H).
    """

    def __init__(self, kernels: Floats) -> None:
        self.kernels = kernels
        self.gates = self.h = self.c = self._tanh_c = np.empty(0, np.float32)

    def forward(self, gates: Floats) -> Floats:
        """Run over the sentences and return the hidden states, (T + 1, B, H), the first being zero.

        Args:
            gates: what does not depend on the loop, (4, T, B, H); overwritten.
        """
        _, steps, batch, size = gates.shape
        self.gates = gates
        self.h, self.c = (np.empty((steps + 1, batch, size), np.float32) for _ in range(2))
        self._tanh_c = np.empty((steps, batch, size), np.float32)
        self.h[0] = self.c[0] = 0.0
        product, part = np.empty((4, batch, size), np.float32), np.empty((batch, size), np.float32)
        for t in range(steps):
            now, c = gates[:, t], self.c[t + 1]
            np.matmul(self.h[t], self.kernels, out=product)
            now += product
            sigmoid(now[:3])
            np.tanh(now[3], out=now[3])
            np.multiply(now[1], self.c[t], out=c)
            np.multiply(now[0], now[3], out=part)
            c += part
            self.step(t, c)
            np.tanh(c, out=self._tanh_c[t])
            np.multiply(now[2], self._tanh_c[t], out=self.h[t + 1])
        return self.h

    def step(self, t: int, c: Floats) -> None:
        """Add to a cell, (B, H), what a subclass adds."""

    def backward(self, slopes: Floats) -> Floats:
        """Run back and return the slopes of the gates, (4, T, B, H), in the place of the gates.

        Args:
            slopes: of the hidden states but the first, from outside the loop, (T, B, H).
        """
        from_gates = np.ascontiguousarray(self.kernels.transpose(0, 2, 1))
        dh, dc, part = (np.zeros(self.h.shape[1:], np.float32) for _ in range(3))
        out, product = np.empty_like(self.gates[:, 0]), np.empty_like(self.gates[:, 0])
        for t in reversed(range(len(slopes))):
            now, tanh_c = self.gates[:, t], self._tanh_c[t]
            i, f, o, g = now
            dh += slopes[t]
            np.multiply(dh, tanh_c, out=out[2])
            # dc += dh * o * (1 - tanh(c)^2)
            dh *= o
            dc += dh
            np.multiply(tanh_c, tanh_c, out=part)
            part *= dh
            dc -= part
            np.multiply(dc, g, out=out[0])
            np.multiply(dc, self.c[t], out=out[1])
            np.multiply(dc, i, out=out[3])
            more = self.step_back(t, dc)
            dc *= f
            through_sigmoid(out[:3], now[:3])
            through_tanh(out[3], g)
            np.matmul(out, from_gates, out=product)
            np.add.reduce(product, axis=0, out=dh)
            if more is not None:
                dh += more
            now[...] = out
        return self.gates

    def step_back(self, t: int, dc: Floats) -> Floats | None:
        """Return what a subclass adds to the slope of the hidden state before step t, (B, H)."""
        return None

    def kernel_slopes(self, found: Floats) -> Floats:
        """Return the slopes of the kernels, (4, H, H), from those of the gates."""
        size = self.h.shape[-1]
        return self.h[:-1].reshape(-1, size).T @ found.reshape(4, -1, size)


class SCLSTMLoop(LSTMLoop):
    """The same for the semantically controlled LSTM, which carries the act.

    Args:
        kernels: see `LSTMLoop`.
        reading_kernel: what the hidden state adds to the reading gate, (H, D).
        act_kernel: what the act adds to the cell, (D, H).

    Attributes:
        d: the acts, (T + 1, B, D), the first being the whole one.
    """

    def __init__(self, kernels: Floats, reading_kernel: Floats, act_kernel: Floats) -> None:
        super().__init__(kernels)
        self.reading_kernel, self.act_kernel = reading_kernel, act_kernel
        self.d = self._reading = self._struck = self._d_slopes = self._dd = np.empty(0, np.float32)

    def start(self, reading: Floats, act: Floats) -> None:
        """Take, before `forward`, the acts (B, D) and the reading gate without the loop, (T, B, D); overwritten."""
        steps = len(reading)
        self._reading = reading
        self.d = np.empty((steps + 1, *act.shape), np.float32)
        self.d[0] = act
        self._struck = np.empty((steps, len(act), self.kernels.shape[-1]), np.float32)

    def step(self, t: int, c: Floats) -> None:
        """Read, strike out, and add what is left of the act to the cell."""
        r, struck = self._reading[t], self._struck[t]
        r += self.h[t] @ self.reading_kernel
        sigmoid(r)
        np.multiply(r, self.d[t], out=self.d[t + 1])
        np.matmul(self.d[t + 1], self.act_kernel, out=struck)
        c += np.tanh(struck, out=struck)

    def start_back(self, slopes: Floats) -> None:
        """Take, before `backward`, the slopes of the acts but the first from outside the loop, (T, B, D)."""
        # They make way for the slopes of the reading gate as the loop goes back.
        self.reading_slopes = slopes
        self._dd = np.zeros_like(self.d[0])

    def step_back(self, t: int, dc: Floats) -> Floats:
        """Return what the reading gate adds to the slope of the hidden state before."""
        r, struck, out, dd = self._reading[t], self._struck[t], self.reading_slopes[t], self._dd
        dd += out
        # The slope of what the act adds to the cell takes its place.
        slope = dc.copy()
        through_tanh(slope, struck)
        struck[:] = slope
        dd += struck @ self.act_kernel.T
        np.multiply(dd, self.d[t], out=out)
        dd *= r
        through_sigmoid(out, r)
        more: Floats = out @ self.reading_kernel.T
        return more

    def reading_kernel_slopes(self) -> Floats:
        """Return, after `backward`, the slopes of the reading gate's kernel, (H, D)."""
        slopes: Floats = self.h[:-1].reshape(-1, self.h.shape[-1]).T @ flat(self.reading_slopes)
        return slopes

    def act_kernel_slopes(self) -> Floats:
        """Return, after `backward`, the slopes of the act's kernel, (D, H)."""
        slopes: Floats = flat(self.d[1:]).T @ flat(self._struck)
        return slopes


def sigmoid(x: Floats) -> None:
    """Take the sigmoid of an array in its place."""
    # NumPy's tanh is the fastest of its curves, and a sigmoid is half of it at half the argument, plus a half.
    x *= 0.5
    np.tanh(x, out=x)
    x *= 0.5
    x += 0.5


def through_sigmoid(slopes: Floats, s: Floats) -> None:
    """Turn slopes of s = sigmoid(x) into those of x, in their place; s is overwritten."""
    slopes *= s
    np.subtract(1.0, s, out=s)
    slopes *= s


def through_tanh(slopes: Floats, y: Floats) -> None:
    """Turn slopes of y = tanh(x) into those of x, in their place; y is overwritten."""
    y *= y
    np.subtract(1.0, y, out=y)
    slopes *= y


def flat(x: Floats) -> Floats:
    """Return (T, B, N) as (T B, N)."""
    return x.reshape(-1, x.shape[-1])


def apart(x: Floats, order: tuple[int, ...] = (0, 1, 2, 3)) -> Floats:
    """Return (N, 4H) as (4, N, H), its four parts in another order."""
    return np.ascontiguousarray(x.reshape(len(x), 4, -1).transpose(1, 0, 2)[list(order)])


def together(x: Floats, order: tuple[int, ...] = (0, 1, 2, 3)) -> Floats:
    """Return (4, N, H) as (N, 4H): the way back from `apart`."""
    return x[np.argsort(order)].transpose(1, 0, 2).reshape(x.shape[1], -1)


def sum_by(index: Ints, rows: Floats, count: int) -> Floats:
    """Return the sum of the rows, (..., N, H), that have each number from 0 to count - 1 in `index`, (N,).

    This is how the slopes of a look-up are found: a row that was looked up twice has the slopes of both.
    """
    chosen = np.zeros((count, len(index)), np.float32)
    chosen[index, np.arange(len(index))] = 1.0
    sums: Floats = chosen @ rows
    return sums
