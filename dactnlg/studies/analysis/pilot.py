"""Variance components of a pilot's ratings: acts, raters, and the interactions of acts, raters and systems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dactnlg.studies.analysis.judgements import ONE_JUDGEMENT, pairwise
from dactnlg.studies.analysis.mixed import MOST_EFFECTS, NO_MAXIMUM, numbered, same_levels, undefined
from dactnlg.studies.analysis.normalization import scale_notes
from dactnlg.studies.analysis.reml import fit_reml
from dactnlg.studies.analysis.results import Result
from dactnlg.studies.ratings import Ratings, RatingsError

METHOD = (
    "variances of value ~ system + (1 | item) + (1 | rater) + (1 | item:rater) + (1 | item:system) + (1 | "
    "rater:system), restricted maximum likelihood (Bates et al. 2015; scipy)"
)


@dataclass(frozen=True)
class Variances(Result):
    """Variance components of ratings.

    Attributes:
        item: variance between acts, whatever the system.
        rater: variance between raters, some of whom give higher values.
        item_rater: variance of raters' views of an act, which all its systems' sentences share. Without it, their
            covariance would be taken for that of items and raters, and the interactions with systems for smaller.
        item_system: variance of a system between acts.
        rater_system: variance of raters' preferences for systems.
        residual: the remaining variance.
        method: the estimator.
        notes: which components could not be told apart, and other remarks.
    """

    item: float
    rater: float
    item_rater: float
    item_system: float
    rater_system: float
    residual: float
    method: str
    notes: tuple[str, ...] = ()


def pilot_variances(ratings: Ratings, criterion: str) -> Variances:
    """Return the variance components of a pilot's ratings under one criterion, given the differences of systems.

    Raises:
        RatingsError: there are no ratings under the criterion, they are of a pairwise design, or they are too few (at
            least two systems, two items and two raters are needed) or too uniform to fit the model.
    """
    rows = ratings.where(criterion=criterion).rows
    if not rows:
        raise RatingsError(f"there are no ratings under {criterion}; criteria: {', '.join(ratings.names('criterion'))}")
    if pairwise(ratings, criterion):
        raise RatingsError(f"the pilot says nothing about {criterion}: {ONE_JUDGEMENT}")
    chosen, left = _sample(rows, _told_apart(_levels(rows), len(rows))[0])
    values = np.array([row["value"] for row in chosen])
    levels = _levels(chosen)
    systems = numbered([(row["system"],) for row in chosen])[0]
    used, notes = _told_apart(levels, len(chosen))
    counts = {name: int(numbers.max()) + 1 for name, numbers in levels.items()}
    of_systems = int(systems.max()) + 1
    if min(of_systems, counts["item"], counts["rater"]) < 2:
        raise RatingsError(
            f"a pilot needs two systems, items and raters; under {criterion} there are {of_systems} systems, "
            f"{counts['item']} items and {counts['rater']} raters"
        )
    if reason := undefined(values, systems, sum(counts[name] for name in used)):
        raise RatingsError(f"the pilot says nothing about {criterion}: {reason}")
    fitted = fit_reml(values, np.eye(of_systems)[systems], [levels[name] for name in used])
    if not fitted.converged:
        raise RatingsError(f"the pilot says nothing about {criterion}: {NO_MAXIMUM}")
    found = dict.fromkeys(counts, 0.0) | dict(zip(used, fitted.variances, strict=True))
    if left:
        notes.insert(0, f"from {counts['item']} of {counts['item'] + left} items, drawn at random: more take too long")
    notes += scale_notes(ratings.where(criterion=criterion))
    return Variances(**found, residual=fitted.residual, method=METHOD, notes=tuple(notes))


def _levels(rows: Sequence[Mapping[str, Any]]) -> dict[str, NDArray[np.int64]]:
    """Return the level numbers of each random effect, (N,) each."""
    keys = [_keys(row) for row in rows]
    return {name: numbered([own[name] for own in keys])[0] for name in keys[0]}


def _keys(row: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Return a rating's level of each random effect."""
    item, rater, system = _item(row), row["rater"], row["system"]
    return {
        "item": item,
        "rater": (rater,),
        "item_rater": (*item, rater),
        "item_system": (*item, system),
        "rater_system": (rater, system),
    }


def _item(row: Mapping[str, Any]) -> tuple[str, ...]:
    return row.get("corpus", ""), row["item"]


def _sample(rows: Sequence[Mapping[str, Any]], used: Sequence[str]) -> tuple[Sequence[Mapping[str, Any]], int]:
    """Return the ratings of as many random items as the model can be fitted to, and the number of items left out.

    Args:
        rows: the ratings.
        used: the random effects of the model.
    """
    groups: dict[tuple[str, ...], list[Mapping[str, Any]]] = {}
    for row in rows:
        groups.setdefault(_item(row), []).append(row)
    order = list(groups)
    np.random.default_rng(1).shuffle(order)
    seen: set[tuple[str, tuple[str, ...]]] = set()
    chosen: set[tuple[str, ...]] = set()
    for item in order:
        own = {(name, keys[name]) for keys in map(_keys, groups[item]) for name in used}
        # At least two items are needed; if even these are too many, fitting the model is refused later.
        if len(chosen) >= 2 and len(seen | own) > MOST_EFFECTS:
            break
        seen |= own
        chosen.add(item)
    return [row for row in rows if _item(row) in chosen], len(groups) - len(chosen)


def _told_apart(levels: dict[str, NDArray[np.int64]], ratings: int) -> tuple[list[str], list[str]]:
    """Return the effects that can be estimated, and a note for each other one."""
    used: list[str] = []
    notes = []
    for name, numbers in levels.items():
        label = name.replace("_", " x ")
        twin = next((other for other in used if same_levels(levels[other], numbers)), None)
        if int(numbers.max()) + 1 == ratings:
            notes.append(f"{label} cannot be told from the residual")
        elif twin is not None:
            notes.append(f"{label} cannot be told from {twin.replace('_', ' x ')}")
        else:
            used.append(name)
    return used, notes
