"""Imported templates: texts with `{slot}`s, each with the name of its response."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

SLOT = re.compile(r"\{([^{}\n]+)\}")
MOST_VARIANTS = 64
"""Maximum number of variants that a line may expand to."""


@dataclass(frozen=True, slots=True)
class ResponseTemplate:
    """A text of a response.

    Attributes:
        response: the name of the response in its framework.
        text: the text, with `{slot}` instead of values.
        origin: where it was read from, for messages.
    """

    response: str
    text: str
    origin: str

    @property
    def slots(self) -> tuple[str, ...]:
        """The names in braces, in order, with repetitions."""
        return tuple(match[1].strip() for match in SLOT.finditer(self.text))


@dataclass(frozen=True, slots=True)
class Unread:
    """What could not be imported.

    Attributes:
        origin: where it was found.
        text: its text, shortened.
        reason: why it was left out.
    """

    origin: str
    text: str
    reason: str


@dataclass(slots=True)
class TemplateSource:
    """What was read from one source.

    Attributes:
        templates: what could be read.
        unread: what could not.
        values: slot -> values that the source lists for it.
        language: the language of the texts, an ISO 639-1 code.
    """

    templates: list[ResponseTemplate] = field(default_factory=list)
    unread: list[Unread] = field(default_factory=list)
    values: dict[str, list[str]] = field(default_factory=dict)
    language: str = "en"

    def leave_out(self, origin: str, text: object, reason: str) -> None:
        """Record something that is left out."""
        self.unread.append(Unread(origin, f"{text}"[:200], reason))


class ExpansionError(ValueError):
    """The alternatives of a line cannot be expanded."""


def variants(line: str) -> list[str]:
    """Expand a line with `(one|other)` and `[optional]`, in the syntax of OVOS and Mycroft, to all its variants.

    Raises:
        ExpansionError: brackets do not match, or there are more than `MOST_VARIANTS` variants.
    """
    texts, at = _sequence(line, 0, "")
    if at != len(line):
        raise ExpansionError("brackets do not match")
    return list(dict.fromkeys(re.sub(r"\s+([,.;:!?])", r"\1", " ".join(text.split())) for text in texts))


def _sequence(line: str, at: int, closing: str) -> tuple[list[str], int]:
    """Return the variants of a line from `at` to the closing bracket or the end, and the index of that."""
    found: list[str] = []
    texts = [""]
    while at < len(line) and line[at] not in ")]":
        char = line[at]
        if char == "|" and closing:
            found, texts, at = found + texts, [""], at + 1
            continue
        more, at = [char], at + 1
        if char in "([":
            end = ")" if char == "(" else "]"
            more, at = _sequence(line, at, end)
            if at >= len(line) or line[at] != end:
                raise ExpansionError("brackets do not match")
            more, at = (more if char == "(" else [*more, ""]), at + 1
        texts = list(dict.fromkeys(_product(texts, more)))
        if len(texts) + len(found) > MOST_VARIANTS:
            raise ExpansionError(f"more than {MOST_VARIANTS} variants")
    return found + texts, at


def _product(texts: list[str], more: list[str]) -> Iterator[str]:
    for text in texts:
        yield from (text + other for other in more)
