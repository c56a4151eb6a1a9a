"""The loop of an LSTM, with or without an act, over whole sentences and back again, in NumPy.

On a processor the products of one step are so small that a framework spends most of its time between them. Here a
step is some fifteen calls forth and as many back, no step touches a sentence that has ended, the four gates lie apart
so that each call meets one piece of memory, and what need not wait for its step (what slopes are multiplied with, the
kernels' slopes) is done for all words at once before or after the loop. `layers.cells` has the equations;
`tests/test_gradients.py` holds the two together.

Shape letters: B sentences, M their words, H hidden units, D entries of the act. Gates stand in the order input,
forget, output, candidate. A slope is the loss's derivative in the array of the same shape.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

Floats = NDArray[np.float32]
Ints = NDArray[np.integer]

HALVES = np.array([0.5, 0.5, 0.5, 1.0], np.float32)[:, None, None]
"""Of the gates, whose first three are sigmoids."""


class Packing:
    """Sentences of falling length, packed: first all their first words, then all second words, and so on.

    States are packed alike, but with the B first ones before them: (B + M, ...).

    Args:
        lengths: of the sentences, falling, none zero, (B,).

    Attributes:
        count: B.
        rows, times: the sentence of each word, and its place there, (M,).
        before: where the state before each word stands, (M,).
        last: where the last state of each sentence stands, (B,).
        steps: of each step the slice of its words, and of the states before and after them.
    """

    def __init__(self, lengths: Ints) -> None:
        self.count = count = len(lengths)
        live = np.count_nonzero(lengths > np.arange(lengths.max(initial=0))[:, None], axis=1)
        ends = np.cumsum(live)
        self.times = np.repeat(np.arange(len(live)), live)
        self.rows = np.arange(len(self.times)) - np.repeat(ends - live, live)
        places = np.concatenate([[0], count + ends - live])
        self.before = np.repeat(places[:-1], live) + self.rows
        self.last = places[lengths] + np.arange(count)
        self.steps = [
            (slice(end - n, end), slice(place, place + n), slice(count + end - n, count + end))
            for n, end, place in zip(live.tolist(), ends.tolist(), places.tolist(), strict=False)
        ]

    def states(self, size: int) -> Floats:
        """Return an array for states, (B + M, size), the first ones zero."""
        states = np.empty((self.count + len(self.rows), size), np.float32)
        states[: self.count] = 0.0
        return states

    def sum_steps(self, x: Floats) -> Floats:
        """Return the sum of each sentence's words, (..., B, N), of (..., M, N)."""
        sums = np.zeros((*x.shape[:-2], self.count, x.shape[-1]), np.float32)
        for words, _, _ in self.steps:
            sums[..., : words.stop - words.start, :] += x[..., words, :]
        return sums


class LSTMLoop:
    """One pass over a batch: `forward` once, then, where slopes are wanted, `backward` once.

    Args:
        packing: of the sentences.
        kernels: what the hidden state adds to each gate, (4, H, H).

    Attributes:
        h: the hidden states, (B + M, H).
    """

    def __init__(self, packing: Packing, kernels: Floats) -> None:
        self.packing, self.kernels = packing, kernels
        size = kernels.shape[-1]
        self.h, self.c, self._tanh_c = (packing.states(size) for _ in range(3))

    def forward(self, gates: Floats) -> Floats:
        """Run over the sentences and return the hidden state after each word, (M, H).

        Args:
            gates: what does not depend on the loop, (4, M, H); overwritten.
        """
        self.gates = gates
        # A sigmoid is half a tanh, NumPy's fastest curve, of half the argument, plus a half.
        gates[:3] *= 0.5
        kernels = self.kernels * HALVES
        products, parts = np.empty_like(gates[:, : self.packing.count]), np.empty_like(gates[0, : self.packing.count])
        for words, before, after in self.packing.steps:
            now, c, tanh_c = gates[:, words], self.c[after], self._tanh_c[after]
            product, part = products[:, : len(c)], parts[: len(c)]
            now += np.matmul(self.h[before], kernels, out=product)
            np.tanh(now, out=now)
            now[:3] *= 0.5
            now[:3] += 0.5
            np.multiply(now[1], self.c[before], out=c)
            c += np.multiply(now[0], now[3], out=part)
            self.step(words, before, after)
            np.tanh(c, out=tanh_c)
            np.multiply(now[2], tanh_c, out=self.h[after])
        return self.h[self.packing.count :]

    def step(self, words: slice, before: slice, after: slice) -> None:
        """Add to the cells of a step what a subclass adds."""

    def backward(self, slopes: Floats) -> Floats:
        """Run back and return the slopes of the gates, (4, M, H); `gates` are these from now on.

        Args:
            slopes: of the hidden states after each word, from outside the loop, (M, H).
        """
        from_gates = np.ascontiguousarray(self.kernels.transpose(0, 2, 1))
        forget, through, from_hidden = self._factors()
        all_dh, all_dc, parts = (np.zeros((self.packing.count, slopes.shape[1]), np.float32) for _ in range(3))
        products = np.empty_like(through[:, : self.packing.count])
        for words, _, _ in reversed(self.packing.steps):
            live = words.stop - words.start
            now, dh, dc, product = through[:, words], all_dh[:live], all_dc[:live], products[:, :live]
            dh += slopes[words]
            dc += np.multiply(dh, from_hidden[words], out=parts[:live])
            now[:2] *= dc
            now[2] *= dh
            now[3] *= dc
            more = self.step_back(words, dc)
            dc *= forget[words]
            np.add.reduce(np.matmul(now, from_gates, out=product), axis=0, out=dh)
            if more is not None:
                dh += more
        self.gates = through
        return through

    def _factors(self) -> tuple[Floats, Floats, Floats]:
        """Return what slopes of the cells are multiplied with on their way back through a step.

        Returns:
            To the cells before it, (M, H); to the gates, (4, M, H), of the output gate from the hidden states; and from
            the hidden states to the cells, (M, H).
        """
        i, f, o, g = self.gates
        tanh_c = self._tanh_c[self.packing.count :]
        through = 1.0 - self.gates
        through[:3] *= self.gates[:3]
        through[0] *= g
        through[1] *= np.take(self.c, self.packing.before, axis=0)
        through[2] *= tanh_c
        through[3] *= 1.0 + g
        through[3] *= i
        from_hidden = np.multiply(tanh_c, tanh_c)
        np.subtract(1.0, from_hidden, out=from_hidden)
        from_hidden *= o
        return f, through, from_hidden

    def step_back(self, words: slice, dc: Floats) -> Floats | None:
        """Return what a subclass adds to the slopes of the hidden states before a step."""
        return None

    def kernel_slopes(self) -> Floats:
        """Return, after `backward`, the slopes of the kernels, (4, H, H)."""
        slopes: Floats = self.h[self.packing.before].T @ self.gates
        return slopes


class SCLSTMLoop(LSTMLoop):
    """The same for the semantically controlled LSTM, which carries the act.

    Args:
        packing: of the sentences.
        kernels: see `LSTMLoop`.
        reading_kernel: what the hidden state adds to the reading gate, (H, D).
        act_kernel: what the act adds to the cell, (D, H).
        act: the DA vectors, (B, D).
        reading: the reading gate without the loop, (M, D); overwritten.

    Attributes:
        d: what is left of the acts, (B + M, D), the first being the whole ones.
        reading: after `backward`, the slopes of the reading gate, (M, D).
    """

    def __init__(
        self,
        packing: Packing,
        kernels: Floats,
        reading_kernel: Floats,
        act_kernel: Floats,
        act: Floats,
        reading: Floats,
    ) -> None:
        super().__init__(packing, kernels)
        self.reading_kernel, self.act_kernel, self.reading = reading_kernel, act_kernel, reading
        self.d, self._struck = packing.states(act.shape[1]), packing.states(kernels.shape[-1])
        self.d[: packing.count] = act
        # See `LSTMLoop.forward`.
        self._halved = 0.5 * reading_kernel
        reading *= 0.5

    def step(self, words: slice, before: slice, after: slice) -> None:
        """Read, strike out, and add what is left of the act to the cell."""
        r, d, struck = self.reading[words], self.d[after], self._struck[after]
        r += self.h[before] @ self._halved
        np.tanh(r, out=r)
        r *= 0.5
        r += 0.5
        np.multiply(r, self.d[before], out=d)
        np.matmul(d, self.act_kernel, out=struck)
        self.c[after] += np.tanh(struck, out=struck)

    def start_back(self, slopes: Floats) -> None:
        """Take, before `backward`, the slopes of the acts after each word from outside the loop, (M, D)."""
        self._d_slopes, self._dd = slopes, np.zeros_like(self.d[: self.packing.count])
        self._kept, first = self.reading, self.packing.count
        # What slopes are multiplied with, as in `LSTMLoop`; the slopes then take their place.
        self.reading = 1.0 - self._kept
        self.reading *= self._kept
        self.reading *= np.take(self.d, self.packing.before, axis=0)
        self._strike = np.multiply(self._struck[first:], self._struck[first:])
        np.subtract(1.0, self._strike, out=self._strike)

    def step_back(self, words: slice, dc: Floats) -> Floats:
        """Return what the reading gate adds to the slopes of the hidden states before."""
        slopes, strike = self.reading[words], self._strike[words]
        dd = self._dd[: len(dc)]
        strike *= dc
        dd += self._d_slopes[words]
        dd += strike @ self.act_kernel.T
        slopes *= dd
        dd *= self._kept[words]
        more: Floats = slopes @ self.reading_kernel.T
        return more

    def reading_kernel_slopes(self) -> Floats:
        """Return, after `backward`, the slopes of the reading gate's kernel, (H, D)."""
        slopes: Floats = self.h[self.packing.before].T @ self.reading
        return slopes

    def act_kernel_slopes(self) -> Floats:
        """Return, after `backward`, the slopes of the act's kernel, (D, H)."""
        slopes: Floats = self.d[self.packing.count :].T @ self._strike
        return slopes


def apart(x: Floats, order: tuple[int, ...] = (0, 1, 2, 3)) -> Floats:
    """Return (N, 4H) as (4, N, H), its four parts in another order."""
    return np.ascontiguousarray(x.reshape(len(x), 4, -1).transpose(1, 0, 2)[list(order)])


def together(x: Floats, order: tuple[int, ...] = (0, 1, 2, 3)) -> Floats:
    """Return (4, N, H) as (N, 4H): the way back from `apart`."""
    return x[np.argsort(order)].transpose(1, 0, 2).reshape(x.shape[1], -1)


class LookUp:
    """Rows looked up by number, seen from the slopes: a row that was looked up twice has the slopes of both.

    Args:
        index: the numbers, (N,).
        count: of the rows.
    """

    def __init__(self, index: Ints, count: int) -> None:
        order = np.argsort(index, kind="stable")
        ends = np.cumsum(np.bincount(index, minlength=count))
        ones = np.ones(len(index), np.float32)
        self._chosen = csr_array((ones, order, np.concatenate([[0], ends])), shape=(count, len(index)))

    def back(self, slopes: Floats) -> Floats:
        """Return the slopes of the rows, (count, H) or (4, count, H), given those of what was found, (N, H) or so."""
        sums: Floats = self._chosen @ slopes if slopes.ndim == 2 else np.stack([self._chosen @ part for part in slopes])
        return sums
