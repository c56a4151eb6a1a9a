"""Which thing a value belongs to in a comparison: gold sentences, the same with values exchanged, and other acts."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from dactnlg.acts import parse
from dactnlg.data.corpus import Corpus
from dactnlg.text.owners import compared, exchanged, left_open, owners
from dactnlg.text.placeholders import Required, required_slots

TWO = "?compare(name='ivy';price=9;view=sea;name='oak';price=7;view=hills)"


def _sentences(corpus: Corpus) -> Iterator[tuple[tuple[Required, ...], tuple[str, ...]]]:
    """Yield people's sentences for comparisons, delexicalised."""
    delexicalizer = corpus.style().checker().delexicalizer
    for split in corpus.splits:
        for turn, text in corpus.pairs(split):
            done = delexicalizer.delexicalize(turn, text)
            if not done.missing and compared(delexicalizer.prepared(turn)):
                yield delexicalizer.required(turn), done.tokens


@pytest.mark.parametrize(("corpus", "least"), [("laptop", 300), ("tv", 90), ("trails", 200)])
def test_people_hardly_ever_exchange_values_and_exchanged_ones_are_found(
    corpus: str, least: int, corpora: Callable[[str], Corpus]
) -> None:
    said = list(_sentences(corpora(corpus)))
    alarms = [bool(list(exchanged(*each))) for each in said]
    found = []
    for required, tokens in (each for each, alarm in zip(said, alarms, strict=True) if not alarm):
        owned = owners(required)
        for placeholder in [p for p in owned if p.endswith("#2") and p.removesuffix("#2") in owned]:
            swap = {placeholder: placeholder.removesuffix("#2"), placeholder.removesuffix("#2"): placeholder}
            found.append(bool(list(exchanged(required, [swap.get(token, token) for token in tokens]))))
    assert len(said) >= least
    # Four of tv's 126 and three of laptop's 363 are people's own mistakes; one of tv's has a semicolon within a thing.
    assert sum(alarms) <= 0.04 * len(said)
    assert len(found) >= least
    assert sum(found) >= 0.95 * len(found)


@pytest.mark.parametrize(
    "act",
    [
        "inform(name=ivy;price=9)",
        "inform(name=ivy;name=oak)",
        "?select(food=thai;food=greek;area=west;area=east)",
        "inform(food=thai;food=greek;area=west)",
        "?select(area=west;food=thai;area=dontcare;food=dontcare)",
        "offer(name=ivy)&inform(area=west)&inform(area=east)",
    ],
)
def test_acts_without_things_that_are_compared_have_no_owners(act: str) -> None:
    assert not owners(required_slots(parse(act)))
    assert not compared(parse(act))


def test_what_stands_before_the_first_name_is_said_of_the_first_thing() -> None:
    first, second = compared(parse("?compare(view=sea;name=ivy;price=9;name=oak;price=7;wet=yes)"))
    assert [str(slot) for slot in first.slots] == ["view=sea", "price=9"]
    assert [str(slot) for slot in second.slots] == ["price=7", "wet=yes"]


@pytest.mark.parametrize("act_type", ["compare", "?compare", "inform_compare"])
def test_values_behind_all_names_are_in_the_order_of_the_names(act_type: str) -> None:
    grouped = parse(f"{act_type}(name=ivy;name=oak;wet=yes;price=9;price=7;wet=no)")
    assert compared(grouped) == compared(parse(f"{act_type}(name=ivy;wet=yes;price=9;name=oak;price=7;wet=no)"))
    assert owners(required_slots(grouped)) == {"SLOT_PRICE": "SLOT_NAME", "SLOT_PRICE#2": "SLOT_NAME#2"}
    # Nothing tells whose a single price is.
    assert not compared(parse(f"{act_type}(name=ivy;name=oak;wet=yes;price=9;wet=no)"))


def test_values_that_things_share_have_no_owner() -> None:
    assert owners(required_slots(parse("?compare(name=ivy;price=9;view=sea;name=oak;price=9;view=hills)"))) == {
        "SLOT_VIEW": "SLOT_NAME",
        "SLOT_VIEW#2": "SLOT_NAME#2",
    }


@pytest.mark.parametrize(
    ("sentence", "wrong"),
    [
        ("SLOT_NAME is SLOT_PRICE with SLOT_VIEW , SLOT_NAME#2 is SLOT_PRICE#2 with SLOT_VIEW#2 .", ""),
        (
            "SLOT_NAME is SLOT_PRICE , with SLOT_VIEW#2 ; SLOT_NAME#2 is SLOT_PRICE#2 with SLOT_VIEW .",
            "view=hills view=sea",
        ),
        ("the SLOT_PRICE SLOT_NAME with SLOT_VIEW or the SLOT_PRICE#2 SLOT_NAME#2 with SLOT_VIEW#2 ?", ""),
        ("SLOT_NAME is SLOT_PRICE . SLOT_NAME#2 is SLOT_PRICE#2 . they have SLOT_VIEW and SLOT_VIEW#2 .", "view=sea"),
        (
            "SLOT_NAME is SLOT_PRICE . it has SLOT_VIEW#2 . SLOT_NAME#2 has SLOT_VIEW and SLOT_PRICE#2 .",
            "view=hills view=sea",
        ),
        ("SLOT_NAME and SLOT_NAME#2 are SLOT_PRICE and SLOT_PRICE#2 , SLOT_VIEW and SLOT_VIEW#2 , respectively .", ""),
        ("SLOT_NAME is SLOT_PRICE , SLOT_PRICE#2 , SLOT_VIEW and SLOT_VIEW#2 .", ""),
    ],
)
def test_a_value_belongs_to_what_was_named_last_or_comes_next_in_its_sentence(sentence: str, wrong: str) -> None:
    found = exchanged(required_slots(parse(TWO)), sentence.split())
    assert " ".join(str(item.slot) for item, _ in found) == wrong


@pytest.mark.parametrize(
    ("act", "slots"),
    [
        ("inform(name=ivy;dogs=yes;dogs=no)", set()),
        ("?select(dogs=yes;dogs=no)", {"dogs"}),
        (TWO, {"name", "price", "view"}),
        ("deny(name=ivy;dogs=yes)&inform(dogs=no;view=sea)", {"dogs"}),
        ("inform(dogs=yes)&?request(view)", {"view"}),
    ],
)
def test_values_that_a_text_may_choose_from(act: str, slots: set[str]) -> None:
    assert left_open(parse(act)) == slots


@pytest.mark.parametrize("joint", ["while", "but", "and", ", whereas"])
def test_behind_a_joint_values_belong_to_another_thing(joint: str) -> None:
    turn = parse("compare(name=ivy;near=sea;name=oak;length=9;near=hills)")
    required = required_slots(turn)

    def wrong(text: str) -> list[str]:
        return [str(item.slot) for item, _ in exchanged(required, text.split())]

    rest = f"{joint} SLOT_NAME#2 is near SLOT_NEAR#2"
    assert wrong(f"SLOT_NAME runs for SLOT_LENGTH near SLOT_NEAR {rest} .") == ["length=9"]
    assert not wrong(f"SLOT_NAME is near SLOT_NEAR {rest} and runs for SLOT_LENGTH .")
    # "The 15 inch Satellite 4".
    assert not wrong(f"SLOT_NAME is near SLOT_NEAR {joint} the SLOT_LENGTH SLOT_NAME#2 is near SLOT_NEAR#2 .")
