"""Ratings of people who use a scale differently, made comparable: each rater's own mean, spread or order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dactnlg.errors import UnknownNameError
from dactnlg.studies.analysis.results import Result
from dactnlg.studies.ratings import Ratings, RatingsError, by

Way = Literal["none", "z", "centred", "rank"]
METHODS: dict[str, str] = {
    "none": "ratings as they were given",
    "z": "each rater's ratings under a criterion less their mean, over their standard deviation (n - 1)",
    "centred": "each rater's ratings under a criterion less their mean",
    "rank": "the places of each rater's ratings under a criterion, ties at their mean, as (place - .5) / number, from "
    "0 to 1 (scipy rankdata)",
}
_WIDE = 2.0
"""Raters whose ranges differ by this factor, or whose ranges do not meet, have not used one scale."""


@dataclass(frozen=True)
class Normalized(Result):
    """Ratings in other units.

    Attributes:
        ratings: the judgements that have a value still.
        left_out: raters (with the criterion) whose ratings say nothing: all equal, or one alone.
        method: what was done.
        notes: what should be told.
    """

    ratings: Ratings
    left_out: tuple[str, ...]
    method: str
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return what was done, without the ratings."""
        return {"left_out": list(self.left_out), "method": self.method, "notes": list(self.notes)}


def normalize(ratings: Ratings, way: Way) -> Normalized:
    """Return each rater's ratings in units of their own, by criterion.

    Where raters see different systems or items, a rater who was shown the better ones loses that difference: balanced
    blocks, or the mixed-effects model, do not.

    Args:
        ratings: the judgements.
        way: `z`, `centred`, `rank`, or `none`.

    Raises:
        UnknownNameError: another way.
        RatingsError: no ratings are left.
    """
    if way not in METHODS:
        raise UnknownNameError("normalization", way, METHODS)
    if way == "none":
        return Normalized(ratings, (), METHODS[way], ratings.notes)
    rows: list[Mapping[str, Any]] = []
    left_out = []
    for (rater, criterion), own in by(ratings.rows, "rater", "criterion"):
        values = np.array([row["value"] for row in own])
        if np.ptp(values) == 0:
            left_out.append(f"{rater} ({criterion})")
            continue
        rows += [{**row, "value": float(value)} for row, value in zip(own, _scaled(values, way), strict=True)]
    if not rows:
        raise RatingsError(f"every rater has given one value alone: there is nothing to normalize ({way})")
    told = (f"{len(left_out)} raters gave one value alone and are left out: {_some(left_out)}",) if left_out else ()
    return Normalized(Ratings(rows, ratings.notes), tuple(left_out), METHODS[way], told)


def scale_notes(ratings: Ratings) -> tuple[str, ...]:
    """Return a sentence for each criterion whose raters seem to have used different scales.

    The middle four fifths of two raters' values do not meet, or the widest tenth of them is twice as wide as the median
    and more: values of 1 to 5 beside values of 0 to 100, or magnitudes. A rater with fewer than three ratings is not
    looked at.
    """
    found = []
    for criterion in ratings.names("criterion"):
        ends = []
        for _, own in by(ratings.where(criterion=criterion).rows, "rater"):
            values = [row["value"] for row in own]
            if len(values) > 2:
                ends.append((*np.quantile(values, (0.1, 0.9)), min(values), max(values)))
        if len(ends) < 2:
            continue
        low, high, least, most = np.array(ends).T
        apart = float(low.max()) > float(high.min())
        # Of the lengths of ranges, a tenth may be odd.
        widths = high - low
        wide = float(np.quantile(widths, 0.9)) > _WIDE * float(np.median(widths)) > 0
        if wide or (apart and float(low.max()) - float(high.min()) > float(np.median(widths))):
            found.append(
                f"raters have used different scales for {criterion} (from {least[most.argmin()]:g}-{most.min():g} to "
                f"{least[most.argmax()]:g}-{most.max():g}): means mix them; normalize, or use ranks"
            )
    return tuple(found)


def _scaled(values: NDArray[Any], way: Way) -> NDArray[Any]:
    if way == "rank":
        from scipy.stats import rankdata

        places: NDArray[Any] = (rankdata(values) - 0.5) / len(values)
        return places
    centred: NDArray[Any] = values - values.mean()
    if way == "z":
        centred /= values.std(ddof=1)
    return centred


def _some(names: list[str]) -> str:
    return ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
