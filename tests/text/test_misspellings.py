"""Misspellings: rare words beside a frequent one that is nearly equal."""

from __future__ import annotations

import random

import pytest
from nltk.metrics.distance import edit_distance

from dactnlg.text.grammar.misspellings import APART, LONG, RARE, USUAL, joined, misspellings

USUAL_WORDS = ("consumption", "information", "any", "price", "laptop", "SLOT_NAME")


@pytest.mark.parametrize(
    ("word", "wrong"),
    [
        ("cumsumption", True),
        ("informaton", True),
        ("infromation", True),
        ("nay", True),
        ("pirce", True),
        ("prices", False),
        ("pricey", False),
        ("rice", False),
        ("place", False),
        ("planet", False),
        ("conception", False),
        ("mountain", False),
        ("SLOT_NAMES", False),
    ],
)
def test_rare_words_nearly_equal_to_a_frequent_one_are_misspelt(word: str, wrong: bool) -> None:
    counts = dict.fromkeys(USUAL_WORDS, USUAL) | {word: RARE}
    assert misspellings(counts) == ({word} if wrong else set())


def test_what_is_not_rare_or_not_usual_is_right() -> None:
    assert misspellings({"price": USUAL, "pirce": RARE + 1}) == set()
    assert misspellings({"price": USUAL - 1, "pirce": RARE}) == set()


def test_no_word_far_from_all_usual_ones_is_found() -> None:
    chance = random.Random(1)
    letters = "abcde"
    usual = ["".join(chance.choices(letters, k=chance.randint(3, 11))) for _ in range(40)]
    rare = {"".join(chance.choices(letters, k=chance.randint(3, 11))) for _ in range(400)} - set(usual)
    found = misspellings(dict.fromkeys(usual, USUAL) | dict.fromkeys(rare, 1))
    assert found
    for word in found:
        most = 2 * (2 if len(word) >= LONG else 1)
        assert min(edit_distance(word, other) for other in usual) <= most
    # A word with another letter in its place is found.
    for other in usual:
        changed = other[:1] + ("x" if other[1] != "x" else "y") + other[2:]
        assert misspellings({other: USUAL, changed: 1}) == {changed}


def test_two_words_that_are_usual_apart_are_wrong_as_one() -> None:
    pairs = {("eco", "rating"): USUAL, ("with", "in"): USUAL - 1, ("SLOT_A", "b"): USUAL, ("price", "range"): USUAL}
    counts = {"ecorating": USUAL // APART, "within": 1, "pricerange": 0}
    assert joined(counts, pairs) == {"ecorating": ("eco", "rating")}
    assert joined(counts | {"ecorating": USUAL // APART + 1}, pairs) == {}
