"""Correlation of people with people: the human row of Sharma et al. 2017, Table 3.

They split raters into two groups once; here the row is the mean over many random splits, given with their spread.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dactnlg.studies.analysis.coefficients import NAMES, Name, exact
from dactnlg.studies.analysis.correlation import correlation_values
from dactnlg.studies.analysis.judgements import Judgements, judgements
from dactnlg.studies.analysis.paired import StudyPart, study_parts
from dactnlg.studies.analysis.results import Bounds, Result
from dactnlg.studies.ratings import Ratings, RatingsError

METHOD = (
    "correlation of the sentences' means over two random disjoint halves of the raters, mean over {splits} splits "
    "(seed {seed}; scipy spearmanr, pearsonr, kendalltau); full: 2 r / (1 + r) of the mean, after Spearman and Brown "
    "1910, what two panels of all raters' size would reach"
)
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class HalfCorrelation:
    """One coefficient over many splits.

    Attributes:
        mean: mean over splits; None if undefined.
        deviation: standard deviation over splits.
        middle: the range of the middle 95% of the splits.
        full: the mean after Spearman-Brown correction; None for Kendall's coefficient and for a negative mean, to
            which it does not apply (of -.6 it makes -3).
        reason: why it is undefined, or how many splits are left out.
    """

    mean: float | None
    deviation: float | None = None
    middle: Bounds | None = None
    full: float | None = None
    reason: str = ""


@dataclass(frozen=True)
class HumanRow:
    """The correlation of people with people.

    Attributes:
        criterion, corpus, gold: as in `MetricCorrelation`.
        spearman, pearson, kendall: the coefficients.
        raters: number of raters that are split.
        sentences: number of sentences that both halves judged, averaged over splits.
    """

    criterion: str
    corpus: str | None
    gold: bool | None
    spearman: HalfCorrelation
    pearson: HalfCorrelation
    kendall: HalfCorrelation
    raters: int
    sentences: float


@dataclass(frozen=True)
class SplitHalves(Result):
    """Correlations of people with people, by criterion and corpus, with and without gold sentences."""

    rows: tuple[HumanRow, ...]
    splits: int
    method: str
    notes: tuple[str, ...] = ()


def split_halves(ratings: Ratings, *, gold: Collection[str] = (), splits: int = 500, seed: int = 1) -> SplitHalves:
    """Return the correlations between random halves of the raters.

    Args:
        ratings: the judgements.
        gold: systems whose sentences people wrote: results are given with and without them.
        splits: number of random splits.
        seed: of the splits.

    Raises:
        RatingsError: there are no ratings, or `splits` is below 1.
        UnknownNameError: a name in `gold` is not a system.
    """
    if splits < 1:
        raise RatingsError(f"{splits} splits: at least 1 is wanted")
    # In pairwise designs too, use the same sentences and values that metrics are compared with.
    each = [(block, judgements(part, of_pairs=False)) for block, part in study_parts(ratings, gold)]
    rows = [_row(block, table, splits, seed) for block, table in each]
    few = sorted({row.raters for row in rows if 1 < row.raters < 6})
    notes = tuple(f"{count} raters have few different halves" for count in few)
    return SplitHalves(tuple(rows), splits, METHOD.format(splits=splits, seed=seed), notes)


def _row(block: StudyPart, table: Judgements, splits: int, seed: int) -> HumanRow:
    raters, generator = len(table.raters), np.random.default_rng(seed)
    if raters < 2:
        none = HalfCorrelation(None, reason=f"{raters} rater")
        return HumanRow(*block, none, none, none, raters, 0.0)
    # Few raters have few different halves.
    known: dict[bytes, tuple[int, dict[Name, float | None]]] = {}
    drawn = []
    for _ in range(splits):
        first = generator.permutation(raters) < raters // 2
        key = first.tobytes()
        if key not in known:
            known[key] = _correlations(*_halves(table, first))
        drawn.append(known[key])
    found = {name: _summary(name, [values[name] for _, values in drawn]) for name in NAMES}
    coefficients = found["spearman"], found["pearson"], found["kendall"]
    return HumanRow(*block, *coefficients, raters, float(np.mean([size for size, _ in drawn])))


def _correlations(one: Floats, other: Floats) -> tuple[int, dict[Name, float | None]]:
    """Return the number of sentences of two halves, and their coefficients; None where undefined."""
    usable = len(one) > 2 and min(np.ptp(one), np.ptp(other)) > 0
    return len(one), {name: correlation_values(name, one, other)[0] if usable else None for name in NAMES}


def _halves(table: Judgements, first: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Return the mean values of each half, for the sentences that both judged."""
    size = len(table.sentences)
    chosen = first[table.rater]
    counts, totals = [], []
    for half in (chosen, ~chosen):
        counts.append(np.bincount(table.sentence[half], minlength=size))
        totals.append(np.bincount(table.sentence[half], table.value[half], minlength=size))
    # As for metrics, a sentence of several systems counts once.
    both = (counts[0] > 0) & (counts[1] > 0) & (table.seen == np.arange(size))
    left, right = (exact(total[both] / count[both]) for total, count in zip(totals, counts, strict=True))
    return left, right


def _summary(name: Name, values: list[float | None]) -> HalfCorrelation:
    known = np.array([value for value in values if value is not None])
    if not len(known):
        return HalfCorrelation(None, reason="in no split both halves vary over three sentences or more")
    mean = float(known.mean())
    deviation = float(known.std(ddof=1)) if len(known) > 1 else None
    low, high = np.quantile(known, [0.025, 0.975])
    left = len(values) - len(known)
    reason = f"{left} of {len(values)} splits without a correlation are left out" if left else ""
    full = 2 * mean / (1 + mean) if name != "kendall" and mean >= 0 else None
    return HalfCorrelation(mean, deviation, (float(low), float(high)), full, reason)
