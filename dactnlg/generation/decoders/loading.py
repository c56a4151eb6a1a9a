"""Loading decoders from run folders: a single run, or several as an ensemble."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from dactnlg import models
from dactnlg._utils.hashing import file_digest
from dactnlg.errors import RunError, UnknownNameError
from dactnlg.generation.decoders.decoder import Decoder
from dactnlg.generation.decoders.ensemble import KerasEnsemble, NumpyEnsemble
from dactnlg.generation.decoders.numpy_decoder import NumpyDecoder
from dactnlg.models import numpy as numpy_models
from dactnlg.models.dialogue_sections import check_says_acts
from dactnlg.runs.config import BACKENDS, Config
from dactnlg.runs.run import Run
from dactnlg.text.preprocessor import Preprocessor

Folder = str | os.PathLike[str]


class CheckedRun(NamedTuple):
    """A run that has been checked, and its configuration."""

    run: Run
    config: Config


def listed(folders: Folder | Sequence[Folder]) -> list[Path]:
    """Return one or several folders as a list of paths.

    Raises:
        RunError: the list is empty, or has something other than paths.
    """
    if isinstance(folders, str | os.PathLike):
        return [Path(folders)]
    if isinstance(folders, bytes) or not isinstance(folders, Iterable):
        raise RunError(f"no run: give the path of its folder, or a list of them, not {type(folders).__name__}")
    found = list(folders)
    for each in found:
        if not isinstance(each, str | os.PathLike):
            raise RunError(f"no run: give the paths of folders, not {type(each).__name__}")
    if not found:
        raise RunError("no run: name at least one folder")
    return list(map(Path, found))


def checked_runs(folders: Folder | Sequence[Folder]) -> list[CheckedRun]:
    """Check runs, and that they can form an ensemble.

    Args:
        folders: one folder, or several whose models share vocabulary and acts.

    Raises:
        RunError: one of them cannot be used, or they are incompatible.
    """
    runs = [CheckedRun(run, run.check()) for run in map(Run, listed(folders))]
    for run, config in runs:
        check_says_acts(config.model.name, run.path)
    first = runs[0].run
    for run, config in runs if len(runs) > 1 else ():
        if not config.model.neural:
            raise RunError(f"{run.path} holds the random baseline, whose sentences have no probabilities to average")
        if file_digest(run.preprocessor_path) != file_digest(first.preprocessor_path):
            raise RunError(
                f"{run.path} and {first.path} cannot search together: their vocabularies or acts differ; runs of the "
                "same corpus section, with other seeds, models or sizes, can"
            )
    return runs


def chosen_backend(runs: Sequence[CheckedRun], backend: str) -> str:
    """Return the backend to search with, `numpy` or `keras`; `none` for the random baseline, which needs no search.

    Args:
        runs: the runs; the first one's configuration decides, as far as all models are supported.
        backend: as for `Generator.load`.

    Raises:
        UnknownNameError: there is no such backend.
        UserError: `numpy` is requested and does not support a model.
    """
    if backend not in BACKENDS:
        raise UnknownNameError("backend", backend, BACKENDS)
    config = runs[0].config
    if not config.model.neural:
        return "none"
    if backend == "auto":
        backend = "keras" if os.environ.get("KERAS_BACKEND") else config.decoding.backend
    found = {numpy_models.chosen_backend(each.config.model.name, backend, "backend") for each in runs}
    return "keras" if "keras" in found else "numpy"


def load_decoder(runs: Sequence[CheckedRun], preprocessor: Preprocessor, backend: str) -> Decoder:
    """Load the models of some runs, and return a decoder for them.

    Args:
        runs: from `checked_runs`.
        preprocessor: their preprocessor.
        backend: `numpy` or `keras`.

    Raises:
        RunError: weights cannot be read, or belong to another run.
    """
    length = runs[0].config.decoding.max_length
    sections = [models.checked_section(config.model, str(run.config_path)) for run, config in runs]
    files = [run.weights_path for run, _ in runs]
    if backend == "numpy":
        found = [numpy_models.load(s, preprocessor.sizes, path) for s, path in zip(sections, files, strict=True)]
        return NumpyDecoder(found[0] if len(found) == 1 else NumpyEnsemble(found), preprocessor, max_length=length)
    # Keras takes seconds to import, so it is imported only if needed.
    from dactnlg.generation.decoders.keras_decoder import KerasDecoder

    built = [
        models.load_model(section.name, preprocessor.sizes, path, section.keywords())
        for section, path in zip(sections, files, strict=True)
    ]
    return KerasDecoder(built[0] if len(built) == 1 else KerasEnsemble(built), preprocessor, max_length=length)
