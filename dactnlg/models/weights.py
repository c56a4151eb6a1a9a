"""Weights by name, in safetensors files: how a run stores its model, whichever backend computes with it.

A weight's name is the path of attributes that leads to it (`cell/recurrent`, `lower/cell/recurrent`), so it depends
neither on the order in which weights are created nor on how often a class was instantiated before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dactnlg._utils.reading import regular_file
from dactnlg.errors import RunError, UnknownNameError
from dactnlg.text.context import CONTEXT
from dactnlg.text.copying import COPIES

if TYPE_CHECKING:
    from dactnlg.models.base import NeuralModel

Arrays = dict[str, NDArray[Any]]


def save_arrays(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write arrays by name."""
    from safetensors.numpy import save

    # Not `ascontiguousarray`, which turns scalars into one-dimensional arrays. Not `save_file` either: on a full disk
    # it does not raise the operating system's error.
    path.write_bytes(save({name: np.asarray(array, order="C") for name, array in arrays.items()}))


def load_arrays(path: Path) -> Arrays:
    """Read what `save_arrays` wrote.

    Raises:
        RunError: the file cannot be read.
    """
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(regular_file(path), framework="numpy") as file:
            return {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (OSError, SafetensorError, ValueError, KeyError, TypeError, AttributeError) as error:
        reason = (isinstance(error, OSError) and error.strerror) or error
        raise RunError(
            f"{path} cannot be read as weights ({reason}): is it damaged? Then train the model anew"
        ) from None


def named_weights(model: NeuralModel) -> dict[str, Any]:
    """Return a model's weights, as Keras variables, by name.

    Raises:
        ValueError: a weight cannot be reached through attributes, lists and dictionaries of layers.
    """
    wanted = {id(weight) for weight in model.weights}
    found: dict[str, Any] = {}
    seen: set[int] = set()
    for name, weight in _walk(model, "", seen):
        if id(weight) in wanted:
            found[name] = weight
            wanted.discard(id(weight))
    if wanted:
        lost = [weight.path for weight in model.weights if id(weight) in wanted]
        raise ValueError(f"weights that no attribute leads to: {', '.join(lost)}; make their layers attributes")
    return found


def assign_weights(model: NeuralModel, arrays: Mapping[str, NDArray[Any]], where: str) -> None:
    """Set a model's weights.

    Args:
        model: the model.
        arrays: the weights by name.
        where: where they come from, for messages.

    Raises:
        RunError: a weight is missing, has another shape or type, is not finite, or is not one of the model's.
    """
    weights = named_weights(model)
    check_shapes(arrays, {name: tuple(weight.shape) for name, weight in weights.items()}, where)
    check_numbers(arrays, {name: str(weight.dtype) for name, weight in weights.items()}, where)
    for name, weight in weights.items():
        weight.assign(arrays[name])


def check_shapes(arrays: Mapping[str, NDArray[Any]], shapes: Mapping[str, tuple[int, ...]], where: str) -> None:
    """Check that arrays are the weights of a model.

    Raises:
        RunError: a weight is missing, has another shape, or is not one of the model's.
    """
    for name, shape in shapes.items():
        if name not in arrays:
            raise RunError(f"{where} holds no weight '{name}': it belongs to another model or version")
        if arrays[name].shape != shape:
            found = "x".join(map(str, arrays[name].shape))
            raise RunError(
                f"{where}: weight '{name}' is {found}, not {'x'.join(map(str, shape))}: it belongs to another run"
            )
    for name in arrays:
        if name not in shapes:
            raise RunError(f"{where} holds a weight '{name:.60}' that the model has not: it belongs to another model")


def check_numbers(arrays: Mapping[str, NDArray[Any]], types: Mapping[str, str], where: str) -> None:
    """Check the types and values of weights whose shapes have been checked.

    Args:
        arrays: the weights by name.
        types: name of a weight -> the type of its numbers, such as "float32".
        where: where the weights come from, for messages.

    Raises:
        RunError: a weight has another type, or holds a number that is not finite.
    """
    for name, dtype in types.items():
        if arrays[name].dtype != dtype:
            raise RunError(f"{where}: weight '{name}' holds {arrays[name].dtype}, not {dtype}: is it damaged?")
        if not np.isfinite(arrays[name]).all():
            raise RunError(f"{where}: weight '{name}' holds numbers that are not finite; train the model anew")


def create_weights(model: NeuralModel) -> None:
    """Run a model once on a dummy batch, so that layers which create weights at their first input have them."""
    batch: dict[str, Any] = {**example_batch(model), "weights": np.ones(1, np.float32)}
    tokens = np.ones((1, 2), np.int32)
    model({**batch, "tokens": tokens, "targets": tokens, "lengths": np.full(1, 2, np.int32)})


def example_batch(model: NeuralModel, length: int = 4) -> Arrays:
    """Return the input arrays of a model for one dummy act with `length` entries of `length` words each."""
    arrays: Arrays = {"act": np.zeros((1, model.sizes.act), np.float32)}
    arrays |= {"entries": np.ones((1, length, 2), np.int32), "words": np.ones((1, length, length), np.int32)}
    arrays |= {CONTEXT: np.ones((1, length), np.int32), COPIES: np.ones((1, length, 2), np.int32)}
    arrays |= {"turns": np.ones((1, 2, length), np.int32), "turn_lengths": np.ones((1, 2), np.int32)}
    arrays |= {name: np.zeros((1, *shape), np.float32) for name, shape in model.float_inputs().items()}
    if unknown := [name for name in model.inputs if name not in arrays]:
        raise UnknownNameError(f"input of {type(model).__name__}", unknown[0], sorted(arrays))
    return {name: arrays[name] for name in model.inputs}


def _walk(item: Any, prefix: str, seen: set[int]) -> Iterator[tuple[str, Any]]:
    """Yield every variable reachable through attributes, with its name; each object is visited once."""
    import keras

    if id(item) in seen:
        return
    seen.add(id(item))
    if isinstance(item, keras.Variable):
        yield prefix, item
    elif isinstance(item, keras.layers.Layer):
        # On PyTorch a layer is also a module, which keeps attributes that are layers in `_modules`.
        for name, value in {**vars(item), **vars(item).get("_modules", {})}.items():
            if name not in _BOOKKEEPING and not name.startswith("_self_"):
                yield from _walk(value, f"{prefix}/{name.lstrip('_')}" if prefix else name.lstrip("_"), seen)
    elif isinstance(item, dict):
        for name, value in item.items():
            yield from _walk(value, f"{prefix}/{name}", seen)
    elif isinstance(item, list | tuple):
        for number, value in enumerate(item):
            yield from _walk(value, f"{prefix}/{number}", seen)


# Where Keras itself keeps a layer's parts, in order of creation; TensorFlow's names begin with _self_.
_BOOKKEEPING = {"_layers", "_trainable_variables", "_non_trainable_variables", "_metrics", "_tracker", "optimizer"}
_BOOKKEEPING |= {"_loss_tracker", "_seed_generators", "_compile_metrics", "_compile_loss", "_losses"}
_BOOKKEEPING |= {"_modules", "_parameters", "_buffers", "_torch_params"}  # PyTorch's
