"""Field descriptions of OpenAPI documents, taken from docstrings so that each is written only once."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

_SECTION = "\n\nAttributes:\n"
_ENTRY = re.compile(r"([\w, ]+): (.*)")


def described(*classes: type) -> Callable[[dict[str, Any]], None]:
    """Return a function that moves the section `Attributes:` of a JSON schema's description to its fields.

    It is meant for `ConfigDict(json_schema_extra=described())`; a field that already has a description keeps it.

    Args:
        *classes: further classes whose docstrings describe some of the fields.
    """

    def describe(schema: dict[str, Any]) -> None:
        text = str(schema.get("description", ""))
        properties = schema.get("properties", {})
        for one in (text, *(inspect.getdoc(each) or "" for each in classes)):
            for name, told in _entries(one.partition(_SECTION)[2].partition("\n\n")[0]):
                if name in properties:
                    properties[name].setdefault("description", told[:1].upper() + told[1:])
        if text:
            schema["description"] = text.partition(_SECTION)[0]

    return describe


def _entries(section: str) -> list[tuple[str, str]]:
    """Return the names and texts of entries `name: text` or `name, name: text`; their further lines are indented."""
    entries: list[tuple[str, str]] = []
    lines = section.splitlines()
    depth = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    for line in lines:
        begun = _ENTRY.fullmatch(line.strip())
        if begun and len(line) - len(line.lstrip()) == depth:
            entries.append((begun.group(1), begun.group(2)))
        elif entries and line.strip():
            entries[-1] = entries[-1][0], f"{entries[-1][1]} {line.strip()}"
    return [(name.strip(), told) for names, told in entries for name in names.split(",")]
