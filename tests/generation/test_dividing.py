"""Acts that a poor model cannot say in one text: what it leaves out or mixes up is said separately."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import pytest
from helpers import preprocessor_of

from dactnlg.acts import parse
from dactnlg.generation.candidates import Candidate
from dactnlg.generation.generator import Generator
from dactnlg.generation.options import GenerationOptions
from dactnlg.generation.unseen.describing import Describer
from dactnlg.generation.unseen.dividing import Divider
from dactnlg.generation.unseen.doubts import ALARMING
from dactnlg.generation.unseen.parting import WAYS, Parting
from dactnlg.generation.unseen.parts import Parts
from dactnlg.generation.unseen.unseen_acts import STRANGE, UnseenActs
from dactnlg.text.preprocessor import Preprocessor
from dactnlg.text.sentences import split_sentences

HOTELS = [
    ("inform_count(count=2;near=b)", "there are SLOT_COUNT hotels near SLOT_NEAR"),
    ("inform_count(count=2;near=b;price=c)", "i know of SLOT_COUNT SLOT_PRICE hotels near SLOT_NEAR . they are good ."),
    ("inform_count(count=2;food=dontcare)", "there are SLOT_COUNT hotels if you do not care about the food"),
    ("inform_count(dogs=dontcare)", "there are hotels if you do not care whether dogs are allowed"),
    ("inform_no_info(name=a;area)", "i do not know where SLOT_NAME is"),
    ("inform_no_info(name=a;price)", "sorry , nobody has told me what SLOT_NAME costs ."),
    ("inform_no_info(name=a;food)", "SLOT_NAME has told me nothing about its food"),
    ("inform_no_info(name=a;dogs)", "i have nothing about dogs at SLOT_NAME"),
    ("inform_no_info(name=a;phone)", "the SLOT_NAME has no phone number in my notes , nor an address"),
    ("inform_no_info(name=a;view)", "there is nothing on SLOT_NAME 's view"),
    ("?confirm(price=a;food=dontcare)", "a SLOT_PRICE place with any food ?"),
    ("?confirm(price=a;food=b)", "a SLOT_PRICE place with SLOT_FOOD food ?"),
    ("?confirm(price=a;area=b;view=c)", "a SLOT_PRICE place in the SLOT_AREA with views of SLOT_VIEW ?"),
    ("?confirm(near=a)", "near SLOT_NEAR ?"),
    ("?confirm(dogs=yes)", "with dogs ?"),
    ("inform(name=a;area=b;food=c)", "SLOT_NAME is in SLOT_AREA . it has SLOT_FOOD food ."),
]


@pytest.fixture(scope="module")
def generator(poor_run: Callable[[str], Path]) -> Generator:
    return Generator.load(poor_run("sclstm"))


@pytest.fixture(scope="module")
def hotels() -> Preprocessor:
    return preprocessor_of(HOTELS)


def divider_of(preprocessor: Preprocessor) -> Divider:
    return Divider(preprocessor, Describer(preprocessor))


def joined(preprocessor: Preprocessor, parts: Parts | None, *texts: str) -> list[str]:
    assert parts is not None
    each = zip(parts.requests, texts, strict=True)
    said = [Candidate(preprocessor, request, tuple(text.split()), 0.0) for request, text in each]
    return [" ".join(text) for text in parts.join(dict(enumerate(said)))]


def names(parts: Parts | None) -> list[list[str]]:
    return [] if parts is None else [[slot.name for _, slot in each.turn.slots()] for each in parts.requests]


def test_dontcare_clauses_end_the_first_sentence(hotels: Preprocessor) -> None:
    request = hotels.request(parse("inform_count(food=dontcare;count=2;near=b;dogs=dontcare;price=c)"))
    parts = divider_of(hotels).indifferent(request)
    assert names(parts) == [["count", "near", "price"]]
    matters = "i know of SLOT_COUNT SLOT_PRICE hotels near SLOT_NEAR . they are good ."
    assert joined(hotels, parts, matters) == [
        "i know of SLOT_COUNT SLOT_PRICE hotels near SLOT_NEAR if you do not care about the food or whether dogs are "
        "allowed . they are good ."
    ]
    # An act type without such clauses uses those of others.
    others = divider_of(hotels).indifferent(hotels.request(parse("inform(name=a;area=b;food=dontcare)")))
    said = "SLOT_NAME is in SLOT_AREA if you do not care about the food ."
    assert joined(hotels, others, "SLOT_NAME is in SLOT_AREA .") == [said]
    # Never twice, and never after a question.
    assert joined(hotels, parts, "there are SLOT_COUNT hotels if you do not care about the food") == []
    assert joined(hotels, parts, "are there SLOT_COUNT hotels ?") == []


def test_dontcare_is_confirmed_without_a_condition(hotels: Preprocessor) -> None:
    also = "a SLOT_PRICE place and you do not care about the food , right ?"
    own = preprocessor_of([*HOTELS, ("?confirm(price=a;food=dontcare)", also)])
    request = own.request(parse("?confirm(price=a;dogs=dontcare;food=dontcare)"))
    parts = divider_of(own).indifferent(request)
    assert names(parts) == [["price"]]
    said = "and you do not care about the food or whether dogs are allowed"
    assert joined(own, parts, "do you want a SLOT_PRICE place ?") == [f"do you want a SLOT_PRICE place {said} ?"]
    # Before the tag question.
    assert joined(own, parts, "a SLOT_PRICE place , right ?") == [f"a SLOT_PRICE place {said} , right ?"]
    # If no question of training has one, none is made.
    assert divider_of(hotels).indifferent(hotels.request(request.turn)) is None


def test_a_dontcare_clause_follows_the_statement_among_several_acts(hotels: Preprocessor) -> None:
    request = hotels.request(parse("?confirm(near=a)&inform_count(count=2;food=dontcare)"))
    parts = divider_of(hotels).indifferent(request)
    assert parts is not None and str(parts.requests[0].turn) == "?confirm(near=a)&inform_count(count=2)"
    assert joined(hotels, parts, "there are SLOT_COUNT hotels . near SLOT_NEAR ?") == [
        "there are SLOT_COUNT hotels if you do not care about the food . near SLOT_NEAR ?"
    ]
    for text in ("near SLOT_NEAR ? there are SLOT_COUNT hotels", "there are SLOT_COUNT hotels . they are SLOT_NEAR ."):
        assert joined(hotels, parts, text) == []


def test_a_dontcare_clause_is_made_where_training_has_none() -> None:
    rows = [("inform(name=a;area=b)", "SLOT_NAME is in SLOT_AREA ."), ("?request(area)", "what area would you like ?")]
    own = preprocessor_of(rows)
    parts = divider_of(own).indifferent(own.request(parse("inform(name=a;area=dontcare)")))
    assert joined(own, parts, "SLOT_NAME is fine .") == ["SLOT_NAME is fine if you do not care about the area ."]
    # The name of an unmentioned slot may not be a noun, and questions have no conditions.
    for act in ("inform(name=a;dogsallowed=dontcare)", "?confirm(name=a;area=dontcare)"):
        assert divider_of(own).indifferent(own.request(parse(act))) is None
    czech = preprocessor_of(rows, language="cs")
    assert divider_of(czech).indifferent(czech.request(parse("inform(name=a;area=dontcare)"))) is None


@pytest.mark.parametrize(
    "act",
    [
        "inform_count(count=2;near=b)",  # all matters
        "inform_count(food=dontcare)",  # nothing does
        "inform_count(count=2;view=dontcare)",  # training has no clause for it
    ],
)
def test_acts_without_a_usable_dontcare_clause_are_left_whole(hotels: Preprocessor, act: str) -> None:
    assert divider_of(hotels).indifferent(hotels.request(parse(act))) is None


def test_unknown_slots_are_said_one_by_one_and_the_name_once(hotels: Preprocessor) -> None:
    divider = divider_of(hotels)
    act = "inform_no_info(name=a;area;price;food;dogs;phone;view)"
    parts = divider.unknown(hotels.request(parse(act)))
    texts = [text for act, text in HOTELS if act.startswith("inform_no_info")]
    assert names(parts) == [["name", name] for name in ("area", "price", "food", "dogs", "phone", "view")]
    # Not if an article or an ending belongs to the name.
    assert joined(hotels, parts, *texts) == []
    few = divider.unknown(hotels.request(parse("inform_no_info(name=a;area;price;food;dogs)")))
    assert joined(hotels, few, *texts[:4]) == [
        "i do not know where SLOT_NAME is . sorry , nobody has told me what it costs . it has told me nothing about "
        "its food . i have nothing about dogs at it"
    ]
    assert divider.unknown(hotels.request(parse("inform_no_info(name=a;area)"))) is None
    assert divider.unknown(hotels.request(parse("inform(name=a;area=b;food=none)"))) is None
    assert divider.unknown(hotels.request(parse("?request(area;food)"))) is None


def test_questions_are_divided_as_training_asks_them(hotels: Preprocessor) -> None:
    divider = divider_of(hotels)
    act = "?confirm(near=e;price=a;area=b;dogs=yes;view=c;food=dontcare)"
    parts = divider.divided(hotels.request(parse(act)))
    assert sorted(map(sorted, names(parts))) == [["area", "price", "view"], ["dogs"], ["food"], ["near"]]
    # Only special values of training: "no dogs" is not asked for as "dogs" is.
    assert names(divider.divided(hotels.request(parse("?confirm(price=a;food=dontcare;near=b)"))))[0] == [
        "price",
        "food",
    ]
    assert divider.divided(hotels.request(parse("?confirm(dogs=no;stars=b)"))) is None


@pytest.mark.parametrize("act_type", ["?select", "choose"])
def test_dontcare_is_asked_last(act_type: str) -> None:
    # Training has it only with a price, and never for the area; an act type "choose" asks as well.
    rows = [
        ("price=a;price=dontcare", "sorry would you like a SLOT_PRICE pub or you do not care"),
        ("price=a;price=b", "would you like a SLOT_PRICE or a SLOT_PRICE#2 pub ?"),
        ("price=a", "would you like a SLOT_PRICE pub ?"),
        ("dogs=yes", "do you want to bring dogs ?"),
        ("food=a", "would you like SLOT_FOOD food or not ?"),
        ("food=a;food=b", "sorry would you like SLOT_FOOD or SLOT_FOOD#2 food ?"),
    ]
    others = [("inform_count(food=dontcare)", "there are pubs in the area if you do not care about the food")]
    choices = preprocessor_of([*((f"{act_type}({slots})", text) for slots, text in rows), *others])
    act = f"{act_type}(price=x;food=dontcare;dogs=yes;area=dontcare;near=dontcare)"
    parts = divider_of(choices).divided(choices.request(parse(act)))
    assert sorted(names(parts)) == [["dogs"], ["price"]]
    texts = {"price": "would you like a SLOT_PRICE pub ?", "dogs": "sorry do you want to bring dogs ?"}
    asked = [texts[name] for (name,) in names(parts)]
    # Not as an alternative to the dogs: "do you want to bring dogs, or do you not care about the food?"
    end = "do you not care about the food or the area or what it is near ?"
    (said,) = joined(choices, parts, *asked)
    assert said in (
        f"would you like a SLOT_PRICE pub ? do you want to bring dogs ? {end}",
        f"sorry do you want to bring dogs ? would you like a SLOT_PRICE pub ? {end}",
    )


def test_what_a_search_leaves_out_is_said_in_sentences_of_its_own(generator: Generator) -> None:
    slots = ["difficulty=dontcare", "season=dontcare", "dogsallowed=yes", "toilets=yes"]
    several = [each for count in (2, 3) for each in combinations(slots, count)]
    said = generator.generate([f"?confirm({';'.join(each)})" for each in several])
    assert all(each.slots_ok for each in said)
    # Consecutive whole sentences: only questions.
    assert any(each.origin == "composed" for each in said)
    assert all(each.text.rstrip()[-1] in "?." for each in said)


def test_a_question_that_asks_for_nothing_is_dropped(generator: Generator) -> None:
    preprocessor = generator.preprocessor
    divider, request = divider_of(preprocessor), preprocessor.request(parse("?confirm(season=dontcare;toilets=yes)"))
    season, nothing, toilets = "any season will do ?", "are you there ?", "do you need toilets ?"
    for text, count in ((season, 2), (f"{season} {nothing}", 0)):
        parts = divider.left(Candidate(preprocessor, request, tuple(text.split()), 0.0))
        assert names(parts) == [["toilets"]]
        asked = [len(list(split_sentences(text.split()))) for text in joined(preprocessor, parts, toilets)]
        assert asked == [count] * bool(count)


def test_an_act_with_strange_candidates_only_is_divided(generator: Generator) -> None:
    preprocessor, search = generator.preprocessor, Parting(generator.preprocessor, UnseenActs(generator.preprocessor))
    act = "inform(name='Ivy Cutting';height='870 m';view=ibex;length='7 km';region='Marl Valley';phone='0555 310 120')"
    request, options = preprocessor.request(parse(act)), GenerationOptions().resolve(generator.defaults, generator.seed)
    words = (
        "SLOT_NAME is SLOT_LENGTH long and call SLOT_PHONE and up up SLOT_HEIGHT , has SLOT_VIEW view of of the in the"
    )
    strange = [*words.split(), "SLOT_REGION", "."]
    usual = generator.generate([act])[0].delexicalized.split(" ")
    found = [Candidate(preprocessor, request, tuple(text), -1.0) for text in (strange, usual)]
    assert all(each.right for each in found)
    assert any(search.parts(request, found[:1], options, way=way) for way in range(WAYS))
    assert not any(search.parts(request, found[1:], options, way=way) for way in range(WAYS))


def test_a_turn_with_a_doubtful_candidate_is_divided_by_acts(generator: Generator) -> None:
    preprocessor, unseen = generator.preprocessor, UnseenActs(generator.preprocessor)
    act = "inform_no_match(dogsallowed=yes;difficulty=easy;view=ibex)&offer_alternative(name='Ivy Cutting';region=east)"
    request, options = preprocessor.request(parse(act)), GenerationOptions().resolve(generator.defaults, generator.seed)
    offer = "what about SLOT_NAME instead ￭? it lies in the SLOT_REGION ￭."
    text = f"i looked for SLOT_DIFFICULTY routes that allow dogs ￭, no routes with a view of SLOT_VIEW ￭. {offer}"
    found = Candidate(preprocessor, request, tuple(text.split()), -1.0)
    assert found.right and ALARMING <= unseen.doubts.of_candidate(found) < STRANGE
    parts = Parting(preprocessor, unseen).parts(request, [found], options, way=1)
    assert parts is not None and len(parts.requests) == 2


def test_dontcare_is_said_apart_where_a_seen_act_is_said_strangely(hotels: Preprocessor, generator: Generator) -> None:
    request = hotels.request(parse("inform_count(count=2;food=dontcare)"))
    options, unseen = GenerationOptions().resolve(generator.defaults, generator.seed), UnseenActs(hotels)
    usual = "there are SLOT_COUNT hotels if you do not care about the food"
    strange = "there are SLOT_COUNT hotels if you do not care whether hotels are allowed food"
    parts = {}
    for text in (usual, strange):
        found = Candidate(hotels, request, tuple(text.split()), -1.0)
        assert found.right and not unseen.is_unseen(request)
        parts[text] = Parting(hotels, unseen).parts(request, [found], options, way=0)
    assert parts[usual] is None and names(parts[strange]) == [["count"]]


def test_what_users_look_for_is_not_divided(generator: Generator) -> None:
    divider, request = divider_of(generator.preprocessor), generator.preprocessor.request
    for act, parts in [
        ("?confirm(dogsallowed=yes;toilets=yes)", ["?confirm(dogsallowed=yes)", "?confirm(toilets=yes)"]),
        ("inform(name='Ivy Cutting';dogsallowed=yes)", ["inform(name='Ivy Cutting';dogsallowed=yes)"]),
        ("inform_no_match(dogsallowed=yes;toilets=yes)", []),
        ("?confirm(toilets=yes)", []),
    ]:
        tokens = ("SLOT_NAME", "is", "nice") if "name" in act else ("looking", "for", "a", "walk")
        best = Candidate(generator.preprocessor, request(parse(act)), tokens, 0.0)
        left = divider.left(best)
        assert ([] if left is None else [str(each.turn) for each in left.requests]) == parts


@pytest.mark.parametrize(
    ("act", "parts"),
    [
        # Training has two of these in one act.
        ("?select(difficulty=easy;season=dontcare;region=Fells)", ["difficulty", "region", "season"]),
        ("inform(name=a;difficulty=easy;length='4 km';near=b;view=c;region=d;phone=1)", ["name"]),
        # What users look for is one thing.
        ("inform_no_match(difficulty=easy;length='4 km';near=b;view=c;region=d)", []),
    ],
)
def test_the_parts_of_an_act_say_every_slot_once(generator: Generator, act: str, parts: list[str]) -> None:
    request = generator.preprocessor.request(parse(act))
    divided = divider_of(generator.preprocessor).divided(request)
    assert (divided is None) == (not parts)
    slots = [slot.name for part in divided.requests for _, slot in part.turn.slots()] if divided else []
    again = {"name"} if "name" in act else set[str]()
    assert set(slots) == ({slot.name for _, slot in request.turn.slots()} if parts else set())
    assert [name for name in slots if slots.count(name) > 1 and name not in again] == []
    assert set(parts) <= set(slots)


def test_every_slot_of_a_long_act_is_said(generator: Generator) -> None:
    slots = "difficulty=easy;season=dontcare;region='Northern Fells';toilets=yes;dogsallowed=yes;near='the old mill'"
    (said,) = generator.generate(f"?confirm({slots})")
    assert said.slots_ok, said
    assert "Northern Fells" in said.text
    assert "the old mill" in said.text
