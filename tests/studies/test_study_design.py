"""The assignment of pages to raters: balanced, and reproducible by the seed; stratified sampling of acts."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import combinations, permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dactnlg.acts import parse
from dactnlg.studies.design import PagePlan, assign, williams
from dactnlg.studies.sampling import PickedAct, pick, stratum
from dactnlg.studies.study import CHECKS, StudyError

ITEMS = {f"i{at}": ("a", "b", "c", "d", "e") for at in range(20)}
CHECK = {"check-1": CHECKS[:1]}


@st.composite
def plans(draw: st.DrawFn) -> tuple[dict[str, tuple[str, ...]], PagePlan]:
    systems = "abcdef"[: draw(st.integers(2, 6))]
    items = {f"i{at}": tuple(systems) for at in range(draw(st.integers(1, 8)))}
    pairwise = draw(st.booleans())
    plan = PagePlan(
        raters=draw(st.integers(1, 12)),
        acts_per_rater=draw(st.none() | st.integers(1, len(items))),
        systems_per_page=None if pairwise else draw(st.none() | st.integers(1, len(systems))),
        pairwise=pairwise,
        pages_per_act=draw(st.none() | st.integers(1, 1 if not pairwise else 3)),
        seed=draw(st.integers(0, 99)),
    )
    return items, plan


@settings(deadline=None, max_examples=150)
@given(plans())
def test_everything_is_judged_equally_often(case: tuple[dict[str, tuple[str, ...]], PagePlan]) -> None:
    items, plan = case
    raters = assign(items, {}, plan)
    assert len(raters) == plan.raters
    seen = Counter(item for rater in raters for item in {page.item for page in rater.pages})
    assert max(seen.values()) - min(seen[item] for item in items) <= 1
    # Within an item, so are its sentences, or pairs of them.
    for item, systems in items.items():
        pages = [page for rater in raters for page in rater.pages if page.item == item]
        kinds = list(combinations(systems, 2)) if plan.pairwise else [(name,) for name in systems]
        counts = Counter(kind for page in pages for kind in kinds if set(kind) <= set(page.systems))
        assert max(counts[kind] for kind in kinds) - min(counts[kind] for kind in kinds) <= 1
    for rater in raters:
        shown = Counter((page.item, page.systems if plan.pairwise else ()) for page in rater.pages)
        assert max(shown.values()) == 1
        assert all(len(set(page.systems)) == len(page.systems) for page in rater.pages)


def test_every_system_stands_first_equally_often() -> None:
    raters = assign(ITEMS, CHECK, PagePlan(raters=18, seed=3))
    pages = [page for rater in raters for page in rater.pages if page.item in ITEMS]
    for place in range(5):
        counts = Counter(page.systems[place] for page in pages)
        assert set(counts.values()) == {18 * 20 // 5}
    after = Counter(pair for page in pages for pair in zip(page.systems, page.systems[1:], strict=False))
    assert len(after) == 20
    assert max(after.values()) - min(after.values()) <= 2


@settings(deadline=None, max_examples=60)
@given(plans())
def test_no_order_of_two_systems_is_preferred(case: tuple[dict[str, tuple[str, ...]], PagePlan]) -> None:
    items, plan = case
    pages = [page.systems for rater in assign(items, {}, plan) for page in rater.pages]
    before = Counter(pair for systems in pages for pair in combinations(systems, 2))
    for first, second in combinations("abcdef", 2):
        # Each set of systems goes through all orders in turn, and may stop in the middle.
        sets = {frozenset(systems) for systems in pages if {first, second} <= set(systems)}
        assert abs(before[first, second] - before[second, first]) <= sum(len(systems) for systems in sets) // 2 + 1
        if plan.pairwise:
            assert abs(before[first, second] - before[second, first]) <= 1


def test_items_whose_systems_differ_favour_none() -> None:
    # Where some systems have the same sentence, items differ in their sets of systems.
    sets = [names for size in (3, 4, 5) for names in combinations("abcdefg", size)][::4]
    items = {f"i{at}": names for at, names in enumerate(sets)}
    pages = [page.systems for rater in assign(items, {}, PagePlan(raters=7, seed=4)) for page in rater.pages]
    for system in "abcdefg":
        shown = [systems for systems in pages if system in systems]
        expected = sum(1 / len(systems) for systems in shown)
        # At random the standard deviation would be above 4.
        assert abs(sum(systems[0] == system for systems in shown) - expected) <= 4


def test_pairs_of_systems_meet_equally_often_in_blocks() -> None:
    plan = PagePlan(raters=30, acts_per_rater=10, systems_per_page=2, seed=5)
    pages = [page for rater in assign(ITEMS, {}, plan) for page in rater.pages]
    met = Counter(tuple(sorted(page.systems)) for page in pages)
    assert len(met) == 10
    # At random the difference would be about 16.
    assert max(met.values()) - min(met.values()) <= 5


@pytest.mark.parametrize("shown", [1, 2])
def test_a_rater_sees_each_system_about_equally_often(shown: int) -> None:
    raters = assign(ITEMS, {}, PagePlan(raters=10, systems_per_page=shown, seed=6))
    for rater in raters:
        seen = Counter(system for page in rater.pages for system in page.systems)
        # At random the difference would be about 5.
        assert max(seen.values()) - min(seen[system] for system in "abcde") <= 3


@settings(deadline=None, max_examples=40)
@given(plans(), st.integers(1, 12))
def test_the_first_raters_are_balanced_without_the_others(
    case: tuple[dict[str, tuple[str, ...]], PagePlan], count: int
) -> None:
    items, plan = case
    assert assign(items, CHECK, plan)[:count] == assign(items, CHECK, replace(plan, raters=min(count, plan.raters)))


def test_orders_differ_between_raters_and_repeat_with_the_seed() -> None:
    plan = PagePlan(raters=18, seed=1)
    raters = assign(ITEMS, CHECK, plan)
    assert raters == assign(ITEMS, CHECK, plan)
    assert raters != assign(ITEMS, CHECK, PagePlan(raters=18, seed=2))
    orders = {tuple(page.item for page in rater.pages) for rater in raters}
    assert len(orders) == 18
    for rater in raters:
        (place,) = [at for at, page in enumerate(rater.pages) if page.item == "check-1"]
        assert place > 0


def test_an_items_pairs_are_far_from_each_other() -> None:
    for rater in assign(ITEMS, {}, PagePlan(raters=3, pairwise=True)):
        items = [page.item for page in rater.pages]
        assert len(items) == 200
        assert all(sorted(items[at : at + 20]) == sorted(ITEMS) for at in range(0, 200, 20))


@pytest.mark.parametrize("size", range(1, 9))
def test_a_williams_design_is_balanced(size: int) -> None:
    rows = williams(size)
    for place in range(size):
        assert len(set(Counter(row[place] for row in rows).values())) == 1
    after = Counter(pair for row in rows for pair in zip(row, row[1:], strict=False))
    if size > 1:
        assert set(after) == set(permutations(range(size), 2))
        assert len(set(after.values())) == 1


def test_plans_that_cannot_be_assigned_are_refused() -> None:
    for plan, told in (
        (PagePlan(raters=1, acts_per_rater=21), "--acts-per-rater 21: there are 20 acts"),
        (PagePlan(raters=1, systems_per_page=6), "there are 5 different sentences"),
        (PagePlan(raters=10_000, pairwise=True), "2,000,000 pages are too many"),
    ):
        with pytest.raises(StudyError, match=told):
            assign(ITEMS, {}, plan)
    with pytest.raises(StudyError, match="no act has two different sentences"):
        assign({"i1": ("a",)}, {}, PagePlan(raters=1, pairwise=True))


def acts(counts: dict[str, int]) -> list[PickedAct]:
    return [
        PickedAct(parse(f"{name}(slot='{at}')"), (at,), ("text",))
        for name, count in counts.items()
        for at in range(count)
    ]


@given(
    st.dictionaries(st.sampled_from(["inform", "confirm", "recommend", "select"]), st.integers(1, 30), min_size=1),
    st.integers(1, 40),
    st.integers(0, 9),
)
def test_strata_have_their_proportions(counts: dict[str, int], wanted: int, seed: int) -> None:
    there = acts(counts)
    if wanted > len(there):
        with pytest.raises(StudyError, match=f"there are {len(there)} different acts"):
            pick(there, wanted, seed)
        return
    found = pick(there, wanted, seed)
    assert len(found) == len(set(found)) == wanted
    assert found == pick(there, wanted, seed)
    chosen = Counter(stratum(act.turn) for act in found)
    for name, count in counts.items():
        exact = wanted * count / len(there)
        assert abs(chosen[stratum(parse(f"{name}(slot='1')"))] - exact) < 1
