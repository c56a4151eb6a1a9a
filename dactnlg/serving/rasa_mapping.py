"""Mapping files: the acts and slot values for the responses of a Rasa bot.

    domain: domain.yml
    responses:
      utter_trail:
        act: inform
        slots:
          name: trail_name                                   # an argument, or else a slot of the tracker
          difficulty: {from: level, values: {1: easy, 2: moderate, 3: hard}}
          dogsallowed: {from: dogs, optional: true}          # true and false are said as yes and no
          region: {value: Northern Ridge}
      utter_ask_region: ?request(region)
      utter_found: inform(name={trail_name};length='{km} km';region={region?})

An act with brackets is a template: `{x}` stands for a value, `{x?}` for one whose slot is left out if it is missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from dactnlg.acts import DialogueAct, Slot, Turn, parse
from dactnlg.errors import ActError, ConfigError
from dactnlg.runs import yamlfile

LONGEST, MOST = 500, 20
"""Maximum characters of a value and values of a list; anything longer does not fit into a sentence."""
_REFERENCE = re.compile(r"\{([^{}?\n]+)(\??)\}")
_Plain = str | bool | int | float


class MissingValueError(Exception):
    """A response cannot be said as an act because a value is missing or unsuitable for a sentence."""


class _MappingEntry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class SlotMapping(_MappingEntry):
    """Where the value of one slot comes from.

    Attributes:
        source: `from` in the file: the name of an argument of the response, or else of a slot of the tracker.
        value: a constant, instead of `source`.
        values: value -> value to say; others are said as they are.
        optional: leave the slot out if its value is missing or empty.
        default: the value to say in that case.
    """

    source: str | None = Field(default=None, alias="from", min_length=1)
    value: _Plain | None = None
    values: dict[str, _Plain] = {}
    optional: bool = False
    default: _Plain | None = None

    @model_validator(mode="before")
    @classmethod
    def _named(cls, data: Any) -> Any:
        return {"from": data} if isinstance(data, str) else data

    @model_validator(mode="after")
    def _one_source(self) -> SlotMapping:
        if (self.source is None) == (self.value is None):
            raise ValueError("give either from, the name of an argument or slot, or value, a constant")
        if any(
            isinstance(each, str) and not each.strip() for each in (self.value, self.default, *self.values.values())
        ):
            raise ValueError("a value is empty: nothing could be said for it")
        return self


class ResponseMapping(_MappingEntry):
    """The act of one response.

    Attributes:
        act: an act type, with its slots in `slots`, or a whole act as a template.
        slots: slot of the act -> source of its value; None for a slot without a value (`slots: {food: null}`), as in
            requests.
    """

    act: str = Field(min_length=1)
    slots: dict[str, SlotMapping | None] = {}

    @model_validator(mode="before")
    @classmethod
    def _template(cls, data: Any) -> Any:
        return {"act": data} if isinstance(data, str) else data

    @model_validator(mode="after")
    def _readable(self) -> ResponseMapping:
        try:
            self.names()
        except ActError as error:
            raise ValueError(str(error)) from None
        if "(" in self.act and self.slots:
            raise ValueError("an act with brackets names its slots there: leave out slots, or the brackets")
        return self

    def names(self) -> Turn:
        """Return the act with stand-ins for values, to check its names.

        Raises:
            ActError: the act cannot be parsed, or has an invalid name.
        """
        if "(" in self.act:
            return parse(self.act, "act")
        return Turn((DialogueAct(self.act, tuple(Slot(n, "x" if s else None) for n, s in self.slots.items())),))

    def turn(self, values: Mapping[str, Any]) -> Turn:
        """Return the act with its values.

        Args:
            values: the arguments of the response and the slots of the tracker, by name.

        Raises:
            MissingValueError: a required value is missing, or a value is not text, a number or a truth value, or is too
                long.
        """
        if "(" not in self.act:
            return Turn((DialogueAct(self.act, tuple(self._slots(values))),))
        acts = [
            DialogueAct(act.act_type, tuple(slot for each in act.slots for slot in _filled(each, values)))
            for act in self.names()
        ]
        return Turn(tuple(acts))

    def _slots(self, values: Mapping[str, Any]) -> Iterator[Slot]:
        for name, mapping in self.slots.items():
            if mapping is None:
                yield Slot(name)
                continue
            given = mapping.value if mapping.source is None else values.get(mapping.source)
            said = [_mapped(each, mapping.values) for each in _listed(given, name)]
            if not said and mapping.default is not None:
                said = [_text(mapping.default, name)]
            if not said and not mapping.optional:
                raise MissingValueError(f"'{mapping.source}' has no value")
            yield from (Slot(name, each) for each in said)


class RasaMapping(_MappingEntry):
    """A mapping file.

    Attributes:
        domain: the file or folder of the bot's domain, relative to the mapping file; its responses are said if an act
            cannot be.
        otherwise: the text for responses that the domain does not have either; empty for none, as in Rasa.
        responses: name of a response -> its act; other responses are said in the words of the domain.
    """

    domain: str | None = None
    otherwise: str = ""
    responses: dict[str, ResponseMapping]

    @field_validator("responses")
    @classmethod
    def _some(cls, responses: dict[str, ResponseMapping]) -> dict[str, ResponseMapping]:
        if not responses:
            raise ValueError("no response is mapped")
        return responses


def read_mapping(path: Path) -> RasaMapping:
    """Read a mapping file.

    Raises:
        ConfigError: it cannot be read, or has mistakes; the message lists all of them, one per line.
    """
    data, lines, mistakes = yamlfile.read(path, "a mapping file is a mapping with domain and responses")
    try:
        mapping = RasaMapping.model_validate(data)
    except ValidationError as error:
        for detail in error.errors():
            place, key = yamlfile.place(path, lines, detail["loc"]), ".".join(map(str, detail["loc"]))
            mistakes.append(f"{place}: {key}: {detail['msg'].removeprefix('Value error, ')}")
    if mistakes:
        raise ConfigError("\n  ".join([f"mistakes in the mapping file {path}:", *mistakes]))
    return mapping


def _filled(slot: Slot, values: Mapping[str, Any]) -> Iterator[Slot]:
    """Yield a slot of a template with its value, once per value if there are several."""
    found = list(_REFERENCE.finditer(slot.value or ""))
    if slot.value is None or not found:
        yield slot
        return
    whole = len(found) == 1 and found[0][0] == slot.value
    given = {match[1]: _listed(values.get(match[1]), slot.name) for match in found}
    for match in found:
        if not given[match[1]]:
            if match[2]:
                return
            raise MissingValueError(f"'{match[1]}' has no value")
        if len(given[match[1]]) > 1 and not whole:
            raise MissingValueError(f"'{match[1]}' has several values")
    if whole:
        yield from (Slot(slot.name, each) for each in given[found[0][1]])
    else:
        # Replaced by a function, so that backslashes in a value have no meaning.
        yield Slot(slot.name, _REFERENCE.sub(lambda match: given[match[1]][0], slot.value))


def _listed(value: Any, name: str) -> list[str]:
    """Return a value, or the values of a list, as texts, without missing and empty ones."""
    values = value if isinstance(value, list | tuple) else [value]
    if len(values) > MOST:
        raise MissingValueError(f"'{name}' has {len(values)} values, and {MOST} are the most")
    return [text for each in values if each is not None and (text := _text(each, name))]


def _text(value: Any, name: str) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, str | int | float):
        raise MissingValueError(f"'{name}' is neither text nor a number")
    text = str(value).strip()
    if len(text) > LONGEST:
        raise MissingValueError(f"'{name}' has {len(text)} characters, and {LONGEST} are the most")
    return text


def _mapped(text: str, values: Mapping[str, _Plain]) -> str:
    """Return the value to say for a value; in the file, a truth value may be written true or yes."""
    also = {"yes": "true", "no": "false"}.get(text)
    for key, said in values.items():
        if key.casefold() in (text.casefold(), also):
            return _text(said, key)
    return text
