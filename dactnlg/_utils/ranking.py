"""Ranking: items by costs that are worked out only where they decide."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from heapq import heapify, heappop, heapreplace
from typing import Any, TypeVar

T = TypeVar("T")
Cost = tuple[Any, ...]


def ascending(bounded: Iterable[tuple[int, T]], cost: Callable[[T], Cost]) -> Iterator[tuple[Cost, T]]:
    """Yield items with their costs, the lowest first, of equals the one that came first.

    Only the costs of what is yielded, and of what may be lower than that, are worked out.

    Args:
        bounded: items, each with what its cost begins with at least.
        cost: of an item.
    """
    # What is only bounded comes before what costs exactly that: a shorter tuple is less.
    heap: list[tuple[Cost, int, bool, T]] = [
        ((least,), place, False, item) for place, (least, item) in enumerate(bounded)
    ]
    heapify(heap)
    while heap:
        found, place, exact, item = heap[0]
        if exact:
            heappop(heap)
            yield found, item
        else:
            heapreplace(heap, (cost(item), place, True, item))
