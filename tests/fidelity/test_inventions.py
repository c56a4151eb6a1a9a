"""Invented values: values of other acts put into people's sentences are found, and people's own words are not."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from dactnlg.acts import Slot, parse
from dactnlg.data.corpus import Corpus
from dactnlg.fidelity.amounts import amounts_otherwise, numbers_of, stray_numbers
from dactnlg.fidelity.inventions import Inventions, learn_told
from dactnlg.fidelity.samples import known_values
from dactnlg.text.values.delexicalization import Delexicalizer

VALUES = {
    "name": ["red kite ridge", "red kite", "the old mill", *(f"path {n} east" for n in range(20))],
    "difficulty": ["easy", "very hard"],
    "length": ["7 km", "12"],
    "area": ["hills or north valley"],
    "phone": ["0555 310 402"],
}


@pytest.mark.parametrize(
    ("act", "sentence", "invented"),
    [
        ("inform(name='Red Kite')", "Red Kite is 7 km long.", ["length='7 km'"]),
        ("inform(name='Red Kite';length='7 km')", "Red Kite is 7 km long.", []),
        ("inform(name='Red Kite')", "Red Kite Ridge is near.", ["name='red kite ridge'"]),
        ("inform(name='Red Kite Ridge')", "Red Kite Ridge is near.", []),
        ("inform(name='Red Kite Ridge')", "The Red Kite is near.", []),
        ("inform(name='Red Kite')", "Red Kite is near the Old Mill; call 0555 310 402.", ["old mill", "0555 310 402"]),
        ("inform(name='Old Mill')", "The Old Mill is near.", []),
        # These words may mean something else.
        ("inform(name='Red Kite')", "Red Kite is easy to find, very hard to miss, and one of 12 paths.", []),
        ("inform(name='Red Kite')", "Red Kite is in the hills or north valley.", []),
    ],
)
def test_telling_values_are_found(act: str, sentence: str, invented: list[str]) -> None:
    found = [str(slot) for slot in Inventions(VALUES).invented(parse(act), sentence)]
    assert len(found) == len(invented)
    assert all(part in name for part, name in zip(invented, found, strict=True))


@pytest.mark.parametrize(
    ("act", "text", "found"),
    [
        ("inform(rating=low)", "a low rating is 5", ["5"]),
        ("inform(rating='5 out of 5')", "it has 5 of 5 stars", []),
        ("inform(price='£20-25')", "it costs £ 20 ￭-￭ 30", ["30"]),
        ("inform(name='red kite')", "SLOT_NAME#2 is one of 20 , or 20 to 30", ["20", "30"]),
        # 0 and 1 may count anything, and so may numbers of no value, or of acts without values.
        ("inform_no_match(name='red kite')", "there are 0 pubs , or 1 pub", []),
        ("inform(rating=low)", "a low rating is 7", []),
        ("ask_rating()", "how did you like it , from 1 to 5", []),
        ("?request(rating)", "how did you like it , from 1 to 5", []),
    ],
)
def test_numbers_are_those_of_the_act(act: str, text: str, found: list[str]) -> None:
    known = numbers_of({"rating": ["1 out of 5", "low"], "price": ["£20-25", "more than £30"], "count": ["0"]})
    assert known == {"5", "20", "25", "30"}
    assert stray_numbers(parse(act), text.split(), known) == found


@pytest.mark.parametrize("corpus", ["hotel", "laptop", "tv", "viggo", "trails"])
def test_people_invent_next_to_nothing_and_what_is_put_in_is_found(
    corpus: str, corpora: Callable[[str], Corpus]
) -> None:
    loaded, chance = corpora(corpus), random.Random(1)
    values: dict[str, list[str]] = {}
    for name, value in known_values(loaded.pairs("train")):
        values.setdefault(name, []).append(value)
    inventions, prepared = Inventions(values), loaded.style().checker().delexicalizer.prepared
    rows = [(prepared(turn), text) for turn, text in dict.fromkeys(loaded.pairs("test"))]
    assert sum(bool(inventions.invented(*row)) for row in rows) <= 0.002 * len(rows)
    telling = [
        Slot("name", value)
        for value in values["name"]
        if len(value.split()) > 1 and not {"or", "the", "a"} & {*value.split()}
    ]
    for turn, text in chance.sample(rows, 200):
        other = chance.choice(telling)
        if not any((other.value or "") in (slot.value or "").lower() for _, slot in turn.slots()):
            assert inventions.invented(turn, f"{text} , and {other.value}"), (turn, other)


def test_words_that_training_says_of_nothing_else_are_values() -> None:
    pairs = [(parse(f"inform(name='path {n}';difficulty=easy;area=hills)"), f"Path {n} is easy.") for n in range(20)]
    pairs += [(parse(f"inform(name='path {n}';area='the marsh')"), f"Path {n} is in the hills.") for n in range(20)]
    pairs += [(parse(f"inform(name='path {n}';count=12)"), f"Path {n} is good.") for n in range(20)]
    values = {"difficulty": ["easy", "hard"], "area": ["hills", "the marsh"], "count": ["12"], "type": ["good"]}
    told = learn_told(pairs, values)
    # "Hills" is said for other acts too, "hard" never, and 12 may count anything.
    assert told == {"difficulty": ["easy"], "area": ["the marsh"]}
    inventions = Inventions(values, told)
    assert inventions.invented(parse("inform(name=x)"), "X is easy, in a marsh.") == [
        Slot("difficulty", "easy"),
        Slot("area", "the marsh"),
    ]
    assert inventions.invented(parse("inform(name='Easy Path')"), "Easy Path is in the hills.") == []
    # A question may name the values to choose from.
    assert inventions.invented(parse("?request(difficulty)"), "Do you want an easy one?") == []
    asking = parse("inform(count=9)&?request(difficulty)")
    assert inventions.invented(asking, "There are 9. Do you want an easy one?") == []
    assert inventions.invented(asking, "There are 9 in a marsh. Do you want an easy one?") == [
        Slot("area", "the marsh")
    ]


@pytest.mark.parametrize(
    ("act", "text", "invented"),
    [
        ("inform(name='Red Kite')", "SLOT_NAME is 7 km long", ["length='7 km'"]),
        # The length has a placeholder: in words it is another path's.
        ("inform(name='Red Kite';length='7 km')", "SLOT_NAME is SLOT_LENGTH long , 7 km", ["length='7 km'"]),
        ("inform(name='Red Kite';length='7 km')", "SLOT_NAME is SLOT_LENGTH long", []),
    ],
)
def test_values_without_placeholder_are_found_in_templates(act: str, text: str, invented: list[str]) -> None:
    turn = parse(act)
    found = Inventions(VALUES).invented_in(turn, text.split(), Delexicalizer().required(turn))
    assert [str(slot) for slot in found] == invented


@pytest.mark.parametrize(("corpus", "added"), [("restaurants", "it is cheap"), ("hotel", "it is near japantown")])
def test_a_value_that_is_added_is_extra(corpus: str, added: str, corpora: Callable[[str], Corpus]) -> None:
    loaded = corpora(corpus)
    pairs = list(dict.fromkeys(loaded.pairs("train")))
    values: dict[str, list[str]] = {}
    for name, value in known_values(pairs):
        values.setdefault(name, []).append(value)
    inventions = Inventions(values, learn_told(pairs, values))
    act = parse("inform(name='red door';phone=4152828283)")
    assert not inventions.invented(act, "red door has the phone number 4152828283")
    assert inventions.invented(act, f"red door has the phone number 4152828283 . {added}")
    prepared = loaded.style().checker().delexicalizer.prepared
    rows = [(prepared(turn), text) for turn, text in dict.fromkeys(loaded.pairs("test"))]
    assert sum(bool(inventions.invented(*row)) for row in rows) <= 0.003 * len(rows)


@pytest.mark.parametrize(
    ("value", "text", "otherwise"),
    [
        ("more than £30", "it costs more than £￭ 40", True),
        ("more than £30", "it costs less than £￭ 30", True),
        ("more than £30", "it costs over 30 pounds", False),
        ("less than £20", "it is under £￭ 20", False),
        ("less than £20", "it is more than about £￭ 20", True),
        ("1 out of 5", "it is rated 2 out of 5", True),
        ("1 out of 5", "it has one star", False),
        ("£20-25", "from £￭ 20 to £￭ 25 , and more", False),
        ("high", "it costs £￭ 40", False),
        # The rating is told in other words as well.
        ("less than £20", "a low-priced pub with 1 star", False),
    ],
)
def test_amounts_are_those_of_the_act(value: str, text: str, otherwise: bool) -> None:
    turn = parse(f"inform(name='SLOT_7';price='{value}';rating=low)")
    known = {"rating": ["low", "1 out of 5"], "price": ["less than £20"]}
    assert amounts_otherwise(turn, turn.acts[0].slots[1], text.split(), known) == otherwise
