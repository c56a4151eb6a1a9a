"""Removal of raters who do not agree with the others (7 of 18 in Sharma et al. 2017, section 5.3).

The paper says "we removed 7 users who had kappa scores less than 0.1", and that all pairs of the other 11 exceed .1,
but not which rater of a pair was removed. Hence there are several named rules.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dactnlg.errors import UnknownNameError
from dactnlg.studies.analysis.agreement import METHOD, Exceeding, Kappas, PairKappa, exceeding, kappas
from dactnlg.studies.analysis.results import Result
from dactnlg.studies.ratings import Ratings, RatingsError

MOST_RATERS = 500
"""Largest number of raters to filter: every pair is compared, and 125,000 pairs take half a minute."""
RULES = {
    "lowest-mean": "the rater with the lowest mean kappa with the others leaves, until every pair of those who stay is "
    "above the threshold",
    "most-pairs": "the rater in most pairs at or below the threshold leaves (of several, that of the lowest mean), "
    "until every pair of those who stay is above the threshold",
    "mean-below": "every rater leaves whose mean kappa with all others is at or below the threshold, all at once: "
    "pairs at or below it may stay",
}


@dataclass(frozen=True)
class LeavingRater:
    """A removed rater: mean kappa with the raters then remaining, and number of pairs at or below the threshold."""

    rater: str
    mean: float | None
    pairs_below: int


@dataclass(frozen=True)
class FilteredRaters(Result):
    """Which raters remain and which are removed.

    Attributes:
        ratings: the judgements of the remaining raters.
        rule: name of the rule.
        threshold: kappa that pairs must exceed.
        kept: raters who remain.
        left: raters who are removed, in the order of removal.
        before, after: how many pairs exceed each kappa threshold, before and after.
        method: the estimator and the rule.
        notes: remarks for the reader.
        reason: why no rater could be removed.
    """

    ratings: Ratings
    rule: str
    threshold: float
    kept: tuple[str, ...]
    left: tuple[LeavingRater, ...]
    before: tuple[Exceeding, ...]
    after: tuple[Exceeding, ...]
    method: str
    notes: tuple[str, ...] = ()
    reason: str = ""

    def to_json(self) -> dict[str, object]:
        """Return the fields as JSON, except for the ratings."""
        found = super().to_json()
        del found["ratings"]
        return found


def filter_raters(ratings: Ratings, threshold: float = 0.1, rule: str = "lowest-mean") -> FilteredRaters:
    """Return the ratings without the raters who do not agree with the others.

    A pair's kappa, without weights, is the mean over the criteria under which it is defined; a pair for which it is
    undefined under all (no shared sentence, 0/0) is ignored.

    Args:
        ratings: the judgements, under one or several criteria.
        threshold: kappa that pairs must exceed, at least -1 and below 1.
        rule: a key of `RULES`.

    Raises:
        UnknownNameError: `rule` is unknown.
        RatingsError: there are no ratings, or the threshold is out of range.
    """
    if rule not in RULES:
        raise UnknownNameError("rule", rule, RULES)
    if not -1 <= threshold < 1:
        raise RatingsError(f"threshold {threshold:g}: kappa is from -1 to 1")
    if not ratings.rows:
        raise RatingsError("there are no ratings")
    raters = ratings.names("rater")
    if len(raters) > MOST_RATERS:
        reason = f"{len(raters):,} raters: all pairs are compared of {MOST_RATERS} at most; nobody was left out"
        return FilteredRaters(ratings, rule, threshold, tuple(raters), (), (), (), METHOD, ratings.notes, reason)
    most = len(raters) ** 2
    tables = [kappas(ratings.where(criterion=name), most) for name in ratings.names("criterion")]
    matrix = _matrix(tables, raters)
    left = _leaving(matrix, raters, threshold, rule)
    gone = {one.rater for one in left}
    kept = tuple(rater for rater in raters if rater not in gone)
    counts = [_exceeding(tables, matrix[np.ix_(at, at)]) for at in (_at(raters, raters), _at(raters, kept))]
    named = f"{METHOD}, weights: none; {RULES[rule]}"
    reason = "" if np.isfinite(matrix).any() else "no pair of raters has a kappa: " + _why(tables)
    notes = tuple(dict.fromkeys(note for table in tables for note in table.notes))
    if left and len(kept) < 2:
        notes += (f"{len(kept)} of {len(raters)} raters stay: no two agree above the threshold",)
    alone = [rater for rater, row in zip(raters, matrix, strict=True) if not np.isfinite(row).any()]
    if alone and not reason:
        notes += (f"raters without a kappa with anybody stay: {', '.join(alone[:5])}{', ...' if alone[5:] else ''}",)
    rest = ratings.without("rater", gone)
    return FilteredRaters(rest, rule, threshold, kept, tuple(left), counts[0], counts[1], named, notes, reason)


def _at(raters: list[str], wanted: tuple[str, ...] | list[str]) -> NDArray[np.int64]:
    places = {rater: place for place, rater in enumerate(raters)}
    return np.array([places[rater] for rater in wanted], dtype=np.int64)


def _why(tables: list[Kappas]) -> str:
    reasons = [table.reason or next((pair.reason for pair in table.pairs if pair.reason), "") for table in tables]
    return "; ".join(dict.fromkeys(filter(None, reasons))) or "there is one rater alone"


def _matrix(tables: list[Kappas], raters: list[str]) -> NDArray[np.float64]:
    """Return the mean kappa of each pair over criteria, (R, R), NaN where undefined."""
    places = {rater: place for place, rater in enumerate(raters)}
    total, count = np.zeros((2, len(raters), len(raters)))
    for table in tables:
        for pair in table.pairs:
            if (kappa := pair.plain) is not None:
                first, second = places[pair.first], places[pair.second]
                for at in ((first, second), (second, first)):
                    total[at] += kappa
                    count[at] += 1
    return np.divide(total, count, out=np.full_like(total, np.nan), where=count > 0)


def _leaving(matrix: NDArray[np.float64], raters: list[str], threshold: float, rule: str) -> list[LeavingRater]:
    here = np.ones(len(raters), dtype=bool)
    found: list[LeavingRater] = []
    if rule == "mean-below":
        means, below = _state(matrix, here, threshold)
        return [LeavingRater(raters[at], float(means[at]), int(below[at])) for at in np.flatnonzero(means <= threshold)]
    while True:
        means, below = _state(matrix, here, threshold)
        if not below.any():
            return found
        # A rater without any kappa is in no failing pair, and must not be removed.
        means = np.where(np.isnan(means), np.inf, means)
        keys = (means,) if rule == "lowest-mean" else (means, -below)
        worst = int(np.lexsort(keys)[0])
        here[worst] = False
        found.append(LeavingRater(raters[worst], float(means[worst]), int(below[worst])))


def _state(
    matrix: NDArray[np.float64], here: NDArray[np.bool_], threshold: float
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return each rater's mean kappa with the remaining raters, (R,), and pairs at or below the threshold, (R,)."""
    both = here[:, None] & here & np.isfinite(matrix)
    count = both.sum(axis=1)
    total = np.where(both, matrix, 0).sum(axis=1)
    means = np.divide(total, count, out=np.full(len(matrix), np.nan), where=count > 0)
    below: NDArray[np.int64] = (both & (np.where(both, matrix, 0) <= threshold)).sum(axis=1)
    return means, below


def _exceeding(tables: list[Kappas], matrix: NDArray[np.float64]) -> tuple[Exceeding, ...]:
    found = matrix[np.triu_indices(len(matrix), 1)]
    pairs = tuple(PairKappa("", "", 0, float(kappa), None, None) for kappa in found if np.isfinite(kappa))
    return exceeding(Kappas(tables[0].criterion, len(matrix), pairs, None))
