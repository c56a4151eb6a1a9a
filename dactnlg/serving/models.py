"""The runs that a service answers with: named, read at the start, and read again when their folders change."""

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
from dactnlg.runs.run import Run
from dactnlg.serving import inventory
from dactnlg.serving.schemas import ModelEntry, ServedBy

_log = logging.getLogger("dactnlg")
_CODE = 16
"""Digits of the code that tells runs apart."""
_TRIES = 5
"""How often a folder is read that changes while it is read."""


@dataclass(frozen=True)
class ServedModel:
    """A run in memory. A request keeps the one that it began with.

    Attributes:
        name: what clients call it.
        path: its folder.
        code: of its weights and preprocessor.
        loaded: when it was read, ISO 8601 in UTC.
        corpus, architecture: from its configuration.
        generator, checker: what answers.
        stamp: sizes and times of its files when it was read.
        trouble: why the folder's present files could not be read.
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
        """Return what an answer says of it."""
        return ServedBy(name=self.name, code=self.code, loaded=self.loaded)

    def entry(self) -> ModelEntry:
        """Return what the list of models says of it."""
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
    """Read `RUN` or `NAME=RUN`; a run without a name has that of its folder.

    Raises:
        UserError: the name has characters that an address cannot have, or there is no such folder.
    """
    name, equals, place = text.partition("=")
    path = Path(place if equals else text)
    name = name if equals else path.resolve().name
    if not re.fullmatch(r"[\w.-]{1,200}", name):
        raise UserError(f"{text}: a model's name has letters, digits, dots, hyphens and underscores: NAME=RUN")
    if not path.is_dir():
        raise UserError(f"{text}: there is no run folder {path}")
    return name, path


class Models:
    """The models by their names. Threads may read while another one reloads.

    Args:
        paths: name -> run folder; the first one answers where a request names none.
        backend: what searches; see `Generator.load`.
        reuse: whether what was found for an act is remembered.

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
        """Return all models, the one that answers by default first."""
        return list(self._models.values())

    def get(self, name: str | None) -> ServedModel:
        """Return a model.

        Raises:
            Problem: 404, there is none of this name.
        """
        models = self._models
        found = next(iter(models.values())) if name is None else models.get(name)
        if found is None:
            raise Problem(404, f"there is no model {name!r}; there are {', '.join(models)}", {"models": list(models)})
        return found

    def reload(self, *, all_of_them: bool = False) -> list[str]:
        """Read the runs again whose files have changed; return their names.

        One that cannot be read, such as half of a run that is being copied, leaves the one before in its place.
        """
        with self._reading:
            renewed = dict(self._models)
            changed = []
            for name, model in self._models.items():
                # A run that was found damaged may be whole as soon as its manifest is there.
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
            # At once: a request sees the models before or those after.
            self._models = renewed
        # What is only counted for the first of some acts keeps nobody waiting for the new run.
        for name in changed:
            renewed[name].generator.prepare()
        return changed

    def _read(self, name: str, path: Path) -> ServedModel:
        """Return the run in a folder; read anew where another one takes its place meanwhile, so as to mix no two."""
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
    """Return what clients may know of an error: not where the run lies."""
    places = (str(model.path.resolve()), str(model.path))
    told = str(error) if isinstance(error, DactnlgError) else type(error).__name__
    for place in places:
        told = told.replace(place, model.name)
    return told


def _stamp(path: Path, *, whole: bool = False) -> tuple[object, ...]:
    """Return sizes and times of the files that answers depend on; or those of the whole run, scores included."""
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
