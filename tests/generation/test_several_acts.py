"""Several acts: what training never had in one turn is said one after the other, and nothing is mixed."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from pathlib import Path

import pytest
from helpers import preprocessor_of, sentence_of

from dactnlg.acts import parse
from dactnlg.generation.candidates import Candidate
from dactnlg.generation.generator import Generator
from dactnlg.generation.options import GenerationOptions
from dactnlg.generation.unseen.several_acts import SeveralActs
from dactnlg.text.preprocessor import Preprocessor
from dactnlg.text.sentences import append_sentences

PUBS = [
    ("inform(name=a;food=b)", "SLOT_NAME serves SLOT_FOOD food ."),
    ("inform(name=a;food=b;dogs=yes)", "SLOT_NAME serves SLOT_FOOD food . it allows dogs"),
    ("inform(name=a;dogs=no)", "SLOT_NAME does not allow dogs . it is quiet ."),
    ("inform(name=a;food=b)&?more()", "SLOT_NAME serves SLOT_FOOD food . what else ?"),
    ("deny(food=a)", "there is no SLOT_FOOD food"),
    ("deny(food=a)&except(name=b)", "there is no other SLOT_FOOD food"),
    ("?request(food)", "what food ?"),
    ("?request(area)", "where ?"),
    ("recommend(name=a;area=b)", "try SLOT_NAME in the SLOT_AREA ."),
    ("recommend(name=a;area=b)", "SLOT_NAME is good and in the SLOT_AREA ."),
    ("only(name=a;food=b)", "SLOT_NAME alone has SLOT_FOOD food"),
    ("only(name=a;food=b)", "the only one with SLOT_FOOD food is SLOT_NAME"),
    ("only(name=a;area=b)", "no other than SLOT_NAME is in the SLOT_AREA"),
    ("?confirm(name=a)", "do you mean SLOT_NAME ?"),
    ("bye()", "goodbye"),
]


@pytest.fixture(scope="module")
def pubs() -> Preprocessor:
    return preprocessor_of(PUBS, silent=("except.name",))


def said(preprocessor: Preprocessor, act: str, *texts: str) -> list[str]:
    """Return what is said for a turn, given one text for each of its parts."""
    request, several = preprocessor.request(parse(act)), SeveralActs(preprocessor)
    parts = zip(several.requests(request), texts, strict=True)
    rows = [[Candidate(preprocessor, part, tuple(text.split()), 0.0)] for part, text in parts]
    return [each.text for each in several.said(request, rows)]


@pytest.mark.parametrize(
    ("act", "parts"),
    [
        ("inform(name=x;food=y)", []),
        ("?more()&inform(food=y)", []),  # training has them together, in whatever order
        ("inform(name=x)&inform(food=y)&?more()", []),
        ("inform(name=x;food=y)&inform(name=X)&?more()", []),  # one thing
        ("inform(name=x)&bye()", ["inform(name=x)", "bye()"]),
        ("inform(name=x)&?more()&bye()", ["inform(name=x)&?more()", "bye()"]),
        ("bye()&inform(name=x)&?more()", ["bye()", "inform(name=x)&?more()"]),
        ("deny(food=y)&inform(name=x;food=z)", ["deny(food=y)", "inform(name=x;food=z)"]),
        # Two things, and a yes next to a no.
        ("inform(name=x)&inform(name=y)", ["inform(name=x)", "inform(name=y)"]),
        ("inform(dogs=yes)&inform(dogs=no)", ["inform(dogs=yes)", "inform(dogs=no)"]),
        ("inform(dogs=yes)&inform(dogs=true)", []),
        ("inform(name=x;name=y;food=z)", ["inform(name=x;food=z)", "inform(name=y;food=z)"]),
        ("inform(name=x;name=y)&?more()", []),  # what else is said is of both
        ("inform(name=x;name=X;food=z)", ["inform(name=X;food=z)"]),
        ("?compare(name=x;food=y;name=z;food=w)", []),
        ("recommend(name=x;name=y;area=z)", ["recommend(name=x;area=z)", "recommend(name=y;area=z)"]),
        # Two things cannot be the only one, and a question may be about either.
        ("only(name=x;name=y;food=z)", []),
        ("?confirm(name=x;name=y;food=z)", []),
        # A silent slot does not make it another thing.
        ("deny(food=y)&except(name=x)&except(name=z)", []),
        # Acts that training lacks.
        ("wave()&bye()", ["wave()", "bye()"]),
    ],
)
def test_as_many_acts_as_training_has_together_are_said_in_one(pubs: Preprocessor, act: str, parts: list[str]) -> None:
    found = SeveralActs(pubs).requests(pubs.request(parse(act)))
    assert [str(each.turn) for each in found] == [str(parse(part)) for part in parts]


def test_values_stay_with_their_acts(pubs: Preprocessor) -> None:
    texts = ["there is no SLOT_FOOD food", "SLOT_NAME serves SLOT_FOOD food .", "goodbye"]
    act = "deny(food=thai)&inform(name=x;food=french)&bye()"
    assert said(pubs, act, *texts) == ["There is no Thai food. X serves French food. Goodbye."]
    other = "deny(food=french)&inform(name=x;food=thai)&bye()"
    assert said(pubs, other, *texts) == ["There is no French food. X serves Thai food. Goodbye."]


def test_the_acts_stand_in_the_order_of_the_turn(pubs: Preprocessor) -> None:
    texts = {"?request(area)": "where ?", "deny(food=thai)": "there is no SLOT_FOOD food", "bye()": "goodbye ."}
    plain = {"?request(area)": "Where?", "deny(food=thai)": "There is no Thai food.", "bye()": "Goodbye."}
    for order in permutations(texts):
        assert said(pubs, "&".join(order), *map(texts.__getitem__, order)) == [" ".join(map(plain.__getitem__, order))]


def test_acts_that_training_has_together_can_be_said_one_by_one(pubs: Preprocessor) -> None:
    request, several = pubs.request(parse("inform(name=x;food=y)&?more()")), SeveralActs(pubs)
    assert several.requests(request) == []
    parts = several.one_by_one(request)
    assert parts is not None and [str(each.turn) for each in parts.requests] == ["inform(name=x;food=y)", "?more()"]
    texts = ["SLOT_NAME serves SLOT_FOOD food .", "what else ?"]
    said = {at: Candidate(pubs, parts.requests[at], tuple(text.split()), 0.0) for at, text in enumerate(texts)}
    assert [" ".join(text) for text in parts.join(said)] == ["SLOT_NAME serves SLOT_FOOD food . what else ?"]
    # Values of the same slot stay with their acts.
    request = pubs.request(parse("deny(food=y)&inform(name=x;food=z)"))
    parts = several.one_by_one(request)
    assert parts is not None
    texts = ["there is no SLOT_FOOD food", "SLOT_NAME serves SLOT_FOOD food ."]
    said = {at: Candidate(pubs, parts.requests[at], tuple(text.split()), 0.0) for at, text in enumerate(texts)}
    (text,) = parts.join(said)
    assert sentence_of(pubs, request.turn, text).text == "There is no y food. X serves z food."
    assert several.one_by_one(pubs.request(parse("inform(name=x)"))) is None


def test_a_question_without_a_question_mark_gets_one(pubs: Preprocessor) -> None:
    deny = "there is no SLOT_FOOD food"
    assert said(pubs, "?request(area)&deny(food=thai)", "the area", deny) == ["The area? There is no Thai food."]
    assert said(pubs, "deny(food=thai)&?request(area)", deny, "the area") == ["There is no Thai food. The area?"]


def test_a_question_mark_that_ends_a_value_is_not_doubled(pubs: Preprocessor) -> None:
    texts = ["the SLOT_NAME", "there is no SLOT_FOOD food"]
    for name, shown in (("who?", "who?"), ("yahoo!", "yahoo!?"), ("inc.", "inc.?"), ("x", "x?")):
        expected = f"The {shown} There is no Thai food."
        assert said(pubs, f"?confirm(name='{name}')&deny(food=thai)", *texts) == [expected]


def test_a_thing_is_named_once(pubs: Preprocessor) -> None:
    act = "inform(name=x;food=thai)&recommend(name=x;area=south)"
    first = "SLOT_NAME serves SLOT_FOOD food ."
    expected = "X serves Thai food. It is good and in the south."
    assert said(pubs, act, first, "SLOT_NAME is good and in the SLOT_AREA .") == [expected]
    assert said(pubs, act, first, "try SLOT_NAME in the SLOT_AREA .") == ["X serves Thai food. Try it in the south."]
    # Where "it" is impossible, the name is repeated, as other values are.
    twice = "the SLOT_NAME is SLOT_NAME in the SLOT_AREA ."
    assert said(pubs, act, first, twice) == ["X serves Thai food. The x is x in the south."]
    again = "There is no Thai food. X serves Thai food."
    assert said(pubs, "deny(food=thai)&inform(name=x;food=thai)", "there is no SLOT_FOOD food", first) == [again]


def test_a_text_says_what_its_parts_say(pubs: Preprocessor) -> None:
    request, several = pubs.request(parse("deny(food=thai)&inform(name=x;food=thai)&bye()")), SeveralActs(pubs)
    texts = ["there is no food", "SLOT_NAME serves SLOT_FOOD , SLOT_FOOD food .", "goodbye"]
    pairs = zip(several.requests(request), texts, strict=True)
    parts = [Candidate(pubs, part, tuple(text.split()), -1.0) for part, text in pairs]
    (one,) = several.said(request, [[each] for each in parts])
    assert (one.report.missing, one.report.extra) == (("food=thai",), ("food=thai",))
    assert (one.right, one.faithful_values, one.errors, one.score) == (False, False, 2, -3.0)
    assert one.report.required == sum(each.report.required for each in parts) == 3


def test_sentences_get_a_mark_between_them() -> None:
    assert append_sentences([], ["hello"]) == ["hello"]
    assert append_sentences(["hello"], ["bye"]) == ["hello", ".", "bye"]
    assert append_sentences(["what", "food"], ["bye"]) == ["what", "food", "?", "bye"]
    assert append_sentences(["what", "?"], ["no", "."]) == ["what", "?", "no", "."]


ACTS = [
    "inform(name='Red Kite Ridge';length='7 km')",
    "inform_no_match(region='Lake District';difficulty=hard)",
    "?confirm(region=Snowdonia)",
    "inform_count(count=12;region=Snowdonia)",
    "greet()",
    "goodbye()",
    "inform_no_info(dogsallowed=none)",
]


def test_a_turn_is_the_texts_of_its_acts_in_order(poor_run: Callable[[str], Path]) -> None:
    """For a model of a few updates and all pairs of acts that training never has in one turn."""
    generator = Generator.load(poor_run("sclstm"))
    several, request = SeveralActs(generator.preprocessor), generator.preprocessor.request
    alone = dict(zip(ACTS, generator.generate(ACTS), strict=True))
    pairs = [pair for pair in permutations(ACTS, 2) if several.requests(request(parse("&".join(pair))))]
    # The two about Snowdonia share a value, which is said once.
    pairs = [pair for pair in pairs if not all("Snowdonia" in act for act in pair)]
    assert len(pairs) > 20
    for (first, second), found in zip(pairs, generator.generate(["&".join(pair) for pair in pairs]), strict=True):
        assert found.text == f"{alone[first].text} {alone[second].text}", found.act
        assert found.slots_ok == (alone[first].slots_ok and alone[second].slots_ok), found.act
        assert found.delexicalized.split(" ").count("SLOT_REGION") <= 1


def test_draws_for_a_turn_are_those_for_its_acts(poor_run: Callable[[str], Path]) -> None:
    generator = Generator.load(poor_run("sclstm"))
    for seed, pair in enumerate(permutations(ACTS[:2] + ACTS[4:6], 2)):
        drawn = GenerationOptions(sample=True, seed=seed, n_best=2)
        first, second, both = (generator.generate(act, drawn, first=7)[0] for act in (*pair, "&".join(pair)))
        pairs = zip(first.n_best, second.n_best, strict=False)
        # A poor model may begin a sentence with a mark, which is joined to the sentence before it.
        joined = [f"{one.text}{other.text}".replace(" ", "") for one, other in pairs]
        assert [each.text.replace(" ", "") for each in both.n_best] == joined
