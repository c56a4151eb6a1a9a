"""Invented acts: new combinations of a corpus's own slots and values, the same for the same seed."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from dactnlg.acts import parse
from dactnlg.data.corpus import load_corpus
from dactnlg.text.example import Pair
from dactnlg.text.traits import combination
from dactnlg.training.augmentation.invention import invent


def pairs_of(*acts: str) -> list[Pair]:
    """Return pairs without a sentence."""
    return [Pair(parse(act), None, ()) for act in acts]


@pytest.mark.parametrize("name", ["restaurants", "viggo", "dstc2", "e2e", "tv"])
def test_invented_acts_are_new_and_made_of_the_corpus(data_dir: Path, name: str) -> None:
    pairs = [Pair(example.turn, None, ()) for example in load_corpus(name, data_dir).split("train")]
    found = [pair.turn for pair in invent(pairs, 300, 1)]
    known = {combination(pair.turn) for pair in pairs}
    stated = {(act.act_type, slot) for pair in pairs for act, slot in pair.turn.slots()}
    # DSTC2 and E2E have few combinations that are not in training.
    assert 40 <= len(found) <= 300 and not known & set(map(combination, found))
    assert len(set(map(combination, found))) == len(found)
    for turn in found:
        assert all((act.act_type, slot) in stated for act, slot in turn.slots())
        assert tuple(act.act_type for act in turn) in {tuple(act.act_type for act in pair.turn) for pair in pairs}
    assert found == [pair.turn for pair in invent(pairs, 300, 1)] != [pair.turn for pair in invent(pairs, 300, 2)]


def test_values_are_as_frequent_as_in_training() -> None:
    acts = [*["inform(a=x;b=1)"] * 9, "inform(a=y;b=1)", "inform(c=1;d=1)"]
    found = invent(pairs_of(*acts), 10, 1)
    names = {tuple(sorted(slot.name for _, slot in pair.turn.slots())) for pair in found}
    assert names <= {("a",), ("b",), ("c",), ("d",), *[(a, b) for a in "abcd" for b in "abcd" if a < b],
                     *[tuple(x for x in "abcd" if x != y) for y in "abcd"], tuple("abcd")}  # fmt: skip
    assert not names & {("a", "b"), ("c", "d")} and len(names) == len(found) > 5
    drawn = Counter(
        slot.value
        for seed in range(60)
        for pair in invent(pairs_of(*acts), 10, seed)
        for _, slot in pair.turn.slots()
        if slot.name == "a"
    )
    assert drawn["x"] > 4 * drawn["y"] > 0


def test_without_new_combinations_nothing_is_invented() -> None:
    assert invent([], 5, 1) == [] and invent(pairs_of("goodbye()"), 5, 1) == []
    # A single slot has no other combination.
    assert invent(pairs_of("inform(a=x)"), 5, 1) == []
    assert [str(pair.turn) for pair in invent(pairs_of("inform(a=yes)", "inform(a=no)"), 5, 1)] == []


def test_invented_acts_keep_corpus_and_context() -> None:
    pairs = [Pair(parse("inform(a=x;b=y)"), "corpus", ("hello",), "before")]
    assert {(pair.corpus, pair.tokens, pair.context) for pair in invent(pairs, 2, 1)} == {("corpus", (), "before")}
