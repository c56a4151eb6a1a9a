"""ConvLab: the three forms of an action are one turn, in the run's own names."""

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
def test_three_forms_are_one_turn(nlg: ConvLabNLG, action: Any) -> None:
    assert nlg.turn(action) == parse("inform(dogsallowed=no;name='Ivy Cutting')&?request(region)")
    assert "Ivy Cutting" in nlg.generate(action)


@pytest.mark.parametrize(
    ("action", "act"),
    [
        ([["bye", "general", "", ""]], None),
        ([["goodbye", "general", "none", "none"]], "goodbye()"),
        ([["nooffer", "trail", "region", "north"]], "inform_no_match(region=north)"),
        ([["inform", "trail", "title", "Ivy"], ["inform", "trail", "id", "7"]], "inform(name=Ivy)"),
        ({"binary": [{"intent": "reqmore", "domain": "general"}]}, "?reqmore()"),
        ([["inform", "trail", "toilets", True], ["inform", "trail", "view", "none"]], "inform(toilets=yes;view=none)"),
        ([["inform", "trail", "name", "A"], ["inform", "trail", "name", "A"]], "inform(name=A)"),
    ],
)
def test_names_are_found(nlg: ConvLabNLG, action: Any, act: str | None) -> None:
    if act is None:
        with pytest.raises(UnknownNameError, match="unknown act type 'bye'"):
            nlg.turn(action)
    else:
        assert nlg.turn(action) == parse(act)


def test_an_intent_cannot_be_left_out(nlg: ConvLabNLG) -> None:
    names = ConvLabNLG(nlg.generator, {"inform": ""})
    with pytest.raises(UnknownNameError, match="names: unknown act type ''"):
        names.turn([["inform", "trail", "name", "Ivy"]])


def test_nothing_to_say(nlg: ConvLabNLG) -> None:
    nlg.init_session()
    for empty in ([], {}, {"categorical": [], "binary": []}):
        assert nlg.generate(empty) == ""


@pytest.mark.parametrize("action", ["inform", 3, None, {"other": []}, [["inform"]], [3], [{}], [["a", "b", {}, "x"]]])
def test_what_is_no_action(action: Any) -> None:
    with pytest.raises(ActError):
        list(items(action))
