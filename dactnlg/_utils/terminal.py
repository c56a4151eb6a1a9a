"""Safe output: untrusted text cannot control the terminal."""

from __future__ import annotations

import io
import logging
import re
from functools import lru_cache

_ACTING = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters (ANSI sequences begin with one), line separators, bidirectional controls and lone surrogates."""


LINES = "\n\t"
"""Control characters that messages and output of several lines may keep."""


def printable(text: str, keep: str = "") -> str:
    r"""Return text with control characters replaced by escapes, such as `\u001b` for the start of an ANSI sequence.

    Args:
        text: from a run, a card or a file.
        keep: control characters to keep, such as a newline.
    """
    return _ACTING.sub(lambda match: match[0] if match[0] in keep else f"\\u{ord(match[0]):04x}", text)


@lru_cache(maxsize=1 << 10)
def say_once(message: str) -> None:
    """Log a warning, once per process for the same message; the command line shows it on standard error."""
    logging.getLogger("dactnlg").warning(printable(message))


class PlainTerminal(io.TextIOWrapper):
    """Standard output on a terminal: control characters other than newlines and tabs are escaped."""

    def write(self, text: str) -> int:
        """Write text and return the length of the text given."""
        super().write(printable(text, LINES))
        return len(text)
