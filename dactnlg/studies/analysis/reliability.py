"""Agreement of all raters at once: Krippendorff's alpha and intraclass correlation."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dactnlg.studies.analysis.agreement import MOST_CATEGORIES
from dactnlg.studies.analysis.judgements import Judgements, judgements
from dactnlg.studies.analysis.results import Bounds, Result
from dactnlg.studies.ratings import EXTRA, Ratings, RatingsError

Level = Literal["nominal", "ordinal", "interval"]
LEVELS: tuple[Level, ...] = ("nominal", "ordinal", "interval")
MOST_ICC = 1_000_000
"""Largest number of ratings for intraclass correlation."""
LEAST_ICC = 5
"""Smallest number of ratings that pingouin accepts."""
_ALPHA = "Krippendorff's alpha, {} differences (numpy; equal to that of the library krippendorff)"
_ICC = {
    "ICC(1,1)": "one rating, raters drawn anew for each sentence",
    "ICC(A,1)": "one rating, absolute agreement",
    "ICC(C,1)": "one rating, consistency",
    "ICC(1,k)": "mean of the raters, drawn anew for each sentence",
    "ICC(A,k)": "mean of the raters, absolute agreement",
    "ICC(C,k)": "mean of the raters, consistency",
}
"""In the order of pingouin's results (Shrout and Fleiss 1979: 1, 2, 3; McGraw and Wong 1996)."""


@dataclass(frozen=True)
class Alpha(Result):
    """Krippendorff's alpha.

    Attributes:
        level: level of measurement: `nominal`, `ordinal` or `interval`.
        value: 1 for perfect agreement, 0 for chance; None if undefined.
        method: the estimator.
        reason: why it is undefined.
    """

    level: Level
    value: float | None
    method: str
    reason: str = ""


@dataclass(frozen=True)
class IntraclassCorrelation(Result):
    """One of the six forms of intraclass correlation.

    Attributes:
        form: its name after McGraw and Wong 1996.
        meaning: what it measures.
        value: None if undefined.
        interval: its 95% interval (F distribution); None if it does not contain the value.
        p: p-value of the F test against 0; None if undefined.
    """

    form: str
    meaning: str
    value: float | None
    interval: Bounds | None
    p: float | None


@dataclass(frozen=True)
class Reliability(Result):
    """Agreement of all raters under one criterion.

    Attributes:
        criterion: the criterion.
        raters, sentences, ratings: how many there are.
        alphas: alpha at each level; nominal and ordinal are left out on a continuous scale.
        icc: all six forms; empty if undefined.
        complete: number of sentences that all raters judged, the only ones used for ICC.
        method: estimators and libraries.
        notes: remarks for the reader.
        reason: why ICC is undefined.
    """

    criterion: str
    raters: int
    sentences: int
    ratings: int
    alphas: tuple[Alpha, ...]
    icc: tuple[IntraclassCorrelation, ...]
    complete: int
    method: str
    notes: tuple[str, ...] = ()
    reason: str = ""


def reliability(ratings: Ratings) -> Reliability:
    """Return the agreement of all raters, for ratings under one criterion.

    Raises:
        RatingsError: there are no ratings, or of several criteria; or a library is not installed.
    """
    table = judgements(ratings)
    continuous = len(np.unique(table.value)) > MOST_CATEGORIES
    levels = LEVELS[2:] if continuous else LEVELS
    alphas = tuple(alpha(table, level) for level in levels)
    icc, complete, reason = _icc(table)
    notes = list(table.notes)
    if continuous:
        notes.append(f"the scale has more than {MOST_CATEGORIES} values: alpha of interval differences alone")
    if icc and complete < len(table.sentences):
        notes.append(
            f"unbalanced: ICC is of the {complete} sentences that all {len(table.raters)} raters judged, of "
            f"{len(table.sentences)}"
        )
    if lost := [one.form for one in icc if one.value is not None and one.interval is None]:
        notes.append(f"no interval of {', '.join(lost)}: the F distribution gives none that holds the value")
    method = "; ".join([*(one.method for one in alphas), "intraclass correlation, F intervals (pingouin)"])
    counts = len(table.raters), len(table.sentences), len(table.value)
    return Reliability(ratings.names("criterion")[0], *counts, alphas, icc, complete, method, tuple(notes), reason)


def alpha(table: Judgements, level: Level) -> Alpha:
    """Return Krippendorff's alpha; sentences with a single rater are ignored."""
    method = _ALPHA.format(level)
    sizes = np.bincount(table.sentence, minlength=len(table.sentences))
    judged = sizes[table.sentence] > 1
    if not judged.any():
        return Alpha(level, None, method, "no sentence has two raters")
    value = table.value[judged]
    if np.ptp(value) == 0:
        return Alpha(level, None, method, "0/0: all values are equal")
    return Alpha(level, _alpha(np.unique(table.sentence[judged], return_inverse=True)[1], value, level), method)


def _alpha(sentence: NDArray[Any], value: NDArray[Any], level: Level) -> float:
    """Return alpha without a matrix of coincidences, which would not fit for a long scale and many sentences.

    Ordinal differences are those of the values' mean ranks, so they and interval differences are squares, whose sums
    over pairs follow from variances.

    Args:
        sentence: (J,), the sentence number of each value; each sentence has two values or more.
        value: (J,), the values.
        level: level of measurement.
    """
    sizes = np.bincount(sentence)
    weight = 1 / (sizes - 1)
    total = len(value)
    if level == "nominal":
        codes = np.unique(value, return_inverse=True)[1]
        same = np.unique(np.column_stack([sentence, codes]), axis=0, return_counts=True)
        ordered = np.bincount(same[0][:, 0], same[1] * (same[1] - 1), minlength=len(sizes))
        observed = float(((sizes * (sizes - 1) - ordered) * weight).sum()) / total
        each = np.bincount(codes)
        return 1 - observed * (total - 1) * total / float(total**2 - (each**2).sum())
    if level == "ordinal":
        from scipy.stats import rankdata

        value = rankdata(value)
    mean = np.bincount(sentence, value) / sizes
    within = np.bincount(sentence, (value - mean[sentence]) ** 2)
    # Over ordered pairs of n values, squared differences sum to 2 n times the sum of squares around the mean.
    observed = float((2 * sizes * within * weight).sum()) / total
    return 1 - observed * (total - 1) / float(2 * ((value - value.mean()) ** 2).sum())


def _icc(table: Judgements) -> tuple[tuple[IntraclassCorrelation, ...], int, str]:
    """Return the six forms, the number of sentences that all raters judged, and why there are no forms."""
    raters = len(table.raters)
    whole = np.flatnonzero(np.bincount(table.sentence, minlength=len(table.sentences)) == raters)
    if raters < 2:
        return (), len(whole), "ICC is undefined: there is one rater"
    if len(whole) < 2:
        return (
            (),
            len(whole),
            f"ICC is undefined: it wants two sentences that all {raters} raters judged, and there are {len(whole)}",
        )
    if len(whole) * raters < LEAST_ICC:
        return (), len(whole), f"ICC is not computed: {len(whole) * raters} ratings, {LEAST_ICC} at least"
    if len(whole) * raters > MOST_ICC:
        return (), len(whole), f"ICC is not computed: {len(whole) * raters:,} ratings, {MOST_ICC:,} at most"
    chosen = np.isin(table.sentence, whole)
    if np.ptp(table.value[chosen]) == 0:
        return (), len(whole), "ICC is undefined: all values are equal (0/0)"
    try:
        import pandas as pd
        import pingouin
    except ImportError:
        raise RatingsError(EXTRA) from None
    columns = {"s": table.sentence[chosen], "r": table.rater[chosen], "v": table.value[chosen]}
    with _unrounded(pingouin), warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        found = pingouin.intraclass_corr(pd.DataFrame(columns), targets="s", raters="r", ratings="v")
    ends = next(name for name in found.columns if name.startswith("CI95"))
    rows = zip(_ICC.items(), found["ICC"], found[ends], found["pval"], strict=True)
    return tuple(_form(*names, value, bounds, p) for names, value, bounds, p in rows), len(whole), ""


def _form(form: str, meaning: str, value: float, bounds: Any, p: float) -> IntraclassCorrelation:
    # With few sentences, the approximation behind the interval may fail; its ends may also be NaN.
    known = bool(bounds[0] <= value <= bounds[1]) and all(math.isfinite(end) for end in bounds)
    return IntraclassCorrelation(
        form,
        meaning,
        float(value) if math.isfinite(value) else None,
        (float(bounds[0]), float(bounds[1])) if known else None,
        float(p) if math.isfinite(p) else None,
    )


@contextmanager
def _unrounded(pingouin: Any) -> Iterator[None]:
    """Prevent pingouin from rounding intervals to two digits, which is a process-wide option."""
    name = "round.column.CI95"
    before = pingouin.options.get(name)
    pingouin.options[name] = None
    try:
        yield
    finally:
        pingouin.options[name] = before
