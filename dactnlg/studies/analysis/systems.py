"""Ratings of systems: means, and pairwise wins, losses and ties (Ghandeharioun et al. 2019, section 7.7)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dactnlg.errors import UnknownNameError
from dactnlg.studies.analysis.clustered import METHODS, Over, estimate
from dactnlg.studies.analysis.comparisons import Comparisons, compare_systems
from dactnlg.studies.analysis.normalization import scale_notes
from dactnlg.studies.analysis.results import Bounds, Result
from dactnlg.studies.ratings import Ratings, RatingsError

_FEW = 10
"""With fewer raters or items, clustered variances tend to be too small (Cameron, Gelbach and Miller 2011)."""


@dataclass(frozen=True)
class SystemMean:
    """The mean rating of a system under one criterion.

    Attributes:
        criterion: the criterion.
        corpus: the corpus; None for all together.
        system: the system.
        mean: the mean of all ratings; None if there are none.
        interval90, interval95: its intervals; None if undefined.
        ratings, items, raters: how many there are.
        reason: why an interval is undefined or not the one asked for.
    """

    criterion: str
    corpus: str | None
    system: str
    mean: float | None
    interval90: Bounds | None
    interval95: Bounds | None
    ratings: int
    items: int
    raters: int
    reason: str = ""


@dataclass(frozen=True)
class SystemMeans(Result):
    """Means of all systems by criterion and corpus, the highest first."""

    rows: tuple[SystemMean, ...]
    method: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Share:
    """How often an outcome occurred: its count, its share of all comparisons, and the share's 90% interval."""

    count: int
    share: float | None
    interval90: Bounds | None


@dataclass(frozen=True)
class HeadToHead:
    """How often the first of two systems won, lost and tied, in comparisons by the same rater."""

    criterion: str
    corpus: str | None
    first: str
    second: str
    win: Share
    loss: Share
    tie: Share
    comparisons: int
    items: int
    raters: int
    reason: str = ""


@dataclass(frozen=True)
class WinLossTie(Result):
    """Every pair of systems (or each system and a baseline), by criterion and corpus."""

    rows: tuple[HeadToHead, ...]
    method: str
    notes: tuple[str, ...] = ()


def means(ratings: Ratings, over: Over = "both") -> SystemMeans:
    """Return the mean of each system under each criterion, over all corpora and, if there are several, for each.

    Args:
        ratings: the judgements; if raters use different scales, normalise them first (see `normalization`).
        over: what the intervals generalise to: other items and raters, other items, or other raters.

    Raises:
        RatingsError: there are no ratings.
        UnknownNameError: `over` is unknown.
    """
    _check(ratings)
    rows = []
    names = ratings.names("system")
    for criterion, corpus, part in parts(ratings):
        arrays = _arrays(part)
        block = [_mean(criterion, corpus, name, arrays, over) for name in names]
        rows += sorted(block, key=lambda row: (row.mean is None, -(row.mean or 0.0), row.system))
    return SystemMeans(tuple(rows), METHODS[over], scale_notes(ratings) + _few(ratings))


def head_to_head(ratings: Ratings, baseline: str | None = None) -> WinLossTie:
    """Return how often each system was rated above each other one by the same rater for the same item.

    The intervals are over raters, as those of the paper must be: its ties vary more than twice as much as independent
    judgements would.

    Args:
        ratings: judgements of a pairwise design, or ratings of several systems' sentences for the same items.
        baseline: the second system of all pairs; by default all pairs of systems are compared.

    Raises:
        RatingsError: there are no ratings.
        UnknownNameError: no system has the baseline's name.
    """
    _check(ratings)
    if baseline is not None and baseline not in ratings.names("system"):
        raise UnknownNameError("baseline", baseline, ratings.names("system"))
    rows: list[HeadToHead] = []
    within = set()
    for criterion, corpus, part in parts(ratings):
        comparisons = compare_systems(part)
        within.add(comparisons.within)
        rows += _pairs(criterion, corpus, comparisons, baseline)
    shared = " or ".join(sorted(within))
    method = (
        f"each rater's values for two systems on one {shared} compared, the higher wins; shares: {METHODS['raters']}"
    )
    return WinLossTie(tuple(rows), method, _few(ratings))


def parts(ratings: Ratings) -> Iterator[tuple[str, str | None, Ratings]]:
    """Yield criterion, corpus (None for all) and ratings: for all corpora and, if there are several, for each."""
    corpora = ratings.names("corpus") if "corpus" in ratings.columns else []
    for criterion in ratings.names("criterion"):
        part = ratings.where(criterion=criterion)
        yield criterion, None, part
        if len(corpora) > 1:
            yield from ((criterion, corpus, part.where(corpus=corpus)) for corpus in corpora)


def _check(ratings: Ratings) -> None:
    if not ratings.rows:
        raise RatingsError("there are no ratings")


def _few(ratings: Ratings) -> tuple[str, ...]:
    counts = {"raters": len(ratings.names("rater")), "items": len(ratings.names("item"))}
    few = [f"{count} {name}" for name, count in counts.items() if count < _FEW]
    return (f"with {' and '.join(few)} the intervals are too narrow, if anything",) if few else ()


def _arrays(part: Ratings) -> dict[str, tuple[NDArray[Any], NDArray[Any], NDArray[Any]]]:
    """Return values, items and raters of each system, (N,) each."""
    numbers: dict[tuple[str, ...], int] = {}
    found: dict[str, list[tuple[float, int, int]]] = {}
    for row in part.rows:
        item = numbers.setdefault(("item", row.get("corpus", ""), row["item"]), len(numbers))
        rater = numbers.setdefault(("rater", row["rater"]), len(numbers))
        found.setdefault(row["system"], []).append((row["value"], item, rater))
    tables = {name: np.array(rows) for name, rows in found.items()}
    return {name: (table[:, 0], table[:, 1].astype(int), table[:, 2].astype(int)) for name, table in tables.items()}


def _mean(criterion: str, corpus: str | None, name: str, arrays: dict[str, Any], over: Over) -> SystemMean:
    if name not in arrays:
        return SystemMean(criterion, corpus, name, None, None, None, 0, 0, 0, "no ratings")
    values, items, raters = arrays[name]
    found = estimate(values, items, raters, over)
    counts = len(values), len(np.unique(items)), len(np.unique(raters))
    return SystemMean(criterion, corpus, name, found.mean, found.interval90, found.interval95, *counts, found.reason)


def _pairs(criterion: str, corpus: str | None, found: Comparisons, baseline: str | None) -> Iterator[HeadToHead]:
    for first, name in enumerate(found.systems):
        for second, other in enumerate(found.systems):
            if other == baseline != name or (baseline is None and first < second):
                yield _pair(criterion, corpus, (name, other), (first, second), found)


def _clipped(interval: Bounds | None) -> Bounds | None:
    """Clip an interval to 0..1."""
    return None if interval is None else (max(interval[0], 0.0), min(interval[1], 1.0))


def _pair(
    criterion: str,
    corpus: str | None,
    names: tuple[str, str],
    places: tuple[int, int],
    found: Comparisons,
) -> HeadToHead:
    chosen = found.of(min(places), max(places))
    outcomes = found.outcomes[chosen] * (1 if places[0] < places[1] else -1)
    items, raters = found.items[chosen], found.raters[chosen]
    shares = {}
    reason = "" if len(outcomes) else "no rater has judged both for one item"
    for outcome in (1, -1, 0):
        happened = (outcomes == outcome).astype(float)
        one = estimate(happened, items, raters, "raters")
        shares[outcome] = Share(int(happened.sum()), one.mean, _clipped(one.interval90))
        always = len(happened) and np.ptp(happened) == 0
        reason = reason or ("no interval of a share of 0% or 100%" if always else one.reason)
    return HeadToHead(
        criterion,
        corpus,
        *names,
        win=shares[1],
        loss=shares[-1],
        tie=shares[0],
        comparisons=len(outcomes),
        items=len(np.unique(items)),
        raters=len(np.unique(raters)),
        reason=reason,
    )
