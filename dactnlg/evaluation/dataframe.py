"""Scores as pandas DataFrames; only this module imports pandas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dactnlg.errors import MetricError
from dactnlg.metrics.base import Array

if TYPE_CHECKING:
    import pandas as pd


def from_rows(rows: Sequence[Mapping[str, Any]], numbers: Sequence[str]) -> pd.DataFrame:
    """Return a DataFrame of rows (column -> value); in the columns of `numbers`, None becomes NaN.

    Raises:
        MetricError: pandas is not installed.
    """
    return _pandas().DataFrame(rows).astype(dict.fromkeys(numbers, "float64"))


def from_array(values: Array, names: Sequence[str], texts: Mapping[str, Sequence[object]]) -> pd.DataFrame:
    """Return a DataFrame with the columns of `texts`, followed by those of an array, (N, K), called `names`.

    Raises:
        MetricError: pandas is not installed.
    """
    found = _pandas().DataFrame(values, columns=list(names))
    for place, (name, column) in enumerate(texts.items()):
        found.insert(place, name, column)
    return found


def _pandas() -> Any:
    try:
        import pandas
    except ImportError:
        raise MetricError("to_frame() needs pandas: pip install 'dactnlg[pandas]'") from None
    return pandas
