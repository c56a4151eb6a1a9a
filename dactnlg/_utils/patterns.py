"""Regular expressions from untrusted files, searched for within a bounded time.

Python's own engine backtracks, so that a pattern such as `(a+)+$` may take practically forever. The package `regex`
accepts the same patterns and has a time limit.
"""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Callable
from functools import lru_cache
from typing import TypeAlias, TypeVar

import regex

from dactnlg.errors import UserError

SECONDS, TRIES = 1.0, 3
"""Processor time of a search, and number of attempts; the patterns of the shipped cards take 0.1 ms."""
LONGEST, LARGEST = 50_000, 10**6
"""Maximum characters of a pattern, as written and with its minimum repetitions written out, as compiling does."""
_REPEATED = re.compile(r"\{(\d+)")
Pattern: TypeAlias = "regex.Pattern[str]"
T = TypeVar("T")


@lru_cache(maxsize=1 << 10)
def compile_pattern(pattern: str) -> Pattern:
    """Return a compiled pattern.

    Raises:
        ValueError: it is not a regular expression, or it is too large.
    """
    if len(pattern) > LONGEST:
        raise ValueError(f"it has more than {LONGEST} characters")
    if len(pattern) * math.prod(max(1, int(count[:9])) for count in _REPEATED.findall(pattern)) > LARGEST:
        raise ValueError("it repeats too much")
    try:
        return regex.compile(pattern)
    except (regex.error, RecursionError, OverflowError, MemoryError) as error:
        raise ValueError(f"it is not a regular expression: {error}") from None


def matches(pattern: Pattern, text: str) -> bool:
    """Return whether a pattern is found in a text.

    Raises:
        UserError: the search takes too long.
    """
    return _in_time(pattern, text, lambda: pattern.search(text, timeout=SECONDS) is not None)


def replaced(pattern: Pattern, other: str | Callable[[regex.Match[str]], str], text: str) -> str:
    """Return a text with every match of a pattern replaced by another text, or by what a function returns for it.

    Raises:
        UserError: the search takes too long.
    """
    return _in_time(pattern, text, lambda: pattern.sub(other, text, timeout=SECONDS))


def _in_time(pattern: Pattern, text: str, search: Callable[[], T]) -> T:
    # The limit counts the processor time of all threads, so one timeout may be due to others; `TRIES` in a row are not.
    for _ in range(TRIES):
        with contextlib.suppress(TimeoutError):
            return search()
    raise UserError(
        f"a cue, a regular expression of the data card, is too slow: it takes more than {SECONDS:.0f} s "
        f"for a text of {len(text)} characters: {pattern.pattern[:200]}"
    )
