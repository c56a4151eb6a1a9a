import numpy as np
from numpy.typing import NDArray

class TtestResult:
    """Of a t test; `pvalue` is two-sided."""

    pvalue: NDArray[np.float64]

def rankdata(a: NDArray[np.float64]) -> NDArray[np.float64]: ...
def ttest_1samp(a: NDArray[np.float64], popmean: float, axis: int) -> TtestResult: ...
