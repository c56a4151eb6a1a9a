"""Ambiguous items: those whose sentences raters judge most differently."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dactnlg.studies.analysis.judgements import judgements
from dactnlg.studies.analysis.results import Result
from dactnlg.studies.ratings import Ratings


@dataclass(frozen=True)
class Spread:
    """The spread of the values of a sentence, or of an item's sentences.

    Attributes:
        corpus: the corpus; empty if the ratings have none.
        item: the item.
        system: the system; None for all of the item's sentences.
        deviation: standard deviation over raters (n - 1); for an item, the root mean square over its sentences.
        lowest, highest: the extreme values.
        ratings: number of ratings.
    """

    corpus: str
    item: str
    system: str | None
    deviation: float
    lowest: float
    highest: float
    ratings: int


@dataclass(frozen=True)
class Ambiguous(Result):
    """Items and sentences under one criterion, in descending order of spread.

    `reason` says why there are none.
    """

    criterion: str
    items: tuple[Spread, ...]
    sentences: tuple[Spread, ...]
    method: str
    notes: tuple[str, ...] = ()
    reason: str = ""


def ambiguous(ratings: Ratings) -> Ambiguous:
    """Return the spread of all items and sentences, for ratings under one criterion.

    Sentences with a single rater are left out. If raters use a scale differently, every sentence looks ambiguous:
    normalise such ratings first.

    Raises:
        RatingsError: there are no ratings, or of several criteria.
    """
    table = judgements(ratings)
    sizes = np.bincount(table.sentence, minlength=len(table.sentences))
    squares = np.bincount(table.sentence, (table.value - table.means()[table.sentence]) ** 2)
    low, high = np.full(len(sizes), np.inf), np.full(len(sizes), -np.inf)
    np.minimum.at(low, table.sentence, table.value)
    np.maximum.at(high, table.sentence, table.value)
    sentences = []
    items: dict[tuple[str, str], list[int]] = {}
    for at in np.flatnonzero(sizes > 1):
        corpus, item, system = table.sentences[at]
        deviation = float(np.sqrt(squares[at] / (sizes[at] - 1)))
        sentences.append(Spread(corpus, item, system, deviation, float(low[at]), float(high[at]), int(sizes[at])))
        items.setdefault((corpus, item), []).append(int(at))
    whole = []
    for (corpus, item), places in items.items():
        variance = (squares[places] / (sizes[places] - 1)).mean()
        ends = float(low[places].min()), float(high[places].max())
        whole.append(Spread(corpus, item, None, float(np.sqrt(variance)), *ends, int(sizes[places].sum())))
    method = "standard deviation of a sentence's values over raters (n - 1); of an item, root of its sentences' mean"
    method += " variance (numpy)"
    reason = "" if sentences else "no sentence has two raters"
    found = [tuple(sorted(rows, key=lambda row: -row.deviation)) for rows in (whole, sentences)]
    return Ambiguous(ratings.names("criterion")[0], found[0], found[1], method, table.notes, reason)
