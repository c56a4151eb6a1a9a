from collections.abc import Sequence
from typing import Any, TypeAlias

from keras import KerasTensor, TensorLike, Variable

class SeedGenerator:
    state: Variable
    def __init__(self, seed: int | None = None) -> None: ...

Seed: TypeAlias = int | SeedGenerator | None

def normal(
    shape: Sequence[int], mean: float = 0.0, stddev: float = 1.0, dtype: Any = None, seed: Seed = None
) -> KerasTensor: ...
def uniform(
    shape: Sequence[int], minval: float = 0.0, maxval: float = 1.0, dtype: Any = None, seed: Seed = None
) -> KerasTensor: ...
def categorical(logits: TensorLike, num_samples: int, dtype: Any = "int32", seed: Seed = None) -> KerasTensor: ...
def dropout(inputs: TensorLike, rate: float, noise_shape: Any = None, seed: Seed = None) -> KerasTensor: ...
