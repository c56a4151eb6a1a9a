"""The one module that knows how each Keras backend compiles a function."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import keras
import numpy as np

from dactnlg.errors import ConfigError

_TRAINS = ("tensorflow", "jax", "torch")


def compiled(function: Callable[..., Any], *, any_shape: bool = False) -> Callable[..., Any]:
    """Return the function compiled for the current backend: one program for each set of argument shapes.

    Args:
        function: of tensors.
        any_shape: one program for all shapes once it has met two, where the backend has such programs; they take
            longer to run.
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

        # PyTorch runs it as it stands; what it says needs no gradients.
        return torch.no_grad()(function)  # type: ignore[no-any-return]
    return function


def check_trains() -> None:
    """See to it that Keras' backend can learn.

    Raises:
        ConfigError: it can only be asked for what a model says.
    """
    if (backend := keras.backend.backend()) not in _TRAINS:
        raise ConfigError(
            f"training.backend keras: Keras' backend {backend} cannot train; set KERAS_BACKEND to one of "
            f"{', '.join(_TRAINS)}, or choose training.backend numpy"
        )


def jit_compile() -> bool:
    """Whether Keras should compile training steps with XLA: on JAX it must, on TensorFlow's CPU it is slower."""
    return keras.backend.backend() == "jax"


def retraces() -> bool:
    """Whether a training step is compiled anew for any length once it has met two; JAX compiles for each length."""
    return keras.backend.backend() == "tensorflow"


def backend_errors() -> tuple[type[Exception], ...]:
    """Return what the backend raises when devices, or processes that compute together, fail."""
    if keras.backend.backend() == "tensorflow":
        import tensorflow as tf

        # TensorFlow has no types: mypy would not know that this is an exception.
        lost: type[Exception] = tf.errors.OpError
        return RuntimeError, lost
    # JAX's own error is a RuntimeError, but for what fails between processes on CPUs.
    return RuntimeError, ValueError


def keep_float32() -> None:
    """See to it that a GPU computes products of float32 numbers in float32, unless the user has told JAX otherwise.

    TensorFlow and JAX round their factors to TF32 there, 10 bits of 23, and a score is to be the same on every machine.
    Lower precision can be asked for (`training.precision`).
    """
    if keras.backend.backend() == "tensorflow":
        import tensorflow as tf

        tf.config.experimental.enable_tensor_float_32_execution(enabled=False)
    elif keras.backend.backend() == "jax":
        import jax

        if jax.config.jax_default_matmul_precision is None:
            jax.config.update("jax_default_matmul_precision", "highest")


def make_deterministic() -> None:
    """See to it that the same program with the same seed computes the same digits."""
    if keras.backend.backend() == "tensorflow":
        import tensorflow as tf

        # Sums over threads are otherwise taken in the order in which threads end.
        tf.config.experimental.enable_op_determinism()


@contextlib.contextmanager
def computing(precision: str) -> Iterator[None]:
    """Have the layers that are made meanwhile compute in a precision; Keras' name of one, such as mixed_bfloat16."""
    kept = keras.config.dtype_policy()
    keras.config.set_dtype_policy(precision)
    try:
        yield
    finally:
        keras.config.set_dtype_policy(kept)


def to_numpy(tensor: Any) -> np.ndarray[Any, Any]:
    """Return a tensor of any backend as a NumPy array."""
    return np.asarray(keras.ops.convert_to_numpy(tensor))
