"""METEOR 1.5's beam for many pairs of sentences at once: the results of `beam.search`, in a quarter of the time.

All pairs process their first contested word together, then their second, and so on. All paths are rows of a few arrays,
those of one pair adjacent and in order; a step is a handful of array operations. Ranks are integers and sorting is
stable, so the results are identical.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from operator import itemgetter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dactnlg.metrics.meteor.beam import ANYWHERE, BEAM, NOWHERE, AlignmentPlan, Match, search

TOGETHER = 1024
"""Pairs searched together; their paths take a few megabytes."""
LONGEST_HYPOTHESIS, LONGEST_REFERENCE = 64, 1 << 8
"""Most words: the hypothesis's must fit the bits of a row, and no rank may overflow."""

Ints = NDArray[np.int64]


class _Steps(NamedTuple):
    """The contested words of each pair, followed by one more step without matches: its end.

    `run` is whether a run precedes, `entry`, `end` and `rank` are that run's; `first` and `size` give the rows of the
    step's options, the last of which is to match nothing.
    """

    at: Ints
    run: NDArray[np.bool_]
    entry: Ints
    end: Ints
    rank: Ints
    first: Ints
    size: Ints


class _Options(NamedTuple):
    """The options at a contested word; see `_Option` in `meteor.beam` for the columns."""

    words: NDArray[np.uint64]
    going_on: Ints
    apart: Ints
    start: Ints
    end: Ints
    goal: Ints
    way: Ints
    match: Ints


class _Paths(NamedTuple):
    """Partial alignments; `owner` is the pair, `before` the row before the last step, `option` what it took."""

    owner: Ints
    rank: Ints
    come_to: Ints
    last: Ints
    used: NDArray[np.uint64]
    before: Ints
    option: Ints


def search_all(plans: Sequence[AlignmentPlan]) -> list[tuple[list[Match], int]]:
    """Return the best matches and the number of chunks of each plan, as `meteor.beam.search` does."""
    found: list[tuple[list[Match], int] | None] = [None] * len(plans)
    # Plans with similar numbers of steps go together, most steps first, so that finished ones are at the end.
    together = sorted((i for i, task in enumerate(plans) if _fits(task)), key=lambda i: -len(plans[i].steps))
    for start in range(0, len(together), TOGETHER):
        block = together[start : start + TOGETHER]
        for index, result in zip(block, _search_block([plans[i] for i in block]), strict=True):
            found[index] = result
    return [search(plans[index]) if result is None else result for index, result in enumerate(found)]


def _fits(task: AlignmentPlan) -> bool:
    return bool(task.steps) and len(task.matches) <= LONGEST_REFERENCE and task.others <= LONGEST_HYPOTHESIS


def _search_block(plans: Sequence[AlignmentPlan]) -> list[tuple[list[Match], int]]:
    """Search plans of at least one step, sorted by number of steps, most first."""
    steps, options, matches = _tables(plans)
    sizes = np.array([len(task.steps) for task in plans])
    chunk = np.array([task.chunk for task in plans])
    first = np.cumsum(sizes + 1) - sizes - 1
    none = np.zeros(len(plans), np.int64)
    paths = _Paths(np.arange(len(plans)), none, none, none + ANYWHERE, none.astype(np.uint64), none, none)
    trail, ranks, ends = [], none.copy(), none.copy()
    for number in range(int(sizes[0]) + 1):
        paths = _over_runs(paths, steps, first + number, chunk)
        trail.append((paths.before, paths.option))
        going = int(np.count_nonzero(sizes > number))
        cut = int(np.searchsorted(paths.owner, going))
        if cut < len(paths.owner):
            owner, last = paths.owner[cut:], paths.last[cut:]
            rank = paths.rank[cut:] + np.where(last < 0, 0, chunk[owner])
            pairs, best = _lowest(owner, rank)
            ranks[pairs], ends[pairs] = rank[best], cut + best
            paths = _Paths._make(column[:cut] for column in paths)
        if cut:
            paths = _advanced(paths, steps, options, first + number)
    chosen = [list(task.fixed) for task in plans]
    for number in range(int(sizes[0]), 0, -1):
        # This is the last step of some pairs, and a middle one of others.
        pairs = np.flatnonzero(sizes >= number)
        before, option = trail[number]
        taken = options.match[option[ends[pairs]]]
        ends[pairs] = before[ends[pairs]]
        for pair, match in zip(pairs[taken >= 0].tolist(), taken[taken >= 0].tolist(), strict=True):
            chosen[pair].append(matches[match])
    return [(picked, task.chunks(rank)) for picked, task, rank in zip(chosen, plans, ranks.tolist(), strict=True)]


def _tables(plans: Sequence[AlignmentPlan]) -> tuple[_Steps, _Options, list[Match]]:
    """Return the steps of all plans, the options of all steps, and the matches to which the options refer."""
    places = [(task, at, run) for task in plans for at, run in [*task.steps, (len(task.matches), task.rest)]]
    chunk = np.array([task.chunk for task, _, _ in places])
    credit = np.array([task.credit for task, _, _ in places])
    at = np.array([at for _, at, _ in places])
    runs = [(run.entry, run.last, run.rank) if run else (NOWHERE, NOWHERE, 0) for _, _, run in places]
    entry, end, rank = np.array(runs).T
    here = [task.matches[at] if at < len(task.matches) else () for task, at, _ in places]
    matches = list(chain.from_iterable(here))
    counts = np.fromiter(map(len, here), np.int64, len(here))
    # Matching nothing is the last option of a step.
    first = np.cumsum(counts + 1) - counts - 1
    step = np.repeat(np.arange(len(counts)), counts)
    rows, nothing = np.arange(len(matches)) + step, first + counts
    columns = (np.fromiter(map(itemgetter(i), matches), np.int64, len(matches)) for i in (2, 3, 4, 6))
    length, start, other_length, value = columns
    size = len(rows) + len(nothing)
    options = _Options(np.zeros(size, np.uint64), *(np.zeros(size, np.int64) for _ in range(7)))
    bits = (np.uint64(1) << other_length.astype(np.uint64)) - np.uint64(1)
    options.words[rows] = bits << start.astype(np.uint64)
    options.going_on[rows] = -value * credit[step]
    options.apart[rows] = options.going_on[rows] + chunk[step]
    options.start[rows], options.end[rows] = start, start + other_length
    options.goal[rows], options.way[rows] = at[step] + length, np.abs(at[step] - start)
    options.match[rows] = np.arange(len(rows))
    options.apart[nothing], options.goal[nothing] = chunk, at + 1
    options.start[nothing], options.end[nothing], options.match[nothing] = NOWHERE, ANYWHERE, -1
    return _Steps(at, end != NOWHERE, entry, end, rank, first, counts + 1), options, matches


def _over_runs(paths: _Paths, steps: _Steps, here: Ints, chunk: Ints) -> _Paths:
    """Return the best paths of each pair, in order, after the run that precedes its step."""
    order = _best(paths.owner, paths.rank)
    owner, rank, last = paths.owner[order], paths.rank[order], paths.last[order]
    if steps.run[here[owner[0] : owner[-1] + 1]].any():
        step = here[owner]
        run = steps.run[step]
        joined = (last == steps.entry[step]) | (last < 0)
        rank = rank + np.where(run, steps.rank[step] + np.where(joined, 0, chunk[owner]), 0)
        last = np.where(run, steps.end[step], last)
        again = _best(owner, rank)
        order, owner, rank, last = order[again], owner[again], rank[again], last[again]
    come_to, used, before = paths.come_to[order], paths.used[order], paths.before[order]
    return _Paths(owner, rank, come_to, last, used, before, paths.option[order])


def _best(owner: Ints, rank: Ints) -> Ints:
    """Return the rows of the `BEAM` best paths of each pair, best first, ties in row order."""
    low, size = int(rank.min()), len(owner)
    span, bits = int(rank.max()) - low + 1, size.bit_length()
    keys = owner * span + (rank - low)
    if int(owner[-1] + 1) * span << bits < 1 << 63:
        # Key and row packed in one number: sorting is several times as fast as an argsort.
        order = np.sort(keys << bits | np.arange(size)) & ((1 << bits) - 1)
    else:
        order = np.argsort(keys, kind="stable")
    starts = np.flatnonzero(np.diff(owner, prepend=-1))
    sizes = np.diff(starts, append=len(owner))
    if sizes.max() <= BEAM:
        return order
    place = np.arange(len(owner)) - np.repeat(starts, sizes)
    return order[place < BEAM]


def _lowest(owner: Ints, rank: Ints) -> tuple[Ints, Ints]:
    """Return the pairs, and the first row of the lowest rank of each."""
    starts = np.flatnonzero(np.diff(owner, prepend=-1))
    lowest = np.repeat(np.minimum.reduceat(rank, starts), np.diff(starts, append=len(owner)))
    rows = np.flatnonzero(rank == lowest)
    pairs, first = np.unique(owner[rows], return_index=True)
    return pairs, rows[first]


def _advanced(paths: _Paths, steps: _Steps, options: _Options, here: Ints) -> _Paths:
    """Extend paths over one contested word: by each match whose words are unused, then by none."""
    step = here[paths.owner]
    # A path that is already past this word stays as it is, as one row, that of the step's last option.
    waiting = paths.come_to > steps.at[step]
    count = np.where(waiting, 1, steps.size[step])
    starts = np.cumsum(count) - count
    before = np.repeat(np.arange(len(count)), count)
    first = np.where(waiting, steps.first[step] + steps.size[step] - 1, steps.first[step])
    option = np.arange(len(before)) + (first - starts)[before]
    free = np.flatnonzero((paths.used[before] & options.words[option]) == 0)
    before, option = before[free], option[free]
    # A free match that was not taken adds its distance.
    way = options.way[option]
    passed = np.cumsum(way) - way
    begun = np.flatnonzero(np.diff(before, prepend=-1))
    passed -= passed[begun][before]
    last, start = paths.last[before], options.start[option]
    cost = np.where((last == start) | (last < 0), options.going_on[option], options.apart[option])
    rank, goal, end = paths.rank[before] + passed + cost, options.goal[option], options.end[option]
    if waiting.any():
        stays = waiting[before]
        rows = before[stays]
        rank[stays], goal[stays], end[stays] = paths.rank[rows], paths.come_to[rows], paths.last[rows]
    used = paths.used[before] | options.words[option]
    return _Paths(paths.owner[before], rank, goal, end, used, before, option)
