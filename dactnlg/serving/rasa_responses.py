"""The responses of a Rasa domain, said as by Rasa's own generator: the fallback for acts that fail."""

from __future__ import annotations

import copy
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from dactnlg.errors import ConfigError, UserError
from dactnlg.runs import yamlfile

Responses = dict[str, list[dict[str, Any]]]
_NAME = re.compile(r"\{([^\n{}]+?)\}")
_INTERPOLATED = ("text", "image", "custom", "buttons", "attachment", "quick_replies")


def read_responses(path: Path) -> Responses:
    """Read the responses of a domain from a file, or from all files in a folder.

    Raises:
        UserError: there is no such file, a file is not a domain, or there are no responses.
    """
    found: Responses = {}
    for _, _, responses in domain_files(path):
        found |= responses
    if not found:
        raise UserError(f"{path} has no responses: name the domain's file, or the folder of its files")
    return found


def domain_files(path: Path) -> Iterator[tuple[Path, dict[str, Any], Responses]]:
    """Yield each file of a domain, a file or a folder, with its data and its responses.

    Raises:
        UserError: there is no such file, or a file is not a domain.
    """
    files = sorted(file for file in path.rglob("*") if file.suffix in (".yml", ".yaml")) if path.is_dir() else [path]
    for file in files:
        try:
            data = yamlfile.read(file, "a domain is a mapping with responses").data
        except ConfigError as error:
            raise UserError(f"the domain cannot be read: {error}") from None
        yield file, data, checked_responses(data.get("responses") or {}, str(file))


def checked_responses(data: Any, where: str) -> Responses:
    """Validate responses and return them as in Rasa: name -> list of variations, each a mapping.

    Raises:
        UserError: they have another form; the message names the response.
    """
    if not isinstance(data, Mapping):
        raise UserError(f"{where}: responses is a mapping of names to lists, not {type(data).__name__}")
    for name, variations in data.items():
        if not isinstance(variations, list) or not all(isinstance(each, Mapping) for each in variations):
            raise UserError(f"{where}: the response {name} is a list of variations such as - text: Hello.")
    return {str(name): [dict(each) for each in variations] for name, variations in data.items()}


def eligible(
    variations: Sequence[Mapping[str, Any]], slots: Mapping[str, Any], channel: str | None
) -> list[Mapping[str, Any]]:
    """Return the best matching variations, in Rasa's order: condition and channel, channel, condition, neither."""
    # A condition that is a string is a predicate of Rasa Pro, which is not evaluated here.
    conditional = [v for v in variations if isinstance(v.get("condition"), list) and _holds(v["condition"], slots)]
    plain = [v for v in variations if v.get("condition") is None]
    groups = (
        [v for v in conditional if v.get("channel") and v["channel"] == channel],
        [v for v in plain if v.get("channel") and v["channel"] == channel],
        [v for v in conditional if v.get("channel") is None],
        [v for v in plain if v.get("channel") is None],
    )
    return next((group for group in groups if group), [])


def choose(
    variations: Sequence[Mapping[str, Any]],
    slots: Mapping[str, Any],
    channel: str | None,
    wanted: str | None,
    chance: random.Random,
) -> Mapping[str, Any] | None:
    """Return the variation with the id `wanted` by Rasa, or else a random eligible one; None if there is none."""
    named = [each for each in variations if wanted is not None and each.get("id") == wanted]
    fitting = named or eligible(variations, slots, channel)
    return chance.choice(fitting) if fitting else None


def said(variation: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return a variation with its slots filled in."""
    found = copy.deepcopy(dict(variation))
    for key in _INTERPOLATED:
        if key in found and values:
            found[key] = _interpolated(found[key], values)
    return found


def filled(text: str, values: Mapping[str, Any]) -> str:
    """Return a text with every `{name}` replaced; as in Rasa, an unknown name leaves the whole text unchanged."""
    if "{{" in text or "}}" in text:
        bare = text.replace("{{", "").replace("}}", "")
        return text if "{" in bare or "}" in bare else text.replace("{{", "{").replace("}}", "}")
    if any(match[1] not in values for match in _NAME.finditer(text)):
        return text
    # Not `str.format`, which would allow access to attributes of values.
    return _NAME.sub(lambda match: str(values[match[1]]), text)


def _holds(conditions: Sequence[Any], slots: Mapping[str, Any]) -> bool:
    if not conditions:
        return False
    for condition in conditions:
        if not isinstance(condition, Mapping) or condition.get("type", "slot") != "slot":
            return False
        value, wanted = slots.get(condition.get("name", "")), condition.get("value")
        if isinstance(value, str) and isinstance(wanted, str):
            value, wanted = value.casefold(), wanted.casefold()
        if value != wanted:
            return False
    return True


def _interpolated(value: Any, values: Mapping[str, Any]) -> Any:
    if isinstance(value, str):
        return filled(value, values)
    if isinstance(value, list):
        return [_interpolated(each, values) for each in value]
    if isinstance(value, Mapping):
        return {key: _interpolated(each, values) for key, each in value.items()}
    return value
