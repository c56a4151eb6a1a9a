"""The configuration of an experiment, read from YAML and checked as a whole.

A file names a corpus and a model; everything else has a default. All mistakes are reported at once, each with its
file, line and dotted key; for an unknown key the nearest valid one is suggested. Nothing beyond this package depends on
configuration objects: models, layers and search take plain arguments.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from dactnlg._utils import resources
from dactnlg.errors import ConfigError, UnknownNameError, suggest
from dactnlg.runs import yamlfile
from dactnlg.runs.mistakes import plain_words
from dactnlg.runs.sections import (
    BACKENDS,
    CONSTRAINTS,
    DATA,
    RANDOM,
    TRAINED,
    Backend,
    Config,
    Constraint,
    CorpusConfig,
    DecodingConfig,
    ModelSection,
    Sections,
    TrainingConfig,
    is_corpus,
)

__all__ = [
    "BACKENDS",
    "CONSTRAINTS",
    "RANDOM",
    "Backend",
    "Config",
    "Constraint",
    "CorpusConfig",
    "DecodingConfig",
    "ModelSection",
    "Sections",
    "TrainingConfig",
    "config_names",
    "is_corpus",
    "load_config",
    "read_config",
    "read_override",
]


MOST_SHOWN = 100
"""Maximum number of mistakes listed for one configuration."""


def load_config(path: str | Path, overrides: Sequence[str] = (), models: Sections | None = None) -> Config:
    """Read a configuration file.

    Args:
        path: the file, or the name of a configuration shipped with dactnlg ("trails-sclstm").
        overrides: strings such as "training.epochs=3", values in YAML; a later one wins.
        models: the sections of the models, against which the model's keys are checked; if None, these keys and the
            names of corpora are accepted unchecked, as for the configuration of a run, which training has checked.

    Raises:
        ConfigError: the file cannot be read, or there are mistakes; the message lists all of them, one per line.
    """
    file = _find(path)
    if file.suffix in DATA:
        raise ConfigError(
            f"{file} is data, not a configuration; this writes one for it: dactnlg init {shlex.quote(str(file))}"
        )
    data, lines, mistakes = yamlfile.read(file)
    places = {key: f"{file}, line {line}" for key, line in lines.items()}
    for override in overrides:
        try:
            places.update(_apply(override, data))
        except ValueError as error:
            mistakes.append(f"--set {override}: {error}")
    return _checked(data, str(file), places, mistakes, models)


def read_config(data: Mapping[str, Any], overrides: Sequence[str] = (), models: Sections | None = None) -> Config:
    """Return the configuration that a mapping holds, as if it came from a file.

    Args:
        data: section -> key -> value.
        overrides: see `load_config`.
        models: see `load_config`.

    Raises:
        ConfigError: there are mistakes; the message lists all of them, one per line.
    """
    copied = {name: dict(section) if isinstance(section, Mapping) else section for name, section in data.items()}
    mistakes = []
    for override in overrides:
        try:
            _apply(override, copied)
        except ValueError as error:
            mistakes.append(f"{override}: {error}")
    return _checked(copied, "", {}, mistakes, models)


def _checked(
    data: dict[str, Any], where: str, places: Mapping[str, str], mistakes: list[str], models: Sections | None
) -> Config:
    """Return the configuration held by the data, or raise an error that lists all mistakes."""
    config = section = None
    found: list[ErrorDetails] = []
    try:
        config = Config.model_validate(data, context=TRAINED if models is None else None)
    except ValidationError as error:
        found = error.errors()
    if models is not None and isinstance(data.get("model"), dict) and isinstance(data["model"].get("name"), str):
        try:
            section = models.section(data["model"]["name"]).model_validate(data["model"])
        except UnknownNameError as error:
            mistakes.append(_line(places.get("model.name", where), "model.name", str(error)))
        except ValidationError as error:
            # It also checks what every model's section has, which is reported once.
            found = [detail for detail in found if detail["loc"][0] != "model"]
            found += [{**detail, "loc": ("model", *detail["loc"])} for detail in error.errors()]
    total = len(mistakes) + len(found)
    for detail in found[:MOST_SHOWN]:
        key = ".".join(map(str, detail["loc"]))
        place = next((places[k] for k in _prefixes(detail["loc"]) if k in places), where)
        mistakes.append(_line(place, key, plain_words(detail, data, models)))
    if len(found) > MOST_SHOWN:
        mistakes.append(f"and {len(found) - MOST_SHOWN} more")
    if mistakes or config is None:
        count = "one mistake" if total == 1 else f"{total} mistakes"
        raise ConfigError("\n  ".join([f"{count} in the configuration {where}".rstrip(), *mistakes]))
    return config if section is None else config.model_copy(update={"model": section})


def _line(place: str, key: str, mistake: str) -> str:
    """Return the line for a mistake; `place` is empty for data that come from no file."""
    return ": ".join(part for part in (place, key, mistake) if part)


def config_names() -> list[str]:
    """Return the names of the configurations shipped with dactnlg."""
    return sorted(file.stem for file in resources.configs_dir().glob("*.yaml"))


def _find(path: str | Path) -> Path:
    file = Path(path)
    if file.is_file():
        return file
    # Users of a wheel have no folder configs/, so both `configs/NAME.yaml` and NAME mean the one in the package.
    is_name = file.parent in (Path(), Path("configs")) and file.suffix in ("", ".yaml")
    if is_name and file.stem in config_names():
        return resources.configs_dir() / f"{file.stem}.yaml"
    if file.exists():
        raise ConfigError(f"{file} is not a file")
    raise ConfigError(f"there is no configuration {file}; {suggest(file.stem, config_names())}")


def read_override(override: str) -> tuple[str, str, Any]:
    """Return section, key and value of "section.key=value".

    Raises:
        ValueError: it has another form, or its value is not YAML.
    """
    path, equals, text = override.partition("=")
    section, dot, key = (part.strip() for part in path.partition("."))
    if not (equals and dot and section and key):
        raise ValueError("an override is section.key=value, such as training.epochs=3")
    try:
        return section, key, yamlfile.parse(text)
    except (yaml.YAMLError, ValueError, RecursionError):
        raise ValueError(f"the value {text!r:.60} is not YAML; quote it") from None


def _apply(override: str, data: dict[str, Any]) -> dict[str, str]:
    """Apply an override "section.key=value" to the data; return {dotted key: the place to name in messages}."""
    section, key, value = read_override(override)
    # A section that is not a mapping is left as it is, to be reported by validation.
    inside = data.setdefault(section, {})
    if inside is None:
        inside = data[section] = {}
    if isinstance(inside, dict):
        inside[key] = value
    return {f"{section}.{key}": f"--set {override}"}


def _prefixes(loc: Sequence[int | str]) -> Iterator[str]:
    for length in range(len(loc), 0, -1):
        yield ".".join(map(str, loc[:length]))
