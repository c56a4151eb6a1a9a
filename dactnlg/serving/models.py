"""The runs of a service: named, loaded at the start, and reloaded when their folders change."""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from dactnlg._utils.hashing import file_digest
from dactnlg._utils.web.problems import Problem
from dactnlg.errors import DactnlgError, RunError, UserError
from dactnlg.fidelity.checker import FidelityChecker
from dactnlg.generation.generator import Generator
from dactnlg.runs.run import Run, named_run
from dactnlg.serving import inventory
from dactnlg.serving.schemas import ModelEntry, ServedBy

_log = logging.getLogger("dactnlg")
_CODE = 16
"""Hexadecimal digits of the code that identifies a run."""
_TRIES = 5
"""Attempts to read a folder that changes while it is being read."""


@dataclass(frozen=True)
class ServedModel:
    """A run in memory. A request uses the same one until it ends.

    Attributes:
        name: the name for clients.
        path: the run folder.
        code: from the digests of its preprocessor and weights.
        loaded: when it was loaded, ISO 8601 in UTC.
        corpus, architecture: from its configuration.
        generator, checker: what answers requests.
        stamp: sizes and times of its files when it was loaded.
        trouble: why the current files of the folder could not be loaded; None if they were.
    """

    name: str
    path: Path
    code: str
    loaded: str
    corpus: str
    architecture: str
    generator: Generator
    checker: FidelityChecker
    stamp: tuple[object, ...]
    trouble: str | None = None

    def served(self) -> ServedBy:
        """Return the part of an answer that describes the run."""
        return ServedBy(name=self.name, code=self.code, loaded=self.loaded)

    def entry(self) -> ModelEntry:
        """Return the run's entry in the list of models."""
        preprocessor = self.generator.preprocessor
        encoder = preprocessor.encoder
        return ModelEntry(
            name=self.name,
            code=self.code,
            loaded=self.loaded,
            corpus=self.corpus,
            architecture=self.architecture,
            act_types=sorted(encoder.act_types),
            slots=sorted(encoder.slot_names),
            slots_of_acts=inventory.slots_of_acts(encoder),
            special_values=inventory.special_values(encoder),
            examples=inventory.examples(preprocessor),
            trouble=self.trouble,
        )


def parse_model(text: str) -> tuple[str, Path]:
    """Parse `RUN` or `NAME=RUN`; by default the name is that of the folder.

    Raises:
        UserError: the name has other characters than letters, digits, `.`, `-`, `_` and `=`, or the folder does not
            exist.
    """
    name, path = named_run(text)
    if not re.fullmatch(r"[\w.=-]{1,200}", name):
        raise UserError(f"{text}: a model's name has letters, digits, dots, hyphens and underscores: NAME=RUN")
    if not path.is_dir():
        raise UserError(f"{text}: there is no run folder {path}; make one with: dactnlg train CONFIG --output {path}")
    return name, path


class Models:
    """The models of a service by name. Threads may read them while another one reloads.

    Args:
        paths: name -> run folder; the first one is the default.
        backend: the search backend; see `Generator.load`.
        reuse: whether to cache the results for acts.

    Raises:
        RunError: a folder is not a run.
    """

    def __init__(self, paths: Mapping[str, Path], backend: str = "auto", *, reuse: bool = True) -> None:
        self._backend, self._reuse = backend, reuse
        self._reading = threading.Lock()
        self._models = {name: self._read(name, path) for name, path in paths.items()}
        for model in self._models.values():
            model.generator.prepare()

    def listed(self) -> list[ServedModel]:
        """Return all models, the default one first."""
        return list(self._models.values())

    def get(self, name: str | None) -> ServedModel:
        """Return a model by name; None is the default one.

        Raises:
            Problem: 404, there is no model with this name.
        """
        models = self._models
        found = next(iter(models.values())) if name is None else models.get(name)
        if found is None:
            raise Problem(404, f"there is no model {name!r}; there are {', '.join(models)}", {"models": list(models)})
        return found

    def reload(self, *, all_of_them: bool = False) -> list[str]:
        """Reload the runs whose files have changed, or all; return the names of those reloaded.

        If a run cannot be loaded, for instance because it is still being copied, the previous model stays.
        """
        with self._reading:
            renewed = dict(self._models)
            changed = []
            for name, model in self._models.items():
                # A run that could not be loaded may be complete once its manifest arrives.
                stamp = _stamp(model.path, whole=model.trouble is not None)
                if stamp == model.stamp and not all_of_them:
                    continue
                whole = _stamp(model.path, whole=True)
                try:
                    renewed[name] = self._read(name, model.path)
                    changed.append(name)
                except Exception as error:  # noqa: BLE001  (whatever is wrong with the new files, the old model is not)
                    _log.error("model %s could not be read again, and goes on as it was: %s", name, error)
                    renewed[name] = replace(model, stamp=whole, trouble=_told(error, model))
            # Atomic: a request sees either the old models or the new ones.
            self._models = renewed
        # Afterwards, so that requests do not wait for statistics that only unseen acts need.
        for name in changed:
            renewed[name].generator.prepare()
        return changed

    def _read(self, name: str, path: Path) -> ServedModel:
        """Load the run in a folder; start again if its files change meanwhile, so as not to mix two runs."""
        for _ in range(_TRIES):
            stamp = _stamp(path)
            try:
                found = self._read_once(name, path, stamp)
            except (DactnlgError, OSError, ValueError):
                if _stamp(path) == stamp:
                    raise
                continue
            if _stamp(path) == stamp:
                return found
        raise RunError(f"{path} changes faster than it can be read; rename a finished folder into its place")

    def _read_once(self, name: str, path: Path, stamp: tuple[object, ...]) -> ServedModel:
        run = Run(path)
        config = run.check()
        generator = Generator.load(path, self._backend)
        if generator.decoder is not None:
            generator.decoder.reuse = self._reuse
        known, reader = generator.preprocessor.checker, generator.preprocessor.reader
        files = [run.preprocessor_path, *([run.weights_path] if run.weights_path.exists() else [])]
        return ServedModel(
            name=name,
            path=path,
            code="".join(file_digest(file)[: _CODE // len(files)] for file in files),
            loaded=datetime.now(UTC).isoformat(timespec="milliseconds"),
            corpus=config.corpus.name,
            architecture=config.model.name,
            generator=generator,
            checker=reader if isinstance(reader, FidelityChecker) else FidelityChecker(known),
            stamp=stamp,
        )


def _told(error: Exception, model: ServedModel) -> str:
    """Return an error as clients may see it, without the path of the run."""
    places = (str(model.path.resolve()), str(model.path))
    told = str(error) if isinstance(error, DactnlgError) else type(error).__name__
    for place in places:
        told = told.replace(place, model.name)
    return told


def _stamp(path: Path, *, whole: bool = False) -> tuple[object, ...]:
    """Return sizes and times of the files that answers depend on, or, if `whole`, of manifest and state, too."""
    run = Run(path)
    files: Sequence[Path] = (run.config_path, run.preprocessor_path, run.reader_path, run.weights_path)
    files = (*files, run.manifest_path, run.state_path) if whole else files
    found: list[object] = []
    for file in files:
        try:
            facts = file.stat()
            found.append((file.name, facts.st_size, facts.st_mtime_ns, facts.st_ino))
        except OSError:
            found.append((file.name, None))
    return tuple(found)
