"""Things that a poor model cannot keep apart, and special values that it leaves out: each is said by itself."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import pytest

from dactnlg.acts import DialogueAct, Slot, Turn, parse
from dactnlg.data.corpus import load_corpus
from dactnlg.generation.candidates import Candidate
from dactnlg.generation.describing import Describer
from dactnlg.generation.generator import Generator
from dactnlg.generation.options import GenerationOptions
from dactnlg.generation.reranking import CandidateSearch
from dactnlg.text.owners import compared, exchanged

NAMED = ["name", "difficulty", "length", "duration", "near", "view"]


@pytest.fixture(scope="module")
def generator(poor_run: Callable[[str], Path]) -> Generator:
    return Generator.load(poor_run("sclstm"))


def comparisons(count: int, slots: int, many: int) -> list[Turn]:
    """Return comparisons of so many things by so many slots, with values of the embedded corpus in them."""
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


def test_what_a_search_leaves_out_is_said_by_itself(generator: Generator) -> None:
    slots = ["difficulty=dontcare", "season=dontcare", "dogsallowed=yes", "toilets=yes"]
    several = [each for count in (2, 3) for each in combinations(slots, count)]
    said = generator.generate([f"?confirm({';'.join(each)})" for each in several])
    assert all(each.slots_ok for each in said)
    # Whole sentences behind each other: questions alone.
    assert any(each.origin == "composed" for each in said)
    assert all(each.text.rstrip()[-1] in "?." for each in said)


def test_what_is_said_in_strange_words_alone_is_said_in_parts(generator: Generator) -> None:
    preprocessor, search = generator.preprocessor, CandidateSearch(generator.preprocessor)
    act = "inform(name='Ivy Cutting';height='870 m';view=ibex;length='7 km';region='Marl Valley';phone='0555 310 120')"
    request, options = preprocessor.request(parse(act)), GenerationOptions().resolve(generator.defaults, generator.seed)
    words = (
        "SLOT_NAME is SLOT_LENGTH long and call SLOT_PHONE and up up SLOT_HEIGHT , has SLOT_VIEW view of of the in the"
    )
    strange = [*words.split(), "SLOT_REGION", "."]
    usual = generator.generate([act])[0].delexicalized.split(" ")
    found = [Candidate(preprocessor, request, tuple(text), -1.0) for text in (strange, usual)]
    assert all(each.right for each in found)
    assert search.parts(request, found[:1], options) is not None
    assert search.parts(request, found[1:], options) is None


def test_what_people_look_for_is_not_taken_apart(generator: Generator) -> None:
    describer, request = Describer(generator.preprocessor), generator.preprocessor.request
    for act, parts in [
        ("?confirm(dogsallowed=yes;toilets=yes)", ["?confirm(dogsallowed=yes)", "?confirm(toilets=yes)"]),
        ("inform(name='Ivy Cutting';dogsallowed=yes)", ["inform(name='Ivy Cutting';dogsallowed=yes)"]),
        ("inform_no_match(dogsallowed=yes;toilets=yes)", []),
        ("?confirm(toilets=yes)", []),
    ]:
        tokens = ("SLOT_NAME", "is", "nice") if "name" in act else ("looking", "for", "a", "walk")
        best = Candidate(generator.preprocessor, request(parse(act)), tokens, 0.0)
        left = describer.left(best)
        assert ([] if left is None else [str(each.turn) for each in left.requests]) == parts


@pytest.mark.parametrize(
    ("act", "parts"),
    [
        # Training asks for two of these together.
        ("?select(difficulty=easy;season=dontcare;region=Fells)", ["difficulty", "region", "season"]),
        ("inform(name=a;difficulty=easy;length='4 km';near=b;view=c;region=d;phone=1)", ["name"]),
        # What people look for is one thing.
        ("inform_no_match(difficulty=easy;length='4 km';near=b;view=c;region=d)", []),
    ],
)
def test_what_is_divided_says_every_slot_once(generator: Generator, act: str, parts: list[str]) -> None:
    request = generator.preprocessor.request(parse(act))
    divided = Describer(generator.preprocessor).divided(request)
    assert (divided is None) == (not parts)
    slots = [slot.name for part in divided.requests for _, slot in part.turn.slots()] if divided else []
    again = {"name"} if "name" in act else set[str]()
    assert set(slots) == ({slot.name for _, slot in request.turn.slots()} if parts else set())
    assert [name for name in slots if slots.count(name) > 1 and name not in again] == []
    assert set(parts) <= set(slots)


def test_an_act_of_many_slots_is_said_whole(generator: Generator) -> None:
    slots = "difficulty=easy;season=dontcare;region='Northern Fells';toilets=yes;dogsallowed=yes;near='the old mill'"
    (said,) = generator.generate(f"?confirm({slots})")
    assert said.slots_ok, said
    assert "Northern Fells" in said.text
    assert "the old mill" in said.text
