"""Regular expressions from files of others: refused where some text could keep Python's engine busy for ages.

Python's engine tries one way of reading a text after the other. A pattern becomes its automaton here (Glushkov 1961):
a state for each character that it reads. Where some text leads from a state back to it in two ways, the ways double
with each repetition, as in `(a+)+$` (Weber and Seidl 1991; Weideman et al. 2016). Otherwise, every loop that may end at
several places of a text multiplies the ways by its length, as in `.*.*.*=`. Assertions only forbid ways: they are held
to be true, and their own patterns are looked at apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from re import _constants as op  # type: ignore[attr-defined]  # Python has no public parser of patterns.
from re import _parser  # type: ignore[attr-defined]
from typing import Any

LONGEST, WIDEST, HARDEST = 5000, 10**5, 10**6
"""Characters of a pattern and states of its automaton, steps between states, and pairs of steps looked at in a loop."""
TEXT = 1000
"""Characters of the text that ways are counted for."""
MOST_ENDS, MOST_CHOICES = 10**8, 10**4
"""Ways in which loops may begin and end, and in which optional parts and choices may be taken, in such a text."""
_UNROLLED = 3
"""Repetitions that are written out; more are a loop, which has the same ways and others."""
_SAMPLE = "aZ09_é٣ \n-.,!'"
"""Characters of every kind that classes such as `\\w` tell apart."""
_KINDS = {
    op.CATEGORY_DIGIT: r"\d", op.CATEGORY_NOT_DIGIT: r"\D", op.CATEGORY_SPACE: r"\s",
    op.CATEGORY_NOT_SPACE: r"\S", op.CATEGORY_WORD: r"\w", op.CATEGORY_NOT_WORD: r"\W",
}  # fmt: skip
_LARGE = "it is too large"
_CASE = "it leaves case open, with (?i); texts are compared in lower case"
Ends = dict[int, int]
"""States, each with the number of ways to be there, and not more than two of them."""


def check_pattern(pattern: str) -> None:
    """Do nothing where a search with a pattern ends in good time.

    Raises:
        ValueError: it may not; or it is no pattern, too long, or refers back to what it has read.
    """
    if reason := _reason(pattern):
        raise ValueError(reason)


@lru_cache(maxsize=1 << 12)
def _reason(pattern: str) -> str:
    if len(pattern) > LONGEST:
        return f"it has more than {LONGEST} characters"
    try:
        re.compile(pattern)
        parsed = _parser.parse(pattern)
        automata = _automata(parsed)
        if any(automaton.doubles(loop) for automaton in automata for loop in automaton.loops):
            return "what it repeats can be read in several ways, whose number doubles with each repetition"
    except (re.error, OverflowError, RecursionError) as error:
        return f"it is not a regular expression: {error}"
    except _Refused as error:
        return str(error)
    # A search begins at every character, unless the pattern holds it to the first.
    starts = 1 if len(parsed) and parsed[0] == (op.AT, op.AT_BEGINNING) else TEXT
    if any(starts * automaton.ends() > MOST_ENDS or automaton.choices() > MOST_CHOICES for automaton in automata):
        return (
            "too many repeats, choices or optional parts follow each other that can read the same text; "
            "bound them, as in .{0,50}"
        )
    return ""


class _Refused(Exception):
    """A pattern that is not looked at further."""


@dataclass(slots=True)
class _Fragment:
    """A part of a pattern: the states that it may begin and end with, and the ways in which it may read nothing."""

    first: Ends
    last: Ends
    empty: int


@dataclass(slots=True)
class _Automaton:
    """The automaton of a pattern.

    Attributes:
        alphabet: the characters that the pattern tells apart.
        reads: for each state the characters that it reads, as bits.
        follow: for each state those that may come next.
        loops: ranges of states, the outermost repeats, each with how often it goes round at most; within one every
            state can be reached from every other.
        width: the number of steps between states.
        inner: the patterns of its assertions.
        first: the states that it may begin with.
        last: those that it may end with.
    """

    alphabet: _Alphabet
    reads: list[int] = field(default_factory=list)
    follow: list[Ends] = field(default_factory=list)
    loops: dict[range, int] = field(default_factory=dict)
    width: int = 0
    inner: list[Any] = field(default_factory=list)
    first: Ends = field(default_factory=dict)
    last: Ends = field(default_factory=dict)

    def build(self, items: Iterable[tuple[Any, Any]], *, looping: bool = False) -> _Fragment:
        """Add the states of a sequence; `looping` where it stands in a repeat."""
        whole = _Fragment({}, {}, 1)
        for kind, value in items:
            whole = self._joined(whole, self._part(kind, value, looping=looping))
        return whole

    def doubles(self, loop: range) -> bool:
        """Whether some text leads from a state of a loop back to it in two ways."""
        if any(count > 1 and after in loop for state in loop for after, count in self.follow[state].items()):
            return True
        # Two ways part at a state, read the same text, and meet again.
        open_pairs = [(state, state) for state in loop]
        seen = set(open_pairs)
        looked = 0
        while open_pairs:
            one, other = open_pairs.pop()
            parted = one != other
            looked += len(self.follow[one]) * len(self.follow[other])
            if looked > HARDEST:
                raise _Refused(_LARGE)
            for first in self.follow[one]:
                for second in self.follow[other]:
                    if first not in loop or second not in loop or not self.reads[first] & self.reads[second]:
                        continue
                    if first == second and parted:
                        return True
                    pair = (min(first, second), max(first, second))
                    if pair not in seen:
                        seen.add(pair)
                        open_pairs.append(pair)
        return False

    def ends(self) -> int:
        """Return in how many ways the loops on one way through the pattern may end."""
        before = [1] * len(self.reads)
        most = 1
        for group in self._groups():
            ways = max(before[state] for state in group) * (self.loops.get(group, 1) if self._open(group) else 1)
            for after in {after for state in group for after in self.follow[state]} - set(group):
                before[after] = max(before[after], ways)
            most = max(most, ways)
        return most

    def choices(self) -> int:
        """Return in how many ways a text may be read at most, loops aside, as far as single characters tell."""
        ways: dict[int, int] = {}

        def best(successors: Ends, group: range) -> int:
            taken = [(self.reads[s], count * ways[s]) for s, count in successors.items() if s not in group]
            if len(taken) < 2:
                return taken[0][1] if taken else 1
            seen = {bit for reads, _ in taken for bit in range(reads.bit_length()) if reads >> bit & 1}
            most = max((sum(w for reads, w in taken if reads >> bit & 1) for bit in seen), default=1)
            return min(most, MOST_CHOICES + 1)

        for group in reversed(list(self._groups())):
            ways |= dict.fromkeys(group, max(best(self.follow[state], group) for state in group))
        return best(self.first, range(0))

    def _groups(self) -> Iterator[range]:
        """Yield the loops, and each state outside of them, in their order: every way leads to a later one."""
        starts = {loop.start: loop for loop in self.loops}
        state = 0
        while state < len(self.reads):
            group = starts.get(state, range(state, state + 1))
            yield group
            state = group.stop

    def _open(self, loop: range) -> bool:
        """Whether a character, or the end of the pattern, may stand in the loop as well as behind it."""
        for state in loop:
            reads = {inside: [self.reads[a] for a in self.follow[state] if (a in loop) == inside] for inside in (0, 1)}
            if state in self.last or any(one & other for one in reads[0] for other in reads[1]):
                return True
        return False

    def _part(self, kind: Any, value: Any, *, looping: bool) -> _Fragment:
        if kind in (op.LITERAL, op.NOT_LITERAL, op.ANY, op.IN):
            return self._state(self.alphabet.bits(kind, value))
        if kind is op.SUBPATTERN:
            if value[1] & re.IGNORECASE:
                raise _Refused(_CASE)
            return self.build(value[-1], looping=looping)
        if kind is op.ATOMIC_GROUP:
            return self.build(value, looping=looping)
        if kind is op.BRANCH:
            parts = [self.build(part, looping=looping) for part in value[1]]
            return _Fragment(
                _sum(p.first for p in parts), _sum(p.last for p in parts), min(2, sum(p.empty for p in parts))
            )
        if kind in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
            return self._repeat(*value, looping=looping)
        if kind in (op.ASSERT, op.ASSERT_NOT):
            self.inner.append(value[1])
        elif kind is not op.AT:
            raise _Refused("it refers back to what it has read")
        return _Fragment({}, {}, 1)

    def _repeat(self, least: int, most: int, body: Any, *, looping: bool) -> _Fragment:
        if most <= _UNROLLED:
            whole = _Fragment({}, {}, 1)
            copies = [self.build(body, looping=looping) for _ in range(most)]
            for number, copy in reversed(list(enumerate(copies, start=1))):
                part = self._joined(copy, whole)
                whole = part if number <= least else _Fragment(part.first, part.last, min(2, part.empty + 1))
            return whole
        start = len(self.reads)
        part = self.build(body, looping=True)
        if part.empty:
            raise _Refused("it repeats what may be nothing")
        self._connect(part.last, part.first)
        if not looping:
            self.loops[range(start, len(self.reads))] = min(most, TEXT)
        return _Fragment(part.first, part.last, int(least == 0))

    def _state(self, reads: int) -> _Fragment:
        if len(self.reads) == LONGEST:
            raise _Refused(_LARGE)
        self.reads.append(reads)
        self.follow.append({})
        here = {len(self.reads) - 1: 1}
        return _Fragment(here, here, 0)

    def _connect(self, ends: Ends, starts: Ends) -> None:
        self.width += len(ends) * len(starts)
        if self.width > WIDEST:
            raise _Refused(_LARGE)
        for one, ways in ends.items():
            for other, more in starts.items():
                self.follow[one][other] = min(2, self.follow[one].get(other, 0) + ways * more)

    def _joined(self, one: _Fragment, other: _Fragment) -> _Fragment:
        self._connect(one.last, other.first)
        first = _sum([one.first, *([other.first] * one.empty)]) if one.empty else one.first
        last = _sum([other.last, *([one.last] * other.empty)]) if other.empty else other.last
        return _Fragment(first, last, min(2, one.empty * other.empty))


def _sum(ends: Iterable[Ends]) -> Ends:
    found: Ends = {}
    for part in ends:
        for state, ways in part.items():
            found[state] = min(2, found.get(state, 0) + ways)
    return found


def _automata(pattern: Any) -> list[_Automaton]:
    """Return the automata of a pattern and of its assertions."""
    if pattern.state.flags & re.IGNORECASE:
        raise _Refused(_CASE)
    alphabet = _Alphabet(pattern)
    found, waiting = [], [pattern]
    while waiting:
        automaton = _Automaton(alphabet)
        whole = automaton.build(waiting.pop())
        automaton.first, automaton.last = whole.first, whole.last
        waiting += automaton.inner
        found.append(automaton)
    return found


class _Alphabet:
    """One character of every kind that a pattern tells apart: those that it names, their neighbours, and a sample."""

    def __init__(self, pattern: Any) -> None:
        codes = set(_codes(pattern))
        near = {chr(min(max(code + step, 0), 0x10FFFF)) for code in codes for step in (-1, 0, 1)}
        self._characters = sorted(near.union(_SAMPLE))
        self._places = {char: at for at, char in enumerate(self._characters)}
        self._known: dict[str, int] = {}

    def bits(self, kind: Any, value: Any) -> int:
        """Return the characters that one item of a pattern reads, as bits."""
        if kind is op.LITERAL:
            return 1 << self._places[chr(value)]
        key = f"{kind}{value}"
        if key not in self._known:
            self._known[key] = sum(1 << at for char, at in self._places.items() if _reads(kind, value, char))
        return self._known[key]


def _codes(node: Any) -> Iterator[int]:
    """Yield the characters that a part of a pattern names, the ends of ranges among them."""
    if isinstance(node, tuple) and len(node) == 2 and node[0] in (op.LITERAL, op.NOT_LITERAL, op.RANGE):
        yield from node[1] if isinstance(node[1], tuple) else (node[1],)
    elif isinstance(node, tuple | list | _parser.SubPattern):
        for part in node:
            yield from _codes(part)


def _reads(kind: Any, value: Any, char: str) -> bool:
    if kind is op.ANY:
        return True
    if kind is op.IN:
        negated: bool = value[0][0] is op.NEGATE
        return any(_reads(part, argument, char) for part, argument in value[negated:]) is not negated
    if kind is op.CATEGORY:
        return bool(re.fullmatch(_KINDS[value], char))
    if kind is op.RANGE:
        return bool(value[0] <= ord(char) <= value[1])
    return bool(ord(char) == value) is (kind is op.LITERAL)
