"""Values in plain English: what expresses a value, what does not, and how the words beside a value follow it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dactnlg.acts import parse
from dactnlg.text.slots import SlotChecker
from dactnlg.text.values.casing import Casing
from dactnlg.text.values.delexicalization import Delexicalizer
from dactnlg.text.values.edges import Edges
from dactnlg.text.values.joins import find_edits, find_joints, refit
from dactnlg.text.values.numerals import ONES, clock_apart, in_words, number_in_words
from dactnlg.text.values.realization import Value

CHECKER = SlotChecker(Delexicalizer())


@pytest.mark.parametrize(
    ("act", "sentence"),
    [
        ("inform(airline=KLM)", "KLM's flight leaves."),
        ("inform(airline=KLM)", "KLM’s flight leaves."),
        ("inform(name='The Eagle')", "The Eagle's food is good."),
        ("inform(airline='British Airways')", "British Airways' flight leaves."),
        ("inform(stops=2)", "It makes two stops."),
        ("inform(stops=2)", "It is a two-stop flight."),
        ("inform(stops=two)", "It makes 2 stops."),
        ("inform(stops=1)", "It makes a single stop."),
        ("inform(stops=1)", "No one of the best makes one stop."),
        ("inform(stops=0)", "It makes no stops."),
        ("inform(brightness=42)", "It is at forty-two percent."),
        ("inform(luggage='2 bags')", "You may have two bags."),
        ("inform(stops=2;bags=2)", "It makes two stops, with two bags."),
        ("inform(stops=2;departs='2pm')", "It leaves at 2 p.m. and makes two stops."),
        ("inform(departs='7:05am')", "It leaves at 7:05 am."),
        ("inform(departs='7:05am')", "It leaves at 7.05 a.m."),
        ("inform(departs='7:05am')", "It leaves at 07:05."),
        ("inform(departs='19:05')", "It leaves at 7:05 pm."),
        ("inform(departs='7:00 PM')", "It leaves at 7pm."),
        ("inform(price=1200)", "It is 1,200."),
        ("inform(price=1200)", "It is $1,200."),
        ("inform(price='$1,200')", "It is 1200 dollars."),
        ("inform(price='$1,200')", "It is $1200.00."),
        ("inform(price='$1,200')", "It is 1200."),
        ("inform(price='40 pounds')", "It is £40."),
    ],
)
def test_a_value_in_plain_english_is_found(act: str, sentence: str) -> None:
    turn = parse(act)
    assert CHECKER.check(turn, sentence).ok
    assert CHECKER.delexicalizer.delexicalize(turn, sentence).raw == sentence


@pytest.mark.parametrize(
    ("act", "sentence"),
    [
        ("inform(stops=2)", "It leaves at 2:30 with 12 stops."),
        ("inform(stops=2)", "It leaves at 2 pm."),
        ("inform(stops=2)", "It makes twenty-two stops."),
        ("inform(stops=20)", "It makes twenty-two stops."),
        ("inform(stops=2)", "There are two hundred."),
        ("inform(stops=2)", "Two of the best are here."),
        ("inform(stops=1)", "No one likes it, one of the best, this one is the one."),
        ("inform(stops=1)", "It is a one-way flight."),
        ("inform(stops=0)", "There is no meal."),
        ("inform(stops=2;bags=1)", "It takes two bags, one stop."),
        ("inform(departs='7:05am')", "It leaves at 7:05 pm."),
        ("inform(departs='7:05am')", "It leaves at 17:05 a.m."),
        ("inform(price='$1,200')", "It is $11,200."),
        ("inform(price='$1,200')", "It is $1,200,000."),
        ("inform(price='$1,200')", "It is 1200 euros and 120 dollars.".replace("1200 euros", "1201")),
        ("inform(airline=KLM)", "KLMs's flight."),
    ],
)
def test_what_only_looks_like_a_value_is_not_found(act: str, sentence: str) -> None:
    assert CHECKER.check(parse(act), sentence).missing


def test_a_value_said_twice_is_extra() -> None:
    turn = parse("inform(stops=2)")
    assert CHECKER.check(turn, "It makes 2 stops, yes two stops.").extra == ("stops=2",)
    assert CHECKER.check(turn, "It makes two stops; two stops.").extra == ("stops=2",)
    # Other words of numbers are words.
    assert CHECKER.check(turn, "The two of us make 2 stops.").ok


@given(st.integers(0, 100), st.integers(0, 100))
def test_one_number_is_never_another(said: int, meant: int) -> None:
    words = next(number_in_words(str(said)))
    report = CHECKER.check(parse(f"inform(rooms={meant})"), f"It has {words} rooms.")
    assert report.ok == (said == meant)


@given(st.integers(1, 12), st.integers(0, 59), st.sampled_from("ap"), st.integers(0, 23), st.integers(0, 59))
def test_times_are_those_of_the_clock(hour: int, minute: int, half: str, other_hour: int, other: int) -> None:
    same = (hour % 12 + 12 * (half == "p"), minute) == (other_hour, other)
    report = CHECKER.check(parse(f"inform(at='{hour}:{minute:02}{half}m')"), f"It is {other_hour:02}:{other:02}, then.")
    assert report.ok == same


KNOWN = {"stop", "stops", "bag", "bags"}


@pytest.mark.parametrize(
    ("parts", "values", "text"),
    [
        (("It has ", " stops."), ["a single"], "It has a single stop."),
        (("It has ", " stop."), ["two"], "It has two stops."),
        (("There is ", " bag."), ["three"], "There are three bags."),
        (("", "'s flight"), ["SAS"], "SAS' flight"),
        (("", "' flight"), ["KLM"], "KLM's flight"),
        (("", "’ flight"), ["SAS"], "SAS’ flight"),
        (("the '", "' room"), ["blue"], "the 'blue' room"),
    ],
)
def test_the_words_beside_a_value_follow_it(parts: tuple[str, ...], values: list[str], text: str) -> None:
    edits = find_edits(find_joints(parts, KNOWN), [Edges.of(value) for value in values])
    fitted = refit(parts, edits) if edits else parts
    assert "".join(a + b for a, b in zip(fitted, [*values, ""], strict=True)) == text


def test_amounts_and_accented_words_have_the_right_article() -> None:
    assert Value.of("$800", "$800").an and Value.of("£11", "£11").an
    assert not Value.of("$900", "$900").an
    assert Value.of("écru", "écru").an and Value.of("Über", "Über").an and not Value.of("çeliker", "çeliker").an


def test_values_are_said_as_most_sentences_say_them() -> None:
    delexicalizer = Delexicalizer()
    pairs = [
        ("inform(stops=2;departs='7:05am')", "Two stops, at 7:05 am."),
        ("inform(stops=3;departs='9:10pm')", "It has three stops at 9:10 pm."),
        ("inform(stops=1;departs='6:20pm')", "It has one stop at 6:20 p.m."),
    ]
    turns = [(parse(act), sentence) for act, sentence in pairs]
    rows = [(delexicalizer.required(turn), delexicalizer.delexicalize(turn, text)) for turn, text in turns]
    casing = Casing.learn(rows)
    assert casing.value("stops", "2") == "two"
    assert casing.value("departs", "6:20pm") == "6:20 p.m."
    # Those that training does not have follow the others.
    assert casing.value("stops", "4") == "four"
    assert casing.value("departs", "8:45am") == "8:45 am"


def test_forms_leave_other_values_alone() -> None:
    assert [in_words(value) for value in ("7", "007", "21", "KLM", "1.5")] == ["seven", "007", "21", "KLM", "1.5"]
    assert [clock_apart(value) for value in ("7:05AM", "7 bar", "x")] == ["7:05AM", "7 bar", "x"]
    assert len(set(ONES)) == 20
