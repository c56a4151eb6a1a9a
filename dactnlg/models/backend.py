"""The one module that knows how each Keras backend compiles a function."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import keras
import numpy as np

from dactnlg.errors import ConfigError

if TYPE_CHECKING:
    from dactnlg.models.base import NeuralModel

_TRAINS = ("tensorflow", "jax", "torch")


def compiled(function: Callable[..., Any], *, any_shape: bool = False) -> Callable[..., Any]:
    """Return the function compiled for the current backend: one program for each set of argument shapes.

    Args:
        function: of tensors.
        any_shape: once two shapes have been seen, use one program for all shapes, where the backend supports that;
            such a program is slower.
    """
    backend = keras.backend.backend()
    if backend == "tensorflow":
        import tensorflow as tf

        return tf.function(function, reduce_retracing=any_shape, autograph=False)
    if backend == "jax":
        import jax

        return jax.jit(function)  # type: ignore[no-any-return]
    if backend == "torch":
        import torch

        # PyTorch runs it uncompiled; its results need no gradients.
        return torch.no_grad()(function)  # type: ignore[no-any-return]
    return function


def compiled_draws(model: NeuralModel, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that draws from a model's generators, compiled; each call goes on where the last one ended."""
    if keras.backend.backend() != "jax":
        return compiled(function)
    # JAX traces the function once, so the generators' states are arguments and results of the program.
    seeds = model.seed_states()

    def pure(states: list[Any], *given: Any) -> tuple[Any, list[Any]]:
        with keras.StatelessScope(state_mapping=list(zip(seeds, states, strict=True))) as scope:
            found = function(*given)
        now = [scope.get_current_value(seed) for seed in seeds]
        return found, [old if new is None else new for old, new in zip(states, now, strict=True)]

    program = compiled(pure)

    def call(*given: Any) -> Any:
        found, states = program([seed.value for seed in seeds], *given)
        for seed, state in zip(seeds, states, strict=True):
            seed.assign(state)
        return found

    return call


def check_trains() -> None:
    """Check that Keras' backend can train.

    Raises:
        ConfigError: the backend only supports inference.
    """
    if (backend := keras.backend.backend()) not in _TRAINS:
        raise ConfigError(
            f"training.backend keras: Keras' backend {backend} cannot train; set KERAS_BACKEND to one of "
            f"{', '.join(_TRAINS)}, or choose training.backend numpy"
        )


def jit_compile() -> bool:
    """Whether Keras should compile training steps with XLA: required on JAX, slower on TensorFlow's CPU."""
    return keras.backend.backend() == "jax"


def retraces() -> bool:
    """Whether a training step is recompiled for all lengths once it has seen two; JAX compiles for each length."""
    return keras.backend.backend() == "tensorflow"


def backend_errors() -> tuple[type[Exception], ...]:
    """Return the exceptions that the backend raises when devices or cooperating processes fail."""
    if keras.backend.backend() == "tensorflow":
        import tensorflow as tf

        # TensorFlow is untyped: mypy would not know that this is an exception.
        lost: type[Exception] = tf.errors.OpError
        return RuntimeError, lost
    # JAX raises RuntimeError, except for failures between processes on CPUs.
    return RuntimeError, ValueError


def summed_over_devices(tensor: Any) -> Any:
    """Return the sum of a tensor over the devices that compute parts of the same batch.

    Only TensorFlow computes the parts separately; on JAX every tensor is already that of the whole batch.
    """
    if keras.backend.backend() == "tensorflow":
        import tensorflow as tf

        # There is no replica outside of a step, where a model is built.
        replica: Any = tf.distribute.get_replica_context()
        if replica is not None and replica.num_replicas_in_sync > 1:
            return replica.all_reduce(tf.distribute.ReduceOp.SUM, tensor)
    return tensor


def keep_float32() -> None:
    """Make GPUs multiply float32 numbers in float32, unless the user has configured JAX otherwise.

    By default TensorFlow and JAX round the factors to TF32 there, 10 bits of 23, but a score should be the same on
    every machine. Lower precision is available on request (`training.precision`).
    """
    if keras.backend.backend() == "tensorflow":
        import tensorflow as tf

        tf.config.experimental.enable_tensor_float_32_execution(enabled=False)
    elif keras.backend.backend() == "jax":
        import jax

        if jax.config.jax_default_matmul_precision is None:
            jax.config.update("jax_default_matmul_precision", "highest")


def make_deterministic() -> None:
    """Make the same program with the same seed give bit-identical results."""
    if keras.backend.backend() == "tensorflow":
        import tensorflow as tf

        # Otherwise threads' results are summed in the order in which the threads end.
        tf.config.experimental.enable_op_determinism()


@contextlib.contextmanager
def computing(precision: str) -> Iterator[None]:
    """Make layers created in this context compute in a precision, given by Keras' name, such as mixed_bfloat16."""
    kept = keras.config.dtype_policy()
    keras.config.set_dtype_policy(precision)
    try:
        yield
    finally:
        keras.config.set_dtype_policy(kept)


def to_numpy(tensor: Any) -> np.ndarray[Any, Any]:
    """Return a tensor of any backend as a NumPy array."""
    return np.asarray(keras.ops.convert_to_numpy(tensor))
