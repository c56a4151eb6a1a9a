"""What results of analyses share: their base class, the conversion to JSON, and Holm's correction."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Bounds = tuple[float, float]


@dataclass(frozen=True)
class Result:
    """Base class of the results of analyses; subclasses are frozen dataclasses.

    Most have a `method`, which names the estimator and its library. An undefined number is None, and `reason` says why.
    """

    def to_json(self) -> dict[str, Any]:
        """Return the fields as JSON types; numbers that are not finite become None."""
        return {field.name: _plain(getattr(self, field.name)) for field in fields(self)}


def holm(p: ArrayLike) -> NDArray[np.float64]:
    """Return p-values after Holm's correction (1979), in the same order.

    `multipletests` of statsmodels gives the same numbers, but collects the garbage of the whole program each time.
    """
    values = np.asarray(p, float)
    order = np.argsort(values)
    found = np.empty_like(values)
    found[order] = np.minimum(np.maximum.accumulate(values[order] * np.arange(len(values), 0, -1)), 1)
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, Result):
        return value.to_json()
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, dict):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
