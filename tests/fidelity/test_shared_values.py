"""Values in words that two slots share: "high" is a price and a rating."""

from __future__ import annotations

from itertools import product

import pytest

from dactnlg import parse
from dactnlg.acts import Turn
from dactnlg.fidelity.checker import FidelityChecker
from dactnlg.fidelity.learning import learn_reader
from dactnlg.text.slots import SlotChecker
from dactnlg.text.style import Style

PRICES, RATINGS = ("cheap", "moderate", "high"), ("low", "average", "high")
BOTH = "inform(name=Zizzi;price={};rating={})"
WORDINGS = (
    "Zizzi is a {0} priced place with a {1} rating.",
    "Zizzi has a {1} rating and {0} prices.",
    "The rating of Zizzi is {1}. It has {0} prices.",
    "Zizzi is rated {1}. Its price range is {0}.",
)
ALONE = {
    "inform(name=Zizzi;price={})": (
        "Zizzi is a {} priced place.",
        "Zizzi has {} prices.",
        "The price range of Zizzi is {}.",
    ),
    "inform(name=Zizzi;rating={})": ("Zizzi has a {} rating.", "Zizzi is rated {}.", "The rating of Zizzi is {}."),
}


def pairs() -> list[tuple[Turn, str]]:
    found = [(BOTH.format(*values), text.format(*values)) for values in product(PRICES, RATINGS) for text in WORDINGS]
    for (act, texts), values in zip(ALONE.items(), (PRICES, RATINGS), strict=True):
        found += [(act.format(value), text.format(value)) for value in values for text in texts]
    return [(parse(act), text) for act, text in found]


def checker(**cues: dict[str, list[str]]) -> SlotChecker:
    """Return a checker of slots in words; cues are of the price `high`."""
    closed = {"price": list(PRICES), "rating": list(RATINGS)}
    return Style(cased=True, spaced=False, aliases={}, cues=cues, silent=(), lexicalized=closed).checker()


@pytest.fixture(scope="module")
def learned() -> FidelityChecker:
    own = checker()
    return FidelityChecker(own, learn_reader(pairs(), pairs()[::3], own))


@pytest.mark.parametrize(("turn", "sentence"), pairs())
def test_the_value_of_the_other_slot_is_not_invented(turn: Turn, sentence: str, learned: FidelityChecker) -> None:
    assert checker().check(turn, sentence).ok
    assert learned.check(turn, sentence).ok


@pytest.mark.parametrize(
    ("act", "sentence", "missing", "extra"),
    [
        ("price=cheap;rating=high", "Zizzi has high prices. Its price range is cheap.", "rating=high", "price=high"),
        ("price=high;rating=low", "Zizzi is rated low. It has a high rating.", "price=high", "rating=high"),
        ("price=high", "Zizzi has a high rating.", "price=high", "rating=high"),
        ("rating=high", "Zizzi is a high priced place.", "rating=high", "price=high"),
    ],
)
def test_the_reader_tells_of_which_slot_it_is(
    act: str, sentence: str, missing: str, extra: str, learned: FidelityChecker
) -> None:
    found = learned.check(parse(f"inform(name=Zizzi;{act})"), sentence)
    assert (found.missing, found.extra) == ((missing,), (extra,))


def test_the_word_alone_still_invents_one_of_the_two(learned: FidelityChecker) -> None:
    turn = parse("inform(name=Zizzi;price=cheap;rating=low)")
    found = learned.check(turn, "Zizzi has a low rating and cheap prices. It is of high quality.")
    assert set(found.extra) & {"price=high", "rating=high"}


def test_cues_of_its_own_tell_a_value_apart() -> None:
    own = checker(price={"high": ["high priced?|high prices"]})
    assert not own.delexicalizer.shared
    turn = parse("inform(name=Zizzi;rating=high)")
    assert own.check(turn, "Zizzi has a high rating.").ok
    assert own.check(turn, "Zizzi has a high rating and high prices.").cues.extra == ("price=high",)
