"""A linear mixed-effects model of ratings: fixed effects of systems, random effects of items, sentences and raters."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from dactnlg.studies.analysis.judgements import ONE_JUDGEMENT, pairwise
from dactnlg.studies.analysis.reml import Reml, fit_reml
from dactnlg.studies.analysis.results import Bounds, Result, holm
from dactnlg.studies.ratings import Ratings, RatingsError

METHOD = (
    "linear mixed-effects model, value ~ system + (1 | item) + (1 | item:system) + (1 | rater), restricted maximum "
    "likelihood (Bates et al. 2015; scipy); z tests of differences, the variances taken for known, Holm's correction; "
    "that a rater favours a system is taken for chance, and p is too small where they do (study power has its variance)"
)
MOST_EFFECTS = 1_000
"""Largest number of items, sentences and raters together; the time grows with its cube."""
NO_MAXIMUM = "the likelihood has no clear maximum: too few ratings, or effects that leave no residual"
_Z95 = 1.959963984540054


@dataclass(frozen=True)
class SystemEffect:
    """A system's mean estimated by the model, for an average rater and item."""

    system: str
    mean: float
    standard_error: float
    interval95: Bounds
    ratings: int


@dataclass(frozen=True)
class SystemContrast:
    """The mean of the first system minus that of the second, with its test against 0."""

    first: str
    second: str
    difference: float
    standard_error: float
    z: float
    p: float
    p_holm: float


@dataclass(frozen=True)
class MixedModel(Result):
    """The model of the ratings under one criterion.

    Attributes:
        criterion: the criterion.
        ratings, items, raters: how many there are.
        effects: the systems, the best first; empty if the model is undefined.
        contrasts: all pairs of systems, in the same order.
        item_variance, sentence_variance, rater_variance, residual_variance: None if the model has no such effect or is
            undefined.
        log_likelihood: the restricted log-likelihood.
        method: the estimator.
        notes: remarks for the reader, such as a variance of 0.
        reason: why it is undefined.
    """

    criterion: str
    ratings: int
    items: int
    raters: int
    effects: tuple[SystemEffect, ...] = ()
    contrasts: tuple[SystemContrast, ...] = ()
    item_variance: float | None = None
    sentence_variance: float | None = None
    rater_variance: float | None = None
    residual_variance: float | None = None
    log_likelihood: float | None = None
    method: str = METHOD
    notes: tuple[str, ...] = ()
    reason: str = ""


def mixed_model(ratings: Ratings, criterion: str) -> MixedModel:
    """Fit the model to the ratings under a criterion; for a pairwise design it is undefined.

    Raises:
        RatingsError: there are no ratings under the criterion.
    """
    part = ratings.where(criterion=criterion)
    if not part.rows:
        raise RatingsError(f"there are no ratings under {criterion}; criteria: {', '.join(ratings.names('criterion'))}")
    values = np.array([row["value"] for row in part.rows])
    systems, names = numbered([(row["system"],) for row in part.rows])
    levels = {
        "item": numbered([(row.get("corpus", ""), row["item"]) for row in part.rows])[0],
        "sentence": numbered([(row.get("corpus", ""), row["item"], row["system"]) for row in part.rows])[0],
        "rater": numbered([(row["rater"],) for row in part.rows])[0],
    }
    counts = {name: int(numbers.max()) + 1 for name, numbers in levels.items()}
    used, notes = random_effects(levels, systems)
    if "sentence" in used and sum(counts[name] for name in used) > MOST_EFFECTS:
        used.remove("sentence")
        notes.append(
            f"no effect of sentences, since {counts['sentence']:,} take too long: p is too small if an item favours a "
            "system"
        )
    reason = undefined(values, systems, sum(counts[name] for name in used))
    if not used:
        reason = reason or "ratings share neither raters nor items in a way that tells their effects from the rest"
    if pairwise(part, criterion):
        reason, notes = ONE_JUDGEMENT, []
    sizes = len(values), counts["item"], counts["rater"]
    if reason:
        return MixedModel(criterion, *sizes, notes=tuple(notes), reason=reason)
    design = np.eye(len(names))[systems]
    fitted = fit_reml(values, design, [levels[name] for name in used])
    if not fitted.converged:
        return MixedModel(criterion, *sizes, notes=tuple(notes), reason=NO_MAXIMUM)
    variances = dict(zip(used, fitted.variances, strict=True))
    notes += [
        f"the variance of {name}s is 0: they do not differ more than chance"
        for name, variance in variances.items()
        if variance <= 1e-9 * fitted.residual
    ]
    order = np.argsort(-fitted.fixed, kind="stable")
    effects = tuple(_effect(names[at][0], fitted, at, int((systems == at).sum())) for at in order)
    return MixedModel(
        criterion,
        *sizes,
        effects=effects,
        contrasts=_contrasts([(names[at][0], int(at)) for at in order], fitted),
        item_variance=variances.get("item"),
        sentence_variance=variances.get("sentence"),
        rater_variance=variances.get("rater"),
        residual_variance=fitted.residual,
        log_likelihood=fitted.log_likelihood,
        notes=tuple(notes),
    )


def numbered(keys: list[tuple[str, ...]]) -> tuple[NDArray[np.int64], list[tuple[str, ...]]]:
    """Number keys from 0 in order of first occurrence; return each key's number, and the distinct keys by number."""
    places: dict[tuple[str, ...], int] = {}
    numbers = np.array([places.setdefault(key, len(places)) for key in keys], dtype=np.int64)
    return numbers, list(places)


def random_effects(levels: dict[str, NDArray[np.int64]], systems: NDArray[np.int64]) -> tuple[list[str], list[str]]:
    """Return which random effects can be estimated beside the fixed ones of systems, and a note for each other one."""
    used: list[str] = []
    notes = []
    for name, numbers in levels.items():
        count = int(numbers.max()) + 1
        twin = next((other for other in used if same_levels(levels[other], numbers)), None)
        if count == 1:
            notes.append(f"there is one {name} alone: no effect of {name}s")
        elif count == len(numbers):
            notes.append(f"every {name} has one rating alone: its effect is part of the residual")
        elif same_levels(systems, numbers):
            notes.append(f"every system has one {name} alone: its effect is part of the system's")
        elif twin is not None:
            notes.append(f"every {name} has one {twin} alone and the other way round: one effect for both")
        else:
            used.append(name)
    return used, notes


def undefined(values: NDArray[Any], systems: NDArray[np.int64], effects: int) -> str:
    """Return why a model of these values is meaningless or would take too long; empty if it is neither.

    Args:
        values: (N,), the ratings.
        systems: (N,), the system number of each.
        effects: total number of levels of all random effects.
    """
    count = int(systems.max()) + 1
    if np.ptp(values) == 0:
        return "all values are equal"
    if len(values) <= count + 1:
        return f"{len(values)} ratings of {count} systems leave nothing to estimate variances from"
    if all(np.ptp(values[systems == system]) == 0 for system in range(count)):
        return "all values of a system are equal"
    if effects > MOST_EFFECTS:
        return f"{effects:,} levels of items and raters are more than the {MOST_EFFECTS:,} that the model is fitted for"
    return ""


def same_levels(one: NDArray[np.int64], other: NDArray[np.int64]) -> bool:
    """Whether two numberings of the same ratings, (N,) each, group them in the same way."""
    pairs = len(np.unique(np.column_stack([one, other]), axis=0))
    return pairs == int(one.max()) + 1 == int(other.max()) + 1


def _effect(name: str, fitted: Reml, at: int, count: int) -> SystemEffect:
    mean, error = float(fitted.fixed[at]), math.sqrt(fitted.covariance[at, at])
    return SystemEffect(name, mean, error, (mean - _Z95 * error, mean + _Z95 * error), count)


def _contrasts(order: list[tuple[str, int]], fitted: Reml) -> tuple[SystemContrast, ...]:
    pairs = list(combinations(order, 2))
    if not pairs:
        return ()
    first, second = (np.array([pair[side][1] for pair in pairs]) for side in (0, 1))
    covariance = fitted.covariance
    differences = fitted.fixed[first] - fitted.fixed[second]
    errors = np.sqrt(covariance[first, first] + covariance[second, second] - 2 * covariance[first, second])
    z = differences / errors
    p = 2 * ndtr(-np.abs(z))
    numbers = zip(differences, errors, z, p, holm(p), strict=True)
    return tuple(
        SystemContrast(one[0], other[0], *map(float, row)) for (one, other), row in zip(pairs, numbers, strict=True)
    )
