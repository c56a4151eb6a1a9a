"""The contents of a preprocessor's file, validated piece by piece: it may be damaged, or from an untrusted source."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import PydanticCustomError

from dactnlg._utils.patterns import compile_pattern
from dactnlg._utils.reading import regular_file, short
from dactnlg.errors import RunError
from dactnlg.text.values.casing import STYLES


def _known_style(name: str) -> str:
    if name not in STYLES:
        raise PydanticCustomError("style", "must be one of {styles}", {"styles": ", ".join(STYLES)})
    return name


def _expression(cue: str) -> str:
    try:
        compile_pattern(cue)
    except ValueError as error:
        raise PydanticCustomError("cue", "{reason}", {"reason": str(error)}) from None
    return cue


def _distinct(tokens: list[str]) -> list[str]:
    if len(set(tokens)) < len(tokens):
        raise PydanticCustomError("distinct", "must hold each token once", {})
    return tokens


Distinct = Annotated[list[str], AfterValidator(_distinct)]
Forms = dict[str, str]
Sentence = tuple[str, Annotated[float, Field(gt=0.0, le=1e12)], list[list[str]]]
"""Tokens, weight and the special values of each turn; see `Templates.to_json`."""


class FilePart(BaseModel):
    """A part of a file of a run: strictly typed, without unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class CasingPart(FilePart):
    """See `Casing`."""

    inside: Forms
    start: Forms
    values: dict[str, Forms]
    styles: dict[str, Annotated[str, AfterValidator(_known_style)]]


class StylePart(FilePart):
    """See `Style`."""

    cased: bool
    spaced: bool
    aliases: dict[str, dict[str, list[str]]]
    cues: dict[str, dict[str, list[Annotated[str, AfterValidator(_expression)]]]]
    silent: tuple[str, ...]
    proper: tuple[str, ...] = ()
    apart: tuple[str, ...] = ()
    listed: tuple[str, ...] = ()
    ordinary: dict[str, list[str]] = {}
    lexicalized: dict[str, list[str]] = {}
    forms: dict[str, dict[str, dict[str, list[str]]]] = {}
    language: str = "en"


class InflectionPart(FilePart):
    """See `Inflection`."""

    contexts: dict[str, dict[str, Annotated[float, Field(ge=0.0)]]] = {}
    uses: dict[str, dict[str, Annotated[int, Field(ge=0)]]] = {}


class PreprocessorFile(FilePart):
    """See `Preprocessor.save`."""

    vocabulary: Distinct
    features: Distinct
    words: Distinct
    corpus: str | None
    casing: CasingPart
    style: StylePart
    inflection: InflectionPart = InflectionPart()
    templates: list[tuple[list[str], list[Sentence]]]
    trigger_words: dict[str, tuple[str, ...]]
    context: Distinct | None = None
    neighbours: dict[str, dict[str, dict[str, Annotated[float, Field(gt=0.0)]]]] = {}


def read_preprocessor_file(path: Path) -> PreprocessorFile:
    """Read a preprocessor's file.

    Raises:
        RunError: it cannot be read, is damaged, or is of another version.
    """
    try:
        return PreprocessorFile.model_validate_json(regular_file(path).read_bytes())
    except (OSError, ValidationError) as error:
        raise unreadable(path, error) from None


def unreadable(path: Path, error: Exception) -> RunError:
    """Return the error to raise for a file of a run, given why it could not be read."""
    reason = getattr(error, "strerror", None) or str(error)
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        reason = f"{'.'.join(map(str, first['loc']))}: {first['msg']}; got {short(first['input'])}".removeprefix(": ")
    return RunError(
        f"cannot read {path} ({reason}): is it damaged, or of another version of dactnlg? Then train the model anew"
    )
