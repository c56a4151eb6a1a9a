"""Texts of others in Markdown: shown as they are, and nothing but text."""

from __future__ import annotations

import re

from dactnlg._utils.terminal import printable

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|#~&])")
_TICKS = re.compile("`+")


def escape(text: str) -> str:
    """Return text that Markdown shows as it is, in one line, in cells of tables too."""
    return _SPECIAL.sub(r"\\\1", printable(" ".join(text.split())))


def code(text: str) -> str:
    """Return text as code within a line."""
    line = printable(" ".join(text.split()))
    ticks = _more_ticks(line, 1)
    # Where a backtick stands at an end, a space parts it from the marks; Markdown leaves one at each end out again.
    space = " " if line[:1] == "`" or line[-1:] == "`" else ""
    return f"{ticks}{space}{line}{space}{ticks}"


def fenced(text: str) -> list[str]:
    """Return text as a block of code, a line each."""
    ticks = _more_ticks(text, 3)
    return [ticks, *printable(text, "\n").split("\n"), ticks]


def _more_ticks(text: str, least: int) -> str:
    """Return more backticks than stand in a row anywhere in the text."""
    return "`" * max([least, *(len(found) + 1 for found in _TICKS.findall(text))])
