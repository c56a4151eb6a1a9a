"""Configuration: what one experiment is, read from YAML and checked as a whole.

A file names a corpus and a model; everything else has a default. All mistakes are reported at once, each with its
place and its dotted path, and an unknown key with the nearest valid one. Configuration stops here: models, layers and
search take plain arguments.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Protocol, get_args

import yaml
from pydantic import BaseModel, ConfigDict, Field, SerializeAsAny, ValidationError, field_validator, model_validator
from pydantic_core import ErrorDetails, PydanticCustomError

from dactnlg._utils import resources
from dactnlg.errors import ConfigError, UnknownNameError, suggest
from dactnlg.runs import yamlfile

Targets = Literal["human", "handcrafted", "both"]
Constraint = Literal["none", "rerank", "hard"]

RANDOM = "random"
"""The name of the baseline that has no weights."""
CONSTRAINTS: tuple[str, ...] = get_args(Constraint)
Backend = Literal["auto", "numpy", "keras"]
BACKENDS: tuple[str, ...] = get_args(Backend)


class _Section(BaseModel):
    # Strict: `epochs: "3"` and `epochs: yes` are mistakes, not 3 and 1. An integer is still a float.
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class CorpusConfig(_Section):
    """What is learned from.

    Attributes:
        name: a corpus of `datasets/`, the path of a data card, of a JSONL or CSV file, or of a folder of such files.
        also: further corpora to train on together with it; validation and evaluation use `name` alone.
        targets: the sentences to learn: the human ones, the handcrafted generator's (RNNLG's third column), or both.
        min_count: T_min (Huang et al. 2020, 2.1): words that training says less often are `<unk>` to the model, which
            never says that. Placeholders are always known.
        data_dir: a folder to look for corpus files in first.
    """

    name: str
    also: list[str] = []
    targets: Targets = "human"
    min_count: int = Field(default=1, ge=1)
    data_dir: str | None = None

    @field_validator("name")
    @classmethod
    def _known(cls, name: str) -> str:
        if name not in (known := _corpus_names()) and not _is_corpus_path(name):
            raise PydanticCustomError("corpus", "{m}", {"m": f"unknown corpus '{name}'; {suggest(name, known)}"})
        return name

    @field_validator("also")
    @classmethod
    def _all_known(cls, also: list[str]) -> list[str]:
        return [cls._known(name) for name in also]

    @model_validator(mode="after")
    def _once(self) -> CorpusConfig:
        names = [self.name, *self.also]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise PydanticCustomError("twice", "{m}", {"m": f"named more than once: {', '.join(twice)}"})
        return self


class ModelSection(_Section):
    """The model and its sizes; each model has a section of its own (`NeuralModel.Section`) that builds on this one.

    Attributes:
        name: the model: the name of its file in `dactnlg/models`, or of an entry point in the group `dactnlg.models`.
    """

    name: str

    @property
    def neural(self) -> bool:
        """Whether the model has weights; the random baseline has none."""
        return self.name != RANDOM

    def keywords(self) -> dict[str, Any]:
        """Return the section's keys but the name: what the model's class is made with."""
        return self.model_dump(exclude={"name"})


class UncheckedModelSection(ModelSection):
    """The section of any model, its keys as they stand in the file: that of a run, whose keys training has checked."""

    model_config = ConfigDict(extra="allow")


class Sections(Protocol):
    """The configuration sections of the models."""

    def names(self) -> list[str]:
        """Return the names of all models."""

    def section(self, name: str) -> type[ModelSection]:
        """Return a model's section.

        Raises:
            UnknownNameError: there is no such model.
        """


class TrainingConfig(_Section):
    """How it is learned.

    Attributes:
        epochs: at most so many; the best weights by validation loss are kept.
        decay: factor on the learning rate after `decay_patience` epochs without a better validation loss.
        patience: stop after so many epochs without a better validation loss.
        clip_norm: largest norm of the whole gradient.
        repetition: a pair that occurs n times in training counts n to this power: 1 as the corpus has it, 0 once.
        backend: what computes: numpy (the fastest on CPUs, for the models that it supports), keras (whatever Keras runs
            on), or auto: numpy where it supports the model and the precision is float32, else keras.
        precision: keras: what layers compute in. Weights, their file, and the loss are float32 in any case.
    """

    epochs: int = Field(default=30, ge=1)
    batch_size: int = Field(default=64, ge=1)
    learning_rate: float = Field(default=2e-3, gt=0.0)
    decay: float = Field(default=0.5, gt=0.0, le=1.0)
    decay_patience: int = Field(default=1, ge=1)
    patience: int = Field(default=5, ge=1)
    clip_norm: float = Field(default=5.0, gt=0.0)
    seed: int = Field(default=1, ge=0, lt=2**32)
    repetition: float = Field(default=1.0, ge=0.0, le=1.0)
    backend: Backend = "auto"
    precision: Literal["float32", "mixed_bfloat16", "mixed_float16"] = "float32"

    @model_validator(mode="after")
    def _computable(self) -> TrainingConfig:
        if self.precision != "float32" and self.backend == "numpy":
            message = f"precision {self.precision} needs backend: keras; numpy computes in float32"
            raise PydanticCustomError("precision", "{m}", {"m": message})
        return self


class DecodingConfig(_Section):
    """How sentences are searched for; `generate` and `evaluate` may override it.

    Attributes:
        constraint: none; rerank (beams ordered by score and slot errors); hard (no slot is dropped or invented).
        sample: draw sentences from the model in place of the beam search.
        temperature: sampling: divides log probabilities; 0 takes the best word always.
        top_k: sampling: words to draw from at most; 0 for all.
        top_p: sampling: draw from the fewest words that have this much probability together.
        max_length: longest sentence, in tokens.
        length_normalization: a hypothesis's log probability is divided by its length to this power.
        slot_error_weight: rerank: what one slot error costs, in log probability.
        append_questions: hard: a question that a turn of several acts has lost is put behind, as training asked it.
        backend: what searches: numpy (at once, and the fastest on CPUs, for the models that it supports), keras (whatever
            Keras runs on, GPUs too), or auto: numpy where it supports the model, else keras.
    """

    beam_width: int = Field(default=10, ge=1)
    max_length: int = Field(default=80, ge=1)
    constraint: Constraint = "hard"
    sample: bool = False
    temperature: float = Field(default=1.0, ge=0.0)
    top_k: int = Field(default=0, ge=0)
    top_p: float = Field(default=1.0, gt=0.0, le=1.0)
    length_normalization: float = Field(default=0.0, ge=0.0)
    slot_error_weight: float = Field(default=100.0, ge=0.0)
    append_questions: bool = True
    backend: Backend = "auto"


class Config(_Section):
    """One experiment: a corpus, a model, its training and its decoding."""

    corpus: CorpusConfig
    model: SerializeAsAny[UncheckedModelSection]
    training: TrainingConfig = TrainingConfig()
    decoding: DecodingConfig = DecodingConfig()

    def to_yaml(self) -> str:
        """Return the configuration with every default spelt out; `load_config` reads it back."""
        text: str = yaml.safe_dump(self.model_dump(), sort_keys=False, allow_unicode=True)
        return text


def load_config(path: str | Path, overrides: Sequence[str] = (), models: Sections | None = None) -> Config:
    """Read a configuration file.

    Args:
        path: the file, or the name of a configuration that comes with dactnlg ("trails-sclstm").
        overrides: "training.epochs=3" and the like, values in YAML; a later one wins.
        models: the sections of the models, to check the model's keys with; without them the keys are taken as they
            stand, which is right for the configuration of a run, since training has checked it.

    Raises:
        ConfigError: the file cannot be read, or there are mistakes: all of them, one a line.
    """
    file = _find(path)
    data, lines, mistakes = yamlfile.read(file)
    places = {key: f"{file}, line {line}" for key, line in lines.items()}
    for override in overrides:
        try:
            places.update(_apply(override, data))
        except ValueError as error:
            mistakes.append(f"--set {override}: {error}")
    return _checked(data, str(file), places, mistakes, models)


def read_config(data: Mapping[str, Any], overrides: Sequence[str] = (), models: Sections | None = None) -> Config:
    """Return the configuration that a mapping holds, as if it stood in a file.

    Args:
        data: section -> key -> value.
        overrides: see `load_config`.
        models: see `load_config`.

    Raises:
        ConfigError: there are mistakes: all of them, one a line.
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
    """Return the configuration that data hold, or raise all their mistakes at once."""
    config = section = None
    found: list[ErrorDetails] = []
    try:
        config = Config.model_validate(data)
    except ValidationError as error:
        found = error.errors()
    if models is not None and isinstance(data.get("model"), dict) and isinstance(data["model"].get("name"), str):
        try:
            section = models.section(data["model"]["name"]).model_validate(data["model"])
        except UnknownNameError as error:
            mistakes.append(_at(places.get("model.name", where), f"model.name: {error}"))
        except ValidationError as error:
            found += [{**detail, "loc": ("model", *detail["loc"])} for detail in error.errors()]
    for detail in found:
        key = ".".join(map(str, detail["loc"]))
        place = next((places[k] for k in _prefixes(detail["loc"]) if k in places), where)
        mistakes.append(_at(place, f"{key}: {_plain(detail, data, models)}"))
    if mistakes or config is None:
        count = "one mistake" if len(mistakes) == 1 else f"{len(mistakes)} mistakes"
        head = f"{count} in the configuration {where}".rstrip()
        raise ConfigError("\n".join([head, *(f"  {line}" for line in mistakes)]))
    return config if section is None else config.model_copy(update={"model": section})


def _at(place: str, mistake: str) -> str:
    """Return a mistake behind its place; a mapping has no places."""
    return f"{place}: {mistake}" if place else mistake


def config_names() -> list[str]:
    """Return the names of the configurations that come with dactnlg."""
    return sorted(file.stem for file in resources.configs_dir().glob("*.yaml"))


def _corpus_names() -> list[str]:
    return sorted(card.stem for card in resources.datasets_dir().glob("*.yaml"))


def _is_corpus_path(name: str) -> bool:
    path = Path(name)
    return path.is_dir() or (path.suffix in (".yaml", ".yml", ".jsonl", ".csv") and path.is_file())


def _find(path: str | Path) -> Path:
    file = Path(path)
    if file.is_file():
        return file
    # From a wheel there is no configs/ folder at hand, so `configs/NAME.yaml` and NAME both mean the one inside.
    is_name = file.parent in (Path(), Path("configs")) and file.suffix in ("", ".yaml")
    if is_name and file.stem in config_names():
        return resources.configs_dir() / f"{file.stem}.yaml"
    if file.exists():
        raise ConfigError(f"{file} is not a file")
    raise ConfigError(f"there is no configuration {file}; {suggest(file.stem, config_names())}")


def read_override(override: str) -> tuple[str, str, Any]:
    """Return section, key and value of "section.key=value".

    Raises:
        ValueError: it is none, or its value is not YAML.
    """
    path, equals, text = override.partition("=")
    section, dot, key = (part.strip() for part in path.partition("."))
    if not (equals and dot and section and key):
        raise ValueError("an override is section.key=value, such as training.epochs=3")
    try:
        return section, key, yamlfile.parse(text)
    except (yaml.YAMLError, ValueError, RecursionError):
        raise ValueError(f"the value {text!r} is not YAML; quote it") from None


def _apply(override: str, data: dict[str, Any]) -> dict[str, str]:
    """Put one "section.key=value" into the data; return where its key now comes from."""
    section, key, value = read_override(override)
    # A section that is not a mapping is reported as it stands.
    inside = data.setdefault(section, {})
    if inside is None:
        inside = data[section] = {}
    if isinstance(inside, dict):
        inside[key] = value
    return {f"{section}.{key}": f"--set {override}"}


def _prefixes(loc: Sequence[int | str]) -> Iterator[str]:
    for length in range(len(loc), 0, -1):
        yield ".".join(map(str, loc[:length]))


def _plain(detail: ErrorDetails, data: Mapping[str, Any], models: Sections | None) -> str:
    """Say in plain words what pydantic found."""
    kind, value, path = detail["type"], detail["input"], [str(part) for part in detail["loc"]]
    context = detail.get("ctx", {})
    section: Any = Config.model_fields[path[0]].annotation if path[0] in Config.model_fields else None
    # A name that is no text has no section.
    of_model = (
        models is not None and path[0] == "model" and len(path) > 1 and isinstance(data["model"].get("name"), str)
    )
    if models is not None and of_model and kind != "missing":
        section = models.section(data["model"]["name"])
    fields: dict[str, Any] = getattr(section, "model_fields", {}) if len(path) > 1 else dict(Config.model_fields)
    if kind == "extra_forbidden" and models is not None and of_model:
        return _unknown_model_key(path[1], data["model"]["name"], models)
    if kind == "extra_forbidden":
        return f"unknown key; {_nearest_key(path, fields)}"
    if kind == "missing":
        return "missing; it has no default"
    if kind == "model_type":
        return f"must be a mapping of {', '.join(getattr(section, 'model_fields', {}))}; got {value!r:.60}"
    if kind == "literal_error":
        choices = [str(choice) for choice in get_args(fields[path[-1]].annotation)]
        return f"unknown value {value!r:.60}; {suggest(str(value), choices)}"
    bounds = {"ge": "at least", "gt": "greater than", "le": "at most", "lt": "less than"}
    for bound, words in bounds.items():
        if bound in context:
            return f"must be {words} {context[bound]:g}; got {value!r:.60}"
    types = {"int_type": "a whole number", "int_from_float": "a whole number", "float_type": "a number"}
    types |= {"string_type": "text", "list_type": "a list", "finite_number": "a finite number"}
    if kind in types:
        return f"must be {types[kind]}; got {value!r:.60}"
    return detail["msg"]


def _unknown_model_key(key: str, name: str, models: Sections) -> str:
    """Name the models that have a key, or the nearest valid one."""
    if having := [other for other in models.names() if key in models.section(other).model_fields]:
        return f"model '{name}' has no use for it; models that have it: {', '.join(having)}"
    return f"unknown key; {_nearest_key(['model', key], models.section(name).model_fields)}"


def _nearest_key(path: Sequence[str], fields: Mapping[str, Any]) -> str:
    """Name the nearest key of the section, else the section that the key belongs to, else the valid keys."""
    key = path[-1]
    everywhere = {name: f"{section}.{name}" for section in Config.model_fields for name in _keys_of(section)}
    if key in everywhere:
        return f"did you mean '{everywhere[key]}'?"
    if not difflib.get_close_matches(key, fields) and (near := difflib.get_close_matches(key, everywhere, n=1)):
        return f"did you mean '{everywhere[near[0]]}'?"
    return suggest(key, fields)


def _keys_of(section: str) -> list[str]:
    return list(getattr(Config.model_fields[section].annotation, "model_fields", {}))
