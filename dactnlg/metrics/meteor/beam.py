"""METEOR 1.5's choice among matches (Denkowski and Lavie 2014, section 2.1).

Matches that nothing contests are taken; a beam over the reference's words decides the rest: most words matched, then
fewest chunks, then the shortest way between the places of matched words.

The jar's beam counts in whole numbers with half credit for the inexact matchers, and adds the way of a chosen match to
the path that did not choose it. Both are kept: its scores are the definition.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import Any, NamedTuple

BEAM = 40
NOWHERE, ANYWHERE = -2, -1


class Match(NamedTuple):
    """A stretch of the reference matched to one of the hypothesis.

    `used` are their words as bits, those of the hypothesis after those of the whole reference; `credit` is what the
    match counts in the beam.
    """

    module: int
    start: int
    length: int
    other_start: int
    other_length: int
    used: int
    credit: int


# A partial alignment is a plain tuple, since hundreds are made for one pair of sentences: (rank, reference word that it
# has come to, end of the last match in the hypothesis or `ANYWHERE`, words of the hypothesis used, last match, path
# that took it). The rank is one number for what paths are ordered by: credit with its sign turned, then chunks, then
# distance.
_Path = tuple[int, int, int, int, Match | None, Any]
_rank = itemgetter(0)
# A match as paths look at it: its words in the hypothesis as bits; what it adds to the rank if it goes on a chunk, and
# if it begins one; its start and end in the hypothesis; its end in the reference; its way; the match.
_Option = tuple[int, int, int, int, int, int, int, Match]


class UncontestedRun:
    """Words of the reference over which every path goes the same way: matches without rivals, and words without any.

    Attributes:
        entry: where its first match starts in the hypothesis.
        last: where its last match ends there; both are `ANYWHERE` while the run is empty.
        rank: what it adds to the rank of a path whose chunk it goes on.
    """

    __slots__ = ("entry", "last", "rank")

    def __init__(self) -> None:
        self.entry, self.last, self.rank = ANYWHERE, ANYWHERE, 0

    def add(self, other_start: int, other_end: int, rank: int, chunk: int) -> None:
        """Add a match, or a word without one: it starts nowhere and ends anywhere."""
        if self.entry == ANYWHERE:
            self.entry = other_start
        elif self.last not in (ANYWHERE, other_start):
            self.rank += chunk
        self.rank += rank
        self.last = other_end

    def over(self, paths: list[_Path], come_to: int, chunk: int) -> list[_Path]:
        """Return the paths after the run."""
        free, closed, entry, end = self.rank, self.rank + chunk, self.entry, self.last
        return [
            (rank + (free if last == entry or last < 0 else closed), come_to, end, used, match, before)
            for rank, _, last, used, match, before in paths
        ]


class AlignmentPlan(NamedTuple):
    """What is to be decided for one pair of sentences.

    Attributes:
        matches: those that start at each word of the reference, in the matchers' order.
        fixed: those that nothing contests.
        steps: the contested words of the reference, each with the run of other words before it, if there is one.
        rest: the run after the last of them.
        chunk: what a chunk adds to the rank.
        credit: what a match's credit takes from it.
        others: words of the hypothesis as far as any match reaches.
    """

    matches: Sequence[Sequence[Match]]
    fixed: list[Match]
    steps: list[tuple[int, UncontestedRun | None]]
    rest: UncontestedRun | None
    chunk: int
    credit: int
    others: int

    def chunks(self, rank: int) -> int:
        """Return the chunks in a rank."""
        return rank // self.chunk % (self.credit // self.chunk)


def plan(matches: Sequence[Sequence[Match]]) -> AlignmentPlan:
    """Part what is contested from what is not.

    Args:
        matches: those that start at each word of the reference, in the matchers' order.
    """
    fixed, contested, reach, distance = _uncontested(matches)
    # No distance can reach a chunk's place in the rank, and no number of chunks that of a credit.
    chunk = 1 + distance
    credit = chunk * (len(matches) + 2)
    steps: list[tuple[int, UncontestedRun | None]] = []
    run, end = UncontestedRun(), 0
    for at in range(len(matches)):
        if contested >> at & 1:
            if run.entry == ANYWHERE:
                steps.append((at, None))
            else:
                steps.append((at, run))
                run = UncontestedRun()
        elif at in fixed:
            _, _, length, other_start, other_length, _, value = fixed[at]
            end = at + length
            run.add(other_start, other_start + other_length, abs(at - other_start) - value * credit, chunk)
        elif at >= end:
            run.add(NOWHERE, ANYWHERE, 0, chunk)
    rest = None if run.entry == ANYWHERE else run
    return AlignmentPlan(matches, list(fixed.values()), steps, rest, chunk, credit, reach - len(matches))


def resolve(matches: Sequence[Sequence[Match]]) -> tuple[list[Match], int]:
    """Return the best set of matches that do not overlap, and its number of chunks.

    Args:
        matches: those that start at each word of the reference, in the matchers' order.
    """
    return search(plan(matches))


def search(task: AlignmentPlan) -> tuple[list[Match], int]:
    """Return what `resolve` does; `meteor_lockstep` does the same for many plans at once."""
    chunk, length = task.chunk, len(task.matches)
    paths: list[_Path] = [(0, 0, ANYWHERE, 0, None, None)]
    for at, run in task.steps:
        if run:
            paths = run.over(_best(paths), at, chunk)
        options = [
            (
                # The reference's words need no look: paths take them in order.
                match.used >> length,
                -match.credit * task.credit,
                chunk - match.credit * task.credit,
                match.other_start,
                match.other_start + match.other_length,
                at + match.length,
                abs(at - match.other_start),
                match,
            )
            for match in task.matches[at]
        ]
        paths = _advance(_best(paths), at, options, chunk)
    if task.rest:
        paths = task.rest.over(_best(paths), length, chunk)
    rank, path = min([(path[0] if path[2] < 0 else path[0] + chunk, path) for path in _best(paths)], key=_rank)
    chosen = list(task.fixed)
    while path[4] is not None:
        chosen.append(path[4])
        path = path[5]
    return chosen, task.chunks(rank)


def _best(paths: list[_Path]) -> list[_Path]:
    if len(paths) > 1:
        paths.sort(key=_rank)
        del paths[BEAM:]
    return paths


def _advance(paths: list[_Path], at: int, options: Sequence[_Option], chunk: int) -> list[_Path]:
    """Return what paths become over one contested word of the reference: each match that is free, and none."""
    following: list[_Path] = []
    add = following.append
    for path in paths:
        rank, come_to, last, used, match, before = path
        if come_to > at:
            add(path)
            continue
        for words, going_on, apart, start, end, goal, way, option in options:
            if not used & words:
                add((rank + (going_on if last == start or last < 0 else apart), goal, end, used | words, option, path))
                rank += way
        add((rank if last < 0 else rank + chunk, at + 1, ANYWHERE, used, match, before))
    return following


def _uncontested(matches: Sequence[Sequence[Match]]) -> tuple[dict[int, Match], int, int, int]:
    """Part the matches that are alone at their start and share no word with another from the others.

    Returns:
        The former by their start, the words of the others as bits, the end of all bits, and the sum of all distance.
    """
    once = twice = distance = 0
    for here in matches:
        for _, start, _, other_start, _, used, _ in here:
            twice |= once & used
            once |= used
            distance += other_start - start if other_start > start else start - other_start
    fixed: dict[int, Match] = {}
    contested = 0
    for at, here in enumerate(matches):
        if here:
            if len(here) == 1 and not here[0][5] & twice:
                fixed[at] = here[0]
            else:
                for match in here:
                    contested |= match[5]
    return fixed, contested, once.bit_length(), distance
