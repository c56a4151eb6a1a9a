"""The models by name. Keras is imported when one of them is asked for."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dactnlg.errors import RunError, UnknownNameError

if TYPE_CHECKING:
    from dactnlg.models.base import NeuralModel
    from dactnlg.text.preprocessor import Preprocessor

NEURAL = ("lstm", "sclstm", "hierarchical")


def build_model(name: str, preprocessor: Preprocessor, **options: Any) -> NeuralModel:
    """Build a neural model for a preprocessor's vocabulary and features.

    Args:
        name: one of `NEURAL`.
        preprocessor: gives the sizes that follow from the data.
        **options: sizes and weights; those that the model does not take are left out.

    Raises:
        UnknownNameError: there is no such model.
    """
    if name not in NEURAL:
        raise UnknownNameError("model", name, NEURAL)
    from dactnlg.models.hierarchical import HierarchicalSCLSTM
    from dactnlg.models.lstm import LSTM
    from dactnlg.models.sclstm import SCLSTM

    model_class: type[NeuralModel] = {"lstm": LSTM, "sclstm": SCLSTM, "hierarchical": HierarchicalSCLSTM}[name]
    sizes = {
        "vocabulary_size": len(preprocessor.vocabulary),
        "act_size": len(preprocessor.encoder.features),
        "word_count": len(preprocessor.encoder.words),
    }
    # A model's keywords are its own and those of the classes it builds on.
    own = [base for base in model_class.__mro__ if base.__module__.startswith("dactnlg")]
    accepted = {name for base in own for name in inspect.signature(base).parameters}
    return model_class(**{key: value for key, value in {**sizes, **options}.items() if key in accepted})


def load_model(path: Path, compiled: bool = False) -> NeuralModel:
    """Read a `.keras` file that training wrote; `compiled` with its optimizer.

    Raises:
        RunError: it is not one.
    """
    import keras

    from dactnlg.models import hierarchical, lstm, sclstm  # noqa: F401  (registers the classes with Keras)

    try:
        return keras.saving.load_model(path, compile=compiled)  # type: ignore[no-any-return]
    except (OSError, ValueError, TypeError) as error:
        raise RunError(f"{path} is not a model that this version can read: {error}") from None
