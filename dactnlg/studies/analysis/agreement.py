"""Cohen's kappa of every pair of raters (Cohen 1960, weighted: 1968), and how many pairs exceed a threshold.

Sharma et al. 2017, section 5.3 and Table 4.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dactnlg.studies.analysis.judgements import Judgements, judgements
from dactnlg.studies.analysis.results import Result
from dactnlg.studies.ratings import EXTRA, Ratings, RatingsError

THRESHOLDS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
MOST_PAIRS = 20_000
"""Largest number of pairs to compare, enough for all pairs of 200 raters; of more, a sample is drawn."""
MOST_CATEGORIES = 20
"""With more distinct values, a scale counts as continuous: exact agreement is meaningless then."""
_MOST_SHARED = 20_000_000
"""Largest number of pairs of judgements of the same sentence to list when looking for raters who share sentences."""
METHOD = (
    "Cohen's kappa of two raters over the sentences that both judged, without weights, and with weights linear and "
    "quadratic in the difference of values (statsmodels cohens_kappa)"
)


@dataclass(frozen=True)
class PairKappa:
    """Agreement of two raters.

    Attributes:
        first, second: the raters.
        sentences: number of sentences that both judged.
        plain, linear, quadratic: kappa without weights and with each kind of weights; None if undefined.
        reason: why they are undefined.
    """

    first: str
    second: str
    sentences: int
    plain: float | None
    linear: float | None
    quadratic: float | None
    reason: str = ""


@dataclass(frozen=True)
class Kappas(Result):
    """Agreement of all pairs of raters who share sentences.

    Attributes:
        criterion: the criterion.
        raters: number of raters.
        pairs: one entry per pair.
        unshared: number of pairs that share no sentence; None if `pairs` is a sample, or was not computed.
        method: estimator and library.
        notes: remarks for the reader.
        reason: why there are no kappas at all.
    """

    criterion: str
    raters: int
    pairs: tuple[PairKappa, ...]
    unshared: int | None
    method: str = METHOD
    notes: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True)
class Exceeding:
    """How many pairs, `of` those with a defined kappa, exceed a threshold; `share` is None if there are none."""

    threshold: float
    pairs: int
    of: int
    share: float | None


def kappas(ratings: Ratings, most: int = MOST_PAIRS, seed: int = 1) -> Kappas:
    """Return the agreement of every pair of raters, for ratings under one criterion.

    Args:
        ratings: the judgements.
        most: largest number of pairs; of more, a sample is drawn without replacement.
        seed: of that sample.

    Raises:
        RatingsError: there are no ratings, or of several criteria; or statsmodels is not installed.
    """
    table = judgements(ratings)
    criterion, raters = ratings.names("criterion")[0], len(table.raters)
    notes = list(table.notes)
    values, codes = np.unique(table.value, return_inverse=True)
    if len(values) > MOST_CATEGORIES:
        reason = f"{len(values)} different values: kappa is undefined on a continuous scale"
        return Kappas(criterion, raters, (), None, notes=tuple(notes), reason=reason)
    chosen, unshared = _chosen(table, most, seed)
    if unshared is None:
        notes.append(
            f"of {raters * (raters - 1) // 2:,} pairs of raters {len(chosen):,} that share sentences are drawn"
        )
    coded = Judgements(table.sentences, table.raters, table.sentence, table.rater, codes.astype(float))
    pairs = tuple(_pair(coded, int(a), int(b), values) for a, b in chosen)
    reason = "" if pairs else "no two raters have judged the same sentence"
    return Kappas(criterion, raters, pairs, unshared, notes=tuple(notes), reason=reason)


def exceeding(found: Kappas, thresholds: Sequence[float] = THRESHOLDS) -> tuple[Exceeding, ...]:
    """Return how many of the pairs with a defined kappa exceed each threshold (Sharma et al. 2017, Table 4)."""
    defined = np.array([pair.plain for pair in found.pairs if pair.plain is not None])
    counts = [(threshold, int((defined > threshold).sum())) for threshold in thresholds]
    return tuple(
        Exceeding(threshold, count, len(defined), count / len(defined) if len(defined) else None)
        for threshold, count in counts
    )


def _chosen(table: Judgements, most: int, seed: int) -> tuple[NDArray[np.int64], int | None]:
    """Return the pairs of raters who share a sentence, (P, 2), and how many share none (None if pairs are drawn)."""
    raters = len(table.raters)
    every = raters * (raters - 1) // 2
    if every <= most:
        pairs = np.array(list(combinations(range(raters), 2)), dtype=np.int64).reshape(-1, 2)
        shared = [_share(table, int(first), int(second)) for first, second in pairs]
        return pairs[np.array(shared, dtype=bool)], every - sum(shared)
    generator = np.random.default_rng(seed)
    counts = np.bincount(table.sentence)
    if int((counts * (counts - 1) // 2).sum()) > _MOST_SHARED:
        return _drawn(table, most, generator), None
    keys = np.unique(np.concatenate([np.zeros(0, np.int64), *_sharing(table)]))
    if len(keys) <= most:
        return np.column_stack(np.divmod(keys, raters)), every - len(keys)
    keys = np.sort(generator.choice(keys, most, replace=False))
    return np.column_stack(np.divmod(keys, raters)), None


def _share(table: Judgements, first: int, second: int) -> bool:
    return len(np.intersect1d(table.of_rater[first][0], table.of_rater[second][0], assume_unique=True)) > 0


def _sharing(table: Judgements) -> Iterator[NDArray[np.int64]]:
    order = np.lexsort((table.rater, table.sentence))
    ends = np.flatnonzero(np.diff(table.sentence[order])) + 1
    for group in np.split(table.rater[order], ends):
        first, second = np.triu_indices(len(group), 1)
        yield group[first] * len(table.raters) + group[second]


def _drawn(table: Judgements, most: int, generator: np.random.Generator) -> NDArray[np.int64]:
    """Draw random pairs that share a sentence."""
    raters = len(table.raters)
    found: dict[tuple[int, int], None] = {}
    for _ in range(20 * most):
        first, second = sorted(int(one) for one in generator.choice(raters, 2, replace=False))
        if (first, second) not in found and _share(table, first, second):
            found[first, second] = None
            if len(found) == most:
                break
    return np.array(sorted(found), dtype=np.int64).reshape(-1, 2)


def _pair(table: Judgements, first: int, second: int, values: NDArray[Any]) -> PairKappa:
    (left, left_codes), (right, right_codes) = table.of_rater[first], table.of_rater[second]
    shared, at_left, at_right = np.intersect1d(left, right, assume_unique=True, return_indices=True)
    size = len(values)
    joint = left_codes[at_left].astype(int) * size + right_codes[at_right].astype(int)
    counts = np.bincount(joint, minlength=size * size).reshape(size, size)
    names = table.raters[first], table.raters[second]
    if len(shared) < 2:
        return PairKappa(*names, len(shared), None, None, None, "they share one sentence alone")
    used = np.flatnonzero(counts.sum(axis=0) + counts.sum(axis=1))
    if len(used) == 1:
        return PairKappa(*names, len(shared), None, None, None, "0/0: both gave one value to every sentence they share")
    try:
        from statsmodels.stats.inter_rater import cohens_kappa
    except ImportError:
        raise RatingsError(EXTRA) from None
    plain = cohens_kappa(counts, return_results=False)
    linear, quadratic = (
        cohens_kappa(counts, weights=values, wt=kind, return_results=False) for kind in ("linear", "quadratic")
    )
    return PairKappa(*names, len(shared), float(plain), float(linear), float(quadratic))
