"""Items by costs that are worked out only where they decide."""

import random
from itertools import islice

from dactnlg._utils.ranking import ascending


def test_items_come_by_their_costs_of_equals_in_their_order() -> None:
    chance = random.Random(3)
    for size in range(0, 60, 3):
        items = [(chance.randint(0, 5), number) for number in range(size)]
        costs = {number: (least + chance.randint(0, 2), chance.randint(0, 2)) for least, number in items}
        expected = [(costs[number], number) for number in sorted(costs, key=costs.__getitem__)]
        for known in (0, 1):
            # How much of what decides among equals is known beforehand makes no difference.
            bounded = [((least, *costs[number][1:][:known]), number) for least, number in items]
            assert list(ascending(bounded, costs.__getitem__)) == expected


def test_what_costs_more_in_any_case_is_not_looked_at() -> None:
    costs = {1: (0, 1), 2: (2, 0)}
    # 3 has no cost, so to look at it would fail.
    found = list(islice(ascending([((3,), 3), ((1,), 2), ((0,), 1)], costs.__getitem__), 2))
    assert [item for _, item in found] == [1, 2]
    # Nor what costs no less, and is dearer by what is known to decide among equals.
    found = list(islice(ascending([((2, 1), 3), ((1,), 2), ((0,), 1)], costs.__getitem__), 2))
    assert [item for _, item in found] == [1, 2]
