"""The one module that knows how each Keras backend compiles a function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
import numpy as np


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function compiled for the current backend: one program for each set of argument shapes."""
    backend = keras.backend.backend()
    if backend == "tensorflow":
        import tensorflow as tf

        return tf.function(function, reduce_retracing=False)  # type: ignore[no-any-return]
    if backend == "jax":
        import jax

        return jax.jit(function)  # type: ignore[no-any-return]
    return function


def jit_compile() -> bool:
    """Whether Keras should compile training steps with XLA: on JAX it must, on TensorFlow's CPU it is slower."""
    return keras.backend.backend() == "jax"


def make_deterministic() -> None:
    """See to it that the same program with the same seed computes the same digits."""
    if keras.backend.backend() == "tensorflow":
        import tensorflow as tf

        # Sums over threads are otherwise taken in the order in which threads end.
        tf.config.experimental.enable_op_determinism()


def to_numpy(tensor: Any) -> np.ndarray[Any, Any]:
    """Return a tensor of any backend as a NumPy array."""
    return np.asarray(keras.ops.convert_to_numpy(tensor))
