"""Dialogue acts: the one representation of meaning, and the notations it is read from and printed in.

Notations:
    cambridge  `inform(name='red door cafe';kidsallowed=no)`, several acts joined by `&` or spaces
               (RNNLG, DSTC2; a trailing `;` and a leading `?` of the act type are part of it)
    bracket    `name[The Eagle], eatType[coffee shop]` (E2E: one `inform`) and
               `inform(name[X], genres[a, b])` (ViGGO)
    json       `[{"act": "inform", "slots": [["food", "thai"]]}]` (DSTC2's release)

`parse` tells them apart by itself. `str(turn)` is the canonical Cambridge notation and
`parse(str(turn)) == turn` holds for every turn.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from dactnlg.errors import ActError, ActSyntaxError

SPECIAL_VALUES = frozenset({"dontcare", "dont_care", "yes", "no", "none", "true", "false", "?"})
"""Values that say something about a slot rather than name a thing; they are never delexicalised."""

_CANONICAL_SPECIAL = {"dont_care": "dontcare", "true": "yes", "false": "no"}
# What a name cannot hold: the characters that delimit it in one of the notations.
_NAME = re.compile(r"""[^\s()\[\]{}=;,&'"\\?][^()\[\]{}=;,&'"\\\n\r]*""")
_ACT_TYPE = re.compile(r"""\??[^\s()\[\]{}=;,&'"\\?][^\s()\[\]{}=;,&'"\\]*""")
_BARE_VALUE = re.compile(r"[\w.+-]+|\?")
# An unquoted value runs to the next `;` or `)`; brackets that close again belong to it.
_OPEN_VALUE = re.compile(r"[^;)(]*(?:\([^()]*\)[^;()]*)*")
# A comma belongs to it too, unless a name and an equals sign follow: SFRES parts slots by commas.
_NEXT_SLOT = re.compile(r"\s*,\s*" + _NAME.pattern + "=")
_SPACE = re.compile(r"\s*")
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}


@dataclass(frozen=True, slots=True, order=True)
class Slot:
    """One slot of an act; `value` is None where only the slot is named, as in `request(food)`."""

    name: str
    value: str | None = None

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name) or self.name != self.name.strip():
            raise ActError(f"'{self.name}' cannot be a slot name: it is empty or holds one of ()[]{{}}=;,&'\"\\")

    @property
    def special(self) -> str | None:
        """The special value, spelt one way (`dontcare`, `yes`, `no`, `none`, `?`), or None for an ordinary one."""
        value = (self.value or "").lower()
        return _CANONICAL_SPECIAL.get(value, value) if value in SPECIAL_VALUES else None

    @property
    def delexicalizable(self) -> bool:
        """Whether the slot has a value that a placeholder can stand for."""
        return bool(self.value and self.value.strip()) and self.special is None

    def __str__(self) -> str:
        return self.name if self.value is None else f"{self.name}={_print_value(self.value)}"


@dataclass(frozen=True, slots=True, order=True)
class DialogueAct:
    """An act type with its slots, in the order they were written."""

    act_type: str
    slots: tuple[Slot, ...] = ()

    def __post_init__(self) -> None:
        if not _ACT_TYPE.fullmatch(self.act_type):
            raise ActError(
                f"'{self.act_type}' cannot be an act type: it is empty or holds a space or ()[]{{}}=;,&'\"\\"
            )

    def __str__(self) -> str:
        return f"{self.act_type}({';'.join(map(str, self.slots))})"


@dataclass(frozen=True, slots=True, order=True)
class Turn:
    """One or more acts said together: the meaning representation of one sentence."""

    acts: tuple[DialogueAct, ...]

    def __post_init__(self) -> None:
        if not self.acts:
            raise ActError("a turn needs at least one act")

    def __iter__(self) -> Iterator[DialogueAct]:
        return iter(self.acts)

    def slots(self) -> Iterator[tuple[DialogueAct, Slot]]:
        """Yield every slot with the act it stands in, in the order they were written."""
        for act in self.acts:
            for slot in act.slots:
                yield act, slot

    def __str__(self) -> str:
        return "&".join(map(str, self.acts))

    def to_json(self) -> list[dict[str, Any]]:
        """Return the turn as DSTC2's release writes it: `[{"act": ..., "slots": [[name, value], ...]}]`."""
        return [
            {"act": act.act_type, "slots": [[s.name] if s.value is None else [s.name, s.value] for s in act.slots]}
            for act in self.acts
        ]

    def to_bracket(self) -> str:
        """Return the turn in E2E and ViGGO's notation.

        Raises:
            ActError: several acts, or a value that square brackets cannot hold.
        """
        if len(self.acts) != 1:
            raise ActError(f"the bracket notation holds one act, not {len(self.acts)}: {self}")
        act = self.acts[0]
        for slot in act.slots:
            value = slot.value
            if value is not None and (not value or value != value.strip() or not _balanced(value)):
                raise ActError(f"the bracket notation cannot hold the value {value!r} of '{slot.name}'")
        inside = ", ".join(f"{slot.name}[{slot.value or ''}]" for slot in act.slots)
        return f"{act.act_type}({inside})"


def parse(text: str, where: str = "") -> Turn:
    """Read one turn in any of the notations.

    Args:
        text: the act string.
        where: how an error names the place ("acts.txt, line 3"); by default the line inside `text`.

    Raises:
        ActSyntaxError: the text is not an act; the message shows the line and a caret.
        ActError: a JSON act of the wrong form.
    """
    stripped = text.lstrip()
    if stripped.startswith(("[", "{")):
        return _parse_json(text, where)
    return _Parser(text, where).turn()


def _balanced(value: str) -> bool:
    depth = 0
    for char in value:
        depth += (char == "[") - (char == "]")
        if depth < 0:
            return False
    return depth == 0


def _print_value(value: str) -> str:
    if _BARE_VALUE.fullmatch(value):
        return value
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    for letter, char in _ESCAPES.items():
        escaped = escaped.replace(char, f"\\{letter}")
    return f"'{escaped}'"


def _parse_json(text: str, where: str) -> Turn:
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise ActSyntaxError(f"not JSON ({error.msg})", text, error.pos, where) from None
    except RecursionError:
        raise ActSyntaxError("JSON nested too deeply", text, 0, where) from None
    except ValueError as error:  # a number of more digits than Python converts
        raise ActSyntaxError(f"not JSON ({error})", text, 0, where) from None
    return turn_from_json(data, where)


def turn_from_json(data: object, where: str = "") -> Turn:
    """Build a turn from DSTC2's JSON: a list of `{"act": name, "slots": [[name, value], ...]}`, or one of them.

    Raises:
        ActError: the data have another form.
    """
    place = f"{where}: " if where else ""
    acts = []
    for item in data if isinstance(data, list) else [data]:
        if not isinstance(item, dict) or not isinstance(item.get("act"), str):
            raise ActError(f'{place}a JSON act is {{"act": name, "slots": [[name, value], ...]}}, not {item!r:.80}')
        slots = item.get("slots", [])
        if not isinstance(slots, list) or not all(_is_json_slot(slot) for slot in slots):
            raise ActError(f"{place}the slots of a JSON act are a list of [name] or [name, value], not {slots!r:.80}")
        acts.append(DialogueAct(item["act"], tuple(_json_slot(slot) for slot in slots)))
    return Turn(tuple(acts))


def _is_json_slot(slot: object) -> bool:
    return (
        isinstance(slot, list)
        and 1 <= len(slot) <= 2
        and isinstance(slot[0], str)
        and all(value is None or isinstance(value, str | int | float) for value in slot[1:])
    )


def _json_slot(slot: list[Any]) -> Slot:
    name, value = slot[0], slot[1] if len(slot) == 2 else None
    # DSTC2 writes request(food) as the pair ["slot", "food"].
    if name == "slot" and isinstance(value, str) and _NAME.fullmatch(value):
        return Slot(value)
    return Slot(name, None if value is None else str(value))


class _Parser:
    """Recursive descent over one act string; `self.at` is the next character."""

    def __init__(self, text: str, where: str) -> None:
        self.text, self.where, self.at = text, where, 0

    def turn(self) -> Turn:
        """Read a whole turn."""
        self.skip_space()
        if self.at == len(self.text):
            raise self.error("expected an act, found nothing")
        if self.bracketed_slot_follows():
            turn = Turn((DialogueAct("inform", self.bracket_slots(closing="")),))
        else:
            acts = [self.act()]
            while self.at < len(self.text):
                self.skip_space()
                # `&`, `;` and white space all part acts; one of them may trail.
                if self.peek() in ("&", ";"):
                    joint = self.at
                    self.at += 1
                    self.skip_space()
                    if self.at == len(self.text) and self.text[joint] == "&":
                        raise self.error("expected another act after '&'")
                if self.at < len(self.text):
                    acts.append(self.act())
            turn = Turn(tuple(acts))
        return turn

    def act(self) -> DialogueAct:
        """Read `type(slots)`."""
        match = _ACT_TYPE.match(self.text, self.at)
        if not match:
            raise self.error("expected an act type such as 'inform'")
        self.at = match.end()
        self.skip_space()
        self.expect("(", f"expected '(' after the act type '{match.group()}'")
        if self.bracketed_slot_follows():
            slots = self.bracket_slots(closing=")")
        else:
            slots = self.cambridge_slots()
        self.expect(")", "expected ';' or ')'")
        return DialogueAct(match.group(), slots)

    def cambridge_slots(self) -> tuple[Slot, ...]:
        """Read `name=value;name` up to the closing bracket."""
        slots = []
        self.skip_space()
        while self.peek() not in (")", ""):
            name = self.name()
            value = None
            if self.peek() == "=":
                self.at += 1
                value = self.value()
            slots.append(Slot(name, value))
            self.skip_space()
            if self.peek() in (";", ","):
                self.at += 1
                self.skip_space()
            elif self.peek() != ")":
                raise self.error("expected ';' or ')' after a slot")
        return tuple(slots)

    def value(self) -> str:
        """Read what follows an equals sign."""
        self.skip_space()
        quote = self.peek()
        if quote in ("'", '"'):
            return self.quoted_value(quote)
        match = _OPEN_VALUE.match(self.text, self.at)
        end = match.end() if match else self.at
        for following in _NEXT_SLOT.finditer(self.text, self.at, end):
            before = self.text[self.at : following.start()]
            if before.count("(") == before.count(")"):
                end = following.start()
                break
        value = self.text[self.at : end].strip()
        if not value:
            raise self.error("expected a value after '='; write '' for an empty one")
        self.at = end
        return value

    def quoted_value(self, quote: str) -> str:
        """Read a value in quotes, with its escapes and apostrophes."""
        start = self.at
        self.at += 1
        chars = []
        while self.at < len(self.text):
            char = self.text[self.at]
            following = self.text[self.at + 1 : self.at + 2]
            if char == "\\" and following in ("\\", "'", '"', "n", "r", "t") and following:
                chars.append(_ESCAPES.get(following, following))
                self.at += 2
                continue
            self.at += 1
            # An apostrophe inside a quoted value ('harry's bar') is not followed by a delimiter.
            if char == quote and self.text[_end_of_space(self.text, self.at) :][:1] in (";", ")", ",", ""):
                return "".join(chars)
            chars.append(char)
        self.at = start
        raise self.error(f"this {quote} is never closed")

    def bracketed_slot_follows(self) -> bool:
        self.skip_space()
        match = _NAME.match(self.text, self.at)
        return bool(match) and self.text[match.end() : match.end() + 1] == "["  # type: ignore[union-attr]

    def bracket_slots(self, closing: str) -> tuple[Slot, ...]:
        """Read `name[value], name[value]` up to the closing character."""
        slots = []
        while True:
            name = self.name()
            start = self.at
            self.expect("[", f"expected '[' after the slot '{name}'")
            depth = 1
            begin = self.at
            while depth:
                if self.at == len(self.text):
                    self.at = start
                    raise self.error("this '[' is never closed")
                depth += (self.text[self.at] == "[") - (self.text[self.at] == "]")
                self.at += 1
            slots.append(Slot(name, self.text[begin : self.at - 1].strip() or None))
            self.skip_space()
            if self.peek() == closing:
                return tuple(slots)
            self.expect(",", f"expected ',' or {repr(closing) if closing else 'the end'} after a slot")
            self.skip_space()

    def name(self) -> str:
        match = _NAME.match(self.text, self.at)
        if not match:
            raise self.error("expected a slot name")
        self.at = match.end()
        return match.group().strip()

    def peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def skip_space(self) -> None:
        self.at = _end_of_space(self.text, self.at)

    def expect(self, char: str, reason: str) -> None:
        if self.peek() != char:
            raise self.error(reason)
        self.at += 1

    def error(self, reason: str) -> ActSyntaxError:
        return ActSyntaxError(reason, self.text, self.at, self.where)


def _end_of_space(text: str, start: int) -> int:
    match = _SPACE.match(text, start)
    return match.end() if match else start
