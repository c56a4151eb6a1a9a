"""The contents of the reference page, from an OpenAPI document: operations with their fields and examples."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

_DEEPEST = 4
_JSON = "application/json"
_PREFIX = "#/components/schemas/"


@dataclass(frozen=True)
class FieldEntry:
    """A field of a request or an answer.

    Attributes:
        name: the name, prefixed by those of the enclosing fields: `results[].n_best`.
        depth: number of enclosing fields.
        type: the type in words: `string or null`.
        required: whether the schema requires it.
        default: as JSON; empty if there is none.
        description: what it means.
    """

    name: str
    depth: int
    type: str
    required: bool
    default: str
    description: str


@dataclass(frozen=True)
class Operation:
    """An operation of a service.

    Attributes:
        method, path: `POST`, `/v1/generate`.
        code: its anchor on the page.
        summary, description: what it does.
        sent, answered: the fields of request and answer.
        examples: request bodies as JSON.
    """

    method: str
    path: str
    code: str
    summary: str
    description: str
    sent: list[FieldEntry]
    answered: list[FieldEntry]
    examples: list[str]

    def curl(self, here: str, example: str | None = None) -> str:
        """Return a curl command that sends an example to the service at the address `here`."""
        if example is None:
            return f"curl {here}{self.path}"
        quoted = example.replace("'", "'\\''")
        return f"curl {here}{self.path} \\\n  -H 'Content-Type: application/json' \\\n  -d '{quoted}'"


def operations(document: Mapping[str, Any]) -> list[Operation]:
    """Return the operations of an OpenAPI 3.1 document, in their order."""
    schemas = document.get("components", {}).get("schemas", {})
    found = []
    for path, methods in document["paths"].items():
        for method, each in methods.items():
            sent = each.get("requestBody", {}).get("content", {}).get(_JSON, {}).get("schema", {})
            answered = each["responses"].get("200", {}).get("content", {}).get(_JSON, {}).get("schema", {})
            whole = _resolved(sent, schemas)
            found.append(
                Operation(
                    method=method.upper(),
                    path=path,
                    code=re.sub(r"\W+", "-", f"{method}{path}").strip("-"),
                    summary=each.get("summary", ""),
                    description=each.get("description") or whole.get("description", ""),
                    sent=list(_fields(sent, schemas)),
                    answered=list(_fields(answered, schemas)),
                    examples=[json.dumps(one, ensure_ascii=False) for one in whole.get("examples", [])],
                )
            )
    return found


def _fields(
    schema: Mapping[str, Any], schemas: Mapping[str, Any], before: str = "", depth: int = 0
) -> Iterator[FieldEntry]:
    """Yield the fields of a schema, each followed by its nested fields."""
    whole = _resolved(schema, schemas)
    for name, each in whole.get("properties", {}).items():
        default = json.dumps(each["default"]) if each.get("default") is not None else ""
        inner, suffix = _inner(each, schemas)
        own = _resolved(each, schemas).get("description", "")
        yield FieldEntry(
            name=f"{before}{name}",
            depth=depth,
            type=_type(each, schemas),
            required=name in whole.get("required", ()),
            default="" if default == "{}" else default,
            description=each.get("description", own),
        )
        if inner is not None and depth < _DEEPEST:
            yield from _fields(inner, schemas, f"{before}{name}{suffix}.", depth + 1)


def _inner(schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> tuple[Mapping[str, Any] | None, str]:
    """Return the schema of the object inside a field, or None, and the suffix of the field's name: `[]` for a list."""
    whole = _resolved(schema, schemas)
    if "properties" in whole:
        return whole, ""
    for option in whole.get("anyOf", ()):
        found, suffix = _inner(option, schemas)
        if found is not None:
            return found, suffix
    if "items" in whole:
        found, suffix = _inner(whole["items"], schemas)
        return found, f"[]{suffix}"
    return None, ""


def _type(schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> str:
    """Return a schema's type in words, with its bounds."""
    whole = _resolved(schema, schemas)
    if "anyOf" in whole:
        return " or ".join(dict.fromkeys(_type(option, schemas) for option in whole["anyOf"]))
    if "enum" in whole or "const" in whole:
        return ", ".join(f'"{value}"' for value in whole.get("enum", [whole.get("const")]))
    kind = str(whole.get("type", "any"))
    if kind == "array":
        return f"list of {_type(whole.get('items', {}), schemas)}"
    if kind == "object" and isinstance(whole.get("additionalProperties"), dict):
        return f"object of {_type(whole['additionalProperties'], schemas)}"
    bounds = [
        words.format(f"{whole[key]:g}")
        for key, words in (("minimum", "at least {}"), ("exclusiveMinimum", "above {}"), ("maximum", "at most {}"))
        if key in whole
    ]
    return ", ".join([kind, *bounds])


def _resolved(schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a schema, following its reference if it is one."""
    reference = str(schema.get("$ref", ""))
    return schemas.get(reference.removeprefix(_PREFIX), {}) if reference else schema
