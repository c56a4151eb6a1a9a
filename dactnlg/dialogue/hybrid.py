"""The hybrid score (Ghandeharioun et al. 2019, sections 4.3 and 7.2): components weighted to predict ratings.

M_H = sum_i lambda_i m_i + intercept, by least squares, leave-bot-out: the scores of a bot's conversations come from a
fit on the other bots only, including the scaling and the imputation of missing values.

Shapes: C conversations, F components, B bots.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm, pearsonr, spearmanr

from dactnlg.dialogue.components.summary import half_interval
from dactnlg.dialogue.components.table import ComponentTable, mean
from dactnlg.errors import UserError

if TYPE_CHECKING:
    from scipy.stats import CorrelationResult

Array = NDArray[np.float64]
CONFIDENCE = 0.95
COEFFICIENT_CONFIDENCE = 0.9
"""As in the paper's figure 6."""


@dataclass(frozen=True)
class HybridWeights:
    """A fitted score.

    Attributes:
        names: the components.
        coefficients: lambda, for standardised components, (F,).
        intercept: the mean rating.
        centre: the mean of each component, subtracted from it and substituted where it is undefined, (F,).
        scale: the standard deviation by which each component is divided, infinite if it is constant, (F,).
    """

    names: tuple[str, ...]
    coefficients: Array
    intercept: float
    centre: Array
    scale: Array

    def predict(self, values: Array) -> Array:
        """Return the scores of conversations, (C, F) -> (C,)."""
        filled = np.where(np.isnan(values), self.centre, values)
        found: Array = (filled - self.centre) / self.scale @ self.coefficients + self.intercept
        return found


def fit(names: Sequence[str], values: Array, ratings: Array) -> HybridWeights:
    """Return the least-squares weights; if components are collinear, the minimum-norm solution.

    Args:
        names: the components.
        values: (C, F); NaN where undefined.
        ratings: (C,).

    Raises:
        UserError: there are fewer than two conversations, a rating is not finite, or there are not C ratings.
    """
    if len(values) < 2:
        raise UserError(f"{len(values)} rated conversations are too few to learn from")
    if len(ratings) != len(values) or not np.isfinite(ratings).all():
        raise UserError(f"{len(values)} conversations need as many ratings, all of them numbers")
    known = ~np.isnan(values)
    counts = np.maximum(known.sum(axis=0), 1)
    centre = np.where(known, values, 0.0).sum(axis=0) / counts
    filled = np.where(known, values, centre)
    scale = filled.std(axis=0)
    # A constant component contributes nothing.
    scale = np.where(scale > 1e-12, scale, np.inf)
    standard = (filled - centre) / scale
    intercept = float(ratings.mean())
    coefficients = np.linalg.lstsq(standard, ratings - intercept, rcond=1e-10)[0]
    return HybridWeights(tuple(names), coefficients, intercept, centre, scale)


def with_task_terms(scores: Array, table: ComponentTable) -> Array:
    """Return M_H + success - slot error rate, in points of the rating scale.

    The weights of the two terms are chosen, not learned: there are no rated task conversations to learn from. The
    paper's components are left as they are.

    Args:
        scores: M_H of C conversations, (C,).
        table: their components, from `components.table.with_extras`.
    """
    return scores + table.column("success") - table.column("slot error")


@dataclass(frozen=True)
class LeftOut:
    """Leave-bot-out scores.

    Attributes:
        predictions: the score of each conversation, from a fit without its bot, (C,).
        folds: bot -> the weights learned without it.
    """

    predictions: Array
    folds: dict[str, HybridWeights]

    def coefficient_interval(self) -> tuple[Array, Array, Array]:
        """Return each coefficient's mean over folds and its 90% interval (Student's t): mean, low, high, each (F,).

        Folds share most conversations, so the interval shows how stable the fit is, not how certain.
        """
        rows = np.stack([weights.coefficients for weights in self.folds.values()])
        middle = rows.mean(axis=0)
        error = half_interval(rows, COEFFICIENT_CONFIDENCE)
        return middle, middle - error, middle + error


def leave_bot_out(table: ComponentTable, ratings: Array, bots: Sequence[str]) -> LeftOut:
    """Score each conversation by a fit on the conversations of the other bots.

    Args:
        table: components of C conversations.
        ratings: (C,).
        bots: the bot of each conversation, C names.

    Raises:
        UserError: there are fewer than two bots, not C ratings or bots, or a fold cannot be fitted (see `fit`).
    """
    names = np.array(bots)
    found, folds = np.empty(len(names)), dict[str, HybridWeights]()
    if len(set(bots)) < 2:
        raise UserError("leave-bot-out needs conversations of two bots at least")
    if not len(bots) == len(ratings) == len(table.values):
        raise UserError(
            f"{len(table.values)} conversations need as many ratings and bots, not {len(ratings)}, {len(bots)}"
        )
    for bot in sorted(set(bots)):
        others = names != bot
        folds[bot] = fit(table.names, table.values[others], ratings[others])
        found[~others] = folds[bot].predict(table.values[~others])
    return LeftOut(found, folds)


def by_bot(values: Array, bots: Sequence[str]) -> Array:
    """Return each bot's mean, ignoring NaN, in the order of the bots' names, (C,) -> (B,)."""
    names = np.array(bots)
    return np.array([mean(values[names == bot]) for bot in sorted(set(bots))])


class Correlation(NamedTuple):
    """A correlation with its 95% interval (Fisher's z; for Spearman with Bonett and Wright's variance, 2000).

    NaN if undefined: a constant column, or fewer than three pairs. An interval needs four pairs and |r| < 1.
    """

    value: float
    low: float
    high: float
    p_value: float
    pairs: int


def pearson(first: Array, second: Array) -> Correlation:
    """Return Pearson's r of two columns, ignoring pairs with NaN."""
    return _correlation(first, second, pearsonr, 0.0)


def spearman(first: Array, second: Array) -> Correlation:
    """Return Spearman's rho of two columns, ignoring pairs with NaN."""
    return _correlation(first, second, spearmanr, 0.5)


def _correlation(
    first: Array, second: Array, method: Callable[[Array, Array], CorrelationResult], excess: float
) -> Correlation:
    known = ~(np.isnan(first) | np.isnan(second))
    a, b = first[known], second[known]
    nothing = float("nan")
    if len(a) < 3 or np.ptp(a) < 1e-12 or np.ptp(b) < 1e-12:
        return Correlation(nothing, nothing, nothing, nothing, len(a))
    result = method(a, b)
    value, p_value = float(result.statistic), float(result.pvalue)
    if len(a) < 4 or abs(value) >= 1:
        return Correlation(value, nothing, nothing, p_value, len(a))
    error = norm.ppf(0.5 + CONFIDENCE / 2) * math.sqrt((1 + excess * value**2) / (len(a) - 3))
    low, high = np.tanh([math.atanh(value) - error, math.atanh(value) + error])
    return Correlation(value, float(low), float(high), p_value, len(a))
