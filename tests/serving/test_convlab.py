"""ConvLab: all three forms of an action give one turn, with the run's own names."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dactnlg import Generator, parse
from dactnlg.errors import ActError, UnknownNameError
from dactnlg.serving.convlab import ConvLabNLG, items


@pytest.fixture(scope="module")
def nlg(poor_run: Callable[[str], Path]) -> ConvLabNLG:
    names = {"nooffer": "inform_no_match", "trail-title": "name", "id": "", "book": "recommend"}
    return ConvLabNLG(Generator.load(poor_run("sclstm")), names)


UNIFIED = {
    "categorical": [{"intent": "inform", "domain": "trail", "slot": "Dogs Allowed", "value": "no"}],
    "non-categorical": [
        {"intent": "inform", "domain": "trail", "slot": "name", "value": "Ivy Cutting", "start": 3, "end": 14}
    ],
    "binary": [{"intent": "request", "domain": "trail", "slot": "region"}],
}
LISTED = [*UNIFIED["categorical"], *UNIFIED["non-categorical"], *UNIFIED["binary"]]
FLAT = [
    ["inform", "trail", "dogsallowed", "no"],
    ["Inform", "trail", "name", "Ivy Cutting"],
    ["request", "trail", "region", "?"],
]


@pytest.mark.parametrize("action", [UNIFIED, LISTED, FLAT, [tuple(each) for each in FLAT]])
def test_the_three_forms_of_an_action_are_one_turn(nlg: ConvLabNLG, action: Any) -> None:
    assert nlg.turn(action) == parse("inform(dogsallowed=no;name='Ivy Cutting')&?request(region)")
    assert "Ivy Cutting" in nlg.generate(action)


@pytest.mark.parametrize(
    ("action", "act"),
    [
        ([["goodbye", "general", "none", "none"]], "goodbye()"),
        ([["nooffer", "trail", "region", "north"]], "inform_no_match(region=north)"),
        ([["inform", "trail", "title", "Ivy"], ["inform", "trail", "id", "7"]], "inform(name=Ivy)"),
        ({"binary": [{"intent": "reqmore", "domain": "general"}]}, "?reqmore()"),
        ([["inform", "trail", "toilets", True], ["inform", "trail", "view", "none"]], "inform(toilets=yes;view=none)"),
        ([["inform", "trail", "name", "A"], ["inform", "trail", "name", "A"]], "inform(name=A)"),
    ],
)
def test_names_are_mapped_to_those_of_the_run(nlg: ConvLabNLG, action: Any, act: str) -> None:
    assert nlg.turn(action) == parse(act)


def test_an_unknown_intent_is_refused(nlg: ConvLabNLG) -> None:
    with pytest.raises(UnknownNameError, match="unknown act type 'bye'"):
        nlg.turn([["bye", "general", "", ""]])


def test_an_intent_cannot_be_mapped_to_nothing(nlg: ConvLabNLG) -> None:
    names = ConvLabNLG(nlg.generator, {"inform": ""})
    with pytest.raises(UnknownNameError, match="names: unknown act type ''"):
        names.turn([["inform", "trail", "name", "Ivy"]])


def test_an_empty_action_is_an_empty_sentence(nlg: ConvLabNLG) -> None:
    nlg.init_session()
    for empty in ([], {}, {"categorical": [], "binary": []}):
        assert nlg.generate(empty) == ""


@pytest.mark.parametrize("action", ["inform", 3, None, {"other": []}, [["inform"]], [3], [{}], [["a", "b", {}, "x"]]])
def test_malformed_actions_are_refused(action: Any) -> None:
    with pytest.raises(ActError):
        list(items(action))
