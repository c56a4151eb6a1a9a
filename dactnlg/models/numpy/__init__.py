"""NumPy versions of the LSTM decoders: the equations of the Keras models, faster on a CPU, without importing Keras.

`supports` says which models have one; `load` returns a model to search with, `build_learner` one to train. Both have
the same interface as a Keras model has for other rooms.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from dactnlg.errors import UserError
from dactnlg.models.numpy.initial import weights_of
from dactnlg.models.weights import check_numbers, check_shapes, load_arrays
from dactnlg.runs.config import ModelSection
from dactnlg.text.context import CONTEXT
from dactnlg.text.copying import COPIES
from dactnlg.text.encoding import Sizes

if TYPE_CHECKING:
    from dactnlg.models.numpy.cells import Floats
    from dactnlg.models.numpy.inference import NumpyModel
    from dactnlg.models.numpy.learner import NumpyLearner
    from dactnlg.models.numpy.seq2seq import NumpySeq2Seq

_ENTRIES = ("act", "entries", "words")
INPUTS = {"lstm": ("act",), "sclstm": ("act",), "hierarchical": _ENTRIES, "seq2seq": _ENTRIES}
"""The supported models, and the preprocessor's arrays that they always need."""


def inputs_of(section: ModelSection) -> tuple[str, ...]:
    """Return the preprocessor's arrays that a supported model needs, given its section."""
    copies = (COPIES,) if section.keywords().get("copying") else ()
    return (*INPUTS[section.name], *((CONTEXT,) if section.sees_context else ()), *copies)


def supports(name: str) -> bool:
    """Whether a model can be trained and searched in NumPy."""
    return name in INPUTS


def chosen_backend(name: str, wanted: str, key: str) -> str:
    """Return the backend to use for a model, `numpy` or `keras`.

    Args:
        name: of the model.
        wanted: `numpy`, `keras`, or `auto`: NumPy where it supports the model, else Keras.
        key: the name of this option in messages, such as "training.backend".

    Raises:
        UserError: NumPy is requested but does not support the model.
    """
    if wanted == "numpy" and not supports(name):
        known = ", ".join(INPUTS)
        raise UserError(f"{key} numpy does not support the model '{name}', only {known}; choose keras or auto")
    if wanted == "auto":
        return "numpy" if supports(name) else "keras"
    return wanted


def load(section: ModelSection, sizes: Sizes, path: Path) -> NumpyModel | NumpySeq2Seq:
    """Read a trained model.

    Args:
        section: of a supported model.
        sizes: the sizes of the preprocessor's vocabularies.
        path: the file of weights.

    Raises:
        RunError: the weights cannot be read, or belong to another run.
    """
    weights = load_arrays(path)
    shapes = {name: weight.shape for name, weight in weights_of(section, sizes).items()}
    check_shapes(weights, shapes, str(path))
    check_numbers(weights, dict.fromkeys(shapes, "float32"), str(path))
    return searching(section, weights)


def searching(section: ModelSection, weights: Mapping[str, Floats]) -> NumpyModel | NumpySeq2Seq:
    """Return a model to search with, given its section and weights."""
    from dactnlg.models.numpy.inference import NumpyModel
    from dactnlg.models.numpy.seq2seq import NumpySeq2Seq

    if section.name == "seq2seq":
        return NumpySeq2Seq(inputs_of(section), weights)
    return NumpyModel(inputs_of(section), weights, float(section.keywords().get("alpha", 0.0)))


def build_learner(
    section: ModelSection, weights: Mapping[str, Floats], learning_rate: float, clip_norm: float
) -> NumpyLearner:
    """Return a learner that trains a supported model.

    Args:
        section: of the model.
        weights: the initial ones, by name.
        learning_rate: the initial one.
        clip_norm: largest norm of the whole gradient.
    """
    from dactnlg.models.numpy.learner import NumpyLearner

    return NumpyLearner(weights, learning_rate, clip_norm, section.keywords())
