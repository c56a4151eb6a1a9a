"""Hard constraints on what is generated, stated once for NumPy and Keras arrays.

A constraint counts what a sentence still owes, in an array that a search carries in its state and reorders with it. It
says which tokens may not come next and whether the sentence may not end yet. Which library computes is the first
argument of each method: `numpy` or `keras.ops`.

Shape letters: B acts, N sentences (or B, K), V vocabulary, C things that can be owed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Array = Any


class Constraint(Protocol):
    """What a sentence has to hold.

    Attributes:
        low, high: the stretch of tokens that `forbidden` is about; empty where it forbids none.
    """

    low: int
    high: int

    def advance(self, xp: Any, owed: Array, last: Array) -> Array:
        """Return what is owed, (N, C), after the last tokens, (N,)."""

    def forbidden(self, xp: Any, owed: Array) -> Array:
        """Return which tokens of the stretch may not come next, (N, high - low)."""

    def pending(self, xp: Any, owed: Array) -> Array:
        """Return which sentences may not end yet, (N,)."""


class RequireSlots:
    """Every required placeholder exactly once; no other placeholder.

    What is owed are the placeholders still to be generated: at first 1 for those required, (B, C).

    Args:
        kinds: for each token the placeholder that it stands for, numbered from 0, or -1, (V,); tokens that stand for
            placeholders are numbered in one stretch.
        count: C, how many placeholders there are.
    """

    def __init__(self, kinds: NDArray[np.int32], count: int) -> None:
        tokens = np.flatnonzero(kinds >= 0)
        self.low, self.high = (int(tokens[0]), int(tokens[-1]) + 1) if len(tokens) else (0, 0)
        self._kinds = kinds[self.low : self.high]
        self._placeholders = np.zeros((len(kinds), count), np.float32)
        self._placeholders[tokens, kinds[tokens]] = 1.0

    def advance(self, xp: Any, owed: Array, last: Array) -> Array:
        """Return what is owed after the last tokens."""
        return owed - xp.take(self._placeholders, last, axis=0)

    def forbidden(self, xp: Any, owed: Array) -> Array:
        """Return which placeholders are not required, or not any more."""
        return xp.take(owed, self._kinds, axis=-1) < 0.5

    def pending(self, xp: Any, owed: Array) -> Array:
        """Return which sentences still lack a placeholder."""
        return xp.any(owed > 0.5, axis=-1)


class RequireWords:
    """At least one word of every set that is owed: at first 1 for each of these sets, (B, C).

    Args:
        words: for each token the sets that it belongs to, (V, C).
    """

    low = high = 0

    def __init__(self, words: NDArray[np.bool_]) -> None:
        self._others = 1.0 - words.astype(np.float32)

    def advance(self, xp: Any, owed: Array, last: Array) -> Array:
        """Return what is owed after the last tokens."""
        return owed * xp.take(self._others, last, axis=0)

    def forbidden(self, xp: Any, owed: Array) -> Array:
        """Return no token."""
        return owed[..., :0] > 0.5

    def pending(self, xp: Any, owed: Array) -> Array:
        """Return which sentences still lack a word of a set."""
        return xp.any(owed > 0.5, axis=-1)


@dataclass(frozen=True)
class Rules:
    """What a search may generate.

    Attributes:
        bos: the token that every sentence begins with.
        eos: the token that ends a sentence.
        blocked: tokens that are never generated.
        constraints: on every sentence; a search's state ends with what each of them is owed, in this order.
    """

    bos: int
    eos: int
    blocked: tuple[int, ...] = ()
    constraints: Sequence[Constraint] = ()
