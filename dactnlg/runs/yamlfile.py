"""Reads and writes YAML files: with the line of every key, duplicate keys reported, and YAML 1.2's words and numbers.

PyYAML reads YAML 1.1, where a bare `yes`, `no`, `on` or `off` is a Boolean, `2e-3` is text and `2020-12-13` a date.
Here `no` is a word (a special value of a slot, as on a data card), `2e-3` a number and a date text.

Files may be untrusted, so there are limits on what a short file can expand to: its length, nesting depth, size with
aliases expanded, and digits of numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import yaml

from dactnlg._utils.reading import regular_file
from dactnlg.errors import ConfigError

Text = TypeVar("Text", str, bytes)

MOST_BYTES = 1 << 18
"""Maximum bytes of a file: some fifty times the longest data card."""
MOST_NODES = 1 << 16
"""Maximum values of a file, aliases expanded."""
MOST_LEVELS = 40
"""Maximum nesting depth of lists and mappings, aliases expanded."""
MOST_DIGITS = 100
"""Maximum digits of a number."""

_TAGS = ("null", "bool", "int", "float", "str", "seq", "map", "merge")
_BOOL, _FLOAT, _INT, _DATE, _TEXT = (
    f"tag:yaml.org,2002:{name}" for name in ("bool", "float", "int", "timestamp", "str")
)
_SURROGATE = re.compile("[\ud800-\udfff]")


class YamlFile(NamedTuple):
    """The contents of a YAML file.

    Attributes:
        data: the mapping.
        lines: dotted key -> line, from 1.
        mistakes: a message for each duplicate key.
    """

    data: dict[str, Any]
    lines: dict[str, int]
    mistakes: list[str]


class _Loader(yaml.SafeLoader):
    """PyYAML's safe loader with YAML 1.2's core schema and size limits; every error has a line."""

    yaml_implicit_resolvers = {
        first: [(tag, pattern) for tag, pattern in resolvers if tag not in (_BOOL, _DATE)]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    yaml_constructors = {
        tag: construct
        for tag, construct in yaml.SafeLoader.yaml_constructors.items()
        if tag is None or tag.rpartition(":")[-1] in _TAGS
    }

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._levels = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        """Compose a node with its children, up to the maximum depth."""
        self._levels += 1
        if self._levels > MOST_LEVELS:
            raise _error("nested too deeply", self.peek_event().start_mark)  # type: ignore[no-untyped-call]
        node = super().compose_node(parent, index)
        self._levels -= 1
        return node

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:  # noqa: FBT001, FBT002
        """Return the data of a mapping, whose keys are strings as written: `12:30` is not a number, `1.50` not 1.5."""
        self.flatten_mapping(node)
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode):
                key.tag = _TEXT
        return super().construct_mapping(node, deep)

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:  # noqa: FBT001, FBT002  (PyYAML's own)
        """Return the data of a node."""
        if isinstance(node, yaml.ScalarNode):
            if node.tag in (_INT, _FLOAT) and len(node.value) > MOST_DIGITS:
                raise _error(f"a number of {len(node.value)} digits", node.start_mark)
            if _SURROGATE.search(node.value):
                raise _error("half of a surrogate pair, which is no character", node.start_mark)
        try:
            return super().construct_object(node, deep)
        except (ValueError, LookupError, OverflowError):
            raise _error(f"{node.value!r:.60} is not of the type {node.tag}", node.start_mark) from None

    def document(self) -> yaml.Node | None:
        """Return the root node of the single document, after checking its size."""
        node: yaml.Node | None = self.get_single_node()
        if node is not None:
            _measure(node, 1, {})
        return node


_Loader.add_implicit_resolver(_BOOL, re.compile(r"(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF"))


class _Dumper(yaml.SafeDumper):
    """PyYAML's safe dumper, which also quotes text that only YAML 1.2 reads as a number."""


for _side in (_Loader, _Dumper):
    _side.add_implicit_resolver(_FLOAT, re.compile(r"[-+]?(\.\d+|\d+(\.\d*)?)[eE][-+]?\d+$"), list("-+.0123456789"))


def dump(data: Mapping[str, Any], **style: Any) -> str:
    """Return a mapping as YAML that `parse` and `read` read back, with its keys in order.

    Args:
        data: the mapping.
        style: further options of `yaml.dump`, such as the width.
    """
    return str(yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, **style))


def parse(text: str) -> Any:
    """Return the data of a YAML text.

    Raises:
        ValueError: it is not YAML, or exceeds a limit.
    """
    try:
        loader = _Loader(_bounded(text))
        node = loader.document()
        data = loader.construct_document(node) if node else None
        return _with_text_keys(data) if isinstance(data, dict) else data
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError) as error:
        raise ValueError(_reason(error)) from None


def read(file: Path, what: str = "a configuration is a mapping of sections") -> YamlFile:
    """Read a YAML file that holds a mapping.

    Args:
        file: the file, in UTF-8.
        what: what the file should be, for the message if it holds other data.

    Raises:
        ConfigError: the file cannot be read, is not a YAML mapping, or exceeds a limit; the message names line and
            column.
    """
    try:
        with regular_file(file).open("rb") as stream:
            text = _bounded(stream.read(MOST_BYTES + 1)).decode("utf-8-sig")
    except OSError as error:
        raise ConfigError(f"cannot read {file}: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{file}, line {line}: not UTF-8 ({error.reason})") from None
    except ValueError as error:
        raise ConfigError(f"{file}: {error}") from None
    lines: dict[str, int] = {}
    mistakes = []
    loader = None
    try:
        loader = _Loader(text)
        node = loader.document()
        # Before the data are constructed, which expands the merge keys `<<`.
        for key, line in _keys(node, "", set()):
            if key in lines:
                mistakes.append(f"{file}, line {line}: {key}: given twice, first on line {lines[key]}")
            lines.setdefault(key, line)
        data = loader.construct_document(node) if node else None
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError) as error:
        raise ConfigError(f"{_place_of(error, file, text, loader)}: not YAML: {_reason(error)}") from None
    if isinstance(data, dict):
        return YamlFile(_with_text_keys(data), lines, mistakes)
    raise ConfigError(f"{file}: {what}, not {type(data).__name__}")


def place(file: Path, lines: Mapping[str, int], key: Sequence[int | str]) -> str:
    """Return "FILE, line N" of a key: its own line, else that of the innermost key around it, else "FILE".

    Args:
        file: the file.
        lines: dotted key -> line, as `read` returns them.
        key: the key's path.
    """
    for length in range(len(key), 0, -1):
        if (path := ".".join(map(str, key[:length]))) in lines:
            return f"{file}, line {lines[path]}"
    return str(file)


def _bounded(text: Text) -> Text:
    if len(text) > MOST_BYTES:
        raise ValueError(f"longer than {MOST_BYTES:,} bytes, which no configuration, card or sweep is")
    return text


def _error(reason: str, mark: yaml.Mark) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(problem=reason, problem_mark=mark)


def _reason(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "nested too deeply"
    # Python 3.13 has a single error for all numbers that are not code points.
    if isinstance(error, OverflowError) or str(error).startswith("chr() arg"):
        return "an escape for no character"
    if isinstance(error, yaml.reader.ReaderError):
        return f"the character U+{error.character:04X} is not allowed"
    return " ".join(str(getattr(error, "problem", None) or error).split())


def _place_of(error: Exception, file: Path, text: str, loader: _Loader | None) -> str:
    """Return "FILE, line N, column M" of an error in YAML; the column only if it is known."""
    if isinstance(error, yaml.reader.ReaderError):
        return f"{file}, line {text.count(chr(10), 0, error.position) + 1}"
    if mark := getattr(error, "problem_mark", None):
        return f"{file}, line {mark.line + 1}, column {mark.column + 1}"
    # For an error raised by Python itself, the scanner is still at the position of the error.
    return str(file) if loader is None else f"{file}, line {loader.line + 1}"


def _measure(node: yaml.Node, level: int, known: dict[int, tuple[int, int]]) -> tuple[int, int]:
    """Return the number of values and of levels of a node, aliases expanded.

    Args:
        node: the node.
        level: its depth, from 1.
        known: id of a node -> its result, or `_UNKNOWN` while it is being measured.

    Raises:
        yaml.MarkedYAMLError: it contains itself, too many values or too many levels.
    """
    if (found := known.get(id(node))) is not None:
        return found
    if isinstance(node, yaml.ScalarNode):
        return 1, 1
    known[id(node)] = _UNKNOWN
    parts = [part for item in node.value for part in (item if isinstance(item, tuple) else (item,))]
    count, height = 1, 1
    for part in parts:
        if known.get(id(part)) is _UNKNOWN:
            raise _error("it holds an alias of itself", node.start_mark)
        inside, levels = _measure(part, level + 1, known)
        count, height = count + inside, max(height, levels + 1)
        if count > MOST_NODES:
            raise _error(f"more than {MOST_NODES:,} values, aliases written out", part.start_mark)
        if level + height > MOST_LEVELS:
            raise _error("nested too deeply, aliases written out", node.start_mark)
    known[id(node)] = count, height
    return count, height


_UNKNOWN = (0, 0)


def _keys(node: yaml.Node | None, prefix: str, seen: set[int]) -> Iterator[tuple[str, int]]:
    """Yield the dotted path and the line of every key; list entries are numbered from 0."""
    # An alias is the same node as its anchor: each node is visited once.
    if node is None or id(node) in seen:
        return
    seen.add(id(node))
    if isinstance(node, yaml.SequenceNode):
        for index, value in enumerate(node.value):
            yield from _keys(value, f"{prefix}{index}.", seen)
    elif isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise _error("a key must be one word or number", key.start_mark)
            path = f"{prefix}{key.value}"
            yield path, key.start_mark.line + 1
            yield from _keys(value, f"{path}.", seen)


def _with_text_keys(data: dict[Any, Any]) -> dict[str, Any]:
    # A key that is not a string (`1: x`) becomes an unknown key like any other.
    return {str(key): _with_text_keys(value) if isinstance(value, dict) else value for key, value in data.items()}
