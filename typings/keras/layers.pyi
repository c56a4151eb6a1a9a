from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from keras import KerasTensor, Shape, TensorLike, Variable
from keras.random import SeedGenerator

Initializer: TypeAlias = str | Callable[..., TensorLike]

class DTypePolicy:
    def convert_input(self, x: Any, autocast: bool, dtype: str) -> KerasTensor: ...
    name: str
    compute_dtype: str
    variable_dtype: str

class Layer:
    name: str
    built: bool
    trainable: bool
    supports_masking: bool
    def __init__(
        self,
        *,
        activity_regularizer: Any = None,
        trainable: bool = True,
        dtype: Any = None,
        autocast: bool = True,
        name: str | None = None,
    ) -> None: ...
    @property
    def dtype(self) -> str: ...
    @property
    def compute_dtype(self) -> str: ...
    @property
    def dtype_policy(self) -> DTypePolicy: ...
    @property
    def weights(self) -> list[Variable]: ...
    @property
    def variables(self) -> list[Variable]: ...
    @property
    def trainable_variables(self) -> list[Variable]: ...
    @property
    def trainable_weights(self) -> list[Variable]: ...
    @property
    def non_trainable_variables(self) -> list[Variable]: ...
    def add_weight(
        self,
        shape: Shape | None = None,
        initializer: Initializer | None = None,
        dtype: str | None = None,
        trainable: bool = True,
        autocast: bool = True,
        regularizer: Any = None,
        constraint: Any = None,
        aggregation: str = "none",
        overwrite_with_gradient: bool = False,
        name: str | None = None,
    ) -> Variable: ...
    def add_loss(self, loss: KerasTensor) -> None: ...
    # A subclass says what it takes and gives: `build` and `call` are the two that it writes.
    build: Callable[..., None]
    call: Callable[..., Any]
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def get_config(self) -> dict[str, Any]: ...
    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any: ...

class Dropout(Layer):
    seed_generator: SeedGenerator
    def __init__(
        self, rate: float, noise_shape: Any = None, seed: int | None = None, *, name: str | None = None
    ) -> None: ...
    def __call__(self, inputs: TensorLike, training: bool = False) -> KerasTensor: ...

class Dense(Layer):
    kernel: Variable
    bias: Variable
    def __init__(
        self,
        units: int,
        activation: str | Callable[[KerasTensor], KerasTensor] | None = None,
        use_bias: bool = True,
        kernel_initializer: Initializer = ...,
        bias_initializer: Initializer = ...,
        *,
        name: str | None = None,
        dtype: Any = None,
    ) -> None: ...
    def __call__(self, inputs: TensorLike, training: bool = False) -> KerasTensor: ...

class Embedding(Layer):
    embeddings: Variable
    def __init__(
        self,
        input_dim: int,
        output_dim: int,
        embeddings_initializer: Initializer = ...,
        mask_zero: bool = False,
        *,
        name: str | None = None,
        dtype: Any = None,
    ) -> None: ...
    def __call__(self, inputs: TensorLike) -> KerasTensor: ...

class LayerNormalization(Layer):
    def __init__(
        self, axis: int = -1, epsilon: float = 1e-3, *, name: str | None = None, dtype: Any = None
    ) -> None: ...
    def __call__(self, inputs: TensorLike) -> KerasTensor: ...

class MultiHeadAttention(Layer):
    def __init__(
        self,
        num_heads: int,
        key_dim: int,
        value_dim: int | None = None,
        dropout: float = 0.0,
        *,
        name: str | None = None,
        dtype: Any = None,
    ) -> None: ...
    def __call__(
        self,
        query: TensorLike,
        value: TensorLike,
        key: TensorLike | None = None,
        attention_mask: TensorLike | None = None,
        training: bool = False,
        use_causal_mask: bool = False,
    ) -> KerasTensor: ...

class RNN(Layer):
    cell: Any
    def __init__(
        self,
        cell: Layer,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        unroll: bool = False,
        zero_output_for_mask: bool = False,
        *,
        name: str | None = None,
        dtype: Any = None,
    ) -> None: ...
    # With `return_state` it is a tuple; nothing here asks for that.
    def __call__(
        self,
        sequences: TensorLike,
        initial_state: Sequence[KerasTensor] | KerasTensor | None = None,
        mask: KerasTensor | None = None,
        training: bool = False,
    ) -> KerasTensor: ...

class GRUCell(Layer):
    state_size: int
    def __init__(self, units: int, *, reset_after: bool = True, name: str | None = None, dtype: Any = None) -> None: ...
    def __call__(
        self, inputs: TensorLike, states: Any, training: bool = False
    ) -> tuple[KerasTensor, list[KerasTensor]]: ...

class LSTMCell(Layer):
    state_size: list[int]
    def __init__(self, units: int, *, name: str | None = None, dtype: Any = None) -> None: ...
    def __call__(
        self, inputs: TensorLike, states: Any, training: bool = False
    ) -> tuple[KerasTensor, list[KerasTensor]]: ...

class LSTM(RNN):
    cell: LSTMCell
    def __init__(
        self,
        units: int,
        *,
        return_sequences: bool = False,
        return_state: bool = False,
        use_cudnn: bool | str = "auto",
        name: str | None = None,
        dtype: Any = None,
    ) -> None: ...

class GRU(RNN):
    cell: GRUCell
    def __init__(
        self,
        units: int,
        *,
        return_sequences: bool = False,
        return_state: bool = False,
        use_cudnn: bool | str = "auto",
        name: str | None = None,
        dtype: Any = None,
    ) -> None: ...
