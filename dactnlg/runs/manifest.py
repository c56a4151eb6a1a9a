"""The schema of a run's manifest, checked when it is read, since it may have been edited after it was written.

A missing key raises an error only when it is accessed, since older manifests, and those of runs still in training,
lack some.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError

from dactnlg._utils.reading import regular_file
from dactnlg.errors import RunError


def _moment(text: str) -> str:
    if time.strptime(text, "%Y-%m-%dT%H:%M:%SZ").tm_year < 1970:
        raise ValueError("before 1970")
    return text


Moment = Annotated[str, AfterValidator(_moment)]
"""A time in the format of `runs.run.now`."""


class _Part(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore")


class _Code(_Part):
    commit: str | None = None
    unclean: list[str] = []
    root: str | None = None
    version: str = ""
    package: str = ""


class _Command(_Part):
    words: list[str] = []
    line: str = ""
    folder: str = ""


class _Step(_Part):
    code: _Code = _Code()


class _Score(_Part):
    value: float | None
    hash: str
    signature: str = ""


class _Evaluation(_Part):
    corpus: str
    split: str
    options: dict[str, Any]
    scores: dict[str, dict[str, _Score]]
    data: str = ""
    command: _Command = _Command()
    code: _Code = _Code()
    vectors: str | None = None


class _Origin(_Part):
    run: str
    identity: str | None = None
    published: str | None = None


class _Training(_Part):
    epochs: int | None = None
    best_valid_loss: float | None = None
    seconds: float | None = None
    stopped: bool = False


class _Manifest(_Part):
    dactnlg: str = ""
    command: _Command = _Command()
    code: _Code = _Code()
    begun: Moment = ""
    ended: Moment = ""
    config: dict[str, dict[str, Any]] = {}
    environment: dict[str, str] = {}
    corpora: dict[str, dict[str, str | None]] = {}
    vocabulary: str | None = None
    setting: str = ""
    files: dict[str, str] = {}
    training: _Training = _Training()
    evaluations: list[_Evaluation] = []
    resumed: list[_Step] = []
    repeats: _Origin | None = None
    tuned: dict[str, Any] = {}


def read_object(path: Path) -> dict[str, Any]:
    """Return the JSON object in a file of a run; accessing a missing key of it raises RunError.

    Raises:
        RunError: the file cannot be read or is not a JSON object; or later, a key is missing.
    """

    class Keys(dict[str, Any]):
        """A dictionary whose error for a missing key names the file."""

        def __missing__(self, key: str) -> Any:
            raise RunError(f"{path} has no '{key}': is it damaged, or of another version of dactnlg?")

    try:
        data = json.loads(regular_file(path).read_text(encoding="utf-8"), object_hook=Keys)
    except OSError as error:
        raise RunError(f"cannot read {path}: {error.strerror or error}") from None
    except RecursionError:
        raise RunError(f"{path} is damaged: it is nested too deeply") from None
    except ValueError as error:
        raise RunError(f"{path} is damaged: it is not JSON ({error})") from None
    if not isinstance(data, Keys):
        raise RunError(f"{path} is damaged: it holds no JSON object")
    return data


def read_manifest(path: Path) -> dict[str, Any]:
    """Return a manifest, finished or not.

    Raises:
        RunError: the file cannot be read, is damaged, or a value has a wrong type; or later, a key is missing.
    """
    data = read_object(path)
    check_manifest(data, str(path))
    return data


def check_manifest(data: Any, where: str) -> None:
    """Refuse data that are not a manifest.

    Args:
        data: the data to check.
        where: what the message calls them.

    Raises:
        RunError: a value has a wrong type.
    """
    try:
        _Manifest.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(map(str, first["loc"]))
        raise RunError(f"{where} is damaged: {key}: {first['msg'][:1].lower()}{first['msg'][1:]}") from None
