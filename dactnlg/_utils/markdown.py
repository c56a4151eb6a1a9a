"""Escaping for Markdown: untrusted text is displayed literally and cannot add markup."""

from __future__ import annotations

import re

from dactnlg._utils.terminal import printable

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|#~&])")
_TICKS = re.compile("`+")


def escape(text: str) -> str:
    """Return text on one line, escaped so that Markdown shows it literally, also in table cells."""
    return _SPECIAL.sub(r"\\\1", printable(" ".join(text.split())))


def code(text: str) -> str:
    """Return text as inline code."""
    line = printable(" ".join(text.split()))
    ticks = _more_ticks(line, 1)
    # A space separates a backtick at either end from the delimiters; Markdown strips one space at each end again.
    space = " " if line[:1] == "`" or line[-1:] == "`" else ""
    return f"{ticks}{space}{line}{space}{ticks}"


def fenced(text: str) -> list[str]:
    """Return the lines of a fenced code block with this text."""
    ticks = _more_ticks(text, 3)
    return [ticks, *printable(text, "\n").split("\n"), ticks]


def _more_ticks(text: str, least: int) -> str:
    """Return at least `least` backticks, and more than the text has in a row anywhere."""
    return "`" * max([least, *(len(found) + 1 for found in _TICKS.findall(text))])
