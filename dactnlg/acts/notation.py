"""The notations of acts: which names and values they allow, and the parser for all of them except JSON.

The parser returns plain names and values; `dactnlg.acts.parsing` builds turns from them.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from dactnlg.acts.act_types import INFORM
from dactnlg.errors import ActSyntaxError

SlotValues = tuple[tuple[str, str | None], ...]
"""(name, value) of each slot of one act; the value is None for a slot without one, as in `request(food)`."""


NO_VALUE = "leave out '=' to name the slot alone"
UNPARTED = "expected ';' before another slot"
DELIMITERS = "()[]{}=;,&'\"\\"
"""The characters that delimit a name in any of the notations, so that it cannot contain them."""


class ParsedAct(NamedTuple):
    """The act type and slots of one parsed act."""

    act_type: str
    slots: SlotValues


NAME = re.compile(r"""[^\s()\[\]{}=;,&'"\\?][^()\[\]{}=;,&'"\\\n\r]*""")
ACT_TYPE = re.compile(r"""\??[^\s()\[\]{}=;,&'"\\?][^\s()\[\]{}=;,&'"\\]*""")
_BARE_VALUE = re.compile(r"[\w.+-]+|\?")
# An unquoted value ends at the next `;` or `)`; balanced brackets are part of it.
_OPEN_VALUE_PART = re.compile(r"[^;,()]*+(?:\([^()]*+\)[^;,()]*+)*")
# So is a comma, unless a name and an equals sign follow: SFRES separates slots with commas.
_NEXT_SLOT = re.compile(r",\s*+" + NAME.pattern + "=")
# A missing `;`: "name='Ritz' area=north", "name=Ritz area=north".
_UNPARTED = re.compile(NAME.pattern + "=")
_UNPARTED_BARE = re.compile(r"\s[\w.-]+=")
_IN_BRACKETS = re.compile(r"\([^()]*\)")
_SPACE = re.compile(r"\s*")
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}
# No group is possessive: before 3.11.5, Python mismatches possessive groups that contain alternatives (gh-106052).
# Fast path for nearly every act: no spaces outside quotes, no quotes or backslashes inside them.
_PLAIN_ACT = re.compile(
    r"""(\??[\w.-]++)\(((?:[\w.-]++(?:=(?:'(?!\s*+')[^'"\\]*+'|[^\s;,()'"]++))?(?:;|(?=\))))*)\)""",
)
_PLAIN_SLOT = re.compile(r"""([\w.-]++)(?:(=)(?:'([^'"]*+)'|([^;'"]++)))?""")


@lru_cache(maxsize=1 << 12)
def is_name(text: str) -> bool:
    """Return whether `text` is a slot name that every notation can express."""
    return bool(NAME.fullmatch(text)) and text == text.strip()


@lru_cache(maxsize=1 << 12)
def is_act_type(text: str) -> bool:
    """Return whether `text` is an act type that every notation can express."""
    return bool(ACT_TYPE.fullmatch(text))


def read_acts(text: str, where: str = "") -> list[ParsedAct]:
    """Parse the acts of one turn in the Cambridge or the bracket notation.

    Args:
        text: the act string.
        where: the location to give in error messages ("acts.txt, line 3"); by default the line within `text`.

    Raises:
        ActSyntaxError: the text is not an act; the message shows the line and a caret.
    """
    return _Reader(text, where).acts()


def balanced(value: str) -> bool:
    """Return whether the square brackets in a value are balanced, so that it can be written in the bracket notation."""
    depth = 0
    for char in value:
        depth += (char == "[") - (char == "]")
        if depth < 0:
            return False
    return depth == 0


def print_value(value: str) -> str:
    """Return a value in canonical notation: quoted unless it is a single plain word."""
    if _BARE_VALUE.fullmatch(value):
        return value
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    for letter, char in _ESCAPES.items():
        escaped = escaped.replace(char, f"\\{letter}")
    return f"'{escaped}'"


class _Reader:
    """Recursive-descent parser for one act string; `at` is the index of the next character."""

    def __init__(self, text: str, where: str) -> None:
        self.text, self.where, self.at = text, where, 0

    def acts(self) -> list[ParsedAct]:
        """Read a whole turn."""
        self.skip_space()
        if self.at == len(self.text):
            raise self.error("expected an act, found nothing")
        if self.bracketed_slot_follows():
            return [ParsedAct(INFORM, self.bracket_slots(closing=""))]
        acts = [self.act()]
        while self.at < len(self.text):
            self.skip_space()
            # `&`, `;` and whitespace all separate acts; `;` and whitespace may also end the turn.
            if self.peek() in ("&", ";"):
                joint = self.at
                self.at += 1
                self.skip_space()
                if self.at == len(self.text) and self.text[joint] == "&":
                    raise self.error("expected another act after '&'")
            if self.at < len(self.text):
                acts.append(self.act())
        return acts

    def act(self) -> ParsedAct:
        """Read `type(slots)`."""
        return self.plain_act() or self.any_act()

    def plain_act(self) -> ParsedAct | None:
        """Read an act in plain form, in a third of the time that `any_act` takes; return None for any other form."""
        match = _PLAIN_ACT.match(self.text, self.at)
        if not match:
            return None
        self.at = match.end()
        act_type, slots = match.groups()
        found = _PLAIN_SLOT.findall(slots)
        values = tuple((name, quoted or bare if equals else None) for name, equals, quoted, bare in found)
        return ParsedAct(act_type, values)

    def any_act(self) -> ParsedAct:
        """Read `type(slots)` in any form."""
        match = ACT_TYPE.match(self.text, self.at)
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
        return ParsedAct(match.group(), slots)

    def cambridge_slots(self) -> SlotValues:
        """Read `name=value;name`, up to the closing parenthesis."""
        slots = []
        self.skip_space()
        while self.peek() not in (")", ""):
            name = self.name()
            value = None
            if self.peek() == "=":
                self.at += 1
                value = self.value()
            slots.append((name, value))
            self.skip_space()
            if self.peek() in (";", ","):
                self.at += 1
                self.skip_space()
            elif self.peek() != ")":
                raise self.error("expected ';' or ')' after a slot")
        return tuple(slots)

    def value(self) -> str:
        """Read the value after an equals sign."""
        self.skip_space()
        quote = self.peek()
        if quote in ("'", '"'):
            return self.quoted_value(quote)
        end = _end(_OPEN_VALUE_PART, self.text, self.at)
        while self.text[end : end + 1] == "," and not _NEXT_SLOT.match(self.text, end):
            end = _end(_OPEN_VALUE_PART, self.text, end + 1)
        value = self.text[self.at : end].strip()
        if not value:
            raise self.error(f"expected a value after '='; {NO_VALUE}")
        if found := _UNPARTED_BARE.search(_IN_BRACKETS.sub(_blank, self.text[self.at : end])):
            self.at += found.start() + 1
            raise self.error(f"{UNPARTED}; a value that contains '=' may be quoted")
        self.at = end
        return value

    def quoted_value(self, quote: str) -> str:
        """Read a quoted value, which may contain escapes and apostrophes."""
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
            # The closing quote is followed by a delimiter, an apostrophe in the value is not ('harry's bar').
            if char == quote:
                end = _end(_SPACE, self.text, self.at)
                if self.text[end : end + 1] in (";", ")", ",", ""):
                    return self.checked_value("".join(chars), start)
                if _UNPARTED.match(self.text, end):
                    self.at = end
                    raise self.error(UNPARTED)
            chars.append(char)
        self.at = start
        raise self.error(f"this {quote} is never closed")

    def checked_value(self, value: str, start: int) -> str:
        """Return the value, or raise an error at `start` if it is blank: no sentence could express it."""
        if not value.strip():
            self.at = start
            raise self.error(f"a value cannot be empty; {NO_VALUE}")
        return value

    def bracketed_slot_follows(self) -> bool:
        self.skip_space()
        match = NAME.match(self.text, self.at)
        return bool(match) and self.text[match.end() : match.end() + 1] == "["  # type: ignore[union-attr]

    def bracket_slots(self, closing: str) -> SlotValues:
        """Read `name[value], name[value]`, up to the `closing` character ("" for the end of the text)."""
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
            slots.append((name, self.text[begin : self.at - 1].strip() or None))
            self.skip_space()
            if self.peek() == closing:
                return tuple(slots)
            self.expect(",", f"expected ',' or {repr(closing) if closing else 'the end'} after a slot")
            self.skip_space()

    def name(self) -> str:
        match = NAME.match(self.text, self.at)
        if not match:
            raise self.error("expected a slot name")
        self.at = match.end()
        return match.group().strip()

    def peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def skip_space(self) -> None:
        self.at = _end(_SPACE, self.text, self.at)

    def expect(self, char: str, reason: str) -> None:
        if self.peek() != char:
            raise self.error(reason)
        self.at += 1

    def error(self, reason: str) -> ActSyntaxError:
        return ActSyntaxError(reason, self.text, self.at, self.where)


def _blank(match: re.Match[str]) -> str:
    return "_" * len(match.group())


def _end(pattern: re.Pattern[str], text: str, start: int) -> int:
    match = pattern.match(text, start)
    return match.end() if match else start
