"""OpenAPI documents out of docstrings: what a field is stands once, in a class, and in the document too."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

_SECTION = "\n\nAttributes:\n"
_ENTRY = re.compile(r"([\w, ]+): (.*)")


def described(*classes: type) -> Callable[[dict[str, Any]], None]:
    """Return what moves the section `Attributes:` of a JSON schema's description into the descriptions of its fields.

    It is for `ConfigDict(json_schema_extra=described())`; a field that has a description keeps it.

    Args:
        *classes: further classes that have some of the fields, and say in their docstrings what they are.
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
    """Return names and texts of a section of `name: text` and `name, name: text`; further lines are indented more."""
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
