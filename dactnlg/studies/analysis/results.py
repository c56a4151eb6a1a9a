"""The base class of results of analyses, and their conversion to JSON."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import numpy as np

Bounds = tuple[float, float]


@dataclass(frozen=True)
class Result:
    """Base class of the results of analyses; subclasses are frozen dataclasses.

    Most have a `method`, which names the estimator and its library. An undefined number is None, and `reason` says why.
    """

    def to_json(self) -> dict[str, Any]:
        """Return the fields as JSON types; numbers that are not finite become None."""
        return {field.name: _plain(getattr(self, field.name)) for field in fields(self)}


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
