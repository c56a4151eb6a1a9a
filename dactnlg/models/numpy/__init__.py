"""NumPy in the place of Keras for the LSTM decoders: the same equations, faster on a processor, no Keras to load.

`supports` says for which models; `load` gives one to search with, `build_learner` one to train. Other rooms see of
them what they see of a Keras model.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from dactnlg.errors import UserError
from dactnlg.models.weights import check_numbers, check_shapes, load_arrays
from dactnlg.runs.config import ModelSection
from dactnlg.text.encoding import Sizes

if TYPE_CHECKING:
    from dactnlg.models.numpy.cells import Floats
    from dactnlg.models.numpy.inference import NumpyModel
    from dactnlg.models.numpy.learner import NumpyLearner

INPUTS = {"lstm": ("act",), "sclstm": ("act",), "hierarchical": ("act", "entries", "words")}
"""The models that are supported, and the arrays that they want from the preprocessor."""


def supports(name: str) -> bool:
    """Whether a model can be trained and searched in NumPy."""
    return name in INPUTS


def chosen_backend(name: str, wanted: str, key: str) -> str:
    """Return what computes with a model, `numpy` or `keras`.

    Args:
        name: of the model.
        wanted: `numpy`, `keras`, or `auto`: NumPy where it supports the model, else Keras.
        key: what messages call the choice, such as "training.backend".

    Raises:
        UserError: NumPy is asked for and does not support the model.
    """
    if wanted == "numpy" and not supports(name):
        known = ", ".join(INPUTS)
        raise UserError(f"{key} numpy does not support the model '{name}', only {known}; choose keras or auto")
    if wanted == "auto":
        return "numpy" if supports(name) else "keras"
    return wanted


def load(section: ModelSection, sizes: Sizes, path: Path) -> NumpyModel:
    """Read a trained model.

    Args:
        section: of a supported model.
        sizes: of what the preprocessor numbers.
        path: the weights.

    Raises:
        RunError: they cannot be read, or belong to another run.
    """
    keys, weights = section.keywords(), load_arrays(path)
    hidden, embedding = int(keys["hidden_size"]), int(keys["embedding_size"])
    gates = 4 * hidden + (0 if section.name == "lstm" else sizes.act)
    shapes = {"embedding": (sizes.vocabulary, embedding), "projection": (embedding, gates), "bias": (gates,)}
    shapes |= {"cell/recurrent": (hidden, 4 * hidden), "output_kernel": (hidden, sizes.vocabulary)}
    shapes |= {"output_bias": (sizes.vocabulary,)}
    if section.name != "lstm":
        shapes |= {"cell/reading": (hidden, sizes.act), "cell/act": (sizes.act, hidden)}
    if section.name != "sclstm":
        shapes |= {"act_projection": (sizes.act, gates)}
    if section.name == "hierarchical":
        shapes |= _encoder_shapes(int(keys["value_size"]), int(keys["encoder_size"]), sizes, gates)
    check_shapes(weights, shapes, str(path))
    check_numbers(weights, dict.fromkeys(shapes, "float32"), str(path))
    return searching(section, weights)


def searching(section: ModelSection, weights: Mapping[str, Floats]) -> NumpyModel:
    """Return a model to search with, given its section and weights."""
    from dactnlg.models.numpy.inference import NumpyModel

    return NumpyModel(INPUTS[section.name], weights, float(section.keywords().get("alpha", 0.0)))


def build_learner(
    section: ModelSection, weights: Mapping[str, Floats], learning_rate: float, clip_norm: float
) -> NumpyLearner:
    """Return what trains a supported model.

    Args:
        section: of the model.
        weights: the first ones, by name.
        learning_rate: at first.
        clip_norm: largest norm of the whole gradient.
    """
    from dactnlg.models.numpy.learner import NumpyLearner

    return NumpyLearner(weights, learning_rate, clip_norm, section.keywords())


def _encoder_shapes(value: int, encoder: int, sizes: Sizes, gates: int) -> dict[str, tuple[int, ...]]:
    shapes: dict[str, tuple[int, ...]] = {"words": (sizes.words, value), "entries": (sizes.act + 1, value)}
    for name, inputs, hidden in (("lower", value, value), ("upper", 2 * value, encoder)):
        shapes[f"{name}/projection"], shapes[f"{name}/bias"] = (inputs, 4 * hidden), (4 * hidden,)
        shapes[f"{name}/cell/recurrent"] = (hidden, 4 * hidden)
    return {**shapes, "encoder_projection": (encoder, gates)}
