"""Who sees what in which order: balanced pages for raters, from one seed.

Items are seen equally often, to within one, and so are the sentences of an item or, in the pairwise design, its pairs
of sentences. Systems rotate through all positions by Williams designs (1949), in which each system also follows every
other one equally often. Every rater has an individual order of items.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from tqdm import tqdm

from dactnlg.studies.study import StudyError, StudyPage, StudyRater

MOST_PAGES = 1_000_000
_Row = list[tuple[str, int]]


@dataclass(frozen=True, kw_only=True)
class PagePlan:
    """How a study is divided among raters.

    Attributes:
        raters: number of raters.
        acts_per_rater: acts that one rater sees; None for all.
        systems_per_page: sentences on a page; None for all. The pairwise design always shows 2.
        pairwise: whether each page shows a pair of sentences.
        pages_per_act: pages that a rater sees per act; None for one, or for all pairs in the pairwise design.
        seed: determines all random choices.
    """

    raters: int
    acts_per_rater: int | None = None
    systems_per_page: int | None = None
    pairwise: bool = False
    pages_per_act: int | None = None
    seed: int = 1


def assign(items: Mapping[str, Sequence[str]], checks: Mapping[str, Sequence[str]], plan: PagePlan) -> list[StudyRater]:
    """Return the raters with their pages.

    Args:
        items: item -> the systems that may be shown for it, one per distinct sentence; the pairwise design leaves out
            items with fewer than two.
        checks: attention check -> the systems of its sentences; each rater sees every check once, at a random place.
        plan: how the pages are divided.

    Raises:
        StudyError: the plan asks for more acts or sentences than there are, there is nothing to show, or there would be
            too many pages.
    """
    shown = {item: list(systems) for item, systems in items.items() if len(systems) > 1 or not plan.pairwise}
    most = max(map(len, shown.values()), default=0)
    if not shown:
        raise StudyError(
            "there is nothing to ask: no act has two different sentences" if items else "there are no acts"
        )
    _check(plan, len(shown), most)
    generator = np.random.default_rng(plan.seed)
    chooser = _Chooser(shown, plan, generator)
    positions = _Positions(sorted({name for systems in shown.values() for name in systems}), generator)
    raters = []
    width = len(str(max(plan.raters, 100)))
    for number in tqdm(range(1, plan.raters + 1), desc="pages", unit=" raters", delay=2, leave=False, disable=None):
        rater = f"r{number:0{width}}"
        pages = list(_separated(chooser.pages(), generator))
        ordered = [(item, positions.ordered(systems)) for item, systems in pages]
        for check, systems in checks.items():
            shuffled = tuple(systems[at] for at in generator.permutation(len(systems)))
            # Not as the first page: raters must have seen a normal page before.
            ordered.insert(int(generator.integers(1, len(ordered) + 1)), (check, shuffled))
        raters.append(
            StudyRater(
                id=rater,
                pages=tuple(
                    StudyPage(id=f"{rater}-{at:03}", item=item, systems=systems)
                    for at, (item, systems) in enumerate(ordered, 1)
                ),
            )
        )
    return raters


def _check(plan: PagePlan, items: int, systems: int) -> None:
    for name, value, there, what in (
        ("--acts-per-rater", plan.acts_per_rater, items, "acts"),
        ("--systems-per-page", plan.systems_per_page, systems, "different sentences for an act"),
    ):
        if value is not None and value > there:
            raise StudyError(f"{name} {value}: there are {there} {what}")
    acts = plan.acts_per_rater or items
    pages = plan.raters * acts * (plan.pages_per_act or (systems * (systems - 1) // 2 if plan.pairwise else 1))
    if pages > MOST_PAGES:
        raise StudyError(
            f"{pages:,} pages are too many (at most {MOST_PAGES:,}): ask fewer raters, or show each fewer acts"
        )


class _Chooser:
    """Chooses what the next rater sees: what has been seen least so far, with ties broken at random."""

    def __init__(self, items: Mapping[str, list[str]], plan: PagePlan, generator: np.random.Generator) -> None:
        self._items, self._plan, self._generator = items, plan, generator
        self._seen: Counter[str] = Counter()
        self._sentences: Counter[tuple[str, ...]] = Counter()
        self._pairs: Counter[tuple[str, ...]] = Counter()
        self._own: Counter[str] = Counter()

    def pages(self) -> list[tuple[str, tuple[str, ...]]]:
        """Return (item, systems) for each page of one rater, grouped by item."""
        found = []
        self._own.clear()
        for item in self._least_seen(list(self._items))[: self._plan.acts_per_rater]:
            self._seen[item] += 1
            found += [(item, systems) for systems in self._pages_of(item)]
        return found

    def _pages_of(self, item: str) -> Iterator[tuple[str, ...]]:
        systems = self._items[item]
        if self._plan.pairwise:
            pairs = list(combinations(sorted(systems), 2))
            for pair in self._least_paired(item, pairs)[: self._plan.pages_per_act]:
                self._sentences[(item, *pair)] += 1
                self._pairs[pair] += 1
                yield pair
            return
        size = min(self._plan.systems_per_page or len(systems), len(systems))
        for _ in range(self._plan.pages_per_act or 1):
            yield self._group(item, systems, size) if size < len(systems) else tuple(systems)

    def _group(self, item: str, systems: Sequence[str], size: int) -> tuple[str, ...]:
        """Return the systems of a page: those shown least for the item, and among these the pairs that met least.

        Ties go to what this rater has seen least, or a mild rater might judge one system far more often than another.
        """
        chosen: list[str] = []
        while len(chosen) < size:
            rest = [name for name in systems if name not in chosen]
            chosen.append(
                min(
                    rest,
                    key=lambda name: (
                        self._sentences[(item, name)],
                        sum(self._pairs[tuple(sorted((name, other)))] for other in chosen),
                        self._own[name],
                        self._generator.random(),
                    ),
                )
            )
        self._sentences.update((item, name) for name in chosen)
        self._own.update(chosen)
        self._pairs.update(combinations(sorted(chosen), 2))
        return tuple(chosen)

    def _least_seen(self, items: Sequence[str]) -> list[str]:
        drawn = {item: self._generator.random() for item in items}
        return sorted(items, key=lambda item: (self._seen[item], drawn[item]))

    def _least_paired(self, item: str, pairs: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
        drawn = {pair: self._generator.random() for pair in pairs}
        return sorted(pairs, key=lambda pair: (self._sentences[(item, *pair)], self._pairs[pair], drawn[pair]))


class _Positions:
    """Orders systems so that each appears in every position, and directly after every other one, equally often."""

    def __init__(self, systems: Sequence[str], generator: np.random.Generator) -> None:
        self._names = [systems[at] for at in generator.permutation(len(systems))]
        self._designs: dict[frozenset[str], list[_Row]] = {}
        self._left: dict[frozenset[str], list[_Row]] = {}
        self._stood: Counter[tuple[str, int]] = Counter()

    def ordered(self, systems: Sequence[str]) -> tuple[str, ...]:
        """Return the systems of a page in the next order for this set of systems.

        Each set cycles through the rows of its own Williams design. Among the remaining rows, it takes the one whose
        systems have so far been least often in these positions, on pages of all sets.
        """
        wanted = frozenset(systems)
        if wanted not in self._designs:
            names = [name for name in self._names if name in wanted]
            self._designs[wanted] = [
                [(names[at], place) for place, at in enumerate(row)] for row in williams(len(names))
            ]
        if not self._left.get(wanted):
            self._left[wanted] = list(self._designs[wanted])
        left, stood = self._left[wanted], self._stood
        row = left.pop(min(range(len(left)), key=lambda at: sum([stood[place] for place in left[at]])))
        stood.update(row)
        return tuple(name for name, _ in row)


def williams(size: int) -> list[list[int]]:
    """Return the rows of a Williams design: each of `size` numbers is in each position equally often, and each ordered
    pair of numbers is adjacent equally often.

    There are `size` rows if `size` is even, twice as many if it is odd (Williams 1949).

    >>> williams(4)
    [[0, 3, 1, 2], [1, 0, 2, 3], [2, 1, 3, 0], [3, 2, 0, 1]]
    """
    first = [(at // 2 if at % 2 == 0 else size - (at + 1) // 2) for at in range(size)]
    rows = [[(number + shift) % size for number in first] for shift in range(size)]
    return rows if size % 2 == 0 else rows + [row[::-1] for row in rows]


def _separated(
    pages: Sequence[tuple[str, tuple[str, ...]]], generator: np.random.Generator
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield pages in a random order that keeps pages of the same item far apart."""
    rounds: Counter[str] = Counter()
    keyed = []
    for at in generator.permutation(len(pages)):
        item = pages[at][0]
        keyed.append((rounds[item], float(generator.random()), int(at)))
        rounds[item] += 1
    yield from (pages[at] for *_, at in sorted(keyed))
