"""Indifference: clauses that say what does not matter are recognised, combined and learned from training."""

from __future__ import annotations

import random

import pytest

from dactnlg.acts import parse
from dactnlg.text.grammar.fluency import Fluency
from dactnlg.text.grammar.indifference import Indifference, misattributed, parted
from dactnlg.text.grammar.learned_indifference import added, by_condition, by_name, clauses
from dactnlg.text.templates import Templates

MAINS = [
    "there are SLOT_COUNT hotels near SLOT_NEAR",
    "i know of SLOT_COUNT pubs in the SLOT_AREA , which allow dogs",
    "SLOT_NAME and SLOT_NAME#2 serve SLOT_FOOD food",
]
STARTS = [
    "or do you not care",
    "if you do not care",
    "if you don't care",
    "if you do not mind",
    "if you really do not care",
]
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
            # The final mark stays with the sentence.
            assert parted((*words(main), *end.tokens, ".")) == ((*words(main), "."), end)


def test_an_alternative_may_stand_alone() -> None:
    end = Indifference(words("or do you not care"), (words("about the price"), words("whether it has beer")))
    assert parted((*end.tokens[1:], "?")) == ((), end)
    # It is about a value: "do you not care about SLOT_FOOD food?"
    asked = words("do you not care about SLOT_FOOD food ?")
    assert parted(asked) == (asked, None)


def test_an_alternative_may_stand_behind_a_question_about_caring() -> None:
    main, end = (
        words("do you care about the food"),
        Indifference(words("or do you not care"), (words("about the price"),)),
    )
    assert parted((*main, *end.tokens, "?")) == ((*main, "?"), end)


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


@pytest.mark.parametrize(
    ("end", "things"),
    [
        ("or if you do not care", None),
        ("or if you do not care or about food", (("about", "food"),)),
        ("and , or", None),
        (",", None),
    ],
)
def test_a_clause_without_a_thing_is_none(end: str, things: tuple[tuple[str, ...], ...] | None) -> None:
    sentence = words(f"there are hotels if you do not care {end} .")
    _, found = parted(sentence)
    assert (found and found.things) == things
    rows = [(parse("inform_count(food=dontcare)"), list(sentence))]
    assert clauses(Templates.collect(rows), {"inform_count"}) == ({"food": found} if found else {})


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
        ("can i confirm that you do not care whether dogs are allowed", False),
        ("there are hotels where dogs are allowed and if you do not care about the price", True),
        ("there are hotels if you do not care about the price , and no dogs", True),
        ("there are hotels if you do not care about the price in the SLOT_AREA area", True),
        ("if you do not care about the price there are hotels if you do not care about the area", True),
        ("there are hotels if you do not care about dogs if you do not care about the area", True),
        ("there are hotels if you do not care about dogs or if you do not care about the area", False),
        ("if you do not care about the price there are no hotels", False),
        ("there are hotels that allow dogs if you do not care about the price", False),
        ("can i confirm that you do not care about the area of SLOT_NEAR", True),
        ("would you like SLOT_AREA or you do not care the area of SLOT_AREA#2", True),
        ("you do not care about the price or SLOT_RATING rating", True),
        ("you do not care about the price and want a SLOT_RATING rating", False),
        ("you do not care about the price , in SLOT_AREA", False),
        ("you do not care for SLOT_GENRES games", False),
        ("if you do not care about the price and in the SLOT_AREA area , there are pubs", True),
        ("if you do not care about the price , there are pubs in SLOT_AREA", False),
        ("if you do not care about the price , in the SLOT_AREA area , there are pubs", False),
        ("if you do not care about the price , SLOT_NAME is a pub , there are others", False),
        ("if you do not care about the price , SLOT_NAME and SLOT_NAME#2 are there", False),
        ("can i confirm that you do not care where it is near the SLOT_AREA", True),
        ("can i confirm that you do not care what area it is in , near SLOT_NEAR", False),
        ("can i confirm that you do not care where it is", False),
        ("there are hotels if you do not care whether dogs are allowed or whether they accept credit cards", False),
        ("there are hotels if you do not care whether dogs are allowed and cards are accepted", False),
        ("there are hotels if you do not care whether dogs are allowed at the hotel", False),
        ("there are hotels if you do not care whether dogs are allowed or not or where they are", False),
        ("you do not care where", False),
        ("i have found pubs that serve beer and do not care about the price .", True),
        ("what price range do not care about the area .", True),
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
        # Nothing is learned from two at once, from another act, or from a clause in another place.
        ("inform_count(area=dontcare;food=dontcare)", "there are pubs if you do not care about the area or food"),
        ("?confirm(view=dontcare)", "are you fine if you do not care about the view"),
        ("inform_count(price=dontcare)", "if you do not care about the price there are pubs"),
    ]
    found = clauses(templates(*rows), {"inform_count"})
    said = {slot: " ".join(clause.tokens) for slot, clause in found.items()}
    assert said == {
        "food": "if you do not care about the food",
        "ecorating": "if you do not care about the eco rating",
    }


def test_what_does_not_matter_may_follow_any_sentence() -> None:
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


def templates(*rows: tuple[str, str]) -> Templates:
    return Templates.collect([(parse(act), text.split()) for act, text in rows])


def test_wordings_without_pronouns_come_first_as_sentences_speak_of_one_or_of_several() -> None:
    rows = [("inform_count(net=dontcare)", f"{start} if you do not care if it has internet") for start in "abc"]
    rows += [("inform_count(net=dontcare)", "we have pubs if you do not care about the internet")]
    rows += [("inform_count(dogs=dontcare)", "we have pubs if you do not care whether they allow dogs")]
    found = clauses(templates(*rows), {"inform_count"})
    assert {slot: " ".join(clause.tokens) for slot, clause in found.items()} == {
        "net": "if you do not care about the internet",
        "dogs": "if you do not care whether they allow dogs",
    }
    assert Indifference.together([found["net"], found["net"]]) == found["net"]
    both = Indifference.together([found["dogs"], found["net"]])
    assert " ".join(both.tokens) == "if you do not care about the internet or whether they allow dogs"


def test_a_slot_that_always_matters_in_training_is_called_by_its_name() -> None:
    row = ("inform_count(food=dontcare)", "we have pubs if you do not care about the food")
    prices = [("inform(price_range=a)", f"the price range is SLOT_PRICE_RANGE {word}") for word in "abcdef"]
    corpus = templates(row, *prices)
    start = clauses(corpus, {"inform_count"})["food"].start
    end = by_name(start, "price_range", corpus)
    assert end is not None and " ".join(end.tokens) == "if you do not care about the price range"
    near = by_name(start, "near", corpus)
    assert near is not None and " ".join(near.tokens) == "if you do not care what it is near"
    # Training never has "the stars", and without a clause there is no beginning.
    assert by_name(start, "stars", corpus) is None and by_name((), "price_range", corpus) is None


def test_a_slot_is_worded_with_a_question_word_where_training_mostly_does() -> None:
    rows = [("inform_count(meal=dontcare)", f"{start} if you do not care which meal it is good for") for start in "ab"]
    rows += [("inform_count(meal=dontcare)", "we have pubs if you do not care about which meal to dine")]
    assert clauses(templates(*rows), {"inform_count"})["meal"].things == (words("which meal it is good for"),)
    # Both as often.
    assert clauses(templates(*rows[1:]), {"inform_count"})["meal"].things == (words("about which meal to dine"),)


def test_a_yes_or_no_that_always_matters_in_training_is_put_as_whether() -> None:
    rows = [("inform(name=a;dogs=yes)", f"SLOT_NAME is a {kind} where dogs are allowed and is here") for kind in "abc"]
    rows += [("inform(name=a;dogs=yes;near=b)", "it is near SLOT_NEAR where dogs and pets are allowed .")]
    rows += [("inform(name=a;dogs=yes;near=b)", "it is where SLOT_NEAR is")]
    rows += [("inform(name=a;dogs=no)", f"SLOT_NAME is a {kind} where no dogs are allowed") for kind in "abcdef"]
    corpus, start = templates(*rows), words("if you do not care")
    end = by_condition(start, "dogs", corpus)
    assert end is not None and " ".join(end.tokens) == "if you do not care whether dogs are allowed"
    assert by_condition((), "dogs", corpus) is None
    assert by_condition(start, "cats", corpus) is None


def test_what_does_not_matter_is_added_as_an_act_type_adds_it() -> None:
    confirmed = (
        "?confirm(price=a;food=dontcare)",
        "you want a SLOT_PRICE pub and you do not care about the food , right",
    )
    selected = ("?select(price=a;food=dontcare)", "do you want a SLOT_PRICE pub or you do not care about the food")
    corpus = templates(confirmed, selected, ("?confirm(price=a)", "a SLOT_PRICE pub , or do i err"))
    assert " ".join(added(corpus, "?confirm")) == "and you do not care"
    assert " ".join(added(corpus, "?select")) == "or do you not care"
    assert added(corpus, "?request") == ()
    # "Or" is for alternatives.
    checked = ("?confirm(food=dontcare)", "you want to eat or you do not care about the food")
    assert (
        added(
            templates(checked, ("?confirm(price=a)", "a SLOT_PRICE pub"), ("?confirm(price=b)", "so SLOT_PRICE")),
            "?confirm",
        )
        == ()
    )
