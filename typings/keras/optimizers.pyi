from collections.abc import Iterable, Sequence

from keras import KerasTensor, TensorLike, Variable

class Optimizer:
    # Adam's constants: the package trains with no other optimizer.
    beta_1: float
    beta_2: float
    epsilon: float
    iterations: Variable
    @property
    def learning_rate(self) -> KerasTensor: ...
    @learning_rate.setter
    def learning_rate(self, value: float) -> None: ...
    @property
    def variables(self) -> list[Variable]: ...
    def build(self, variables: Sequence[Variable]) -> None: ...
    def apply(self, grads: Sequence[TensorLike], trainable_variables: Sequence[Variable] | None = None) -> None: ...
    def apply_gradients(self, grads_and_vars: Iterable[tuple[TensorLike, Variable]]) -> None: ...
    def scale_loss(self, loss: KerasTensor) -> KerasTensor: ...

class Adam(Optimizer):
    def __init__(
        self,
        learning_rate: float = 0.001,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-7,
        *,
        clipnorm: float | None = None,
        global_clipnorm: float | None = None,
        name: str = "adam",
    ) -> None: ...

class LossScaleOptimizer(Optimizer):
    inner_optimizer: Optimizer
    def __init__(self, inner_optimizer: Optimizer, initial_scale: float = 32768.0) -> None: ...
