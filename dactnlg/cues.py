"""Surface cues: regular expressions that show a special value in a sentence, tried only where they can match.

Most sentences say nothing of most slots. A pattern that cannot match without "kid" or "child" in the text, as its
parse tree tells, need not be tried on a text that has neither.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from re import _constants, _parser  # type: ignore[attr-defined]
from typing import Any

_REPEATS = (_constants.MAX_REPEAT, _constants.MIN_REPEAT, _constants.POSSESSIVE_REPEAT)


class Cue:
    """The patterns that show one special value.

    Args:
        patterns: regular expressions, of which one must be found in the lower-cased sentence.
    """

    def __init__(self, patterns: Sequence[str]) -> None:
        self._tries = [(re.compile(pattern), literals(pattern)) for pattern in patterns]

    def shows(self, text: str) -> bool:
        """Whether the cue is in a text in lower case."""
        for pattern, needed in self._tries:
            if needed is None:
                if pattern.search(text):
                    return True
                continue
            for literal in needed:
                if literal in text:
                    if pattern.search(text):
                        return True
                    break
        return False


def literals(pattern: str) -> tuple[str, ...] | None:
    """Return strings of which every text has one that a pattern is found in; None if none can be told."""
    tree = _parser.parse(pattern)
    if tree.state.flags & re.IGNORECASE:
        return None
    found = _needed(tree)
    # A text with "kids" has "kid".
    return None if found is None else tuple(sorted(s for s in found if not any(o in s for o in found - {s})))


def _needed(tree: Iterable[tuple[Any, Any]]) -> frozenset[str] | None:
    """Return the best of what the parts of a sequence need: those with the longest shortest string."""
    choices: list[frozenset[str]] = []
    run = ""
    for kind, value in [*tree, (None, None)]:
        if kind is _constants.LITERAL:
            run += chr(value)
            continue
        if run:
            choices.append(frozenset({run}))
            run = ""
        inside = None if kind is None else _needed_inside(kind, value)
        if inside is not None:
            choices.append(inside)
    return max(choices, key=lambda strings: (min(map(len, strings)), -len(strings)), default=None)


def _needed_inside(kind: Any, value: Any) -> frozenset[str] | None:
    if kind is _constants.BRANCH:
        branches = [_needed(branch) for branch in value[1]]
        known = [branch for branch in branches if branch is not None]
        return frozenset[str]().union(*known) if len(known) == len(branches) else None
    if kind is _constants.SUBPATTERN:
        # (group, flags added, flags taken away, tree)
        return None if value[1] & re.IGNORECASE else _needed(value[3])
    if kind is _constants.ATOMIC_GROUP:
        return _needed(value)
    if kind in _REPEATS:
        return _needed(value[2]) if value[0] else None
    if kind is _constants.ASSERT:
        return _needed(value[1])
    return None
