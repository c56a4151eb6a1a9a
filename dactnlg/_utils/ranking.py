"""Ranking: items by costs that are worked out only where they decide."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from heapq import heapify, heappop, heapreplace
from typing import Any, TypeVar

T = TypeVar("T")
Cost = tuple[Any, ...]


def ascending(bounded: Iterable[tuple[Cost, T]], cost: Callable[[T], Cost]) -> Iterator[tuple[Cost, T]]:
    """Yield items with their costs, the lowest first, of equals the one that came first.

    Only the costs of what is yielded, and of what may be lower than that, are worked out.

    Args:
        bounded: items, each with what it costs at least; of what decides among equals as much as is known.
        cost: of an item.
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
