"""Recommending: a text that recommends something praises it and says no less of it; one that suggests does not tell."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dactnlg.acts import parse
from dactnlg.text.corrections.recommending import praised, suggested
from dactnlg.text.grammar.lexicon import Lexicon
from dactnlg.text.grammar.marks import Marks
from dactnlg.text.surface import detokenize, tokenize
from dactnlg.text.templates import Templates

LEXICON = Lexicon(
    verbs=frozenset({"is", "has", "costs", "are"}),
    plurals=frozenset({"SLOT_TYPE", "pub"}),
    things=frozenset({"game"}),
    subject="SLOT_NAME",
)
WORDS = "the SLOT_NAME SLOT_A pub game is a an in has nice . ,"
HERE = ["SLOT_NAME", "is", "here", "."]


def _praised(text: str) -> str:
    return detokenize(praised(tuple(tokenize(text)), LEXICON, "nice"))


@pytest.mark.parametrize(
    ("text", "better"),
    [
        ("SLOT_NAME is a SLOT_SIZE SLOT_TYPE in SLOT_A.", "SLOT_NAME is a nice SLOT_SIZE SLOT_TYPE in SLOT_A."),
        ("it is an old pub.", "it is a nice old pub."),
        ("SLOT_A is a pub. SLOT_B is an old pub.", "SLOT_A is a nice pub. SLOT_B is a nice old pub."),
        ("the SLOT_NAME pub has beer and is cheap.", "the SLOT_NAME is a nice pub that has beer and is cheap."),
        ("the SLOT_NAME SLOT_TYPE is in SLOT_A, is cheap.", "the SLOT_NAME is a nice SLOT_TYPE in SLOT_A, is cheap."),
        ("SLOT_NAME pub is not cheap.", "SLOT_NAME is a nice pub that is not cheap."),
        ("it is a great pub.", "it is a great pub."),
        ("the pubs near SLOT_NAME are cheap.", "the pubs near SLOT_NAME are cheap."),
        ("SLOT_NAME is a treat that has a pub.", "SLOT_NAME is a treat that has a pub."),
        ("SLOT_NAME pub", "SLOT_NAME pub"),
        ("it has beer.", "it has beer."),
    ],
)
def test_what_is_described_is_praised(text: str, better: str) -> None:
    assert _praised(text) == better


@pytest.mark.parametrize(
    ("text", "better"),
    [
        ("you are looking for something in SLOT_A.", "you could try something in SLOT_A."),
        (
            "you want a SLOT_A pub if you do not care about beer.",
            "you could try a SLOT_A pub if you do not care about beer.",
        ),
        ("you do not care something in SLOT_A.", "you could try something in SLOT_A."),
        ("you do not care about SLOT_A.", "you do not care about SLOT_A."),
        ("something in SLOT_A. it has beer.", "you could try something in SLOT_A. it has beer."),
        ("something in SLOT_A and is cheap.", "you could try something in SLOT_A that is cheap."),
        ("something here is cheap", "you could try something here that is cheap"),
        ("something that is cheap in SLOT_A.", "you could try something that is cheap in SLOT_A."),
        ("are you looking for something in SLOT_A?", "are you looking for something in SLOT_A?"),
        ("you want", "you want"),
    ],
)
def test_what_is_wanted_is_suggested(text: str, better: str) -> None:
    assert detokenize(suggested(tuple(tokenize(text)))) == better


@given(st.lists(st.sampled_from(WORDS.split()), max_size=12))
def test_praise_adds_words_and_removes_no_value(words: list[str]) -> None:
    made = praised(tuple(words), LEXICON, "nice")
    assert [word for word in made if word.startswith("SLOT")] == [word for word in words if word.startswith("SLOT")]
    assert made.count("nice") >= words.count("nice")


def test_an_act_that_training_praises_is_praised_as_mildly() -> None:
    informing = [("inform(name=a)", f"SLOT_NAME is {place} .") for place in "abcdefghijklmnopqrst"]
    praising = [
        ("recommend(name=a)", f"SLOT_NAME is {word} {place} .") for word in ("great", "nice") for place in "abcde"
    ]
    praising += [(act.replace("recommend", "opine"), text) for act, text in praising]
    marks = Marks(Templates.collect([(parse(act), text.split()) for act, text in (*informing, *praising)]))
    assert marks.praise(parse("recommend(name=x)"), HERE) == "nice"
    assert marks.praise(parse("recommend(name=x)"), [*HERE, "great"]) == ""
    assert marks.praise(parse("opine(name=x)"), HERE) == ""
    assert marks.praise(parse("inform(name=x)"), HERE) == ""
    assert marks.praise(parse("recommend(name=x)&inform(name=x)"), HERE) == ""
