"""Implicit confirmations that training never has alone: explicit ones without their question."""

from __future__ import annotations

import pytest
from helpers import preprocessor_of

from dactnlg.acts import parse
from dactnlg.generation.candidates import Candidate
from dactnlg.generation.unseen.saying_back import SayingBack
from dactnlg.text.preprocessor import Preprocessor

PAIRS = [
    ("expl-conf(food=x)", "you are looking for a SLOT_FOOD pub right ?"),
    ("expl-conf(food=x)", "did you say you want SLOT_FOOD food ?"),
    ("request(area)&impl-conf(food=x)", "there are pubs serving SLOT_FOOD food . what area would you like ?"),
    ("request(area)", "what area would you like ?"),
]
ALONE = ("impl-conf(food=x)", "SLOT_FOOD food .")


@pytest.fixture(scope="module")
def preprocessor() -> Preprocessor:
    return preprocessor_of(PAIRS)


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("you are looking for a SLOT_FOOD pub right ?", "you are looking for a SLOT_FOOD pub ."),
        ("you are looking for a SLOT_FOOD pub , right", "you are looking for a SLOT_FOOD pub"),
        ("let me confirm , you want SLOT_FOOD food , right ?", "you want SLOT_FOOD food ."),
        ("did you say you want SLOT_FOOD food ?", "you want SLOT_FOOD food ."),
        ("you want SLOT_FOOD food ? you need beer right ?", "you want SLOT_FOOD food . you need beer ."),
        # What is not said as a statement cannot be.
        ("ok , SLOT_FOOD food , is that right ?", ""),
        ("is it SLOT_FOOD food ? you need beer right ?", ""),
        ("what are you looking for ?", ""),
    ],
)
def test_the_statement_in_a_question_is_said(preprocessor: Preprocessor, asked: str, told: str) -> None:
    parts = SayingBack(preprocessor).explicit(preprocessor.request(parse("impl-conf(food=thai)")))
    assert parts is not None and parts.whole
    (request,) = parts.requests
    assert str(request.turn) == "expl-conf(food=thai)"
    made = parts.join({0: Candidate(preprocessor, request, tuple(asked.split()), 0.0)})
    assert [" ".join(text) for text in made] == ([told] if told else [])


def test_other_acts_are_left_alone(preprocessor: Preprocessor) -> None:
    for act in (
        "expl-conf(food=x)",
        "request(area)",
        "impl-conf(food)",
        "impl-conf()",
        "impl-conf(food=x)&request(area)",
    ):
        assert SayingBack(preprocessor).explicit(preprocessor.request(parse(act))) is None
    for known in (preprocessor_of([*PAIRS, ALONE]), preprocessor_of(PAIRS[2:])):
        assert SayingBack(known).explicit(known.request(parse("impl-conf(food=x)"))) is None
