"""Preprocessors of real corpora: requests, which stand for all turns with one delexicalised act, and trigger words."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from helpers import sentence_of
from hypothesis import given
from hypothesis import strategies as st

from dactnlg.acts import DialogueAct, Slot, Turn, parse
from dactnlg.data.corpus import Corpus
from dactnlg.data.pairs import TrainingData
from dactnlg.text.placeholders import is_placeholder, required_slots
from dactnlg.text.preprocessor import Preprocessor
from dactnlg.text.requests import outline, parts, required_places
from dactnlg.text.surface import JOINER, strip_joiner, tokenize
from dactnlg.text.values.capitals import title
from dactnlg.text.values.delexicalization import lexicalize
from dactnlg.text.values.joins import find_edits
from dactnlg.text.values.morphemes import ending_of
from dactnlg.text.values.realization import realize
from dactnlg.text.values.times import has_house_number

_MENDED = re.compile(r"[.] ?|\s[,;:]|[?!.]$")
Learned = tuple[Preprocessor, list[Turn], list[tuple[str, ...]]]


@pytest.fixture(scope="module", params=["restaurants", "dstc2", "viggo", "e2e", "trails"])
def learned(
    request: pytest.FixtureRequest, corpora: Callable[[str], Corpus], training_data: Callable[[str], TrainingData]
) -> Learned:
    """Return a corpus's preprocessor, its test acts ("A or B" taken apart) and its training sentences."""
    preprocessor, pairs = training_data(request.param)
    test = corpora(request.param).split("test")
    turns = list(dict.fromkeys(preprocessor.delexicalizer.prepared(example.turn) for example in test))
    return preprocessor, turns, sorted({pair.tokens for pair in pairs})


def test_a_delexicalized_act_decides_all_but_the_values(learned: Learned) -> None:
    preprocessor, turns, _ = learned
    alike: dict[object, list[Turn]] = {}
    for turn in turns:
        alike.setdefault(outline(turn)[0], []).append(turn)
    assert any(len(group) > 1 for group in alike.values())
    for group in alike.values():
        vectors = preprocessor.encoder.vectors(group)
        assert (vectors == vectors[0]).all()
        np.testing.assert_array_equal(
            preprocessor.required_counts(group), preprocessor.required_counts(group[:1] * len(group))
        )
        for find in (preprocessor.questions.of, preprocessor.checker.special):
            assert {find(turn) for turn in group} == {find(group[0])}
        names = {tuple(item.placeholder for item in preprocessor.delexicalizer.required(turn)) for turn in group}
        assert len(names) == 1


def test_filling_a_template_equals_putting_the_sentence_together(learned: Learned) -> None:
    preprocessor, turns, sentences = learned
    chance = random.Random(4)
    by_names: dict[frozenset[str], list[tuple[str, ...]]] = {}
    for sentence in sentences:
        by_names.setdefault(frozenset(strip_joiner(t) for t in sentence if is_placeholder(t)), []).append(sentence)
    tried = 0
    for turn in turns:
        required = preprocessor.delexicalizer.required(turn)
        fitting = by_names.get(frozenset(item.placeholder for item in required))
        if not fitting:
            continue
        tokens = chance.choice(fitting)
        restored = preprocessor.casing.restore(tokens) if preprocessor.style.cased else list(tokens)
        written = {
            item.placeholder: preprocessor.casing.value(item.slot.name, item.slot.value or "") for item in required
        }
        fillers = {name: tokenize(value) for name, value in written.items()}
        request = preprocessor.request(turn)
        template = preprocessor.template(request.act, tokens)
        plain, sentence = template.joined == parts(restored), sentence_of(preprocessor, turn, tokens)
        if plain and not find_edits(template.joints, [request.values[place].edges for place in template.places]):
            assert sentence.raw == lexicalize(restored, fillers)
        else:
            assert preprocessor.style.spaced == (sentence.raw == lexicalize(restored, fillers))
            continue
        # "hack-and-slashes", where the raw sentence has "hack-and-slash" and "s".
        said = zip(template.form.holes, template.places, strict=True)
        if any(hole.ending == "s" != ending_of(request.values[place].text, "s") for hole, place in said if hole.ending):
            continue
        # Before a value with a house number "on" becomes "at".
        if any(_MENDED.search(value) or has_house_number(value) for value in written.values()):
            continue
        # Nothing else in the values of the corpora would be changed if the whole sentence were realised.
        proper = {item.placeholder for item in required if item.slot.name in preprocessor.style.proper}
        shown = {name: tokenize(title(value)) if name in proper else fillers[name] for name, value in written.items()}
        asks = preprocessor.style.spaced and any(act.act_type.startswith("?") for act in turn)
        assert sentence.text == realize(lexicalize(restored, shown), question=True if asks else None)
        tried += 1
    assert tried > 50


def test_turns_of_one_act_are_filled_with_their_own_values(learned: Learned) -> None:
    preprocessor, turns, _ = learned
    requests = [preprocessor.request(turn) for turn in turns]
    shared = Counter(request.act for request in requests)
    assert max(shared.values()) > 1
    for turn, request in zip(turns, requests, strict=True):
        names = [item.placeholder for item in preprocessor.delexicalizer.required(turn)]
        for name, value in zip(names, request.values, strict=True):
            assert sentence_of(preprocessor, turn, (name,)).raw == value.raw
        assert preprocessor.request(turn).act is request.act


NAMES = ["food", "area", "customer rating", "customer_rating"]
VALUES = [None, "Thai", "thai", "west", "dontcare", "yes", "?", "or"]
SLOTS = st.builds(Slot, st.sampled_from(NAMES), st.sampled_from(VALUES))
ACTS = st.builds(DialogueAct, st.sampled_from(["inform", "food", "yes"]), st.lists(SLOTS, max_size=3).map(tuple))
TURNS = st.lists(ACTS, min_size=1, max_size=3).map(lambda acts: Turn(tuple(acts)))
SILENT = frozenset({"inform.food"})


@given(TURNS, st.data())
def test_equal_outlines_require_the_same_places(turn: Turn, data: st.DataObject) -> None:
    # If values are exchanged, the key may only stay the same if what is required does.
    ordinary = ["Thai", "thai", "west", "or"]
    other = dict(
        zip(ordinary, data.draw(st.lists(st.sampled_from([*ordinary, "x"]), min_size=4, max_size=4)), strict=True)
    )
    acts = [
        DialogueAct(a.act_type, tuple(Slot(s.name, other.get(s.value or "", s.value)) for s in a.slots)) for a in turn
    ]
    second = Turn(tuple(acts))
    (key, slots), (second_key, second_slots) = outline(turn), outline(second)
    required, second_required = required_slots(turn, SILENT), required_slots(second, SILENT)
    assert [slots[place] for place in required_places(required, slots)] == [item.slot for item in required]
    if key == second_key:
        assert [i.placeholder for i in required] == [i.placeholder for i in second_required]
        places = required_places(required, slots)
        assert [second_slots[place] for place in places] == [item.slot for item in second_required]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a(b=dontcare)", "a()&b()&dontcare()"),
        ("inform(food=thai)&inform(food=thai)", "inform(food=thai)&inform(food=basque)"),
        ("inform(food=thai;area=x)", "inform(area=x;food=thai)"),
        ("inform(food)", "inform(food=dontcare)"),
        ("inform(food=yes)", "inform(food=no)"),
    ],
)
def test_what_differs_is_another_act(one: str, other: str) -> None:
    assert outline(parse(one))[0] != outline(parse(other))[0]


def test_a_placeholder_that_the_turn_lacks_says_something_all_the_same(learned: Learned) -> None:
    preprocessor, turns, _ = learned
    template = preprocessor.template(preprocessor.request(turns[0]).act, ("SLOT_WHATEVER#7", f"{JOINER}."))
    assert template.places == (None,) and template.tally is None
    assert sentence_of(preprocessor, turns[0], template.tokens).raw == "whatever."


def test_percent_signs_are_kept(learned: Learned) -> None:
    preprocessor = learned[0]
    turn = next(turn for turn in learned[1] if preprocessor.delexicalizer.required(turn))
    name = preprocessor.delexicalizer.required(turn)[0].placeholder
    raw = sentence_of(preprocessor, turn, ("100", f"{JOINER}%", "%s", name)).raw
    assert raw == f"100% %s {preprocessor.request(turn).values[0].raw}"


@pytest.mark.parametrize(
    ("name", "key", "words"),
    [
        ("restaurants", "kidsallowed", {"kid", "child"}),
        ("e2e", "familyFriendly", {"family", "children", "kids"}),
        ("tv", "hasusbport", {"usb"}),
        ("trails", "dogsallowed", {"dogs"}),
    ],
)
def test_the_trigger_words_of_real_corpora_are_the_words_that_people_use(
    name: str, key: str, words: set[str], training_data: Callable[[str], TrainingData]
) -> None:
    preprocessor, _ = training_data(name)
    assert words <= set(preprocessor.trigger_words[key])
    assert not {"is", "the", ".", "a", "it"} & set(preprocessor.trigger_words[key])
    owed = preprocessor.owed_triggers([[f"{key}=no"], [], ["unheard=yes"]])
    assert owed.shape == (3, len(preprocessor.trigger_words)) and owed.sum(axis=1).tolist() == [1, 0, 0]
