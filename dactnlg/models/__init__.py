"""Models by name: the contract (`base`), one file per model, and faster NumPy versions of some of them (`numpy`).

The model NAME is the class with a `Section` in `dactnlg/models/NAME.py`, or the class that another package registers
as the entry point NAME in the group `dactnlg.models`. Other rooms use only `prepare`, `step`, `batch_loss` and the
section. Keras is imported when a model is first requested.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from dactnlg._utils.quiet import quiet_tensorflow
from dactnlg.errors import ConfigError, RunError, UnknownNameError
from dactnlg.models.dialogue_sections import DIALOGUE
from dactnlg.models.sections import SHIPPED as ACT_MODELS
from dactnlg.runs.config import ModelSection

if TYPE_CHECKING:
    from dactnlg.models.base import NeuralModel
    from dactnlg.text.encoding import Sizes

# Keras is only ever imported by way of this package.
quiet_tensorflow()

PARTS = frozenset({"answers", "attention", "backend", "base", "cells", "dialogue_sections"})
PARTS |= {"gpt2_checkpoint", "latent", "recurrent", "sections", "weights"}
"""The modules of this folder that define no model."""
SHIPPED: dict[str, type[ModelSection]] = {**ACT_MODELS, **DIALOGUE}
"""The sections of the models that come with dactnlg."""
GROUP = "dactnlg.models"
"""The entry point group in which other packages register models."""


def model_class(name: str) -> Any:
    """Return a model's class.

    Raises:
        UnknownNameError: there is no such model.
        ConfigError: the file defines no model, or the target of an entry point cannot be imported or is no model.
    """
    # `isidentifier` rejects dotted paths.
    if name.isidentifier() and find_spec(f"{__name__}.{name}") and (found := _model_in(name)):
        return found
    for point in entry_points(group=GROUP, name=name):
        try:
            found = point.load()
        except Exception as error:  # Another package's code may raise anything.
            reason = f"{type(error).__name__}: {error}"
            raise ConfigError(f"the model '{name}' of {point.value} cannot be loaded: {reason}") from error
        if not _is_model(found):
            raise ConfigError(f"{point.value}, the model '{name}', is no NeuralModel whose Section is a ModelSection")
        return found
    if name in names():
        raise ConfigError(f"dactnlg/models/{name}.py holds no NeuralModel with a Section of its own")
    raise UnknownNameError("model", name, names())


def names() -> list[str]:
    """Return the names of all models without importing any of them."""
    files = {module.name for module in iter_modules(__path__) if not module.ispkg} - PARTS
    return sorted({*SHIPPED, *files, *(point.name for point in entry_points(group=GROUP))})


def section(name: str) -> type[ModelSection]:
    """Return the class of a model's configuration section.

    Raises:
        UnknownNameError: there is no such model.
    """
    if name in SHIPPED:
        return SHIPPED[name]
    found: type[ModelSection] = model_class(name).Section
    return found


def checked_section(found: ModelSection, where: str) -> ModelSection:
    """Validate the model section of a run's configuration with the model's own class, and fill in defaults.

    Args:
        found: the section as read from the file.
        where: the name of the file in messages.

    Raises:
        UnknownNameError: there is no such model.
        RunError: the model does not accept a key or a value.
    """
    try:
        return section(found.name).model_validate(found.model_dump())
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(map(str, ("model", *first["loc"])))
        raise RunError(f"{where} is damaged: {key}: {first['msg']}; got {first['input']!r:.60}") from None


def build_model(name: str, sizes: Sizes, **keywords: Any) -> NeuralModel:
    """Build a neural model with fresh weights.

    Args:
        name: of the model.
        sizes: the sizes of the preprocessor's vocabularies.
        **keywords: the keys of the model's section.

    Raises:
        UnknownNameError: there is no such model.
    """
    from dactnlg.models.backend import keep_float32
    from dactnlg.models.weights import create_weights

    keep_float32()
    model: NeuralModel = model_class(name)(sizes, **keywords)
    create_weights(model)
    return model


def load_model(name: str, sizes: Sizes, path: Path, keywords: Mapping[str, Any]) -> NeuralModel:
    """Build a neural model and read its weights.

    Args:
        name: of the model.
        sizes: the sizes of the preprocessor's vocabularies.
        path: the file of weights.
        keywords: the keys of the model's section.

    Raises:
        RunError: the weights cannot be read, or belong to another model or run.
    """
    from dactnlg.models.weights import assign_weights, load_arrays

    arrays = load_arrays(path)
    model = build_model(name, sizes, **keywords)
    assign_weights(model, arrays, str(path))
    return model


def _is_model(found: object) -> bool:
    from dactnlg.models.base import NeuralModel

    return isinstance(found, type) and issubclass(found, NeuralModel) and issubclass(found.Section, ModelSection)


def _model_in(module: str) -> Any | None:
    """Return the class that a module of this folder defines with its own `Section`, if any."""
    full = f"{__name__}.{module}"
    classes = [value for value in vars(import_module(full)).values() if isinstance(value, type)]
    own = [value for value in classes if value.__module__ == full and "Section" in vars(value)]
    return next((value for value in own if value.__name__ != "NeuralModel"), None)
