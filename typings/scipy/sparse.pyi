from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

D = TypeVar("D", bound=np.generic)

class csr_array:
    """A sparse matrix: values, column of each value, and where the values of each row begin."""

    def __init__(
        self,
        arg1: tuple[NDArray[Any], NDArray[np.integer[Any]], NDArray[np.integer[Any]]] | tuple[int, int],
        shape: tuple[int, int] | None = None,
        dtype: Any = None,
    ) -> None: ...
    def __matmul__(self, other: NDArray[D]) -> NDArray[D]: ...
    def __getitem__(self, rows: NDArray[Any]) -> csr_array: ...
    @property
    def shape(self) -> tuple[int, int]: ...
    @property
    def T(self) -> csr_array: ...
    def tocsr(self) -> csr_array: ...

def hstack(blocks: Sequence[csr_array], format: str) -> csr_array: ...
def vstack(blocks: Sequence[csr_array], format: str) -> csr_array: ...
