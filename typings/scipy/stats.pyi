from typing import Any

import numpy as np
from numpy.typing import NDArray

class _Interval:
    low: float
    high: float

class _BinomTestResult:
    pvalue: float
    def proportion_ci(self, confidence_level: float = ..., method: str = ...) -> _Interval: ...

binom: Any
norm: Any
pearsonr: Any
spearmanr: Any
t: Any

def binomtest(k: int, n: int, p: float = ...) -> _BinomTestResult: ...
def rankdata(a: NDArray[np.float64]) -> NDArray[np.float64]: ...
