from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

D = TypeVar("D", bound=np.generic)

class csr_array:
    """A sparse matrix: values, column of each value, and where the values of each row begin."""

    def __init__(
        self,
        arg1: tuple[NDArray[Any], NDArray[np.integer[Any]], NDArray[np.integer[Any]]],
        shape: tuple[int, int] | None = None,
        dtype: Any = None,
    ) -> None: ...
    def __matmul__(self, other: NDArray[D]) -> NDArray[D]: ...
