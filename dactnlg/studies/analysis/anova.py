"""Analysis of variance of ratings by named factors, like the three-way one of Ghandeharioun et al. 2019, section 5.2.

A factor is a column of the ratings (`system`, `corpus`, `rater`, ...) or a property of the systems: for
`hred-ei-reddit`, the architecture, the regularisation and the corpus.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any, Literal

import numpy as np

from dactnlg.errors import UnknownNameError
from dactnlg.studies.analysis.judgements import ONE_JUDGEMENT, pairwise
from dactnlg.studies.analysis.results import Result
from dactnlg.studies.ratings import EXTRA, Ratings, RatingsError, by

Type = Literal[2, 3]
MOST_PARAMETERS = 500
"""Largest number of cells of the full model, whose time and memory grow with ratings times cells."""
_TYPES = {
    2: "type II sums of squares (each effect after all others that do not contain it)",
    3: "type III sums of squares (each effect after all others; sum-to-zero contrasts)",
}


@dataclass(frozen=True)
class AnovaRow:
    """One effect: a factor, an interaction `a:b`, or `residual`.

    Attributes:
        term: the effect.
        sum_of_squares, df: its sum of squares and degrees of freedom.
        f, p: None for the residual.
        partial_eta_squared: its sum of squares over the sum of that and the residual's; None for the residual.
    """

    term: str
    sum_of_squares: float
    df: int
    f: float | None
    p: float | None
    partial_eta_squared: float | None


@dataclass(frozen=True)
class Anova(Result):
    """The table of an analysis of variance.

    Attributes:
        criterion: the criterion, or the criteria whose sum was analysed, joined by ` + `.
        factors: factor -> its levels.
        typ: type of the sums of squares, 2 or 3.
        cells: combination of levels -> number of observations.
        balanced: whether all cells have the same number.
        rows: the effects, the residual last; empty if undefined.
        method: the estimator.
        notes: remarks for the reader.
        reason: why it is undefined.
    """

    criterion: str
    factors: dict[str, tuple[str, ...]]
    typ: int
    cells: dict[str, int]
    balanced: bool
    rows: tuple[AnovaRow, ...]
    method: str
    notes: tuple[str, ...] = ()
    reason: str = ""


def anova(
    ratings: Ratings,
    factors: Sequence[str],
    properties: Mapping[str, Mapping[str, str]] | None = None,
    typ: Type = 2,
) -> Anova:
    """Return the analysis of variance for some factors and all their interactions; undefined for a pairwise design.

    It is of each rater's sum over all criteria for a sentence, as in the paper.

    Args:
        ratings: the judgements, which are assumed to be independent.
        factors: names of columns or properties.
        properties: system -> property -> level, such as `{"hred-ei": {"model": "HRED", "regularised": "yes"}}`.
        typ: type of the sums of squares, 2 or 3. They are equal if all cells have the same number of ratings. Otherwise
            type II has more power if there is no interaction, and type III tests main effects in the presence of one.

    Raises:
        RatingsError: there are no suitable ratings, `typ` is unknown, a system lacks a property, or the factors are
            none or repeated.
        UnknownNameError: a factor is neither a column nor a property.
    """
    if typ not in _TYPES:
        raise RatingsError(f"sums of squares of type {typ} are not known; valid: 2, 3")
    observations, label = _observations(ratings)
    table = _factor_table(observations, factors, properties or {})
    levels = {name: tuple(sorted(set(table[name]))) for name in factors}
    counts = dict.fromkeys(product(*levels.values()), 0)
    for cell in zip(*(table[name] for name in factors), strict=True):
        counts[cell] += 1
    values = np.array([value for _, value in observations])
    balanced = len(set(counts.values())) == 1
    compared = any(pairwise(ratings, name) for name in ratings.names("criterion"))
    reason = ONE_JUDGEMENT if compared else _reason(levels, counts, values)
    rows = () if reason else _rows(values, table, list(factors), typ)
    notes = ["ratings of one rater, or of one item, are taken for independent: the mixed-effects model does not"]
    if not balanced:
        ends = min(counts.values()), max(counts.values())
        notes.insert(0, f"cells are unbalanced, with {ends[0]} to {ends[1]} observations")
    method = f"{len(factors)}-way analysis of variance with all interactions, {_TYPES[typ]} (statsmodels anova_lm)"
    notes = [] if compared else notes
    named = {" / ".join(cell): count for cell, count in counts.items()}
    return Anova(label, levels, typ, named, balanced, rows, method, tuple(notes), reason)


def _observations(ratings: Ratings) -> tuple[list[tuple[Mapping[str, Any], float]], str]:
    """Return the observations, each a value with a row that it comes from, and what the values are called."""
    criteria = ratings.names("criterion")
    if not criteria:
        raise RatingsError("there are no ratings")
    if len(criteria) == 1:
        return [(row, row["value"]) for row in ratings.rows], criteria[0]
    context = [name for name in ("corpus", "page") if name in ratings.columns]
    found = []
    for _, rows in by(ratings.rows, "item", "system", "rater", *context):
        # Without a rating under every criterion, a sentence has no sum.
        if {row["criterion"] for row in rows} == set(criteria):
            found.append((rows[0], sum(row["value"] for row in rows)))
    if not found:
        raise RatingsError(f"no sentence was rated under all criteria by one rater: {', '.join(criteria)}; choose one")
    return found, " + ".join(criteria)


def _factor_table(
    observations: list[tuple[Mapping[str, Any], float]],
    factors: Sequence[str],
    properties: Mapping[str, Mapping[str, str]],
) -> dict[str, list[str]]:
    known = dict.fromkeys(name for own in properties.values() for name in own)
    columns = [name for name in observations[0][0] if name not in ("value", "criterion")]
    if not factors or len(set(factors)) < len(factors):
        raise RatingsError(f"factors must be named once each: {', '.join(factors) or 'there are none'}")
    table: dict[str, list[str]] = {}
    for name in factors:
        if name in known:
            if missing := sorted({str(row["system"]) for row, _ in observations if name not in _own(properties, row)}):
                raise RatingsError(f"no {name} is given for {', '.join(missing)}")
            table[name] = [str(_own(properties, row)[name]) for row, _ in observations]
        elif name in columns:
            table[name] = [str(row[name]) for row, _ in observations]
        else:
            raise UnknownNameError("factor", name, [*known, *columns])
    return table


def _own(properties: Mapping[str, Mapping[str, str]], row: Mapping[str, Any]) -> Mapping[str, str]:
    return properties.get(row["system"], {})


def _reason(levels: dict[str, tuple[str, ...]], counts: dict[tuple[str, ...], int], values: np.ndarray) -> str:
    if alone := [name for name, found in levels.items() if len(found) < 2]:
        return f"a factor needs two levels: {', '.join(f'{name} has {levels[name][0]} alone' for name in alone)}"
    if len(counts) > MOST_PARAMETERS:
        return f"{len(counts):,} combinations of levels are more than the {MOST_PARAMETERS} that are analysed"
    if empty := [" / ".join(cell) for cell, count in counts.items() if not count]:
        return f"there are no ratings of {', '.join(empty[:5])}: the interaction has no estimate"
    if len(values) <= len(counts):
        return f"{len(values)} observations in {len(counts)} cells leave no residual"
    if np.ptp(values) == 0:
        return "all values are equal"
    return ""


def _rows(values: np.ndarray, table: dict[str, list[str]], factors: list[str], typ: int) -> tuple[AnovaRow, ...]:
    try:
        import pandas as pd
        from statsmodels.formula.api import ols
        from statsmodels.stats.anova import anova_lm
    except ImportError:
        raise RatingsError(EXTRA) from None
    # Factor names are chosen by users and may not be valid in a formula.
    names = [f"f{at}" for at in range(len(factors))]
    frame = pd.DataFrame({"y": values, **{own: table[name] for own, name in zip(names, factors, strict=True)}})
    fitted = ols(f"y ~ {' * '.join(f'C({own}, Sum)' for own in names)}", frame).fit()
    found = anova_lm(fitted, typ=typ)
    residual = float(found.loc["Residual", "sum_sq"])
    rows = []
    for size in range(1, len(names) + 1):
        for chosen in combinations(range(len(names)), size):
            term = found.loc[":".join(f"C({names[at]}, Sum)" for at in chosen)]
            squares = float(term["sum_sq"])
            rows.append(
                AnovaRow(
                    ":".join(factors[at] for at in chosen),
                    squares,
                    round(float(term["df"])),
                    _finite(term["F"]),
                    _finite(term["PR(>F)"]),
                    squares / (squares + residual) if squares + residual else None,
                )
            )
    rest = AnovaRow("residual", residual, round(float(found.loc["Residual", "df"])), None, None, None)
    return (*rows, rest)


def _finite(value: Any) -> float | None:
    return float(value) if math.isfinite(value) else None
