"""Neighbours: words that training has only beside other values of a slot have a cost, which ranks candidates."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from dactnlg.acts import Turn, parse
from dactnlg.generation.candidates import Candidate, cheapest
from dactnlg.text.example import Pair
from dactnlg.text.preprocessor import Preprocessor
from dactnlg.text.style import Style
from dactnlg.text.values import neighbours
from dactnlg.text.values.casing import Casing
from dactnlg.text.values.neighbours import PRIOR

CHEAP, MODERATE, RARE = "inform(name=a;price=cheap)", "inform(name=a;price=moderate)", "inform(name=a;price=dear)"
PUB, PRICED = "SLOT_NAME is a SLOT_PRICE pub .", "SLOT_NAME is SLOT_PRICE -ly priced ."


def _pairs(*rows: tuple[str, str, int]) -> list[tuple[Turn, tuple[str, ...]]]:
    return [(parse(act), tuple(text.split())) for act, text, count in rows for _ in range(count)]


def _preprocessor(*rows: tuple[str, str, int]) -> Preprocessor:
    pairs = [Pair(turn, None, tokens) for turn, tokens in _pairs(*rows)]
    return Preprocessor.build(
        pairs, None, Casing.learn([]), Style(cased=False, spaced=True, aliases={}, cues={}, silent=())
    )


ROWS = ((CHEAP, PUB, 60), (MODERATE, PRICED, 60), (RARE, PUB, 3))


def test_a_neighbour_costs_as_much_as_it_is_less_frequent_beside_the_value() -> None:
    # By hand: 63 of 123 values stand before "pub", and none of the 60 moderate ones.
    share = 63 / 123
    expected = math.log(share / (PRIOR * share / (60 + PRIOR)))
    costs = _preprocessor(*ROWS).neighbours.costs["SLOT_PRICE"]
    assert costs["moderate"]["_ pub"] == pytest.approx(expected, abs=1e-3)
    assert set(costs["moderate"]) == {"a _", "_ pub"}
    assert set(costs["cheap"]) == {"is _", "_ -ly"}
    # Three occurrences show nothing.
    assert "dear" not in costs


def test_a_weak_preference_costs_nothing() -> None:
    own = _preprocessor((CHEAP, PUB, 60), (MODERATE, PRICED, 40), (MODERATE, PUB, 20))
    assert "_ pub" not in own.neighbours.costs["SLOT_PRICE"].get("moderate", {})


def test_an_article_goes_by_the_sound_of_the_value() -> None:
    own = _preprocessor((CHEAP, PUB, 60), ("inform(name=a;price=average)", PUB.replace(" a ", " an "), 60))
    assert own.neighbours.costs == {}


def test_names_and_slots_with_too_many_values_cost_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    named = [(f"inform(name={name};price=cheap)", text, 60) for name, text in (("a", PUB), ("b", PRICED))]
    assert _preprocessor(*named).neighbours.costs == {}
    monkeypatch.setattr(neighbours, "MOST_VALUES", 2)
    assert _preprocessor(*ROWS).neighbours.costs == {}
    assert _preprocessor(*ROWS[:2]).neighbours.costs


def test_a_second_value_of_a_slot_has_the_same_neighbours() -> None:
    own = _preprocessor(*ROWS)
    values = {"SLOT_PRICE": "cheap", "SLOT_PRICE#2": "moderate"}
    both = ["a", "SLOT_PRICE", "pub", "and", "a", "￭SLOT_PRICE#2", "pub"]
    known = own.neighbours.costs["SLOT_PRICE"]["moderate"]
    assert own.neighbours.cost(values, both) == pytest.approx(known["a _"] + known["_ pub"])
    assert own.neighbours.cost(values, both[:3]) == 0.0


def test_among_likely_sentences_the_one_that_fits_the_value_is_chosen(tmp_path: Path) -> None:
    made = _preprocessor(*ROWS)
    made.save(tmp_path / "preprocessor.json")
    for own in (made, Preprocessor.load(tmp_path / "preprocessor.json")):
        for act, best in ((CHEAP, PUB), (MODERATE, PRICED), (RARE, PUB)):
            request = own.request(parse(act))
            texts = [tuple(text.split()) for text in (PUB, PRICED)]
            found = [Candidate(own, request, text, score) for text, score in zip(texts, (-1.0, -2.0), strict=True)]
            (chosen,) = cheapest(found, 1, 0.0, faithful_values=True)
            assert chosen.tokens == tuple(best.split())
            # Without the hard constraint the model's own order stays.
            (first,) = cheapest(found, 1, 0.0, faithful_values=False)
            assert first is found[0] and first.score == -1.0


def test_the_order_of_alternatives_costs_nothing() -> None:
    either = "is it SLOT_PRICE or SLOT_PRICE#2 ?"
    own = _preprocessor(
        ("?select(price=cheap;price=moderate)", either, 60), (CHEAP, PUB, 60), (MODERATE, PUB, 60)
    ).neighbours
    assert own.costs["SLOT_PRICE"]["moderate"].keys() == {"it _", "_ or"}
    swapped = {"SLOT_PRICE": "moderate", "SLOT_PRICE#2": "cheap"}
    # Only the words before the first one and behind the second one cost.
    costs = own.costs["SLOT_PRICE"]
    assert own.cost(swapped, either.split()) == costs["moderate"]["it _"] + costs["cheap"]["_ ?"]
