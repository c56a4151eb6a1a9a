"""What every analysis returns: frozen numbers that name their method, and their form in JSON."""

from __future__ import annotations

import math
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

Bounds = tuple[float, float]


class Result:
    """Base of what an analysis returns; subclasses are frozen dataclasses.

    Each has a `method`, the estimator and the library that computes it. A number that is undefined is None, and
    `reason` says why.
    """

    def to_json(self) -> dict[str, Any]:
        """Return the fields as JSON has them: lists, texts, numbers, None where a number is not finite."""
        found: dict[str, Any] = _plain(self)
        return found


def _plain(value: Any) -> Any:
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
