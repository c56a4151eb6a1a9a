"""Tables of weights: a row of weights for each named feature."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Weights = NDArray[np.float32]
SMALL = 0.02
"""Features whose weights are all smaller are dropped: even hundreds of them change nothing."""


class Table:
    """Features, each with a row of weights.

    Args:
        features: names of the features.
        weights: (features, columns).
    """

    def __init__(self, features: Sequence[str], weights: Weights) -> None:
        self.features, self.weights = features, weights
        self._numbers = {feature: number for number, feature in enumerate(features)}

    def sum(self, features: Iterable[str]) -> Weights:
        """Return the sum of the rows of features, (columns,); unknown features are ignored."""
        known = self._numbers
        rows = [row for feature in features if (row := known.get(feature)) is not None]
        return np.add.reduce(self.weights[rows], axis=0)  # type: ignore[no-any-return]

    @classmethod
    def pruned(cls, features: Sequence[str], weights: NDArray[Any]) -> Table:
        """Return a table without features of negligible weight, its weights rounded to the float16 of files."""
        kept = np.flatnonzero(np.abs(weights).max(axis=1, initial=0.0) >= SMALL).tolist()
        return cls([features[row] for row in kept], weights[kept].astype(np.float16).astype(np.float32))
