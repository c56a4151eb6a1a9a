"""What is remembered is bounded, by entries and by bytes."""

from __future__ import annotations

import random
import tracemalloc

import pytest

from dactnlg._utils.memory import ENTRY, Memory, remembered


def test_what_was_used_longest_ago_is_dropped() -> None:
    memory: Memory[list[str]] = Memory(2, 1 << 20)
    for key in "abc":
        assert memory.put(key, [], 10) == []
        memory.get("a")
    assert len(memory) == 2
    assert memory.get("a") == [] and memory.get("b") is None and memory.get("c") == []


def test_the_bytes_that_are_held_are_those_of_its_entries() -> None:
    memory: Memory[int] = Memory(1000, 40 * ENTRY)
    chance, sizes = random.Random(2), {}
    for _ in range(5000):
        key, size = chance.randrange(60), chance.randrange(9 * ENTRY)
        memory.put(key, key, size)
        sizes[key] = size
        held = [key for key in sizes if memory._found.get(key)]
        assert memory.held == sum(sizes[key] + ENTRY for key in held) <= 40 * ENTRY
        assert len(memory) == len(held)
    memory.clear()
    assert (memory.held, len(memory)) == (0, 0)


def test_what_is_too_large_is_not_kept_and_drops_nothing() -> None:
    memory: Memory[str] = Memory(10, 3 * ENTRY)
    memory.put("a", "x", 0)
    assert memory.put("b", "y", 3 * ENTRY) == "y"
    assert memory.get("a") == "x" and memory.get("b") is None
    # Nor does an older value of the same key stay.
    memory.put("a", "y", 3 * ENTRY)
    assert memory.get("a") is None and memory.held == 0


def test_an_empty_entry_takes_no_more_than_is_counted() -> None:
    memory: Memory[None] = Memory(1 << 20, 1 << 30)
    tracemalloc.start()
    for number in range(20_000):
        memory.put(number, None, 0)
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert taken < memory.held


@pytest.mark.parametrize(("length", "times"), [(10, 1), (1000, 2)])
def test_only_results_of_short_texts_are_remembered(length: int, times: int) -> None:
    calls = []

    @remembered
    def first(text: str) -> str:
        """Return the first letter."""
        calls.append(text)
        return text[0]

    assert first("x" * length) == first("x" * length) == "x"
    assert len(calls) == times
    assert first.__doc__ == "Return the first letter."
