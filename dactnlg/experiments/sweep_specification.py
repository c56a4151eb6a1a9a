"""Sweep files: one base configuration and the settings to try.

    config: trails-sclstm
    set:
      training.epochs: 20
    space:
      model.hidden_size: [50, 100]
      training.learning_rate: {loguniform: [5e-4, 1e-2]}
    samples: 8

A list is tried value by value, every list against every other (a grid); `choice`, `uniform`, `loguniform`, `randint`
and `lograndint` (whole numbers, the upper end not among them) are drawn from, `samples` times for each point of the
grid. Those are Ray Tune's names and meanings.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from dactnlg import models
from dactnlg._utils import resources
from dactnlg.errors import ConfigError, suggest
from dactnlg.runs import yamlfile
from dactnlg.runs.config import Config, load_config

RANGES = ("uniform", "loguniform", "randint", "lograndint")
WAYS = ("choice", *RANGES)
_MOST_PROBES = 64


class Sweep(BaseModel):
    """One sweep.

    Attributes:
        config: the base configuration: a file beside the sweep file, or what `dactnlg train` takes.
        set: fixed settings, `section.key` to value, for all trials.
        space: `section.key` to what is tried.
        samples: draws for each point of the grid.
        seed: of the draws.
        metric: what trials are ranked by, on the validation split.
        preset: its evaluation protocol; by default the one that the corpus is usually scored under.
        early_stopping: stop trials whose validation loss falls behind (ASHA, Li et al. 2020).
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    config: str
    set: dict[str, Any] = {}
    space: dict[str, Any] = Field(min_length=1)
    samples: int = Field(default=1, ge=1)
    seed: int = Field(default=1, ge=0, lt=2**32)
    metric: str = "BLEU-4"
    preset: str | None = None
    early_stopping: bool = False

    def overrides(self, settings: Mapping[str, Any]) -> list[str]:
        """Return the overrides of a trial, as `load_config` takes them."""
        return [f"{key}={json.dumps(value)}" for key, value in {**self.set, **settings}.items()]

    def size(self) -> int:
        """Return the number of trials."""
        return self.samples * math.prod(len(spec) for spec in self.space.values() if isinstance(spec, list))

    def to_yaml(self) -> str:
        """Return the sweep as a file that `load_sweep` reads back."""
        text: str = yaml.safe_dump(self.model_dump(), sort_keys=False, allow_unicode=True)
        return text


def load_sweep(
    path: str | Path, changes: Mapping[str, Any] | None = None, fixed: Mapping[str, Any] | None = None
) -> Sweep:
    """Read a sweep file and check it with everything that it may try.

    Args:
        path: the file, or the name of a sweep that comes with dactnlg ("trails-sclstm").
        changes: keys of the file to replace.
        fixed: further settings under `set`.

    Raises:
        ConfigError: the file cannot be read, or there are mistakes: all of them, one a line.
    """
    file = _find(Path(path))
    data, lines, mistakes = yamlfile.read(file)
    data = {**data, **(changes or {})}
    sweep = None
    try:
        sweep = Sweep.model_validate(data)
    except ValidationError as error:
        for detail in error.errors():
            key = ".".join(map(str, detail["loc"]))
            known = detail["type"] != "extra_forbidden"
            told = detail["msg"][0].lower() + detail["msg"][1:] if known else suggest(key, Sweep.model_fields)
            mistakes.append(f"{_place(file, lines, key)}: {key}: {'' if known else 'unknown key; '}{told}")
    if sweep is not None:
        beside = file.parent / sweep.config
        config = str(beside.absolute()) if beside.is_file() else sweep.config
        sweep = sweep.model_copy(update={"config": config, "set": {**sweep.set, **(fixed or {})}})
        # What is wrong with it without any trial's settings is its own mistake.
        load_config(sweep.config, sweep.overrides({}), models)
        mistakes += _mistakes(sweep, file, lines)
    if mistakes or sweep is None:
        count = "one mistake" if len(mistakes) == 1 else f"{len(mistakes)} mistakes"
        raise ConfigError(f"{count} in the sweep {file}\n" + "\n".join(f"  {line}" for line in mistakes))
    return sweep


def corners(sweep: Sweep) -> Iterator[Config]:
    """Yield configurations from all over the space: the first points of the grid, ranges at both ends."""
    values = [_extremes(spec) for spec in sweep.space.values()]
    for _, point in zip(range(_MOST_PROBES), product(*values), strict=False):
        yield load_config(sweep.config, sweep.overrides(dict(zip(sweep.space, point, strict=True))), models)


def sweep_names() -> list[str]:
    """Return the names of the sweeps that come with dactnlg."""
    return sorted(file.stem for file in (resources.configs_dir() / "sweeps").glob("*.yaml"))


def _find(file: Path) -> Path:
    is_name = file.parent in (Path(), Path("configs/sweeps")) and file.suffix in ("", ".yaml")
    if not file.exists() and is_name and file.stem in sweep_names():
        # From a wheel there is no configs/ folder at hand.
        return resources.configs_dir() / "sweeps" / f"{file.stem}.yaml"
    if not file.exists():
        raise ConfigError(f"there is no sweep {file}; {suggest(file.stem, sweep_names())}")
    return file


def _mistakes(sweep: Sweep, file: Path, lines: Mapping[str, int]) -> Iterator[str]:
    for key, spec in sweep.space.items():
        place = f"{_place(file, lines, f'space.{key}')}: {key}"
        if key in sweep.set:
            yield f"{place}: is set for all trials, too"
        elif (wrong := _wrong(spec)) is not None:
            yield f"{place}: {wrong}"
        else:
            yield from (f"{place}: {told}" for told in _refused(sweep, key, spec))
    if sweep.samples > 1 and all(isinstance(spec, list) for spec in sweep.space.values()):
        yield f"{_place(file, lines, 'samples')}: samples: nothing is drawn, so all would be the same"


def _wrong(spec: Any) -> str | None:
    """Say what is wrong with one entry of a space."""
    if isinstance(spec, list):
        return None if spec else "an empty list"
    if not isinstance(spec, dict):
        return "must be a list of values, or such as {uniform: [0.0, 0.5]}; a fixed value stands under 'set'"
    if len(spec) != 1 or (way := next(iter(spec))) not in WAYS:
        return f"must have one of {', '.join(WAYS)}; got {', '.join(spec) or 'nothing'}"
    values = spec[way]
    if way == "choice":
        return None if isinstance(values, list) and values else "choice: must be a list of values"
    whole = way.endswith("randint")
    kind = "whole numbers" if whole else "numbers"
    if not (isinstance(values, list) and len(values) == 2 and all(_is_number(value, whole) for value in values)):
        return f"{way}: must be two {kind}, [lowest, highest]"
    low, high = values
    if low >= high:
        return f"{way}: {low} is not below {high}"
    return f"{way}: must be greater than 0; got {low}" if way.startswith("log") and low <= 0 else None


def _is_number(value: Any, whole: bool) -> bool:
    kinds = int if whole else (int, float)
    return isinstance(value, kinds) and not isinstance(value, bool) and math.isfinite(value)


def _extremes(spec: Any) -> list[Any]:
    if isinstance(spec, list):
        return spec
    way, values = next(iter(spec.items()))
    if way == "choice":
        return list(values)
    return [values[0], values[1] - 1] if way.endswith("randint") else [float(value) for value in values]


def _refused(sweep: Sweep, key: str, spec: Any) -> Iterator[str]:
    """Yield what a configuration has against one setting; each reason once, of a range the first."""
    first = {name: _extremes(other)[0] for name, other in sweep.space.items() if _wrong(other) is None}
    told = set()
    for value in _extremes(spec):
        override = f"--set {key}={json.dumps(value)}: "
        try:
            load_config(sweep.config, sweep.overrides({**first, key: value}), models)
        except ConfigError as error:
            for line in str(error).split("\n")[1:]:
                # A mistake of another setting is told where that stands.
                if not any(f"--set {other}=" in line for other in first if other != key):
                    told.add(line.strip().removeprefix(override).removeprefix(f"{key}: "))
        if told and isinstance(spec, dict) and "choice" not in spec:
            break
    yield from sorted(told)


def _place(file: Path, lines: Mapping[str, int], key: str) -> str:
    return f"{file}, line {lines[key]}" if key in lines else str(file)
