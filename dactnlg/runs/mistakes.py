"""Plain messages for mistakes in a configuration."""

from __future__ import annotations

import contextlib
import difflib
from collections.abc import Mapping, Sequence
from typing import Any, get_args

from pydantic_core import ErrorDetails

from dactnlg._utils.reading import short
from dactnlg.errors import ConfigError, suggest
from dactnlg.runs.sections import Config, Sections


def plain_words(detail: ErrorDetails, data: Mapping[str, Any], models: Sections | None) -> str:
    """Return a plain message for a validation error of pydantic."""
    kind, value, path = detail["type"], detail["input"], [str(part) for part in detail["loc"]]
    section: Any = Config.model_fields[path[0]].annotation if path[0] in Config.model_fields else None
    # Only a known model has a section.
    named = models and path[0] == "model" and len(path) > 1 and data["model"].get("name") in models.names()
    if models is not None and named and kind != "missing":
        section = models.section(data["model"]["name"])
    fields: dict[str, Any] = getattr(section, "model_fields", {}) if len(path) > 1 else dict(Config.model_fields)
    if kind == "extra_forbidden" and models is not None and named:
        return _unknown_model_key(path[1], data["model"]["name"], models)
    if kind == "extra_forbidden":
        return f"unknown key; {_nearest_key(path, fields)}"
    if kind == "missing":
        return "missing; it has no default"
    if kind == "model_type":
        return f"must be a mapping of {', '.join(getattr(section, 'model_fields', {}))}; got {short(value)}"
    if kind == "literal_error":
        choices = [str(choice) for choice in get_args(fields[path[-1]].annotation)]
        return f"unknown value {short(value)}; {suggest(str(value)[:60], choices)}"
    return wrong_value(detail)


def wrong_value(detail: ErrorDetails) -> str:
    """Return a plain message for a value of a wrong type or out of bounds."""
    kind, value, context = detail["type"], detail["input"], detail.get("ctx", {})
    bounds = {"ge": "at least", "gt": "greater than", "le": "at most", "lt": "less than"}
    for bound, words in bounds.items():
        if bound in context:
            limit = context[bound]
            shown = f"{limit:,}" if isinstance(limit, int) else f"{limit:g}"
            return f"must be {words} {shown}; got {short(value)}"
    types = {"int_type": "a whole number", "int_from_float": "a whole number", "float_type": "a number"}
    types |= {"string_type": "text", "list_type": "a list", "finite_number": "a finite number"}
    types |= {"bool_type": "true or false"}
    if kind in types:
        return f"must be {types[kind]}; got {short(value)}"
    return detail["msg"]


def _unknown_model_key(key: str, name: str, models: Sections) -> str:
    """Return a message that names the models with this key, or else the nearest valid key."""
    if having := [other for other in models.names() if key in _model_keys(other, models)]:
        return f"model '{name}' has no use for it; models that have it: {', '.join(having)}"
    return f"unknown key; {_nearest_key(['model', key], models.section(name).model_fields)}"


def _model_keys(name: str, models: Sections) -> Mapping[str, Any]:
    """Return the keys of a model's section; none if the model cannot be loaded, which is not the mistake to report."""
    with contextlib.suppress(ConfigError):
        return models.section(name).model_fields
    return {}


def _nearest_key(path: Sequence[str], fields: Mapping[str, Any]) -> str:
    """Suggest the same key of another section, else the nearest key of this section or another, else the valid keys."""
    key = path[-1]
    everywhere = {name: f"{section}.{name}" for section in Config.model_fields for name in _keys_of(section)}
    if key in everywhere:
        return f"did you mean '{everywhere[key]}'?"
    if not difflib.get_close_matches(key, fields) and (near := difflib.get_close_matches(key, everywhere, n=1)):
        return f"did you mean '{everywhere[near[0]]}'?"
    return suggest(key, fields)


def _keys_of(section: str) -> list[str]:
    return list(getattr(Config.model_fields[section].annotation, "model_fields", {}))
