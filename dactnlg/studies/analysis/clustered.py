"""Confidence intervals of a mean of ratings that are not independent, as they share items and raters."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dactnlg.errors import UnknownNameError
from dactnlg.studies.analysis.results import Bounds
from dactnlg.studies.ratings import EXTRA, RatingsError

Over = Literal["both", "items", "raters"]
OVER: tuple[Over, ...] = ("both", "items", "raters")
METHODS = {
    "both": "mean of the ratings with t intervals clustered over items and over raters at once (Cameron, Gelbach and "
    "Miller 2011), degrees of freedom of the smaller number less 1 (statsmodels OLS, cov_type cluster)",
    "items": "mean of the ratings with t intervals clustered over items, which are the t intervals of the items' means "
    "where all have as many ratings (statsmodels OLS, cov_type cluster)",
    "raters": "mean of the ratings with t intervals clustered over raters, which are the t intervals of the raters' "
    "means where all gave as many ratings (statsmodels OLS, cov_type cluster)",
}
_ONE = {"items": "one item alone", "raters": "one rater alone"}


@dataclass(frozen=True)
class ClusteredMean:
    """A mean and its intervals.

    Attributes:
        mean: the mean of all values; None if there are none.
        interval90: its 90% interval; None if undefined.
        interval95: its 95% interval; None if undefined.
        reason: why an interval is undefined, or is not the one that was asked for.
    """

    mean: float | None
    interval90: Bounds | None = None
    interval95: Bounds | None = None
    reason: str = ""


def estimate(values: NDArray[Any], items: NDArray[Any], raters: NDArray[Any], over: Over = "both") -> ClusteredMean:
    """Return a mean with its 90% and 95% intervals.

    A system's mean would differ with other items and with other raters, so by default intervals account for both; those
    over items alone are conditional on these raters, those over raters alone on these items.

    Args:
        values: (N,), the ratings.
        items: (N,), the item number of each.
        raters: (N,), the rater number of each.
        over: what would be resampled: `both`, `items` or `raters`.

    Raises:
        UnknownNameError: `over` is none of `OVER`.
        RatingsError: statsmodels is not installed.
    """
    if over not in OVER:
        raise UnknownNameError("kind of interval", over, OVER)
    if not len(values):
        return ClusteredMean(None, reason="no ratings")
    mean = float(values.mean())
    groups = {"items": items, "raters": raters}
    wanted = ["items", "raters"] if over == "both" else [over]
    several = [name for name in wanted if len(np.unique(groups[name])) > 1]
    if not several:
        return ClusteredMean(mean, reason=f"no interval: {' and '.join(_ONE[name] for name in wanted)}")
    if np.ptp(values) == 0:
        return ClusteredMean(mean, reason="no interval: all values are equal")
    reason = "" if several == wanted else f"interval over {several[0]}: {_ONE[(set(wanted) - set(several)).pop()]}"
    found = _fit(values, [groups[name] for name in several])
    if found is None and len(several) > 1:
        found = max((_fit(values, [groups[name]]) for name in several), key=_width)
        reason = "interval over items or over raters, the wider: the variance over both at once is not positive"
    if found is None:
        return ClusteredMean(mean, reason="no interval: the variance of the mean is 0")
    return ClusteredMean(mean, *found, reason)


def _width(found: tuple[Bounds, Bounds] | None) -> float:
    return 0.0 if found is None else found[1][1] - found[1][0]


def _fit(values: NDArray[Any], groups: list[NDArray[Any]]) -> tuple[Bounds, Bounds] | None:
    """Return the 90% and the 95% interval, or None if the variance is not positive."""
    try:
        import statsmodels.api as sm
    except ImportError:
        raise RatingsError(EXTRA) from None
    keys = groups[0] if len(groups) == 1 else np.column_stack(groups)
    with np.errstate(invalid="ignore"):
        fitted = sm.OLS(values, np.ones(len(values))).fit(cov_type="cluster", cov_kwds={"groups": keys}, use_t=True)
    variance = float(np.asarray(fitted.cov_params())[0, 0])
    # A variance this small is rounding error.
    if not math.isfinite(variance) or variance <= 1e-15 * float(np.var(values)):
        return None
    ninety, ninety_five = (np.asarray(fitted.conf_int(alpha))[0] for alpha in (0.1, 0.05))
    return (float(ninety[0]), float(ninety[1])), (float(ninety_five[0]), float(ninety_five[1]))
