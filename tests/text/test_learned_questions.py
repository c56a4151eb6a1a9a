"""Learned questions: a question must ask for its own slot, in words that training has for it."""

from __future__ import annotations

import pytest

from dactnlg.acts import parse
from dactnlg.text.learned_questions import LearnedQuestions
from dactnlg.text.templates import Templates

ASKED = {
    "?request(near)": [
        "what area do you want to be near ?",
        "near where do you want an inn ?",
        "what area do you want ?",
    ],
    "?request(area)": ["what area do you want ?", "which part of town ?"],
    "?request(length)": ["how far do you want to walk ?", "how far can you walk ?"],
}


@pytest.fixture(scope="module", name="questions")
def _questions() -> LearnedQuestions:
    pairs = [(parse(act), text.split()) for act, texts in ASKED.items() for text in texts]
    return LearnedQuestions(Templates.collect(pairs), {})


@pytest.mark.parametrize(
    ("act", "text", "lost"),
    [
        ("?request(near)", "what area do you want ?", ("near",)),
        ("?request(near)", "what area do you want to be near ?", ()),
        ("?request(length;area)", "how far can you go ? what area do you want ?", ()),
        ("?request(length;area)", "how can you get there ? what area do you want ?", ("length",)),
        # It names no slot, so nothing shows that it asks for another one.
        ("?request(near)", "where do you want to be ?", ()),
        ("?request(area)", "what area do you want ?", ()),
        ("?request(area)", "what area do you want to be near ?", ()),
        # Several questions are told apart by their own words, and statements are none.
        ("inform(area=north)", "it is near the north .", ()),
        ("?request(price)", "what area do you want ?", ()),
    ],
)
def test_a_question_that_names_another_slot_only_is_lost(
    questions: LearnedQuestions, act: str, text: str, lost: tuple[str, ...]
) -> None:
    assert questions.lost(parse(act), tuple(text.split()))[1] == lost
