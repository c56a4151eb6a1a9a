"""Agreement of the raters so far, recomputed when there are new answers."""

from __future__ import annotations

import statistics
import threading
from collections.abc import Mapping
from dataclasses import dataclass

from dactnlg.studies.answers import Values, rating_rows
from dactnlg.studies.ratings import Ratings, RatingsError
from dactnlg.studies.study import Study

MOST_PAIRS = 200
"""Largest number of pairs of raters whose kappa is computed for the page; of more, a sample is drawn."""
MOST_RATINGS = 50_000
"""With more ratings, the page would take too long."""


@dataclass(frozen=True)
class Agreement:
    """Agreement under one criterion.

    Attributes:
        criterion: the criterion.
        alpha: Krippendorff's alpha for interval data; None if undefined.
        kappa: median of Cohen's kappa with linear weights over pairs of raters; None if undefined.
        pairs: number of pairs that the median is taken over.
        reason: why a value is undefined.
    """

    criterion: str
    alpha: float | None
    kappa: float | None
    pairs: int
    reason: str = ""


class AgreementSoFar:
    """Agreement of a study's raters, cached until there are new answers."""

    def __init__(self, study: Study) -> None:
        self._study = study
        self._lock = threading.Lock()
        self._known: tuple[frozenset[str] | None, list[Agreement]] = (None, [])

    def of(self, answers: Mapping[str, Values]) -> list[Agreement]:
        """Return the agreement under each criterion."""
        with self._lock:
            pages = frozenset(answers)
            if self._known[0] != pages:
                self._known = pages, self._compute(answers)
            return self._known[1]

    def _compute(self, answers: Mapping[str, Values]) -> list[Agreement]:
        rows = list(rating_rows(self._study, answers))
        ratings = Ratings(rows)
        found = []
        for criterion in self._study.criteria:
            part = ratings.where(criterion=criterion.name)
            if not part.rows:
                found.append(Agreement(criterion.name, None, None, 0, "there are no ratings yet"))
            elif len(rows) > MOST_RATINGS:
                told = f"more than {MOST_RATINGS:,} ratings: dactnlg study analyse computes it"
                found.append(Agreement(criterion.name, None, None, 0, told))
            else:
                found.append(_agreement(part, criterion.name))
        return found


def _agreement(part: Ratings, name: str) -> Agreement:
    # Imported here because they take seconds to import, and only the owner's page needs them.
    from dactnlg.studies.analysis.agreement import kappas
    from dactnlg.studies.analysis.judgements import judgements
    from dactnlg.studies.analysis.reliability import alpha

    try:
        overall = alpha(judgements(part), "interval")
        pairs = kappas(part, most=MOST_PAIRS)
    except RatingsError as error:
        return Agreement(name, None, None, 0, str(error))
    linear = [pair.linear for pair in pairs.pairs if pair.linear is not None]
    reason = overall.reason or pairs.reason
    return Agreement(name, overall.value, statistics.median(linear) if linear else None, len(linear), reason)
