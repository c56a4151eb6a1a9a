"""Templates: the nearest training sentences, and a sentence for every act that says each slot exactly once."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dactnlg.acts import DialogueAct, Slot, Turn, parse
from dactnlg.data.corpus import Corpus
from dactnlg.data.pairs import TrainingData
from dactnlg.text.placeholders import is_placeholder, required_slots
from dactnlg.text.surface import JOINER, detokenize, strip_joiner
from dactnlg.text.templates import Templates
from dactnlg.text.traits import Trait, act_types, canonical, kind, read_trait, special_values

SEEN = [
    ("inform(name=a;food=b)", "SLOT_NAME serves SLOT_FOOD ."),
    ("inform(name=c;food=d)", "SLOT_NAME serves SLOT_FOOD ."),
    ("inform(food=b;name=a)", "SLOT_FOOD at SLOT_NAME"),
    ("inform(name=a)", f"is it SLOT_NAME {JOINER}?"),
    ("recommend(name=a)", "try SLOT_NAME"),
    ("inform(name=a;near=b)", "SLOT_NAME is SLOT_NAME near SLOT_NEAR"),  # says the name twice
    ("inform(phone=a)", f"call -{JOINER} {JOINER}SLOT_PHONE"),
    ("?request(food)", "which food ?"),
    ("goodbye()", "ciao"),
    ("goodbye()", "bye"),
    ("goodbye(name=dontcare)", "bye"),
    ("goodbye(name=none)", "see you"),
]


def collect(pairs: list[tuple[str, str]]) -> Templates:
    return Templates.collect((parse(act), sentence.split()) for act, sentence in pairs)


@pytest.fixture(scope="module")
def templates() -> Templates:
    return collect(SEEN)


@given(st.text("ab|?.", min_size=1), st.text("ab|.", max_size=3), st.sampled_from([None, "", "none", "a|b"]))
def test_a_printed_trait_is_read_again(act_type: str, slot: str, value: str | None) -> None:
    trait = Trait(act_type, slot, value if slot else None)
    assert read_trait(str(trait)) == trait


def test_an_act_type_with_a_bar_is_no_slot_of_another() -> None:
    turn = parse("hotel|inform(name=a;pool=no)&hotel(inform)")
    assert act_types(kind(turn)) == ("hotel", "hotel|inform")
    assert [*map(canonical, special_values(turn))] == [("hotel|inform", "pool", "no")]


def cover(templates: Templates, act: str) -> str:
    turn = parse(act)
    return detokenize(templates.cover(turn, required_slots(turn)))


def placeholders(tokens: list[str]) -> Counter[str]:
    return Counter(strip_joiner(token) for token in tokens if is_placeholder(token))


def test_a_kind_is_acts_and_slots_whatever_their_order_and_values() -> None:
    assert kind(parse("inform(food=thai;name='x y')&bye()")) == ("bye", "inform", "inform|food", "inform|name")
    assert kind(parse("bye()&inform(name=dontcare;food=x;food=y)")) == ("bye", "inform", "inform|food", "inform|name")
    assert kind(parse("a(x=1)&b(y=1)")) != kind(parse("a(y=1)&b(x=1)"))


def test_the_same_acts_and_slots_give_their_sentences(templates: Templates) -> None:
    found = templates.same(parse("inform(food=zz;name=yy)"))
    assert {" ".join(template): weight for template, weight in found.items()} == {
        "SLOT_NAME serves SLOT_FOOD .": 2.0,
        "SLOT_FOOD at SLOT_NAME": 1.0,
    }


def test_every_example_counts_one_and_its_sentences_share_that() -> None:
    rows = [("bye()", "bye"), ("bye()", "ciao"), ("bye()", "bye"), ("hi(name=yes)", "hi"), ("hi(name=no)", "oh")]
    templates = collect([*rows, ("hi(name=no)", "ah"), ("hi(name=no)", "hi"), ("hi(name=no)", "er")])
    # A pair that occurs twice is one sentence of its act (Sharma et al. 2017, 4.1: an example, then a sentence of it).
    assert templates.same(parse("bye()")) == {("bye",): 0.5, ("ciao",): 0.5}
    assert templates.same(parse("hi(name)")) == {("hi",): 1.25, ("oh",): 0.25, ("ah",): 0.25, ("er",): 0.25}


@pytest.mark.parametrize(
    ("act", "nearest"),
    [
        # Most slots in common first, then fewest others.
        ("inform(name=a;food=b;area=c)", "inform(name=a;food=b)"),
        ("inform(area=c)", "inform(name=a)"),
        ("recommend(name=a;area=c)", "recommend(name=a)"),
        ("goodbye(food=a)", "goodbye()"),
        # Nothing in common: the smallest there is.
        ("hello()", "goodbye()"),
    ],
)
def test_an_unseen_combination_takes_the_nearest(templates: Templates, act: str, nearest: str) -> None:
    assert kind(parse(act)) not in templates.sentences
    assert templates.same(parse(act)) == templates.sentences[kind(parse(nearest))]


def test_without_sentences_there_is_none_and_all_is_said_plainly() -> None:
    empty = Templates({})
    assert empty.same(parse("goodbye()")) == {}
    assert cover(empty, "inform(customer rating=5;near_by='x y')") == (
        "the customer rating is SLOT_CUSTOMER_RATING . the near by is SLOT_NEAR_BY"
    )
    assert cover(empty, "?request(customer_rating)&goodbye()") == "request customer rating goodbye"


def test_another_language_has_no_english_in_it() -> None:
    turn = parse("inform(area=Karlín;food='čínská')")
    tokens = Templates({}).cover(turn, required_slots(turn), english=False)
    assert detokenize(tokens) == "area: SLOT_AREA . food: SLOT_FOOD"


@pytest.mark.parametrize(
    ("act", "sentence"),
    [
        ("inform(name=a;food=b)", "SLOT_NAME serves SLOT_FOOD ."),
        # The nearest act decides between sentences that say as much.
        ("recommend(name=a)", "try SLOT_NAME"),
        # A mark between sentences, but not two; what no sentence says is named plainly.
        ("inform(name=a;food=b;area=c)", "SLOT_NAME serves SLOT_FOOD . the area is SLOT_AREA"),
        ("inform(name=a;area=b)", "is it SLOT_NAME? the area is SLOT_AREA"),
        ("recommend(name=a;area=b)", "try SLOT_NAME . the area is SLOT_AREA"),
        # A sentence that says a slot twice is of no use.
        ("inform(name=a;near=b)", "is it SLOT_NAME? it is near SLOT_NEAR"),
        ("inform(name=a;phone=b)", "call -SLOT_PHONE . is it SLOT_NAME?"),
        ("inform(name=a;food=b;phone=c)", "SLOT_NAME serves SLOT_FOOD . call -SLOT_PHONE"),
        # A second value of one slot has no sentence of its own here.
        ("inform(name=a;name=b)", "is it SLOT_NAME? the name is SLOT_NAME#2"),
        # No slot to say: the sentence of the nearest act that counts most.
        ("goodbye()", "bye"),
        ("goodbye(name=dontcare)", "bye"),
        ("?request(area)", "which food ?"),
        # If there are slots to say, no sentence without slots comes first, unless one of the acts needs it.
        ("inform(area=c)", "the area is SLOT_AREA"),
        ("goodbye()&inform(area=c)", "bye . the area is SLOT_AREA"),
        ("goodbye()&inform(name=c)", "is it SLOT_NAME?"),
    ],
)
def test_an_act_is_covered_by_templates(templates: Templates, act: str, sentence: str) -> None:
    assert cover(templates, act) == sentence


def test_slots_are_named_without_the_domain_of_their_act() -> None:
    pairs = [("Pub-Inform(pub-name=a;check-in=b)", "come")]
    both = "the name is SLOT_PUB_NAME . the check in is SLOT_CHECK_IN . the phone is SLOT_PUB_PHONE"
    assert cover(collect(pairs), "Pub-Recommend(pub-name=x;check-in=y;pub-phone=z)") == both
    assert cover(collect(pairs), "Train-Inform(to=x;from=y)") == "it is to SLOT_TO . it is from SLOT_FROM"


def test_special_values_decide_which_sentence_covers() -> None:
    pairs = [
        ("inform(name=a;dogs=yes)", "dogs may come to SLOT_NAME"),
        ("inform(name=a;dogs=no)", "no dogs at SLOT_NAME"),
    ]
    for order in (pairs, pairs[::-1]):
        for act, sentence in pairs:
            assert cover(collect(order), act) == sentence
            assert cover(collect(order), act.replace(")", ";food=b)")) == f"{sentence} . the food is SLOT_FOOD"


def test_a_question_stays_at_the_end() -> None:
    spaced = collect([("?compare(name=a;name=b)", "SLOT_NAME or SLOT_NAME#2 . which do you like")])
    assert cover(spaced, "?compare(name=a;name=b;area=c;area=d)") == (
        "SLOT_NAME or SLOT_NAME#2 . the area is SLOT_AREA . the area is SLOT_AREA#2 . which do you like"
    )
    # A question about a slot's value is not parted from it; it gets its own mark.
    whole = collect([("?confirm(name=a)", "do you mean SLOT_NAME")])
    assert cover(whole, "?confirm(name=a;area=c)") == "do you mean SLOT_NAME ? the area is SLOT_AREA"


def test_of_sentences_that_say_as_much_the_one_of_the_nearest_acts_is_taken() -> None:
    pairs = [
        ("inform(name=a)", "SLOT_NAME"),
        ("inform(name=a;food=dontcare;dogs=no)", "SLOT_NAME with any food but no dogs"),
        ("inform(name=a;food=dontcare;dogs=no;cats=no)", "SLOT_NAME with any food but no pets"),
        ("inform(name=a;food=dontcare;dogs=no;cats=no)", "SLOT_NAME with any food but no pets"),
    ]
    # More slots in common come first; of two with as many, the one with fewer others.
    for order in (pairs, pairs[::-1]):
        assert cover(collect(order), "inform(name=x;food=dontcare;kids=yes)") == pairs[1][1]
        assert cover(collect(order), "inform(name=x;kids=yes)") == pairs[0][1]


NAMES = st.sampled_from(["name", "food", "near", "customer rating", "customer_rating", "x-y", "é"])
VALUES = st.sampled_from(["a", "b c", "dontcare", "yes", None])
ACTS = st.builds(
    DialogueAct,
    st.sampled_from(["inform", "recommend", "?request", "goodbye", "never_heard"]),
    st.lists(st.builds(Slot, NAMES, VALUES), max_size=5).map(tuple),
)
TURNS = st.lists(ACTS, min_size=1, max_size=3).map(lambda acts: Turn(tuple(acts)))
WORDS = st.sampled_from(
    ["SLOT_NAME", f"{JOINER}SLOT_NAME", "SLOT_FOOD", "SLOT_FOOD#2", "SLOT_X_Y", "SLOT_ODD", "it", ".", f"{JOINER}?"]
)
SENTENCES = st.lists(WORDS, min_size=1, max_size=5)


@given(st.lists(st.tuples(TURNS, SENTENCES), max_size=6), TURNS)
def test_cover_says_every_slot_once_whatever_was_seen(pairs: list[tuple[Turn, list[str]]], turn: Turn) -> None:
    required = required_slots(turn)
    for templates in (Templates.collect(pairs), Templates({})):
        tokens = templates.cover(turn, required)
        assert tokens
        assert placeholders(tokens) == Counter(item.placeholder for item in required)


@given(st.lists(st.tuples(TURNS, SENTENCES), max_size=6), TURNS)
def test_templates_survive_json(pairs: list[tuple[Turn, list[str]]], turn: Turn) -> None:
    templates = Templates.collect(pairs)
    again = Templates.from_json(json.loads(json.dumps(templates.to_json())))
    # In the same order too: a random choice with a seed must not depend on having been saved.
    for one, other in zip(again.sentences.items(), templates.sentences.items(), strict=True):
        assert one[0] == other[0] and list(one[1].items()) == list(other[1].items())
    assert again.same(turn) == templates.same(turn)
    assert again.cover(turn, required_slots(turn)) == templates.cover(turn, required_slots(turn))


@given(st.lists(st.tuples(TURNS, SENTENCES), min_size=1, max_size=6), TURNS)
def test_same_gives_the_sentences_of_the_nearest_act(pairs: list[tuple[Turn, list[str]]], turn: Turn) -> None:
    templates = Templates.collect(pairs)
    wanted = set(kind(turn))

    def nearness(key: tuple[str, ...]) -> tuple[int, int]:
        return len(wanted & set(key)), -len(set(key) - wanted)

    best = max(nearness(key) for key in templates.sentences)
    found = templates.same(turn)
    keys = [key for key, rows in templates.sentences.items() if rows == found]
    assert keys and best in map(nearness, keys)
    if kind(turn) in templates.sentences:
        assert kind(turn) in keys


@pytest.mark.parametrize("name", ["trails", "restaurants", "dstc2", "viggo"])
def test_every_test_act_of_a_real_corpus_is_covered(
    name: str, corpora: Callable[[str], Corpus], training_data: Callable[[str], TrainingData]
) -> None:
    preprocessor, _ = training_data(name)
    turns = list(dict.fromkeys(example.turn for example in corpora(name).split("test")))
    assert len(turns) > 250
    for turn in turns:
        required = preprocessor.delexicalizer.required(turn)
        tokens = preprocessor.templates.cover(preprocessor.delexicalizer.prepared(turn), required)
        assert tokens, turn
        assert placeholders(tokens) == Counter(item.placeholder for item in required), turn


def test_a_further_value_of_several_acts_may_be_another_ones() -> None:
    rows = [
        ("none(view=a)&offer(view=b)", "none has SLOT_VIEW . this has SLOT_VIEW#2"),
        ("none(area=a;area=b)&offer(view=b)", "none in SLOT_AREA or SLOT_AREA#2 . SLOT_VIEW"),
    ]
    own = Templates.collect([(parse(act), text.split()) for act, text in rows])
    every = [(act, slot) for act in ("none", "offer") for slot in ("VIEW", "AREA")]
    assert [each for each in every if own.has_further(each[0], f"SLOT_{each[1]}#2")] == [("none", "AREA")]
