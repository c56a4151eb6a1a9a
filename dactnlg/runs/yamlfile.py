"""YAML files as people write them: the line of every key, keys given twice, and YAML 1.2's words and numbers.

PyYAML reads YAML 1.1, where a bare `yes`, `no`, `on` or `off` is a truth value and `2e-3` is text. Here `no` is a word
(a special value of a slot, as on a data card) and `2e-3` a number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from dactnlg.errors import ConfigError

_BOOL, _FLOAT = "tag:yaml.org,2002:bool", "tag:yaml.org,2002:float"


class YamlFile(NamedTuple):
    """What a YAML file holds.

    Attributes:
        data: the mapping.
        lines: dotted key -> line, from 1.
        mistakes: a message for each key that is given twice.
    """

    data: dict[str, Any]
    lines: dict[str, int]
    mistakes: list[str]


class _Loader(yaml.SafeLoader):
    """PyYAML's safe loader with YAML 1.2's truth values and its numbers with exponents."""

    yaml_implicit_resolvers = {
        first: [(tag, pattern) for tag, pattern in resolvers if tag != _BOOL]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


_Loader.add_implicit_resolver(_BOOL, re.compile(r"(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF"))
_Loader.add_implicit_resolver(_FLOAT, re.compile(r"[-+]?(\.\d+|\d+(\.\d*)?)[eE][-+]?\d+$"), list("-+.0123456789"))


def parse(text: str) -> Any:
    """Return the data of one YAML text.

    Raises:
        ValueError: it is not YAML.
    """
    try:
        data = yaml.load(text, Loader=_Loader)
        return _with_text_keys(data) if isinstance(data, dict) else data
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError(str(error)) from None


def read(file: Path, what: str = "a configuration is a mapping of sections") -> YamlFile:
    """Read a YAML file that holds a mapping.

    Args:
        file: the file, in UTF-8.
        what: what the message about another kind of data says that the file should be.

    Raises:
        ConfigError: the file cannot be read, or is not a YAML mapping; the message names line and column.
    """
    try:
        loader = _Loader(file.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot read {file}: {error}") from None
    except yaml.YAMLError as error:
        raise ConfigError(f"{file} is not YAML: {' '.join(str(error).split())}") from None
    lines: dict[str, int] = {}
    mistakes = []
    try:
        node = loader.get_single_node()
        # Before the data are made, which writes the keys of `<<` out.
        for key, line in _keys(node, "", set()):
            if key in lines:
                mistakes.append(f"{file}, line {line}: {key}: given twice, first on line {lines[key]}")
            lines.setdefault(key, line)
        data = loader.construct_document(node) if node else None
        if isinstance(data, dict):
            return YamlFile(_with_text_keys(data), lines, mistakes)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        place = f"{file}, line {mark.line + 1}, column {mark.column + 1}" if mark else str(file)
        raise ConfigError(f"{place}: not YAML: {getattr(error, 'problem', None) or error}") from None
    raise ConfigError(f"{file}: {what}, not {type(data).__name__}")


def place(file: Path, lines: Mapping[str, int], key: Sequence[int | str]) -> str:
    """Return "FILE, line N" of a key: its own line, else that of the nearest mapping around it, else "FILE".

    Args:
        file: the file.
        lines: dotted key -> line, as `read` returns them.
        key: the key's path.
    """
    for length in range(len(key), 0, -1):
        if (path := ".".join(map(str, key[:length]))) in lines:
            return f"{file}, line {lines[path]}"
    return str(file)


def _keys(node: yaml.Node | None, prefix: str, seen: set[int]) -> Iterator[tuple[str, int]]:
    """Yield the dotted path of every key, and its line; entries of a list count from 0."""
    # An alias is the node that it stands for: each is walked through once, also where it holds itself.
    if node is None or id(node) in seen:
        return
    seen.add(id(node))
    if isinstance(node, yaml.SequenceNode):
        for index, value in enumerate(node.value):
            yield from _keys(value, f"{prefix}{index}.", seen)
    elif isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            path = f"{prefix}{key.value}"
            yield path, key.start_mark.line + 1
            yield from _keys(value, f"{path}.", seen)


def _with_text_keys(data: dict[Any, Any]) -> dict[str, Any]:
    # A key that is not a string (`1: x`) is an unknown key like any other.
    return {str(key): _with_text_keys(value) if isinstance(value, dict) else value for key, value in data.items()}
