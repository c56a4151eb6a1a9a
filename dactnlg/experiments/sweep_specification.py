"""Sweep files: one base configuration and the settings to try.

    config: trails-sclstm
    set:
      training.epochs: 20
    space:
      model.hidden_size: [50, 100]
      training.learning_rate: {loguniform: [5e-4, 1e-2]}
    samples: 8

The values of a list are tried in all combinations with those of other lists (a grid). From the distributions `choice`,
`uniform`, `loguniform`, `randint` and `lograndint` (integers below the upper end) `samples` values are drawn for each
point of the grid. Names and meanings are those of Ray Tune.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from dactnlg import models
from dactnlg._utils import resources
from dactnlg.errors import ConfigError, suggest
from dactnlg.runs import yamlfile
from dactnlg.runs.config import Config, load_config

DISTRIBUTIONS = ("choice", "uniform", "loguniform", "randint", "lograndint")
_MOST_CORNERS = 64


class SweepSpecification(BaseModel):
    """What a sweep tries.

    Attributes:
        config: the base configuration: a file in the sweep file's folder, or anything that `dactnlg train` accepts.
        set: `section.key` -> value, the same for all trials.
        space: `section.key` -> the list of values, or the distribution, to try.
        samples: draws for each point of the grid.
        seed: seed of the draws.
        metric: the score on the validation split by which trials are ranked.
        preset: its evaluation protocol; by default the corpus's usual one.
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
        """Return the text of a sweep file that `load_sweep` reads back."""
        return yamlfile.dump(self.model_dump())


def load_sweep(
    path: str | Path, changes: Mapping[str, Any] | None = None, fixed: Mapping[str, Any] | None = None
) -> SweepSpecification:
    """Read a sweep file, and check it, including the settings that it tries.

    Args:
        path: the file, or the name of a sweep that comes with dactnlg ("trails-sclstm").
        changes: keys of the file -> values that replace them.
        fixed: further settings for `set`.

    Raises:
        ConfigError: the file cannot be read, or there are mistakes: all of them, one per line.
    """
    file = _find(Path(path))
    data, lines, mistakes = yamlfile.read(file)
    data = {**data, **(changes or {})}
    sweep = None
    try:
        sweep = SweepSpecification.model_validate(data)
    except ValidationError as error:
        for detail in error.errors():
            key = ".".join(map(str, detail["loc"]))
            if detail["type"] == "extra_forbidden":
                reason = f"unknown key; {suggest(key, SweepSpecification.model_fields)}"
            else:
                reason = detail["msg"][0].lower() + detail["msg"][1:]
            mistakes.append(f"{yamlfile.place(file, lines, detail['loc'])}: {key}: {reason}")
    if sweep is not None:
        beside = file.parent / sweep.config
        config = str(beside.absolute()) if beside.is_file() else sweep.config
        sweep = sweep.model_copy(update={"config": config, "set": {**sweep.set, **(fixed or {})}})
        # Mistakes in the base configuration are reported as such, before those of any trial.
        load_config(sweep.config, sweep.overrides({}), models)
        mistakes += _mistakes(sweep, file, lines)
    if mistakes or sweep is None:
        count = "one mistake" if len(mistakes) == 1 else f"{len(mistakes)} mistakes"
        raise ConfigError(f"{count} in the sweep {file}\n" + "\n".join(f"  {line}" for line in mistakes))
    return sweep


def corners(sweep: SweepSpecification) -> Iterator[Config]:
    """Yield at most 64 configurations at the corners of the space: grid points, with both ends of distributions."""
    values = [_extremes(spec) for spec in sweep.space.values()]
    for _, point in zip(range(_MOST_CORNERS), product(*values), strict=False):
        yield load_config(sweep.config, sweep.overrides(dict(zip(sweep.space, point, strict=True))), models)


def sweep_names() -> list[str]:
    """Return the names of the sweeps that come with dactnlg."""
    return sorted(file.stem for file in (resources.configs_dir() / "sweeps").glob("*.yaml"))


def _find(file: Path) -> Path:
    is_name = file.parent in (Path(), Path("configs/sweeps")) and file.suffix in ("", ".yaml")
    if not file.exists() and is_name and file.stem in sweep_names():
        # An installed wheel has no configs/ folder in the current directory.
        return resources.configs_dir() / "sweeps" / f"{file.stem}.yaml"
    if not file.exists():
        raise ConfigError(f"there is no sweep {file}; {suggest(file.stem, sweep_names())}")
    return file


def _mistakes(sweep: SweepSpecification, file: Path, lines: Mapping[str, int]) -> Iterator[str]:
    """Yield the mistakes in the space, each with its place in the file."""
    for key, spec in sweep.space.items():
        place = f"{yamlfile.place(file, lines, ('space', key))}: {key}"
        if key in sweep.set:
            yield f"{place}: is set for all trials, too"
        elif (wrong := _wrong(spec)) is not None:
            yield f"{place}: {wrong}"
        else:
            yield from (f"{place}: {reason}" for reason in _refused(sweep, key, spec))
    if sweep.samples > 1 and all(isinstance(spec, list) for spec in sweep.space.values()):
        yield f"{yamlfile.place(file, lines, ('samples',))}: samples: nothing is drawn, so all would be the same"


def _wrong(spec: Any) -> str | None:
    """Return what is wrong with the list or distribution of a key, whatever the key; None if nothing."""
    if isinstance(spec, list):
        return None if spec else "an empty list"
    if not isinstance(spec, dict):
        return "must be a list of values, or such as {uniform: [0.0, 0.5]}; a fixed value stands under 'set'"
    if len(spec) != 1 or (distribution := next(iter(spec))) not in DISTRIBUTIONS:
        return f"must have one of {', '.join(DISTRIBUTIONS)}; got {', '.join(spec) or 'nothing'}"
    values = spec[distribution]
    if distribution == "choice":
        return None if isinstance(values, list) and values else "choice: must be a list of values"
    whole = distribution.endswith("randint")
    kind = "whole numbers" if whole else "numbers"
    if not (isinstance(values, list) and len(values) == 2 and all(_is_number(value, whole=whole) for value in values)):
        return f"{distribution}: must be two {kind}, [lowest, highest]"
    low, high = values
    if low >= high:
        return f"{distribution}: {low} is not below {high}"
    return f"{distribution}: must be greater than 0; got {low}" if distribution.startswith("log") and low <= 0 else None


def _is_number(value: Any, *, whole: bool) -> bool:
    kinds = int if whole else (int, float)
    return isinstance(value, kinds) and not isinstance(value, bool) and math.isfinite(value)


def _extremes(spec: Any) -> list[Any]:
    """Return all values of a list or choice, or both ends of a range."""
    if isinstance(spec, list):
        return spec
    distribution, values = next(iter(spec.items()))
    if distribution == "choice":
        return list(values)
    return [values[0], values[1] - 1] if distribution.endswith("randint") else [float(value) for value in values]


def _refused(sweep: SweepSpecification, key: str, spec: Any) -> Iterator[str]:
    """Yield why a configuration refuses the values of one key: each reason once, for a range only the first."""
    first = {name: _extremes(other)[0] for name, other in sweep.space.items() if _wrong(other) is None}
    reasons = set()
    for value in _extremes(spec):
        override = f"--set {key}={json.dumps(value)}: "
        try:
            load_config(sweep.config, sweep.overrides({**first, key: value}), models)
        except ConfigError as error:
            for line in str(error).split("\n")[1:]:
                # Mistakes of another key are reported at that key.
                if not any(f"--set {other}=" in line for other in first if other != key):
                    reasons.add(line.strip().removeprefix(override).removeprefix(f"{key}: "))
        if reasons and isinstance(spec, dict) and "choice" not in spec:
            break
    yield from sorted(reasons)
