"""The slot map: the names of imported responses and slots in acts, and values for training pairs.

    acts:
      utter_found: inform           # by default the name of the response itself, without utter_
    slots:
      cuisine: {name: food, values: [Thai, Basque, Umbrian]}

The values are stand-ins for real ones: in training each becomes its slot's placeholder, so they only need to be
distinct and unlike other words. A slot has the values that its source lists, or values suggested by its name (a time
for `pickup_time`, an amount for `total_price`), or else invented words.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from dactnlg.acts.notation import is_act_type, is_name
from dactnlg.errors import ConfigError
from dactnlg.runs import yamlfile
from dactnlg.serving.imports.templates import TemplateSource

COUNT = 8
"""Number of invented words per slot."""
_KINDS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("email|mail", ("ada@example.org", "ben@example.net", "cleo@example.com", "dora@example.org")),
    ("url|link|website", ("example.org/a1", "example.net/b2", "example.com/c3", "example.org/d4")),
    ("phone|telephone|mobile", ("0555 201 330", "0555 418 070", "0555 772 008", "0555 310 114")),
    ("price|cost|amount|total|fee|balance|budget", ("$12.50", "$240", "$1,999", "$68.20", "$7", "$35.99")),
    ("percent|percentage|discount", ("12%", "35%", "70%", "8%")),
    ("time|hour|hours|eta", ("7:30 pm", "9:15 am", "11:40 am", "6:05 pm", "2:20 pm")),
    ("date|day|deadline", ("May 4", "Monday", "June 21", "next Friday", "October 9", "Sunday")),
    ("duration|minutes", ("25 minutes", "2 hours", "40 minutes", "3 days")),
    ("temperature|degrees", ("21 degrees", "-4 degrees", "30 degrees", "9 degrees")),
    ("count|number|num|people|guests|quantity|size|age|seats|points|items|nights", ("7", "12", "23", "4", "58")),
)
_SYLLABLES = tuple("bacedifogulameniporusatevizokalemino"[n : n + 2] for n in range(0, 34, 2))


class _MapEntry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class SlotEntry(_MapEntry):
    """The name and values of a slot.

    Attributes:
        name: its name in acts; by default its name in the templates.
        values: values for training pairs.
    """

    name: str | None = None
    values: list[str | int | float] = []


class SlotMap(_MapEntry):
    """A slot map.

    Attributes:
        acts: response -> act type; for other responses it is derived from their names.
        slots: slot name in the templates -> its name in acts and its values.
    """

    acts: dict[str, str] = {}
    slots: dict[str, SlotEntry] = Field(default_factory=dict)

    def act_type(self, response: str) -> str:
        """Return the act type of a response."""
        return self.acts.get(response) or _act_type(response)

    def name(self, slot: str) -> str:
        """Return the name of a slot in acts."""
        entry = self.slots.get(slot)
        return (entry.name if entry else None) or re.sub(r"[^\w.-]+", "_", slot).strip("_") or "slot"

    def values(self, slot: str) -> list[str]:
        """Return the values of a slot."""
        entry = self.slots.get(slot)
        return [str(value) for value in entry.values] if entry and entry.values else invented(slot)


def read_map(path: Path) -> SlotMap:
    """Read a slot map.

    Raises:
        ConfigError: it cannot be read, or has mistakes; the message lists all of them, one per line.
    """
    data, lines, mistakes = yamlfile.read(path, "a slot map is a mapping with acts and slots")
    found = None
    try:
        found = SlotMap.model_validate(data)
    except ValidationError as error:
        for detail in error.errors():
            place, key = yamlfile.place(path, lines, detail["loc"]), ".".join(map(str, detail["loc"]))
            mistakes.append(f"{place}: {key}: {detail['msg']}")
    for response, act in (found.acts if found else {}).items():
        if not is_act_type(act):
            mistakes.append(f"{yamlfile.place(path, lines, ('acts', response))}: '{act}' cannot be an act type")
    for slot, entry in (found.slots if found else {}).items():
        if entry.name is not None and not is_name(entry.name):
            mistakes.append(f"{yamlfile.place(path, lines, ('slots', slot))}: '{entry.name}' cannot be a slot name")
    if mistakes or found is None:
        raise ConfigError("\n  ".join([f"mistakes in the slot map {path}:", *mistakes]))
    return found


def map_of(source: TemplateSource, given: SlotMap | None = None) -> SlotMap:
    """Return the complete slot map of a source: the entries of a given one, and defaults for the rest."""
    given = given or SlotMap()
    responses = dict.fromkeys(template.response for template in source.templates)
    slots = dict.fromkeys(slot for template in source.templates for slot in template.slots)
    known = {name: list[str | int | float](values) for name, values in source.values.items() if len(values) > 1}
    entries = {}
    for slot in slots:
        entry = given.slots.get(slot, SlotEntry())
        values = entry.values or known.get(slot) or list[str | int | float](invented(slot))
        entries[slot] = SlotEntry(name=given.name(slot), values=values)
    return SlotMap(acts={name: given.act_type(name) for name in responses}, slots=entries)


def invented(slot: str) -> list[str]:
    """Return distinct values for a slot: typical ones for its name, or invented words."""
    words = set(re.split(r"[^a-z]+", re.sub(r"([a-z])([A-Z])", r"\1_\2", slot).lower()))
    for pattern, values in _KINDS:
        if words & set(pattern.split("|")):
            return list(values)
    return [_word(slot, number) for number in range(COUNT)]


def map_text(found: SlotMap, head: Iterable[str]) -> str:
    """Return a slot map as YAML, after the lines of `head` as comments."""
    data = found.model_dump(exclude_none=True)
    return "".join(f"# {line}\n" for line in head) + yamlfile.dump(data, width=120, default_flow_style=None)


def _word(slot: str, number: int) -> str:
    digits = hashlib.sha256(f"{slot}|{number}".encode()).digest()
    word = "".join(_SYLLABLES[digit % len(_SYLLABLES)] for digit in digits[:4])
    # Some begin with a vowel and some have two words, so that "a" or "an" and the ends of values are learned, too.
    word = ("E" if number % 3 == 1 else "") + word
    second = "".join(_SYLLABLES[digit % len(_SYLLABLES)] for digit in digits[8:10])
    return f"{word.capitalize()} {second.capitalize()}" if number % 2 else word.capitalize()


def _act_type(response: str) -> str:
    return re.sub(r"[^\w.-]+", "_", response.removeprefix("utter_")).strip("_") or "say"
