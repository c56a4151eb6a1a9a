"""95% intervals of correlations over items: all sentences of an item are drawn, or left out, together."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dactnlg.errors import UnknownNameError
from dactnlg.studies.analysis.results import Bounds

Kind = Literal["jackknife", "bca", "percentile"]
Floats = NDArray[np.float64]
METHODS: dict[str, str] = {
    "jackknife": "95% intervals over items, which are left out one by one: t intervals of Fisher's z",
    "bca": "95% intervals by BCa bootstrap over items (scipy bootstrap)",
    "percentile": "95% intervals by percentile bootstrap over items (scipy bootstrap)",
}
LEAST_ITEMS = 5
"""With fewer items, no interval is computed."""
MOST_JACKKNIFED = 3_000
"""Largest number of items to leave out one by one; more are left out in this many groups."""
_CELLS = 2_000_000
"""Largest number of weights to keep in memory at once."""


def check(kind: str) -> None:
    """Raise UnknownNameError for an unknown kind of interval."""
    if kind not in METHODS:
        raise UnknownNameError("interval", kind, METHODS)


def interval(
    statistic: Callable[[Floats], Floats], items: NDArray[Any], kind: Kind, resamples: int, seed: int
) -> tuple[Bounds | None, str]:
    """Return an interval, or None with the reason.

    Args:
        statistic: function from weights of sentences, (B, N), to correlations, (B,).
        items: (N,), the number of each sentence's item, from 0 without gaps.
        kind: a key of `METHODS`.
        resamples: number of bootstrap resamples.
        seed: of the bootstrap.
    """
    count = int(items.max()) + 1
    if count < LEAST_ITEMS:
        return None, f"no interval: {count} items"
    if kind == "jackknife":
        return _jackknife(statistic, items, count)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        from scipy.stats import bootstrap

        found = bootstrap(
            (np.arange(count),),
            lambda drawn, axis=-1: _of_drawn(statistic, items, drawn, count),
            vectorized=True,
            n_resamples=resamples,
            batch=max(1, _CELLS // len(items)),
            method="BCa" if kind == "bca" else "percentile",
            # The parameter name before scipy 1.15, which later versions accept too.
            random_state=np.random.default_rng(seed),
        ).confidence_interval
    if not (np.isfinite(found.low) and np.isfinite(found.high)):
        return None, "no interval: some resamples have no correlation"
    return (float(found.low), float(found.high)), ""


def _of_drawn(statistic: Callable[[Floats], Floats], items: NDArray[Any], drawn: NDArray[Any], count: int) -> Any:
    """Return the statistic of resamples given as item numbers, (..., I)."""
    rows = drawn.reshape(-1, drawn.shape[-1])
    flat = (rows + np.arange(len(rows))[:, None] * count).ravel()
    weights = np.bincount(flat, minlength=len(rows) * count).reshape(len(rows), count).astype(np.float64)
    return statistic(weights[:, items]).reshape(drawn.shape[:-1])


def _jackknife(statistic: Callable[[Floats], Floats], items: NDArray[Any], count: int) -> tuple[Bounds | None, str]:
    from scipy.stats import t

    if count > MOST_JACKKNIFED:
        items, count = items % MOST_JACKKNIFED, MOST_JACKKNIFED
    whole = float(statistic(np.ones((1, len(items))))[0])
    step = max(1, _CELLS // len(items))
    left_out = np.concatenate(
        [
            statistic((items != np.arange(at, min(at + step, count))[:, None]).astype(np.float64))
            for at in range(0, count, step)
        ]
    )
    if not np.isfinite(left_out).all():
        return None, "no interval: without one item there is no correlation"
    if max(abs(whole), float(np.abs(left_out).max())) > 1 - 1e-12:
        return None, "no interval: the correlation is perfect"
    z = np.arctanh(left_out)
    error = float(np.sqrt((count - 1) / count * ((z - z.mean()) ** 2).sum()))
    reach = float(t.ppf(0.975, count - 1)) * error
    if reach < 1e-12:
        return None, "no interval: the correlation is the same without any item"
    centre = float(np.arctanh(whole))
    return (float(np.tanh(centre - reach)), float(np.tanh(centre + reach))), ""
