"""What the ratings of a pilot vary by: acts, raters, and what each of them makes of each system."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dactnlg.studies.analysis.mixed import NO_MAXIMUM, numbered, undefined
from dactnlg.studies.analysis.reml import fit_reml
from dactnlg.studies.analysis.results import Result
from dactnlg.studies.ratings import Ratings, RatingsError

METHOD = (
    "variances of value ~ system + (1 | item) + (1 | rater) + (1 | item:system) + (1 | rater:system), restricted "
    "maximum likelihood (Bates et al. 2015; scipy)"
)


@dataclass(frozen=True)
class Variances(Result):
    """What ratings vary by: standard deviations would be its square roots.

    Attributes:
        item: some acts are rated higher, whoever says them.
        rater: some raters rate higher.
        item_system: a system does better on some acts than on others.
        rater_system: a rater likes one system more than others do.
        residual: the rest.
        method: the estimator.
        notes: what could not be told apart.
    """

    item: float
    rater: float
    item_system: float
    rater_system: float
    residual: float
    method: str
    notes: tuple[str, ...] = ()


def pilot_variances(ratings: Ratings, criterion: str) -> Variances:
    """Return what the ratings of a pilot vary by, under one criterion, beside the differences of systems.

    Raises:
        RatingsError: there are no ratings under it, or too few (two systems, two items and two raters at least).
    """
    rows = ratings.where(criterion=criterion).rows
    if not rows:
        raise RatingsError(f"there are no ratings under {criterion}; criteria: {', '.join(ratings.names('criterion'))}")
    values = np.array([row["value"] for row in rows])
    systems, names = numbered([(row["system"],) for row in rows])
    items: list[tuple[str, ...]] = [(row.get("corpus", ""), row["item"]) for row in rows]
    levels = {
        "item": numbered(items)[0],
        "rater": numbered([(row["rater"],) for row in rows])[0],
        "item_system": numbered([(*item, row["system"]) for item, row in zip(items, rows, strict=True)])[0],
        "rater_system": numbered([(row["rater"], row["system"]) for row in rows])[0],
    }
    counts = {name: int(numbers.max()) + 1 for name, numbers in levels.items()}
    if min(len(names), counts["item"], counts["rater"]) < 2:
        raise RatingsError(
            f"a pilot needs two systems, items and raters; under {criterion} there are {len(names)} systems, "
            f"{counts['item']} items and {counts['rater']} raters"
        )
    if reason := undefined(values, systems, sum(counts.values())):
        raise RatingsError(f"the pilot says nothing about {criterion}: {reason}")
    # An effect with a level for each rating is the residual by another name; so is one that others make up.
    used = [name for name, count in counts.items() if count < len(values)]
    notes = [f"{name.replace('_', ' x ')} cannot be told from the residual" for name in counts if name not in used]
    fitted = fit_reml(values, np.eye(len(names))[systems], [levels[name] for name in used])
    if not fitted.converged:
        raise RatingsError(f"the pilot says nothing about {criterion}: {NO_MAXIMUM}")
    found = dict.fromkeys(counts, 0.0) | dict(zip(used, fitted.variances, strict=True))
    method = (
        "variance components, value ~ system + (1 | item) + (1 | rater) + (1 | item:system) + (1 | rater:system), REML"
    )
    return Variances(**found, residual=fitted.residual, method=method, notes=tuple(notes))
