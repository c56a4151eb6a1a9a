"""YAML files as configurations need them: YAML 1.2's numbers, the line of every key, keys given twice."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from dactnlg.errors import ConfigError


class _Loader(yaml.SafeLoader):
    """YAML with the numbers of YAML 1.2: PyYAML takes `2e-3` for a string."""


# On a subclass this copies the table of resolvers first, so yaml.SafeLoader stays as it was.
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"[-+]?(\.\d+|\d+(\.\d*)?)[eE][-+]?\d+$"), list("-+.0123456789")
)


def parse(text: str) -> Any:
    """Return the data of one YAML text.

    Raises:
        yaml.YAMLError, ValueError: it is not YAML.
    """
    data = yaml.load(text, Loader=_Loader)
    return _spelt(data) if isinstance(data, dict) else data


def read(file: Path) -> tuple[dict[str, Any], dict[str, int], list[str]]:
    """Return the data of a YAML file, the line of each dotted key, and the keys given twice as mistakes.

    Raises:
        ConfigError: the file cannot be read, or is not a YAML mapping; the message names line and column.
    """
    try:
        loader = _Loader(file.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot read {file}: {error}") from None
    except yaml.YAMLError as error:
        raise ConfigError(f"{file} is not YAML: {' '.join(str(error).split())}") from None
    try:
        node = loader.get_single_node()
        data = loader.construct_document(node) if node else None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        place = f"{file}, line {mark.line + 1}, column {mark.column + 1}" if mark else str(file)
        raise ConfigError(f"{place}: not YAML: {getattr(error, 'problem', None) or error}") from None
    if not isinstance(data, dict):
        raise ConfigError(f"{file}: a configuration is a mapping of sections, not {type(data).__name__}")
    lines: dict[str, int] = {}
    mistakes = []
    for key, line in _keys(node, ""):
        if key in lines:
            mistakes.append(f"{file}, line {line}: {key}: given twice, first on line {lines[key]}")
        lines.setdefault(key, line)
    return _spelt(data), lines, mistakes


def _keys(node: yaml.Node | None, prefix: str, depth: int = 2) -> Iterator[tuple[str, int]]:
    if isinstance(node, yaml.MappingNode) and depth:
        for key, value in node.value:
            path = f"{prefix}{key.value}"
            yield path, key.start_mark.line + 1
            yield from _keys(value, f"{path}.", depth - 1)


def _spelt(data: dict[Any, Any]) -> dict[str, Any]:
    # A key that is not a string (`1: x`) is an unknown key like any other.
    return {str(key): _spelt(value) if isinstance(value, dict) else value for key, value in data.items()}
