"""Comparisons that a poor model cannot say: each thing is described in a sentence of its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from helpers import preprocessor_of

from dactnlg.acts import DialogueAct, Slot, Turn, parse
from dactnlg.data.corpus import load_corpus
from dactnlg.generation.candidates import Candidate
from dactnlg.generation.generator import Generator
from dactnlg.generation.unseen.describing import Describer
from dactnlg.text.owners import compared, exchanged

NAMED = ["name", "difficulty", "length", "duration", "near", "view"]


@pytest.fixture(scope="module")
def generator(poor_run: Callable[[str], Path]) -> Generator:
    return Generator.load(poor_run("sclstm"))


def comparisons(count: int, slots: int, many: int) -> list[Turn]:
    """Return `many` comparisons of `count` things by some slots, with values of the embedded corpus."""
    values: dict[str, list[str]] = {name: [] for name in NAMED}
    for example in load_corpus("trails").split("train"):
        for _, slot in example.turn.slots():
            if slot.name in values and slot.delexicalizable and slot.value not in values[slot.name]:
                values[slot.name].append(slot.value or "")
    turns = []
    for number in range(many):
        rest = [NAMED[1 + (number + place) % 5] for place in range(slots)]
        own = [
            Slot(name, values[name][(number * count + thing) % len(values[name])])
            for thing in range(count)
            for name in ("name", *rest)
        ]
        turns.append(Turn((DialogueAct("compare", tuple(own)),)))
    return turns


def test_act_types_may_contain_a_bar() -> None:
    rows = [
        ("pub|compare(name=a;price=b;name=c)", "SLOT_NAME is SLOT_PRICE , while SLOT_NAME#2 is not ."),
        ("pub|tell(name=a;price=b)", "SLOT_NAME is SLOT_PRICE ."),
    ]
    preprocessor = preprocessor_of(rows)
    parts = Describer(preprocessor).only_thing(preprocessor.request(parse("pub|compare(name=x;price=y)")))
    assert parts is not None and [str(each.turn) for each in parts.requests] == ["pub|tell(name=x;price=y)"]


@pytest.mark.parametrize(("count", "slots"), [(2, 1), (2, 3), (3, 2), (4, 2)])
def test_no_value_is_said_of_another_thing(generator: Generator, count: int, slots: int) -> None:
    turns = comparisons(count, slots, 20)
    required = generator.preprocessor.delexicalizer.required
    assert all(len(compared(turn)) == count for turn in turns)
    said = generator.generate(turns)
    ok = [(turn, each) for turn, each in zip(turns, said, strict=True) if each.slots_ok]
    assert len(ok) >= 0.9 * len(said)
    for turn, each in ok:
        assert not list(exchanged(required(turn), each.delexicalized.split(" "))), each.text


def test_what_training_never_compared_is_described_thing_by_thing(generator: Generator) -> None:
    (said,) = generator.generate(comparisons(3, 2, 1))
    assert said.origin == "composed"
    names = [slot.value or "" for _, slot in comparisons(3, 2, 1)[0].slots() if slot.name == "name"]
    places = [said.text.index(name) for name in names]
    assert places == sorted(places)


def test_the_only_thing_of_a_comparison_is_described(generator: Generator) -> None:
    describer = Describer(generator.preprocessor)
    one, *several = (generator.preprocessor.request(turn) for count in (1, 2) for turn in comparisons(count, 2, 1))
    parts = describer.only_thing(one)
    assert parts is not None and describer.things(one) is None
    assert [each.turn.acts[0].slots for each in parts.requests] == [one.turn.acts[0].slots]
    assert parts.requests[0].turn.acts[0].act_type == "inform"
    others = [
        generator.preprocessor.request(parse(act)) for act in ("inform(name=x;length=y)", "compare(name=x;length)")
    ]
    assert not any(describer.only_thing(request) for request in (*several, *others))
    said = generator.generate(comparisons(1, 3, 20))
    assert sum(each.slots_ok for each in said) >= 18


def test_comparisons_by_different_slots_do_not_depend_on_their_order() -> None:
    """Things are set apart as in training, whatever a comparison before this one is by."""
    preprocessor = preprocessor_of(
        [
            ("compare(name=a;price=b;name=c;price=d)", "SLOT_NAME is SLOT_PRICE , while SLOT_NAME#2 is SLOT_PRICE#2 ."),
            ("inform(name=a;price=b)", "SLOT_NAME is SLOT_PRICE ."),
            ("inform(area=a;price=b)", "SLOT_AREA is SLOT_PRICE ."),
        ]
    )
    by_name, by_area = (parse(f"compare({name}=a;price=b;{name}=c;price=d)") for name in ("name", "area"))

    def texts(turns: list[Turn]) -> dict[Turn, list[list[str]]]:
        describer, found = Describer(preprocessor), {}
        for turn in turns:
            parts = describer.things(preprocessor.request(turn))
            assert parts is not None
            words = (
                tuple(f"{request.act.required[0].placeholder} is SLOT_PRICE .".split()) for request in parts.requests
            )
            said = [
                Candidate(preprocessor, request, text, 0.0) for request, text in zip(parts.requests, words, strict=True)
            ]
            found[turn] = [list(text) for text in parts.join(dict(enumerate(said)))]
        return found

    assert texts([by_name, by_area]) == texts([by_area, by_name])
    assert any("while" in text for text in texts([by_area, by_name])[by_name])
