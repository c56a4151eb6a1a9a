"""Normalisation of ratings by people who use a scale differently: by each rater's mean, spread or order."""

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
"""If ranges of values differ by more than this factor, raters seem to have used different scales."""


@dataclass(frozen=True)
class Normalized(Result):
    """Normalised ratings.

    Attributes:
        ratings: the judgements with their new values.
        left_out: raters, each with the criterion, whose ratings are dropped because all have the same value.
        method: how the ratings were normalised.
        notes: remarks for the reader.
    """

    ratings: Ratings
    left_out: tuple[str, ...]
    method: str
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the fields as JSON, except for the ratings."""
        return {"left_out": list(self.left_out), "method": self.method, "notes": list(self.notes)}


def normalize(ratings: Ratings, way: Way) -> Normalized:
    """Return the ratings, normalised for each rater and criterion.

    If raters see different systems or items, this also removes the difference of a rater who was shown better ones;
    balanced blocks, or the mixed-effects model, avoid that.

    Args:
        ratings: the judgements.
        way: `z`, `centred`, `rank`, or `none`.

    Raises:
        UnknownNameError: there is no such way.
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
    told: tuple[str, ...] = ()
    if left_out:
        told = (f"{len(left_out)} times a rater gave one value alone under a criterion: left out {_some(left_out)}",)
    return Normalized(Ratings(rows, ratings.notes), tuple(left_out), METHODS[way], told)


def scale_notes(ratings: Ratings) -> tuple[str, ...]:
    """Return a note for each criterion whose raters seem to have used different scales.

    They do if the ranges (10% to 90% quantile) of two raters are disjoint, with a gap wider than the median range, or
    if the ranges of the widest tenth of raters are more than twice as wide as the median: for example values of 1 to 5
    and of 0 to 100, or magnitudes. Raters with fewer than three ratings are ignored.
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
        # A tenth of the raters may have unusually wide ranges.
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
