from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

class OptimizeResult:
    """What was found; `x` is the minimum."""

    x: NDArray[np.float64]

def minimize(
    fun: Callable[[NDArray[np.float64]], tuple[float, NDArray[np.float64]]],
    x0: NDArray[np.float64],
    *,
    jac: bool,
    method: str,
    bounds: Sequence[tuple[float, float | None]] | None = None,
    options: dict[str, Any],
) -> OptimizeResult: ...
