"""Indifference: ends of sentences that say what does not matter, read, put together and found in training."""

from __future__ import annotations

import random

import pytest

from dactnlg.acts import parse
from dactnlg.text.fluency import Fluency
from dactnlg.text.indifference import Indifference, clauses, misattributed, parted
from dactnlg.text.templates import Templates

MAINS = [
    "there are SLOT_COUNT hotels near SLOT_NEAR",
    "i know of SLOT_COUNT pubs in the SLOT_AREA , which allow dogs",
    "SLOT_NAME and SLOT_NAME#2 serve SLOT_FOOD food",
]
STARTS = ["if you do not care", "if you don't care", "if you do not mind", "if you really do not care"]
THINGS = [
    "about the price",
    "about food",
    "whether dogs are allowed",
    "if it has internet",
    "which meal it is good for",
]


def words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def test_a_clause_put_behind_any_sentence_is_found_there() -> None:
    chance = random.Random(1)
    for main in MAINS:
        for _ in range(50):
            things = tuple(map(words, chance.sample(THINGS, chance.randint(1, 3))))
            end = Indifference(words(chance.choice(STARTS)), things)
            assert parted((*words(main), *end.tokens)) == (words(main), end)
            # With its mark the sentence is what it was.
            assert parted((*words(main), *end.tokens, ".")) == ((*words(main), "."), end)


@pytest.mark.parametrize(
    "sentence",
    [
        "there are SLOT_COUNT hotels near SLOT_NEAR .",
        "if you do not care about the price , there are SLOT_COUNT hotels .",
        "i can help if you care about the price",
        "ask me if you do not like the place",
        "there are hotels if you do not care about the price in the SLOT_AREA area",
        "there are hotels if you do not care about the price but no pubs",
        "?",
    ],
)
def test_other_sentences_stay_whole(sentence: str) -> None:
    assert parted(words(sentence)) == (words(sentence), None)


@pytest.mark.parametrize("end", ["or if you do not care", "or if you do not care or about food", "and , or", ","])
def test_what_is_said_without_a_thing_is_none(end: str) -> None:
    main = "there are hotels if you do not care"
    _, found = parted(words(f"{main} {end} ."))
    assert found is None or all(found.things)
    rows = [(parse("inform_count(food=dontcare)"), f"{main} {end} .".split(" "))]
    assert all(all(each.things) for each in clauses(Templates.collect(rows), {"inform_count"}).values())


def test_things_of_one_kind_share_their_first_word() -> None:
    _, end = parted(
        words("there are hotels if you do not care about the price , rating or if you do not care about food")
    )
    assert end is not None and end.things == (("about", "the", "price"), ("about", "rating"), ("about", "food"))
    assert " ".join(end.tokens) == "if you do not care about the price or rating or food"


@pytest.mark.parametrize(
    ("sentence", "wrong"),
    [
        ("there are hotels that do not care whether dogs are allowed", True),
        ("there are hotels for people that do not care whether dogs are allowed", False),
        ("there are hotels where dogs are allowed and if you do not care about the price", True),
        ("there are hotels if you do not care about the price , and no dogs", True),
        ("if you do not care about the price there are hotels if you do not care about the area", True),
        ("there are hotels if you do not care about dogs if you do not care about the area", True),
        ("there are hotels if you do not care about dogs or if you do not care about the area", False),
        ("if you do not care about the price there are no hotels", False),
        ("there are hotels that allow dogs if you do not care about the price", False),
    ],
)
def test_what_does_not_matter_is_said_of_the_right_one(sentence: str, wrong: bool) -> None:
    assert misattributed(words(sentence)) is wrong


def test_training_tells_how_a_slot_does_not_matter() -> None:
    rows = [
        ("inform_count(food=dontcare;count=3)", "there are SLOT_COUNT pubs if you do not care about the food"),
        ("inform_count(food=dontcare;count=4)", "there are SLOT_COUNT pubs if you do not care about the food"),
        ("inform_count(food=dontcare)", "there are pubs if you do not mind what they serve"),
        ("inform_count(ecorating=dontcare)", "there are pubs if you do not care about ecorating"),
        ("inform_count(ecorating=dontcare)", "we have pubs if you do not care about ecorating"),
        ("inform_count(ecorating=dontcare)", "there are pubs if you do not care about the eco rating"),
        *[
            ("inform(name=a)", f"SLOT_NAME has a {how} eco rating")
            for how in ["good", "bad", "fair", "poor", "high", "low"]
        ],
        # Two at once, another act, and what is said elsewhere tell nothing.
        ("inform_count(area=dontcare;food=dontcare)", "there are pubs if you do not care about the area or food"),
        ("?confirm(view=dontcare)", "are you fine if you do not care about the view"),
        ("inform_count(price=dontcare)", "if you do not care about the price there are pubs"),
    ]
    found = clauses(Templates.collect([(parse(act), text.split()) for act, text in rows]), {"inform_count"})
    said = {slot: " ".join(clause.tokens) for slot, clause in found.items()}
    assert said == {
        "food": "if you do not care about the food",
        "ecorating": "if you do not care about the eco rating",
    }


def test_what_does_not_matter_stands_behind_any_sentence_without_doubt() -> None:
    texts = [
        "there are SLOT_COUNT hotels near SLOT_NEAR",
        "there are SLOT_COUNT hotels if you do not care about the price",
        "there are SLOT_COUNT hotels if you do not care whether dogs are allowed",
    ]
    fluency = Fluency([text.split() for text in texts], english=True)
    right = "there are SLOT_COUNT hotels near SLOT_NEAR if you do not care whether dogs are allowed or about the price"
    assert fluency.strange_runs(right.split()) == 0
    assert fluency.doubts(right.split()) == 0
    assert fluency.doubts(right.replace("if you do not", "that do not").split()) > 0
    assert fluency.doubts(right.replace("dogs", "pets").split()) > 0
