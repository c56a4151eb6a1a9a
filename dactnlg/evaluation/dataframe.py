"""Scores as pandas DataFrames; pandas is asked for only here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dactnlg.errors import MetricError

if TYPE_CHECKING:
    import pandas as pd

    from dactnlg.evaluation.scores import Scores


def score_frame(results: Sequence[Scores]) -> pd.DataFrame:
    """Return corpus scores as a DataFrame, one row a preset and score.

    Columns: `preset`, `score`, `value` (NaN where undefined), `low` and `high` (the 95% interval, if one of the results
    has intervals), `signature`, `hash`.

    Raises:
        MetricError: pandas is not installed.
    """
    pandas = _pandas()
    intervals = any(result.confidence for result in results)
    rows = []
    for result in results:
        bounds = result.confidence.intervals if result.confidence else {}
        for score in result.all_scores.values():
            low, high = bounds.get(score.name) or (None, None)
            row: dict[str, Any] = {"preset": result.preset, "score": score.name, "value": score.value}
            row |= {"low": low, "high": high} if intervals else {}
            rows.append(row | {"signature": score.signature, "hash": score.hash})
    numbers = ["value", *(["low", "high"] if intervals else [])]
    return pandas.DataFrame(rows).astype(dict.fromkeys(numbers, "float64"))


def segment_frame(result: Scores) -> pd.DataFrame:
    """Return the scores of segments as a DataFrame, one row a segment, in input order.

    Columns: `act`, `hypothesis` and `references` where they were kept, then one for each score, NaN where undefined.

    Raises:
        MetricError: pandas is not installed.
    """
    found = _pandas().DataFrame(result.segments, columns=list(result.scores))
    if result.records:
        for place, name in enumerate(("act", "hypothesis", "references")):
            found.insert(place, name, [row[name] for row in result.records])
    return found


def _pandas() -> Any:
    try:
        import pandas
    except ImportError:
        raise MetricError("to_frame() needs pandas: pip install 'dactnlg[pandas]'") from None
    return pandas
