"""Articles of values: put in where training nearly always has one, taken out where it hardly ever has."""

from __future__ import annotations

import pytest

from dactnlg.text.grammar.articles import LEAST, learned_articles, with_articles

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
        # Of several things, where training has both, where it has too few, and where something else stands before.
        ("pubs with SLOT_RATING rating -s", ""),
        ("pubs with SLOT_RATING rating levels and beer", ""),
        ("it has SLOT_VIEW view", ""),
        ("it has SLOT_RARE roof", ""),
        ("a pub of SLOT_RATING rating", ""),
        # Values of one slot are alike.
        ("a pub with SLOT_RATING#2 rating", "a pub with a SLOT_RATING#2 rating"),
    ],
)
def test_articles_are_those_of_training(said: str, better: str) -> None:
    usual = learned_articles(TRAINING)
    assert with_articles(tuple(said.split()), usual) == tuple((better or said).split())
    assert all(with_articles(tuple(text), usual) == tuple(text) for text in TRAINING)
