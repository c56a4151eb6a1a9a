"""Combinations: which acts training had, and which are new."""

from __future__ import annotations

from pathlib import Path

from helpers import preprocessor_of

from dactnlg.acts import parse
from dactnlg.data.corpus import load_corpus
from dactnlg.generation.unseen.combinations import Combinations
from dactnlg.text.preprocessor import Preprocessor


def test_an_act_of_training_is_seen_and_another_special_value_is_not(random_run: Path) -> None:
    seen = Combinations(Preprocessor.load(random_run / "preprocessor.json"))
    turns = [turn for turn, _ in load_corpus("trails").pairs("train")]
    assert not any(seen.is_unseen(turn) for turn in turns)
    assert seen.is_unseen(parse("inform(name='Ivy Cutting';length=none;height=none)"))


def test_a_repeated_slot_is_another_combination(random_run: Path) -> None:
    seen = Combinations(Preprocessor.load(random_run / "preprocessor.json"))
    two = "compare(name='Raven Scar';length='5 km';name='Ivy Cutting';length='7 km')"
    assert not seen.is_unseen(parse(two))
    assert seen.is_unseen(parse(two.replace(")", ";name='Quarry Rim';length='8 km')")))
    assert seen.is_unseen(parse("inform(name='Ivy Cutting';length='5 km';length='7 km')"))


def test_a_value_beside_a_special_one_is_another_combination() -> None:
    both = [
        ("?select(near=x;near=dontcare)", "near SLOT_NEAR , or do you not care ?"),
        ("inform(near=x)", "near SLOT_NEAR ."),
    ]
    seen = Combinations(preprocessor_of(both))
    assert not seen.is_unseen(parse("?select(near=y;near=dontcare)"))
    assert seen.is_unseen(parse("?select(near=dontcare)"))
    assert not Combinations(preprocessor_of([*both, ("?select(near=dontcare)", "anywhere ?")])).is_unseen(
        parse("?select(near=dontcare)")
    )
