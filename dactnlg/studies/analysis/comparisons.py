"""Conversion of ratings to comparisons: which of two systems a rater preferred for the same item."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dactnlg.studies.ratings import Ratings, by

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Comparisons:
    """C comparisons of two systems.

    Attributes:
        systems: names of the systems.
        pairs: (C, 2), indices of the two in `systems`, the smaller first.
        outcomes: (C,), 1 if the first of the two won, -1 if the second did, 0 for a tie.
        items: (C,), number of the item.
        raters: (C,), number of the rater.
        within: what the two sentences had to share: `page` or `item`.
    """

    systems: tuple[str, ...]
    pairs: Numbers
    outcomes: Numbers
    items: Numbers
    raters: Numbers
    within: str

    def of(self, first: int, second: int) -> NDArray[np.bool_]:
        """Return which comparisons are between two systems, (C,); `first` and `second` are as in `pairs`."""
        chosen: NDArray[np.bool_] = (self.pairs == (first, second)).all(axis=1)
        return chosen


def compare_systems(ratings: Ratings) -> Comparisons:
    """Return every comparison of two systems by a rater, from ratings under one criterion.

    Two sentences are compared if the same rater judged both for the same item and, if pages show several sentences, on
    the same page: values on different pages need not be on the same scale (magnitude estimation). The higher value
    wins.
    """
    systems = tuple(sorted(ratings.names("system")))
    places = {name: place for place, name in enumerate(systems)}
    items: dict[tuple[str, str], int] = {}
    raters: dict[str, int] = {}
    paged = _pages_show_several(ratings)
    columns = ["rater", "criterion", *(["corpus"] if "corpus" in ratings.columns else []), "item"]
    found = []
    for _, rows in by(ratings.rows, *columns, *(["page"] if paged else [])):
        values = _values(rows)
        item = items.setdefault((rows[0].get("corpus", ""), rows[0]["item"]), len(items))
        rater = raters.setdefault(rows[0]["rater"], len(raters))
        for first, second in combinations(sorted(values), 2):
            difference = values[first] - values[second]
            found.append((places[first], places[second], (difference > 0) - (difference < 0), item, rater))
    table = np.array(found, dtype=np.int64).reshape(-1, 5)
    return Comparisons(systems, table[:, :2], table[:, 2], table[:, 3], table[:, 4], "page" if paged else "item")


def _pages_show_several(ratings: Ratings) -> bool:
    """Whether some page shows sentences of two systems under one criterion."""
    if "page" not in ratings.columns:
        return False
    shown: dict[tuple[str, ...], str] = {}
    return any(
        shown.setdefault((row["page"], row["rater"], row["criterion"]), row["system"]) != row["system"]
        for row in ratings.rows
    )


def _values(rows: list[Mapping[str, Any]]) -> dict[str, float]:
    """Return each system's value, the mean if its sentence was judged several times."""
    found: dict[str, list[float]] = {}
    for row in rows:
        found.setdefault(row["system"], []).append(float(row["value"]))
    # Rounded once, whatever the order of the rows: .1 + .2 + .3 and .3 + .2 + .1 are a tie.
    return {name: math.fsum(values) / len(values) for name, values in found.items()}
