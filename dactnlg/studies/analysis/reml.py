"""Restricted maximum likelihood of a linear model with crossed random effects (Bates et al. 2015, section 3.4).

statsmodels has the model (`MixedLM` with variance components) and gives the same numbers if its optimizer converges. On
real ratings it did not: for the E2E challenge's ranks of 150 items, it reported convergence at a variance of raters of
.0075, where lme4 and this module have .0125, and took 8 s. Here the residual variance and the fixed effects are solved
for in closed form, so the search (scipy, L-BFGS-B with the exact gradient) is over one ratio per kind of random effect,
with zero as a simple bound.

Shapes: N ratings, P fixed effects, Q random effects, K kinds of them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve, cholesky, solve_triangular
from scipy.optimize import minimize
from scipy.sparse import csr_array, hstack

from dactnlg._utils.threads import one_blas_thread

Array = NDArray[Any]

_LARGEST = 1e8
"""Upper bound of a ratio; at it, there is no residual variance left."""
_GRADIENT = 1e-5
"""Tolerance for the gradient by the logarithm of a ratio: a thousandth of what changes an estimate's sixth digit."""


@dataclass(frozen=True)
class Reml:
    """A fitted model.

    Attributes:
        fixed: (P,), the fixed effects.
        covariance: (P, P), covariance of the fixed effects, assuming that the variances are known.
        variances: (K,), variances of the random effects.
        residual: the residual variance.
        log_likelihood: the restricted log-likelihood.
        converged: whether the gradient vanishes, except at ratios of 0, where it may point outwards.
    """

    fixed: Array
    covariance: Array
    variances: tuple[float, ...]
    residual: float
    log_likelihood: float
    converged: bool


def fit_reml(values: Array, design: Array, groups: Sequence[Array]) -> Reml:
    """Fit values = design x fixed effects + random effects + noise.

    Args:
        values: (N,), the ratings.
        design: (N, P), the fixed effects' design matrix, of full rank.
        groups: K arrays of (N,), the level number of each rating, from 0. They must leave some residual variance.
    """
    # Hundreds of small products: on a busy machine, threads that share them wait for each other forty times as long.
    with one_blas_thread:
        return _fit(values, design, groups)


def _fit(values: Array, design: Array, groups: Sequence[Array]) -> Reml:
    # Subtracting the least-squares fit and standardising avoids a loss of digits.
    plain = np.linalg.lstsq(design, values, rcond=None)[0]
    values = values - design @ plain
    spread = float(values.std())
    profile = _Profile(values / spread, design, groups)
    ratios = np.full(len(groups), 0.3)
    for _ in range(10):
        # Ratios may differ by powers of ten: each search is in units of the previous result.
        unit = np.where(ratios > 0, ratios, 1.0)
        found = minimize(
            partial(profile.scaled, unit=unit),
            ratios / unit,
            jac=True,
            method="L-BFGS-B",
            bounds=[(0.0, _LARGEST / float(one)) for one in unit],
            options={"ftol": 1e-16, "gtol": 1e-9, "maxiter": 200},
        )
        ratios = _newton(profile, found.x * unit)
        deviance, gradient = profile.deviance(ratios)
        converged = _converged(ratios, gradient)
        if converged:
            break
    fixed, covariance, residual = profile.solved(ratios)
    return Reml(
        plain + fixed * spread,
        covariance * spread**2,
        tuple(float(ratio * residual * spread**2) for ratio in ratios),
        residual * spread**2,
        -deviance / 2 - (len(values) - design.shape[1]) * math.log(spread),
        converged,
    )


def _converged(ratios: Array, gradient: Array) -> bool:
    inside = ratios < _LARGEST * 0.99
    return bool(np.all(inside & (np.abs(gradient * ratios) < _GRADIENT) & ((ratios > 0) | (gradient > -_GRADIENT))))


def _newton(profile: _Profile, ratios: Array) -> Array:
    """Refine ratios by Newton's method: quasi-Newton methods stop at half the digits that ratios can have."""
    for _ in range(6):
        deviance, gradient = profile.deviance(ratios)
        free = ratios > 1e-10
        if not free.any():
            break
        steps = np.where(free, 1e-4 * ratios, 0.0)
        columns = []
        for at in np.flatnonzero(free):
            step = np.zeros(len(ratios))
            step[at] = steps[at]
            ends = [profile.deviance(ratios + sign * step)[1] for sign in (1, -1)]
            columns.append((ends[0] - ends[1])[free] / (2 * steps[at]))
        hessian = np.array(columns)
        if np.linalg.eigvalsh((hessian + hessian.T) / 2).min() <= 0:
            break
        moved = ratios.copy()
        moved[free] -= np.linalg.solve((hessian + hessian.T) / 2, gradient[free])
        if (moved < 0).any() or (moved > _LARGEST).any() or profile.deviance(moved)[0] > deviance + 1e-7:
            break
        arrived = np.abs(moved - ratios).max() <= 1e-11 * ratios.max()
        ratios = moved
        if arrived:
            break
    return ratios


class _Profile:
    """The restricted deviance as a function of the ratios of variances to the residual variance, (K,)."""

    def __init__(self, values: Array, design: Array, groups: Sequence[Array]) -> None:
        count = len(values)
        sizes = [int(group.max()) + 1 for group in groups]
        # Each row has one entry per kind of effect.
        parts = [
            csr_array((np.ones(count), group, np.arange(count + 1)), shape=(count, size))
            for group, size in zip(groups, sizes, strict=True)
        ]
        effects = hstack(parts, format="csr") if parts else csr_array((count, 0))
        self._kind = np.repeat(np.arange(len(groups)), sizes)  # (Q,)
        self._kinds = len(groups)
        self._free = count - design.shape[1]
        self._zz = (effects.T @ effects).toarray()  # (Q, Q)
        self._zx, self._zy = effects.T @ design, effects.T @ values  # (Q, P), (Q,)
        self._xx, self._xy, self._yy = design.T @ design, design.T @ values, float(values @ values)

    def _factors(self, ratios: Array) -> tuple[Array, Array, Array, Array, Array, float]:
        scale = np.sqrt(ratios)[self._kind]
        inner = self._zz * scale[:, None] * scale
        inner.flat[:: len(scale) + 1] += 1.0
        lower = cholesky(inner, lower=True) if len(scale) else inner
        columns = np.column_stack([self._zx, self._zy]) * scale[:, None]
        solved = solve_triangular(lower, columns, lower=True) if len(scale) else columns
        rzx, ry = solved[:, :-1], solved[:, -1]
        outer = cholesky(self._xx - rzx.T @ rzx, lower=True)
        fixed = cho_solve((outer, True), self._xy - rzx.T @ ry)
        squares = self._yy - float(ry @ ry) - float(fixed @ (self._xy - rzx.T @ ry))
        return lower, rzx, ry, outer, fixed, squares

    def deviance(self, ratios: Array) -> tuple[float, Array]:
        """Return the deviance and its gradient, (K,)."""
        lower, rzx, ry, outer, fixed, squares = self._factors(ratios)
        deviance = 2 * float(np.log(np.diag(lower)).sum() + np.log(np.diag(outer)).sum())
        deviance += self._free * (1 + math.log(2 * math.pi * squares / self._free))
        # Z'V⁻¹Z, Z'V⁻¹X and Z'V⁻¹(y - Xb), with V in units of the residual variance.
        across = solve_triangular(lower, self._zz * np.sqrt(ratios)[self._kind][:, None], lower=True)
        diagonal = np.diag(self._zz) - (across**2).sum(axis=0)
        zvx = self._zx - across.T @ rzx
        zvr = self._zy - across.T @ ry - zvx @ fixed
        diagonal = diagonal - (solve_triangular(outer, zvx.T, lower=True) ** 2).sum(axis=0)
        terms = diagonal - self._free / squares * zvr**2
        return deviance, np.bincount(self._kind, weights=terms, minlength=self._kinds)

    def scaled(self, scaled: Array, unit: Array) -> tuple[float, Array]:
        """Return the deviance and its gradient for ratios given in multiples of `unit`."""
        deviance, gradient = self.deviance(scaled * unit)
        return deviance, gradient * unit

    def solved(self, ratios: Array) -> tuple[Array, Array, float]:
        """Return the fixed effects, their covariance, and the residual variance."""
        _, _, _, outer, fixed, squares = self._factors(ratios)
        residual = squares / self._free
        return fixed, cho_solve((outer, True), np.eye(len(fixed))) * residual, residual
