from collections.abc import Sequence
from typing import Any

from keras import KerasTensor

class Initializer:
    def __call__(self, shape: Sequence[int], dtype: Any = None) -> KerasTensor: ...

def get(identifier: str | Initializer) -> Initializer: ...

class RandomNormal(Initializer):
    def __init__(self, mean: float = ..., stddev: float = ..., seed: int | None = ...) -> None: ...
