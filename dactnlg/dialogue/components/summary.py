"""Means of components over many conversations, with intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t

from dactnlg.dialogue.components.table import ComponentTable

Array = NDArray[np.float64]
CONFIDENCE = 0.95


@dataclass(frozen=True)
class ComponentMeans:
    """Means over conversations.

    Attributes:
        names: F components.
        means: (F,); NaN if no conversation has a value.
        errors: half the width of the 95% interval (Student's t), (F,); NaN for fewer than two values.
        counts: conversations with a value, (F,).
    """

    names: tuple[str, ...]
    means: Array
    errors: Array
    counts: NDArray[np.int64]

    def cell(self, name: str) -> str:
        """Return a component formatted for a table: `0.250 ± 0.030`."""
        at = self.names.index(name)
        mean, error = float(self.means[at]), float(self.errors[at])
        if math.isnan(mean):
            return "-"
        return f"{mean:.3f}" if math.isnan(error) else f"{mean:.3f} ± {error:.3f}"

    def to_json(self) -> dict[str, Any]:
        """Return component -> mean, interval and number of conversations; undefined values are None."""
        found: dict[str, Any] = {}
        for name, mean, error, count in zip(self.names, self.means, self.errors, self.counts, strict=True):
            interval = None if math.isnan(error) else [float(mean - error), float(mean + error)]
            value = None if math.isnan(mean) else float(mean)
            found[name] = {"value": value, "interval": interval, "conversations": int(count)}
        return found


def component_means(table: ComponentTable) -> ComponentMeans:
    """Return the mean of each component over the conversations that have a value for it."""
    counts = (~np.isnan(table.values)).sum(axis=0)
    means, errors = np.full((2, len(table.names)), np.nan)
    for at, count in enumerate(counts):
        known = table.values[:, at][~np.isnan(table.values[:, at])]
        if count:
            means[at] = known.mean()
        if count > 1:
            errors[at] = half_interval(known, CONFIDENCE)
    return ComponentMeans(table.names, means, errors, counts)


def half_interval(values: Array, confidence: float) -> Array:
    """Return half the width of the interval of a mean (Student's t) over the first axis: (N, ...) -> (...)."""
    found: Array = values.std(axis=0, ddof=1) / math.sqrt(len(values)) * t.ppf(0.5 + confidence / 2, len(values) - 1)
    return found
