"""Several things, each with an act of its own: what is said of one is not said of another."""

from __future__ import annotations

import random

import pytest

from dactnlg.acts import Turn, parse
from dactnlg.data.corpus import Corpus
from dactnlg.fidelity.checker import FidelityChecker

TWO = "inform(name='Larkspur Lane';dogsallowed=no;near=Tessel)&inform(name='Quarry Rim';dogsallowed=no;near=Tessel)"


@pytest.mark.parametrize(
    ("sentence", "missing"),
    [
        ("Larkspur Lane is near Tessel and closed to dogs. Quarry Rim is near Tessel and closed to dogs.", ()),
        ("Larkspur Lane is near Tessel and closed to dogs. Quarry Rim is closed to dogs.", ("near=Tessel",)),
        ("Larkspur Lane is near Tessel. Quarry Rim is near Tessel and closed to dogs.", ("dogsallowed=no",)),
        ("Larkspur Lane is near Tessel. Quarry Rim is near Tessel and not at all open to dogs.", ("dogsallowed=no",)),
        (
            "It is near. Larkspur Lane is closed to dogs. It is near Tessel. Quarry Rim is near Tessel.",
            ("dogsallowed=no",),
        ),
        # What is said of both at once.
        ("Larkspur Lane and Quarry Rim are near Tessel and closed to dogs.", ()),
        ("Larkspur Lane is near Tessel. Quarry Rim is nice. Both are closed to dogs.", ()),
        ("Larkspur Lane is near Tessel. Quarry Rim is nice. They are closed to dogs.", ()),
    ],
)
def test_what_is_said_of_one_is_said_of_no_other(
    checker: FidelityChecker, sentence: str, missing: tuple[str, ...]
) -> None:
    assert checker.check(parse(TWO), sentence).missing == missing


def test_sentences_about_two_things_are_at_fault_where_one_of_them_is(checker: FidelityChecker, corpus: Corpus) -> None:
    pairs = [
        (turn, text)
        for turn, text in corpus.pairs("test")
        if [act.act_type for act in turn] == ["inform"] and turn.acts[0].slots[0].name == "name" and text[-1:] == "."
    ]
    chance, faults = random.Random(7), 0
    for _ in range(60):
        (one, first), (two, second), (_, other) = chance.sample(pairs, 3)
        turn = Turn((*one.acts, *two.acts))
        if len({act.slots[0].value for act in turn}) < 2:
            continue
        own, wrong = checker.check(turn, f"{first} {second}"), checker.check(turn, f"{first} {other}")
        assert own.ok == (checker.check(one, first).ok and checker.check(two, second).ok)
        faults += not wrong.ok
    assert faults > 50


@pytest.mark.parametrize("more", ["goodbye()", "greet()", "?reqmore()"])
def test_an_act_is_missing_if_only_the_acts_beside_it_are_said(
    checker: FidelityChecker, corpus: Corpus, more: str
) -> None:
    (act,) = parse(more).acts
    own = next(text for turn, text in corpus.pairs("train") if turn.acts == (act,))
    pairs = [(turn, text) for turn, text in corpus.pairs("test") if act.act_type not in {a.act_type for a in turn}]
    for turn, text in random.Random(3).sample(pairs, 60):
        both = Turn((*turn.acts, act))
        alone, whole = checker.check(both, text), checker.check(both, f"{text} {own}")
        assert more in alone.missing and more not in alone.acts
        assert more not in whole.missing and more not in whole.acts


@pytest.mark.parametrize(
    ("sentence", "misplaced"),
    [
        (
            "There are no trails near Tessel. Instead, you could try Quarry Rim. It is open to dogs.",
            "name='Quarry Rim'",
        ),
        ("There are no trails near Tessel that are open to dogs. Instead, you could try Quarry Rim.", None),
        ("There are no trails near Tessel that allow dogs. You could try Quarry Rim. It is open to dogs.", None),
        # If one sentence says everything, the order is not known.
        ("You could try Quarry Rim, as no trail near Tessel allows dogs. Dogs are allowed.", None),
    ],
)
def test_what_one_act_says_is_not_said_of_the_next_ones_thing(
    checker: FidelityChecker, sentence: str, misplaced: str | None
) -> None:
    turn = parse("inform_no_match(near=Tessel;dogsallowed=yes)&offer_alternative(name='Quarry Rim')")
    assert checker.check(turn, sentence).misplaced.get("dogsallowed=yes") == misplaced
