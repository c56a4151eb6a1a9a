"""Hard constraints on generated sentences, written once for NumPy and Keras arrays.

A constraint tracks what a sentence still owes in an array, which a search carries in its state and reorders with it.
From this it determines which tokens may not come next and whether the sentence may end. The first argument of each
method is the array library: `numpy` or `keras.ops`.

Shape letters: B acts, N sentences (or B, K), V vocabulary, C items that can be owed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Array = Any


class Constraint(Protocol):
    """What a sentence must contain.

    Attributes:
        low, high: the range of token numbers, [low, high), that `forbidden` covers; empty if it never forbids any.
    """

    low: int
    high: int

    def advance(self, xp: Any, owed: Array, last: Array) -> Array:
        """Return what is still owed, (N, C), after the last tokens, (N,)."""

    def forbidden(self, xp: Any, owed: Array) -> Array:
        """Return which tokens of the range may not come next, (N, high - low)."""

    def pending(self, xp: Any, owed: Array) -> Array:
        """Return which sentences may not end yet, (N,)."""


class RequireSlots:
    """Requires every placeholder of the act exactly once, and forbids all others.

    The owed array, (B, C), starts with 1 for each required placeholder and 0 for the others.

    Args:
        kinds: the number of the placeholder that each token represents, from 0, or -1 for other tokens, (V,); the
            token numbers of placeholders must form one contiguous range.
        count: C, the number of placeholders.
    """

    def __init__(self, kinds: NDArray[np.int32], count: int) -> None:
        tokens = np.flatnonzero(kinds >= 0)
        self.low, self.high = (int(tokens[0]), int(tokens[-1]) + 1) if len(tokens) else (0, 0)
        self._kinds = kinds[self.low : self.high]
        self._placeholders = np.zeros((len(kinds), count), np.float32)
        self._placeholders[tokens, kinds[tokens]] = 1.0

    def advance(self, xp: Any, owed: Array, last: Array) -> Array:
        """Return what is still owed after the last tokens."""
        return owed - xp.take(self._placeholders, last, axis=0)

    def forbidden(self, xp: Any, owed: Array) -> Array:
        """Return which placeholders are not required, or no longer."""
        return xp.take(owed, self._kinds, axis=-1) < 0.5

    def pending(self, xp: Any, owed: Array) -> Array:
        """Return which sentences still lack a placeholder."""
        return xp.any(owed > 0.5, axis=-1)


class RequireWords:
    """Requires at least one word from each of some sets.

    The owed array, (B, C), starts with 1 for each required set and 0 for the others.

    Args:
        words: which sets each token belongs to, (V, C).
    """

    low = high = 0

    def __init__(self, words: NDArray[np.bool_]) -> None:
        self._others = 1.0 - words.astype(np.float32)

    def advance(self, xp: Any, owed: Array, last: Array) -> Array:
        """Return what is still owed after the last tokens."""
        return owed * xp.take(self._others, last, axis=0)

    def forbidden(self, xp: Any, owed: Array) -> Array:
        """Forbid nothing: return an array for an empty range of tokens."""
        return owed[..., :0] > 0.5

    def pending(self, xp: Any, owed: Array) -> Array:
        """Return which sentences still lack a word from a required set."""
        return xp.any(owed > 0.5, axis=-1)


@dataclass(frozen=True)
class Rules:
    """What a search may generate.

    Attributes:
        bos: the token that starts every sentence.
        eos: the token that ends a sentence.
        blocked: tokens that are never generated.
        constraints: applied to every sentence; a search's state ends with the owed array of each, in this order.
    """

    bos: int
    eos: int
    blocked: tuple[int, ...] = ()
    constraints: Sequence[Constraint] = ()
