"""Responses of a Rasa domain as templates."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dactnlg.serving.imports.templates import ResponseTemplate, TemplateSource
from dactnlg.serving.rasa_responses import domain_files


def read(path: Path) -> TemplateSource:
    """Read the responses of a domain from a file, or from all files in a folder.

    Variations for one channel or with a condition are left out, since they depend on more than their slots.

    Raises:
        UserError: there is no such file, or a file is not a domain.
    """
    source = TemplateSource()
    for file, data, responses in domain_files(path):
        for name, variations in responses.items():
            for number, variation in enumerate(variations, start=1):
                _read(source, name, variation, f"{file.name}, {name}, variation {number}")
        slots = data.get("slots")
        for name, slot in slots.items() if isinstance(slots, dict) else ():
            values = slot.get("values") if isinstance(slot, dict) else None
            if isinstance(values, list) and slot.get("type") == "categorical":
                source.values[name] = [str(value) for value in values if isinstance(value, str | int | float)]
    return source


def _read(source: TemplateSource, name: str, variation: dict[str, Any], origin: str) -> None:
    text = variation.get("text")
    if not isinstance(text, str) or not text.strip():
        others = ", ".join(key for key in variation if key != "text") or "nothing"
        source.leave_out(origin, variation, f"it has no text, but {others}")
    elif variation.get("condition"):
        source.leave_out(origin, text, "it is said under a condition only: import it under a name of its own")
    elif variation.get("channel"):
        source.leave_out(origin, text, f"it is for the channel {variation['channel']} only")
    elif "{%" in text or "{{" in text:
        source.leave_out(origin, text, "it has double braces or Jinja")
    else:
        source.templates.append(ResponseTemplate(name, text, origin))
