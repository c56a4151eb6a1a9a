"""METEOR 1.5's choice among matches (Denkowski and Lavie 2014, section 2.1).

Matches without rivals are taken; a beam over the reference's words decides the rest: most words matched, then fewest
chunks, then the smallest distance between the positions of matched words.

The jar's beam counts in integers, with half credit for the inexact matchers, and adds the distance of a match to the
paths that do not take it. Both are reproduced, since the jar's scores are the definition.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import Any, NamedTuple

BEAM = 40
NOWHERE, ANYWHERE = -2, -1


class Match(NamedTuple):
    """A span of the reference matched to a span of the hypothesis.

    `used` holds their words as bits, those of the hypothesis after those of the whole reference; `credit` is the
    match's weight in the beam.
    """

    module: int
    start: int
    length: int
    other_start: int
    other_length: int
    used: int
    credit: int


# A partial alignment is a plain tuple, as hundreds are made per pair of sentences: (rank, next reference word, end of
# the last match in the hypothesis or `ANYWHERE`, used words of the hypothesis, last match, path that took it). The rank
# combines what paths are ordered by in one number: negative credit, then chunks, then distance.
_Path = tuple[int, int, int, int, Match | None, Any]
_rank = itemgetter(0)
# A match as the search needs it: its words in the hypothesis as bits; what it adds to the rank if it extends a chunk,
# and if it begins one; its start and end in the hypothesis; its end in the reference; its distance; the match.
_Option = tuple[int, int, int, int, int, int, int, Match]


class UncontestedRun:
    """Words of the reference over which all paths are the same: matches without rivals, and unmatched words.

    Attributes:
        entry: where its first match starts in the hypothesis.
        last: where its last match ends there; both are `ANYWHERE` while the run is empty.
        rank: what it adds to the rank of a path whose chunk it continues.
    """

    __slots__ = ("entry", "last", "rank")

    def __init__(self) -> None:
        self.entry, self.last, self.rank = ANYWHERE, ANYWHERE, 0

    def add(self, other_start: int, other_end: int, rank: int, chunk: int) -> None:
        """Add a match, or an unmatched word, which starts `NOWHERE` and ends `ANYWHERE`."""
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
    """The decisions to be made for one pair of sentences.

    Attributes:
        matches: those that start at each word of the reference, in the matchers' order.
        fixed: the matches without rivals.
        steps: the contested words of the reference, each with the run of other words before it, if any.
        rest: the run after the last contested word.
        chunk: what a chunk adds to the rank.
        credit: what a unit of credit subtracts from it.
        others: words of the hypothesis up to the end of the last match.
    """

    matches: Sequence[Sequence[Match]]
    fixed: list[Match]
    steps: list[tuple[int, UncontestedRun | None]]
    rest: UncontestedRun | None
    chunk: int
    credit: int
    others: int

    def chunks(self, rank: int) -> int:
        """Return the number of chunks encoded in a rank."""
        return rank // self.chunk % (self.credit // self.chunk)


def plan(matches: Sequence[Sequence[Match]]) -> AlignmentPlan:
    """Separate contested words from uncontested ones.

    Args:
        matches: those that start at each word of the reference, in the matchers' order.
    """
    fixed, contested, reach, distance = _uncontested(matches)
    # So that no distance outweighs a chunk, and no number of chunks a credit.
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
    """Return what `resolve` does, for a plan; `meteor.lockstep` does the same for many plans at once."""
    chunk, length = task.chunk, len(task.matches)
    paths: list[_Path] = [(0, 0, ANYWHERE, 0, None, None)]
    for at, run in task.steps:
        if run:
            paths = run.over(_best(paths), at, chunk)
        options = [
            (
                # The reference's words need no check: paths take them in order.
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
    """Extend paths over one contested word of the reference: by each match whose words are unused, and by none."""
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
    """Separate the matches that are alone at their start and share no word with another match from the others.

    Returns:
        The former by start, the words of the others as bits, the number of bits in use, and the sum of all distances.
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
