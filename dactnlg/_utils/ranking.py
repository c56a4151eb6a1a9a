"""Ranking of items by costs that are computed lazily."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from heapq import heapify, heappop, heapreplace
from typing import Any, TypeVar

T = TypeVar("T")
Cost = tuple[Any, ...]


def ascending(bounded: Iterable[tuple[Cost, T]], cost: Callable[[T], Cost]) -> Iterator[tuple[Cost, T]]:
    """Yield items with their costs in ascending order; items of equal cost keep their input order.

    The cost of an item is computed only when its lower bound is the least of all bounds and costs left.

    Args:
        bounded: pairs of a lower bound of the cost and the item; the bound of a tuple may be its first elements.
        cost: returns the cost of an item.
    """
    heap: list[tuple[Cost, int, bool, T]] = [(least, place, False, item) for place, (least, item) in enumerate(bounded)]
    heapify(heap)
    while heap:
        found, place, exact, item = heap[0]
        if exact:
            heappop(heap)
            yield found, item
        else:
            heapreplace(heap, (cost(item), place, True, item))
