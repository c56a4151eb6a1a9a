"""Predicates and governors: a verb of training belongs to the subjects that it has there, a value to its verbs."""

from __future__ import annotations

import pytest

from dactnlg.text.grammar.english import VERBS
from dactnlg.text.grammar.predicates import LEAST_SEEN, Governors, Predicates

TEXTS = [
    "SLOT_NAME is located near SLOT_NEAR and has a garden .",
    "the phone number of SLOT_NAME is SLOT_PHONE .",
    "SLOT_NAME is a pub that serves lunch , and the phone number is SLOT_PHONE .",
    "SLOT_YEAR was a good year .",
]


@pytest.fixture(scope="module")
def predicates() -> Predicates:
    return Predicates([text.split() for text in TEXTS] * LEAST_SEEN, VERBS)


@pytest.mark.parametrize(
    ("sentence", "faults"),
    [
        *((text, 0) for text in TEXTS),
        # A verb behind "and" has the subject of the one before it.
        ("the phone number is SLOT_PHONE and is located near SLOT_NEAR .", 1),
        ("the phone number is SLOT_PHONE and the pub is located near SLOT_NEAR .", 1),
        ("the phone number is SLOT_PHONE and SLOT_NAME is located near SLOT_NEAR .", 0),
        ("SLOT_YEAR was a good year and is a pub .", 1),
        # A pronoun may have any predicate, and the antecedent of "that" is not looked for.
        ("it is located near SLOT_NEAR and is a pub .", 0),
        ("the phone number that is SLOT_PHONE .", 0),
        # A verb that training does not have shows nothing.
        ("the phone number smells .", 0),
        ("is the phone number located near SLOT_NEAR ?", 0),
    ],
)
def test_what_training_says_of_others_alone_is_a_fault(predicates: Predicates, sentence: str, faults: int) -> None:
    assert predicates.faults(sentence.split()) == faults


def test_a_slip_of_training_permits_nothing() -> None:
    slip = ["the", "phone", "number", "is", "located", "near", "SLOT_NEAR", "."]
    often = [TEXTS[0].split()] * 100
    assert Predicates([*often, slip], VERBS).faults(slip) == 1
    assert Predicates([*often, *[slip] * 10], VERBS).faults(slip) == 0


def test_few_sentences_show_nothing() -> None:
    few = [TEXTS[0].split()] * (LEAST_SEEN - 1)
    assert Predicates(few, VERBS).faults(["the", "phone", "number", "is", "located", "near", "SLOT_NEAR", "."]) == 0
    assert (
        Predicates([TEXTS[0].split()] * 100, ()).faults(["the", "phone", "number", "is", "located", "here", "."]) == 0
    )


SERVING = "there are SLOT_COUNT pubs serving SLOT_FOOD food in the SLOT_AREA of town ."


@pytest.mark.parametrize(
    ("sentence", "faults"),
    [
        (SERVING, 0),
        ("there are SLOT_COUNT pubs in the SLOT_AREA and the SLOT_AREA serving SLOT_FOOD food .", 0),
        ("there is SLOT_COUNT pub in the SLOT_AREA .", 0),
        ("there are SLOT_COUNT pubs serving SLOT_FOOD food and the SLOT_AREA of town .", 1),
        ("in the SLOT_FOOD of town are SLOT_COUNT pubs serving the SLOT_AREA .", 2),
        # Nothing is before it, or what people would like.
        ("SLOT_FOOD food is in the SLOT_AREA .", 1),
        ("would you like SLOT_FOOD food in the SLOT_AREA or the SLOT_AREA ?", 0),
        # Training has too few.
        ("there are pubs near SLOT_NEAR .", 0),
    ],
)
def test_a_value_behind_a_verb_or_preposition_of_other_values_is_a_fault(sentence: str, faults: int) -> None:
    texts = [SERVING.split()] * LEAST_SEEN
    near = ["a", "pub", "beside", "SLOT_NEAR"]
    assert Governors([*texts, near], VERBS).faults(sentence.split()) == faults
    assert Governors([*texts, near], ()).faults(sentence.split()) == 0
    assert Governors([*texts[1:], near], VERBS).faults(sentence.split()) == 0
