"""Joins: beside a value only the template's words change, and none stands there twice."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dactnlg.text.grammar.plurals import ONE
from dactnlg.text.questions import with_question_marks
from dactnlg.text.values.edges import Edges
from dactnlg.text.values.joins import find_edits, find_joints, refit, undoubled
from dactnlg.text.values.realization import realize

_NOUNS = "port ports television televisions family families serve serves food foods inn inns movie movies bus buses"
KNOWN = frozenset(_NOUNS.split())


def joined(parts: list[str], values: list[str]) -> str:
    edits = find_edits(find_joints(parts, KNOWN), [Edges.of(value) for value in values])
    parts = list(refit(parts, edits))
    return "".join(part + value for part, value in zip(parts, [*values, ""], strict=True))


@pytest.mark.parametrize(
    ("template", "values", "sentence"),
    [
        # An article before a value that begins with one, but not before a grade.
        ("the _ is near a _ .", ["The Opal", "the park"], "The Opal is near the park ."),
        ("it has an _ rating", ["a"], "it has an a rating"),
        ("it has an _ rating", ["a+"], "it has an a+ rating"),
        ("the _", ["The"], "the The"),
        ("the _", ["Thebes inn"], "the Thebes inn"),
        # A noun behind a value that ends with it, singular or plural, and a word before a value that begins with it.
        ("it serves _ food .", ["sea food"], "it serves sea food ."),
        ("it serves _ food .", ["burgers"], "it serves burgers ."),
        ("it serves _ food .", ["seafood"], "it serves seafood ."),
        ("it serves _ food .", ["swiss"], "it serves swiss food ."),
        ("in the _ weight range", ["light weight"], "in the light weight range"),
        ("the _ inn -s", ["Opal Inn"], "the Opal Inn -s"),
        ("_ inns are here", ["inn"], "inns are here"),
        ("_ inn is here", ["inns"], "inns is here"),
        ("has a remote _ .", ["remote control"], "has a remote control ."),
        ("_ food _", ["sea food", "food hall"], "sea food food hall"),
        # What a value is part of, if the value says so itself.
        ("in the _ of town .", ["old town"], "in the old town ."),
        ("in the _ of town and near _", ["north of the river", "a park"], "in the north of the river and near a park"),
        ("in the _ of town .", ["north"], "in the north of town ."),
        ("_ of town", ["House of Thai"], "House of Thai of town"),
        # Nothing else goes: parts of words, other words, words behind a mark, function words, repetitions in a name.
        ("_ foodstuff", ["sea food"], "sea food foodstuff"),
        ("_ , food", ["sea food"], "sea food , food"),
        ("sea-_", ["sea food"], "sea-sea food"),
        ("it is in _ in town", ["where to dine in"], "it is in where to dine in in town"),
        ("_ is by _ .", ["Duran Duran", "The The"], "Duran Duran is by The The ."),
        ('the "_" the', ["The The"], 'the "The The" the'),
        ("2 _ 2", ["2"], "2 2 2"),
        # Counts with their nouns and verbs.
        ("there are _ inns .", ["1"], "there is 1 inn ."),
        ("there are _ _ port _ -s in town", ["6", "big", "hub"], "there are 6 big port hub -s in town"),
        ("there are _ movies , but it has _ Buses .", ["1", "one"], "there is 1 movie , but it has one Bus ."),
        ("there are only _ _ -s that serve food", ["1", "inn"], "there is only 1 inn that serves food"),
        ("there are _ _s in town", ["1", "inn"], "there is 1 inn in town"),
        ("there is _ inn which has food", ["30"], "there are 30 inns which have food"),
        ("it has _ hdmi ports and _ usb port .", ["1", "2"], "it has 1 hdmi port and 2 usb ports ."),
        ("it has _ ports", ["3"], "it has 3 ports"),
        ("it is _ port wide", ["2"], "it is 2 port wide"),
        # One noun of several.
        ("it has _ and _ ports", ["4", "1"], "it has 4 and 1 ports"),
        ("it has _ and _ ports", ["stereo", "1"], "it has stereo and 1 port"),
        ("it has _ , _ ports", ["4", "1"], "it has 4 , 1 port"),
        ("_ families are here", ["one"], "one family is here"),
        ("all inns with _ ports are here", ["1"], "all inns with 1 port are here"),
        ("all inns with food and _ ports are here", ["1"], "all inns with food and 1 port are here"),
        ("there are inns and _ ports are here", ["1"], "there are inns and 1 port is here"),
        ("out in _ port", ["2019"], "out in 2019 port"),
        # Owners, whatever stands behind them.
        ("like _' games", ["Square"], "like Square's games"),
        ("like _' _ games", ["Square", "Xbox"], "like Square's Xbox games"),
        ("like _'s _ games", ["4A Games", "Xbox"], "like 4A Games' Xbox games"),
        ("'the _' _", ["Square", "Xbox"], "'the Square' Xbox"),
        # Years and days.
        ("it came out on _ .", ["2019"], "it came out in 2019 ."),
        ("In _ and on _ .", ["May 3, 2019", "May 3rd"], "On May 3, 2019 and on May 3rd ."),
        ("it is in _ .", ["May"], "it is in May ."),
        ("it is on _ .", ["2019 Mission Street"], "it is on 2019 Mission Street ."),
        ("it is _ serves", ["cheap"], "it is cheap serves"),
        # Superlatives, and several things.
        ("played any _ games lately ?", ["funniest"], "played the funniest games lately ?"),
        ("what is the most _ game ?", ["oldest"], "what is the oldest game ?"),
        ("what is the most _ game ?", ["annoying"], "what is the most annoying game ?"),
        ("the most _ ones are old", ["best"], "the best ones are old"),
        ("the least _ ones are old", ["best"], "the least best ones are old"),
        ("what's a _ game ?", ["most confusing"], "what's the most confusing game ?"),
        ("Any _ games ?", ["best"], "The best games ?"),
        ("any _ games ?", ["honest"], "any honest games ?"),
        ("near a _ .", ["forest"], "near a forest ."),
        ("comes with a _ .", ["3d glasses and European warranty"], "comes with 3d glasses and European warranty ."),
        ("comes with a _ .", ["remote control and 3d glasses"], "comes with a remote control and 3d glasses ."),
        ("comes with a _ and a _", ["headphones", "3d glasses"], "comes with headphones and 3d glasses"),
        ("it is a _ family", ["headphones"], "it is a headphones family"),
        ("it is a _ _ .", ["1300 dollars", "television"], "it is a 1300 dollars television ."),
        ("played any _ _ ?", ["newest", "games"], "played the newest games ?"),
        ("with a _ .", ["bus"], "with a bus ."),
        ("with a _ .", ["tv series"], "with a tv series ."),
        ("like a _ .", ["Cambridge Blues"], "like a Cambridge Blues ."),
    ],
)
def test_words_beside_a_value_are_made_to_fit(template: str, values: list[str], sentence: str) -> None:
    assert joined(template.split("_"), values) == sentence


_TEMPLATE, _VALUE = "a the an food sea inns near in , . serves range -s", "the The food Foods sea inn range a in x1 ."
WORDS = st.sampled_from(_TEMPLATE.split())
PARTS = st.lists(WORDS, max_size=4).map(lambda words: " ".join(["", *words, ""]))
VALUES = st.lists(st.sampled_from(_VALUE.split()), min_size=1, max_size=3)


@settings(max_examples=400)
@given(st.lists(PARTS, min_size=2, max_size=4), st.data())
@example([" the ", " food "], None)
def test_only_words_of_a_value_are_removed_and_none_stays_twice(parts: list[str], data: st.DataObject | None) -> None:
    parts = list(undoubled(parts))
    drawn = [data.draw(VALUES) if data else ["the", "sea", "food"] for _ in parts[1:]]
    values = [" ".join(words) for words in drawn]
    edits = find_edits(find_joints(parts, KNOWN), [Edges.of(value) for value in values])
    after = refit(parts, edits)
    assert len(after) == len(parts)
    for old, new in zip(parts, after, strict=True):
        kept = iter(old.split())
        # The rest stays in its order; of a word, a plural's "s" may stay.
        assert all(word in kept for word in new.split() if word not in ("s", "es"))
        assert new.startswith(" ") or new[:1] in ("s", "")
    for words, before, behind in zip(drawn, after, after[1:], strict=False):
        nearest = before.split()[-1:] if before.endswith(" ") else []
        if len(words) > 1 and words[0].casefold() in ("the", "a") and words[1].isalpha() and words[1] != "in":
            assert nearest not in (["a"], ["the"], ["an"])
        if words[-1] in ("food", "Foods", "inn", "range"):
            assert behind.split()[:1] not in ([words[-1].casefold()], [words[-1].casefold() + "s"])
    if not edits:
        assert list(after) == parts


@pytest.mark.parametrize(
    ("raw", "once"),
    {
        "there there are no hotels in the the area area .": "there are no hotels in the area .",
        "it is a an": "it is a an",
        "it is a an x": "it is an x",
        "do you like for example for example for example mac": "do you like for example mac",
        "bye bye , it is very very good": "bye bye , it is very very good",
        "Duran Duran plays": "Duran Duran plays",
        "Do do you": "Do you",
        "no no-one , one , one": "no no-one , one , one",
        "a the-the": "a the-the",
    }.items(),
)
def test_words_of_a_template_stand_once(raw: str, once: str) -> None:
    assert undoubled([raw]) == (once,)
    assert undoubled(undoubled([raw])) == (once,)


def test_counts_are_small_whole_numbers() -> None:
    assert Edges.of("1").number == Edges.of("One").number == ONE
    assert [Edges.of(value).number for value in ("2019", "1.5", "1 inch", "x", "")] == [0] * 5


@pytest.mark.parametrize(
    ("text", "asked"),
    {
        "Would you prefer thai food. It is cheap.": "Would you prefer thai food? It is cheap.",
        "What area are you looking for.": "What area are you looking for?",
        "Sorry, would you like it. Do you.": "Sorry, would you like it? Do you?",
        "What a view. It is what you would like.": "What a view. It is what you would like.",
        "Let me confirm, would you like it.": "Let me confirm, would you like it.",
        "Are you near 1.5 km.": "Are you near 1.5 km.",
        "What about the Opal. It is cheap.": "What about the Opal? It is cheap.",
        "Which size? Very small, medium, or large.": "Which size? Very small, medium, or large?",
        "Which size? It is small, medium, or large.": "Which size? It is small, medium, or large.",
        "Small, medium, or large.": "Small, medium, or large.",
    }.items(),
)
def test_what_asks_by_its_word_order_ends_with_a_question_mark(text: str, asked: str) -> None:
    assert with_question_marks(text) == asked


def test_an_act_that_asks_is_asked_once() -> None:
    assert realize("would you like thai food ? the price is 10", question=True).endswith("10.")
    assert realize("do you want lunch . a place for any meal", question=True).endswith("meal.")
    assert realize("let me confirm you want lunch , right", question=True).endswith("right?")
    assert realize("let me confirm you are right", question=True).endswith("right.")
    assert realize("a place for any meal , right", question=True).endswith("right?")
    careless, asked = "you do not care about the area", "did you say lunch"
    assert realize(f"{careless} . {asked}", question=True) == "You do not care about the area? Did you say lunch?"
    assert (
        realize(f"{asked} . sorry , {careless}", question=True)
        == "Did you say lunch? Sorry, you do not care about the area?"
    )
    assert realize(f"{careless} . {asked}") == "You do not care about the area. Did you say lunch?"
    assert realize(f"{asked} . let me confirm {careless}", question=True).endswith("area.")
