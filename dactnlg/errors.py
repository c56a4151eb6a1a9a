"""Errors that the package raises on purpose.

Errors that a user can fix derive from `UserError`: the command line prints them as one plain message and exits with
code 2. All errors of the package derive from `DactnlgError`.

>>> import dactnlg
>>> try:
...     dactnlg.parse("inform(food=")
... except dactnlg.errors.ActSyntaxError as error:
...     error.position, error.reason.startswith("expected")
(12, True)
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any


class DactnlgError(Exception):
    """Base class of all errors that dactnlg raises on purpose."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the message and the attributes, so that errors of worker processes reach the parent process."""
        # Unpickling calls the class with the message alone by default, which fails if it has an `__init__` of its own.
        return type(self).__new__, (type(self), *self.args), self.__dict__


class UserError(DactnlgError):
    """A mistake that the user can fix: in an act, a configuration, a file or an option."""


class ActError(UserError):
    """An act that cannot be read, printed or used."""


class ActSyntaxError(ActError):
    """Text that is not a dialogue act; the message shows the line and a caret under the character.

    Attributes:
        reason: what was expected, without the line and the caret.
        text: the whole text that was parsed.
        position: index of the offending character in `text` (its length, if something is missing at the end).
    """

    def __init__(self, reason: str, text: str, position: int, where: str = "") -> None:
        self.reason, self.text, self.position = reason, text, position
        # The caret needs a single line above it: show the one that contains the position.
        start = text.rfind("\n", 0, position) + 1
        end = text.find("\n", position)
        line = text[start : len(text) if end < 0 else end]
        column = position - start
        window = slice(max(0, column - 60), column + 60)
        shown = "".join(char if char.isprintable() else " " for char in line[window])
        line_number = text.count("\n", 0, position) + 1
        place = where or f"line {line_number}"
        super().__init__(f"{place}, column {column + 1}: {reason}\n  {shown}\n  {' ' * (column - window.start)}^")


class UnknownNameError(UserError):
    """A name that is not among the valid choices; the message suggests the closest ones.

    >>> str(UnknownNameError("slot", "fod", ["food", "name"]))
    "unknown slot 'fod'; did you mean 'food'?"

    Args:
        kind: what the name should refer to, such as `slot`.
        name: the unknown name.
        choices: the valid names.
        where: the location, put in front of the message.
    """

    def __init__(self, kind: str, name: str, choices: Iterable[str], where: str = "") -> None:
        self.kind, self.name = kind, name
        place = f"{where}: " if where else ""
        super().__init__(f"{place}unknown {kind} '{name}'; {suggest(name, choices)}")


class ConfigError(UserError):
    """An invalid configuration; the message lists all mistakes, one per line."""


class CorpusError(UserError):
    """A corpus that is missing, damaged or in an unexpected format."""


class RunError(UserError):
    """A run folder that is missing, unfinished or unreadable by this version."""


class WorkerError(UserError):
    """Devices or worker processes that cannot train together."""


class MetricError(UserError):
    """Input that a metric cannot score, or a metric whose data is not installed."""


def suggest(name: str, choices: Iterable[str]) -> str:
    """Return "did you mean 'x'?" if there are close matches, else the list of valid choices."""
    valid = sorted(set(choices))
    near = difflib.get_close_matches(name, valid, n=3, cutoff=0.6)
    if near:
        return "did you mean " + " or ".join(f"'{n}'" for n in near) + "?"
    shown = ", ".join(valid[:20]) + (f", ... ({len(valid)} in all)" if len(valid) > 20 else "")
    return f"valid: {shown}" if valid else "there are no valid choices"
