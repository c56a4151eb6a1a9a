"""Adam (Kingma and Ba 2015) over all weights at once, with clipping by global norm."""

from __future__ import annotations

import math

import numpy as np

from dactnlg.models.numpy.cells import Floats

BETA_1, BETA_2, EPSILON = 0.9, 0.999, 1e-7
"""Keras' own defaults."""


class Adam:
    """Updates weights by their gradient.

    Args:
        weights: all of them in one vector, (W,); changed in place.
        clip_norm: largest norm of the whole gradient.

    Attributes:
        mean, square: running means of the gradient and of its square, (W,).
        steps: taken so far.
    """

    def __init__(self, weights: Floats, clip_norm: float) -> None:
        self.weights, self.clip_norm, self.steps = weights, clip_norm, 0
        self.mean, self.square, self._work = (np.zeros_like(weights) for _ in range(3))

    def step(self, gradient: Floats, learning_rate: float) -> None:
        """Take one step as Keras' Adam does; the gradient, (W,), is clipped in place."""
        norm = math.sqrt(float(np.dot(gradient, gradient)))
        if norm > self.clip_norm:
            gradient *= np.float32(self.clip_norm / norm)
        self.steps += 1
        rate = learning_rate * math.sqrt(1 - BETA_2**self.steps) / (1 - BETA_1**self.steps)
        work = np.multiply(gradient, gradient, out=self._work)
        work -= self.square
        work *= np.float32(1 - BETA_2)
        self.square += work
        np.subtract(gradient, self.mean, out=work)
        work *= np.float32(1 - BETA_1)
        self.mean += work
        np.sqrt(self.square, out=work)
        work += np.float32(EPSILON)
        np.divide(self.mean, work, out=work)
        work *= np.float32(rate)
        self.weights -= work
