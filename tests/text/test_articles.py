"""Articles of values: put in where training nearly always has one, taken out where it hardly ever has."""

from __future__ import annotations

import pytest

from dactnlg.text.grammar.articles import (
    LEAST,
    definite_nouns,
    learned_articles,
    with_articles,
    with_the,
)

TIMES = {
    "it is a pub with a SLOT_RATING rating": LEAST,
    "it has SLOT_MEMORY of memory and is in the SLOT_PRICE range": LEAST,
    "it has a SLOT_VIEW view": LEAST,
    "it has SLOT_VIEW view": LEAST,
    "it has a SLOT_RARE roof": LEAST - 1,
}
TRAINING = [text.split() for text, times in TIMES.items() for _ in range(times)]


@pytest.mark.parametrize(
    ("said", "better"),
    [
        ("a pub with SLOT_RATING rating", "a pub with a SLOT_RATING rating"),
        ("a pub with the SLOT_RATING rating", ""),
        ("it has a SLOT_MEMORY of memory", "it has SLOT_MEMORY of memory"),
        (
            "it is in SLOT_PRICE range with SLOT_RATING rating",
            "it is in the SLOT_PRICE range with a SLOT_RATING rating",
        ),
        # Several things; training has both; training has too few; another word stands before.
        ("pubs with SLOT_RATING rating -s", ""),
        ("pubs with SLOT_RATING rating levels and beer", ""),
        ("it has SLOT_VIEW view", ""),
        ("it has SLOT_RARE roof", ""),
        ("a pub of SLOT_RATING rating", ""),
        # Further things in a list are like the first; other phrases between them are not.
        ("a pub with beer , SLOT_RATING rating and wine", "a pub with beer , a SLOT_RATING rating and wine"),
        ("it has beer and a SLOT_MEMORY of memory", "it has beer and SLOT_MEMORY of memory"),
        ("a pub with beer for you and SLOT_RATING rating", ""),
        ("it serves beer and SLOT_RATING rating", ""),
        ("a pub with a SLOT_RATING and SLOT_RATING#2 rating", ""),
        # A second value of a slot has the article of the first.
        ("a pub with SLOT_RATING#2 rating", "a pub with a SLOT_RATING#2 rating"),
    ],
)
def test_articles_are_those_of_training(said: str, better: str) -> None:
    usual = learned_articles(TRAINING)
    assert with_articles(tuple(said.split()), usual) == tuple((better or said).split())
    assert all(with_articles(tuple(text), usual) == tuple(text) for text in TRAINING)


@pytest.mark.parametrize(
    ("said", "better"),
    [
        ("you do not care about area ?", "you do not care about the area ?"),
        ("if you do not care about area , food or dogs", "if you do not care about the area , food or dogs"),
        ("tell me about area codes", ""),
        ("you do not care about the area", ""),
        ("you do not care about dogs", ""),
        ("the area", ""),
        ("about SLOT_NAME", ""),
    ],
)
def test_what_one_talks_about_has_the_article_that_training_has(said: str, better: str) -> None:
    runs = {
        ("about", "the", "area"): 3,
        ("about", "area", "and"): 2,
        ("about", "the", "dogs"): 1,
        ("about", "dogs", "too"): 1,
        ("about", "the", "SLOT_NAME"): 2,
        ("near", "the", "park"): 5,
    }
    nouns = definite_nouns(runs)
    assert nouns == {"area"}
    assert " ".join(with_the(tuple(said.split()), nouns)) == (better or said)
