"""The loop of an LSTM cell, with or without an act, over whole sentences, forward and backward, in NumPy.

On a CPU the matrix products of one step are so small that a framework's overhead dominates. Here a step is some fifteen
calls forward and as many backward, skips sentences that have ended, and stores the four gates separately so that each
call works on contiguous memory; whatever does not depend on the loop (local derivatives, the kernels' gradients) is
computed for all tokens at once before or after it. `cells` has the equations.

Shape letters: B sentences, M their tokens, H hidden units, D entries of the act.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from dactnlg.models.numpy.cells import (
    HALVES,
    Floats,
    lstm_cell,
    lstm_cell_factors,
    reading_cell,
    reading_cell_factors,
)

Ints = NDArray[np.integer]


class Packing:
    """Packed sentences, sorted by descending length: first all their first tokens, then all second tokens, and so on.

    States are packed likewise, but preceded by the B initial ones: (B + M, ...).

    Args:
        lengths: of the sentences, descending, none zero, (B,).

    Attributes:
        count: B.
        rows, times: the sentence of each token, and its position in it, (M,).
        before: the index of the state before each token, (M,).
        last: the index of the last state of each sentence, (B,).
        steps: for each step the slices of its tokens, of the states before them and of the states after them.
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
        """Return an array for states, (B + M, size), with the initial ones zero."""
        states = np.empty((self.count + len(self.rows), size), np.float32)
        states[: self.count] = 0.0
        return states

    def sum_steps(self, x: Floats) -> Floats:
        """Return the sums over each sentence's tokens, (..., M, N) -> (..., B, N)."""
        sums = np.zeros((*x.shape[:-2], self.count, x.shape[-1]), np.float32)
        for tokens, _, _ in self.steps:
            sums[..., : tokens.stop - tokens.start, :] += x[..., tokens, :]
        return sums


class LSTMLoop:
    """One pass over a batch: call `forward` once, then, if gradients are needed, `backward` once.

    Args:
        packing: of the sentences.
        kernels: from the hidden state to each gate, (4, H, H).

    Attributes:
        h: the hidden states, (B + M, H).
        gates: after `forward` the gates, after `backward` the gradients of their arguments, (4, M, H).
        first_gradients: after `backward`, those of the initial hidden states and cell states, (B, H) each.
    """

    def __init__(self, packing: Packing, kernels: Floats) -> None:
        self.packing, self.kernels = packing, kernels
        size = kernels.shape[-1]
        self.h, self.c, self._tanh_c = (packing.states(size) for _ in range(3))

    def forward(self, gates: Floats) -> Floats:
        """Run over the sentences and return the hidden state after each token, (M, H).

        Args:
            gates: the non-recurrent part of the gates' arguments, (4, M, H); overwritten.
        """
        self.gates = gates
        gates[:3] *= 0.5
        kernels = self.kernels * HALVES
        products = np.empty_like(gates[:, : self.packing.count])
        h, c, tanh_c = self.h, self.c, self._tanh_c
        for tokens, before, after in self.packing.steps:
            now = gates[:, tokens]
            now += np.matmul(h[before], kernels, out=products[:, : now.shape[1]])
            lstm_cell(now, c[before], c[after], tanh_c[after], h[after], self.extra(tokens, before, after))
        return h[self.packing.count :]

    def extra(self, tokens: slice, before: slice, after: slice) -> Floats | None:
        """Return what a subclass adds to the cell states of a step, (N, H), or None."""
        return None

    def backward(self, gradients: Floats) -> Floats:
        """Backpropagate and return the gradients of the gates' arguments, (4, M, H).

        Args:
            gradients: of the hidden states after each token, from outside the loop, (M, H).
        """
        packing = self.packing
        from_gates = np.ascontiguousarray(self.kernels.transpose(0, 2, 1))
        forget = self.gates[1]
        cells_before = np.take(self.c, packing.before, axis=0)
        through, from_hidden = lstm_cell_factors(self.gates, cells_before, self._tanh_c[packing.count :])
        all_dh, all_dc, parts = (np.zeros((packing.count, gradients.shape[1]), np.float32) for _ in range(3))
        products = np.empty_like(through[:, : packing.count])
        for tokens, _, _ in reversed(packing.steps):
            live = tokens.stop - tokens.start
            now, dh, dc, product = through[:, tokens], all_dh[:live], all_dc[:live], products[:, :live]
            dh += gradients[tokens]
            dc += np.multiply(dh, from_hidden[tokens], out=parts[:live])
            now[:2] *= dc
            now[2] *= dh
            now[3] *= dc
            more = self.extra_gradients(tokens, dc)
            dc *= forget[tokens]
            np.add.reduce(np.matmul(now, from_gates, out=product), axis=0, out=dh)
            if more is not None:
                dh += more
        self.gates, self.first_gradients = through, (all_dh, all_dc)
        return through

    def extra_gradients(self, tokens: slice, dc: Floats) -> Floats | None:
        """Return what a subclass adds to the gradients of the hidden states before a step, (N, H), or None."""
        return None

    def kernel_gradients(self) -> Floats:
        """Return, after `backward`, the gradients of the kernels, (4, H, H)."""
        gradients: Floats = self.h[self.packing.before].T @ self.gates
        return gradients


class SCLSTMLoop(LSTMLoop):
    """The loop of the semantically controlled LSTM, which carries the act.

    Args:
        packing: of the sentences.
        kernels: see `LSTMLoop`.
        reading_kernel: from the hidden state to the reading gate, (H, D).
        act_kernel: from the act to the cell, (D, H).
        act: the DA vectors, (B, D).
        reading: the non-recurrent part of the reading gate's argument, (M, D); overwritten.

    Attributes:
        d: what is left of the acts, (B + M, D), the initial ones being the whole acts.
        reading: after `backward`, the gradients of the reading gate's argument, (M, D).
    """

    def __init__(
        self,
        packing: Packing,
        kernels: Floats,
        *,
        reading_kernel: Floats,
        act_kernel: Floats,
        act: Floats,
        reading: Floats,
    ) -> None:
        super().__init__(packing, kernels)
        self.reading_kernel, self.act_kernel, self.reading = reading_kernel, act_kernel, reading
        self.d, self._read = packing.states(act.shape[1]), packing.states(kernels.shape[-1])
        self.d[: packing.count] = act
        # Half the argument; see `cells`.
        self._halved = 0.5 * reading_kernel
        reading *= 0.5

    def extra(self, tokens: slice, before: slice, after: slice) -> Floats:
        """Remove from the acts what has been generated, and return what they add to the cell states, (N, H)."""
        reading, read = self.reading[tokens], self._read[after]
        reading += self.h[before] @ self._halved
        reading_cell(reading, self.d[before], self.act_kernel, self.d[after], read)
        return read

    def start_back(self, gradients: Floats) -> None:
        """Set the gradients, from outside the loop, of the acts after each token, (M, D); call it before `backward`."""
        first = self.packing.count
        self._d_gradients, self._dd = gradients, np.zeros_like(self.d[:first])
        self._gate = self.reading
        acts_before = np.take(self.d, self.packing.before, axis=0)
        # `extra_gradients` overwrites these derivatives with the gradients.
        self.reading, self._to_act = reading_cell_factors(self._gate, acts_before, self._read[first:])

    def extra_gradients(self, tokens: slice, dc: Floats) -> Floats:
        """Return what the reading gate adds to the gradients of the hidden states before a step, (N, H)."""
        gradients, to_act = self.reading[tokens], self._to_act[tokens]
        dd = self._dd[: len(dc)]
        to_act *= dc
        dd += self._d_gradients[tokens]
        dd += to_act @ self.act_kernel.T
        gradients *= dd
        dd *= self._gate[tokens]
        more: Floats = gradients @ self.reading_kernel.T
        return more

    def reading_kernel_gradients(self) -> Floats:
        """Return, after `backward`, the gradients of the reading kernel, (H, D)."""
        gradients: Floats = self.h[self.packing.before].T @ self.reading
        return gradients

    def act_kernel_gradients(self) -> Floats:
        """Return, after `backward`, the gradients of the act kernel, (D, H)."""
        gradients: Floats = self.d[self.packing.count :].T @ self._to_act
        return gradients


def apart(x: Floats) -> Floats:
    """Split gates, (N, 4H), into (4, N, H)."""
    return np.ascontiguousarray(x.reshape(len(x), 4, -1).transpose(1, 0, 2))


def together(x: Floats) -> Floats:
    """Undo `apart`, (4, N, H) -> (N, 4H)."""
    return x.transpose(1, 0, 2).reshape(x.shape[1], -1)


class LookUp:
    """The gradient of looking up rows by index: a row that was looked up twice gets the sum of both gradients.

    Args:
        index: the indices looked up, (N,).
        count: of the rows.
    """

    def __init__(self, index: Ints, count: int) -> None:
        order = np.argsort(index, kind="stable")
        ends = np.cumsum(np.bincount(index, minlength=count))
        ones = np.ones(len(index), np.float32)
        self._chosen = csr_array((ones, order, np.concatenate([[0], ends])), shape=(count, len(index)))

    def back(self, gradients: Floats) -> Floats:
        """Return the gradients of the rows, (count, H) or (4, count, H), given those of the looked-up rows."""
        if gradients.ndim == 2:
            sums: Floats = self._chosen @ gradients
            return sums
        return np.stack([self._chosen @ part for part in gradients])
