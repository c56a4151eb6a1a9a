from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

class BinomTestResult:
    """Of a binomial test; `pvalue` is two-sided."""

    pvalue: float
    def proportion_ci(self, confidence_level: float, method: str) -> ConfidenceInterval: ...

class ConfidenceInterval:
    low: float
    high: float

class BootstrapResult:
    confidence_interval: ConfidenceInterval

class CorrelationResult:
    """A correlation with its two-sided p-value."""

    statistic: float
    pvalue: float

class TtestResult:
    """Of a t test; `pvalue` is two-sided."""

    pvalue: NDArray[np.float64]
    def confidence_interval(self) -> ConfidenceInterval: ...

class Distribution:
    """A distribution; `args` are its parameters."""

    def ppf(self, q: float, *args: float) -> float: ...
    def isf(self, q: float, *args: float) -> float: ...
    def sf(self, x: float, *args: float) -> float: ...

binom: Distribution
norm: Distribution
t: Distribution

def binomtest(k: int, n: int) -> BinomTestResult: ...
def pearsonr(x: NDArray[np.float64], y: NDArray[np.float64]) -> CorrelationResult: ...
def spearmanr(x: NDArray[np.float64], y: NDArray[np.float64]) -> CorrelationResult: ...
def kendalltau(x: NDArray[np.float64], y: NDArray[np.float64]) -> CorrelationResult: ...
def rankdata(a: NDArray[np.float64], *, axis: int | None = ...) -> NDArray[np.float64]: ...
def ttest_1samp(a: NDArray[np.float64], popmean: float, axis: int = ...) -> TtestResult: ...
def bootstrap(
    data: Sequence[NDArray[Any]],
    statistic: Callable[..., Any],
    *,
    vectorized: bool,
    n_resamples: int,
    batch: int,
    method: str,
    random_state: np.random.Generator,
) -> BootstrapResult: ...
