"""Doubts: what speaks against a text for an act."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers import preprocessor_of

from dactnlg.acts import Turn, parse
from dactnlg.generation.unseen.combinations import Combinations
from dactnlg.generation.unseen.composition import Composer
from dactnlg.generation.unseen.doubts import ALARMING, Doubts
from dactnlg.generation.unseen.repetition import said_again
from dactnlg.text.preprocessor import Preprocessor
from dactnlg.text.slots import SlotChecker
from dactnlg.text.traits import kind


def doubts_of(preprocessor: Preprocessor) -> Doubts:
    return Doubts(preprocessor, Composer(preprocessor), Combinations(preprocessor))


def test_dontcare_needs_words_that_express_it(random_run: Path) -> None:
    doubts = doubts_of(Preprocessor.load(random_run / "preprocessor.json"))
    said, other = (parse(f"inform(name='Ivy Cutting'{more})") for more in (";season=dontcare", ""))
    named, careless = "the season of SLOT_NAME .", "SLOT_NAME , whatever the season ."
    alarms = [doubts.of(said, text.split()) - doubts.of(other, text.split()) for text in (named, careless)]
    assert alarms[0] - alarms[1] == ALARMING


@pytest.mark.parametrize(
    ("text", "again"),
    [
        ("SLOT_NAME has no toilets . it is easy .", 0),
        ("SLOT_NAME has no toilets . there are no toilets .", 1),
        ("SLOT_NAME has no toilets . there are no toilets . it has no toilets .", 2),
    ],
)
def test_repeating_a_no_is_doubtful(random_run: Path, text: str, again: int) -> None:
    doubts = doubts_of(Preprocessor.load(random_run / "preprocessor.json"))
    said, other = (parse(f"inform(name='Ivy Cutting';toilets={value})") for value in ("no", "none"))
    assert doubts.of(said, text.split()) - doubts.of(other, text.split()) == ALARMING * again


def test_repeating_a_value_in_words_is_doubtful_and_so_is_another_value() -> None:
    values = {"price": ["cheap", "high"], "kind": ["pub", "restaurant"]}
    rows = [
        ("inform(price=cheap;kind=pub)", "a cheap pub"),
        ("inform(price=high;kind=restaurant)", "it has high prices"),
    ]
    cues = {"price": {"cheap": [r"\b(cheap|low priced|low prices)\b"], "high": [r"\b(pricey|high prices)\b"]}}
    checker = preprocessor_of(rows, cues=cues, lexicalized=values).checker
    pub, two = parse("inform(price=cheap;kind=pub)"), parse("inform(price=cheap;kind=pub)&inform(kind=restaurant)")

    def again(text: str, act: Turn = pub, checker: SlotChecker = checker) -> int:
        return said_again(checker, act, tuple(text.split()))

    assert again("a cheap pub . it has a garden .") == again("a low priced pub with a garden") == 0
    assert again("a cheap pub with low prices") == again("a cheap pub . it is cheap .") == 1
    assert again("a cheap pub . it is a restaurant .") == again("a cheap pub , pricey") == 1
    assert again("a cheap pub with low prices . it is a restaurant with low prices .") == 3
    assert again("a cheap pub . it is a restaurant .", two) == again("cheap , with low prices", two) == 0
    # Opinions are paraphrased again and again.
    opinions = preprocessor_of(rows, cues=cues, lexicalized=values, ordinary={"price": values["price"]})
    assert again("a cheap pub with low prices", checker=opinions.checker) == 0


def test_calling_several_things_it_is_doubtful(random_run: Path) -> None:
    preprocessor = Preprocessor.load(random_run / "preprocessor.json")
    doubts = doubts_of(preprocessor)
    act = parse("inform_count(count=4;toilets=yes;region=south)")

    def more(text: str) -> int:
        return doubts.of(act, text.split()) - doubts.strange(tuple(text.split()))

    assert more("we have SLOT_COUNT routes in the SLOT_REGION that have toilets .") == 0
    assert more("we have SLOT_COUNT routes that have toilets . you will find it in the SLOT_REGION .") > 0
    assert more("we have SLOT_COUNT routes that have toilets . it is in the SLOT_REGION .") > 0


def test_the_name_of_a_slot_that_an_act_lacks_is_doubtful(random_run: Path) -> None:
    doubts = doubts_of(Preprocessor.load(random_run / "preprocessor.json"))
    text = ["SLOT_NAME", "is", "an", "easy", "hike", "in", "the", "region", "."]
    without, having = parse("inform(name='Ivy Cutting')"), parse("inform(name='Ivy Cutting';region=north)")
    assert doubts.of(without, text) == doubts.of(having, text) + 1


def test_a_mixture_of_questions_that_training_has_is_doubtful(random_run: Path) -> None:
    preprocessor = Preprocessor.load(random_run / "preprocessor.json")
    doubts, act = doubts_of(preprocessor), parse("?request(region)")
    own = [text for key, group in preprocessor.templates.sentences.items() if key == kind(act) for text in group]
    assert own and all(doubts.of(act, text) < ALARMING for text in own)
    mixed = (*own[0][:-2], *own[1][-2:])
    assert mixed not in own and doubts.of(act, mixed) >= ALARMING
