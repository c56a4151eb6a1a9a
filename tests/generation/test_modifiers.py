"""Modifiers: nouns with the modifiers of training, in combinations that training lacks."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from helpers import preprocessor_of

from dactnlg.acts import DialogueAct, Slot, Turn, parse
from dactnlg.data.corpus import load_corpus
from dactnlg.data.pairs import build_preprocessor
from dactnlg.generation.candidates import Candidate
from dactnlg.generation.unseen import composition
from dactnlg.generation.unseen.composition import Composer
from dactnlg.generation.unseen.modifiers import Modifiers
from dactnlg.generation.unseen.piece_finder import PieceFinder
from dactnlg.generation.unseen.pieces import wanted
from dactnlg.text.grammar.fluency import Fluency
from dactnlg.text.placeholders import is_placeholder
from dactnlg.text.preprocessor import Preprocessor
from dactnlg.text.surface import strip_joiner

PUBS = [
    ("inform(name=a;price=b;area=c)", "SLOT_NAME is a SLOT_PRICE pub in the SLOT_AREA area ."),
    ("inform(name=a;area=b;near=c)", "SLOT_NAME is a pub near SLOT_NEAR in the SLOT_AREA area ."),
    ("inform(name=a;stars=b)", "SLOT_NAME is a pub with SLOT_STARS stars ."),
    ("inform(name=a;beers=b)", "SLOT_NAME is a pub with SLOT_BEERS beers ."),
    ("inform(name=a;food=b)", "SLOT_NAME is a pub that serves SLOT_FOOD ."),
    ("inform(name=a;music=b)", "SLOT_NAME is a pub that has SLOT_MUSIC music ."),
    ("inform(name=a;quarter=b)", "SLOT_NAME is a pub where SLOT_QUARTER people go ."),
    ("inform_no_match(area=a)", "there are no pubs in the SLOT_AREA area ."),
    ("inform_no_match(food=a)", "there are no pubs that serve SLOT_FOOD ."),
    ("inform_only_match(name=a;area=b)", "there is no pub other than SLOT_NAME in the SLOT_AREA area ."),
    ("?select(price=a)", "would you like something in the SLOT_PRICE range ?"),
    ("recommend(price=a)", "there are good SLOT_PRICE pubs . have you seen it , or do you have it , or is it new ?"),
    ("inform_count(price=a)", "there are 7 SLOT_PRICE pubs ."),
    ("?confirm(area=a)", "you want a nice pub in the SLOT_AREA area that i know ?"),
    ("?confirm(price=a)", "you want a nice SLOT_PRICE pub ?"),
    ("?confirm(food=a)", "do you want a nice pub that serves SLOT_FOOD ?"),
    ("?confirm(stars=a)", "you want a haunted pub with SLOT_STARS stars , you say ?"),
    ("recommend(area=b)", "good pubs are in the SLOT_AREA area ."),
    ("recommend(food=b)", "good pubs have SLOT_FOOD ."),
    ("inform_all(area=a)", "all pubs in the SLOT_AREA area"),
    ("inform_all(area=a;near=b)", "all pubs near SLOT_NEAR are in the SLOT_AREA area"),
]


def modifiers(preprocessor: Preprocessor) -> Modifiers:
    finder = PieceFinder(preprocessor)
    fluency = Fluency(preprocessor.templates.texts(), english=True)
    return Modifiers(finder.texts, fluency.lexicon, finder.said_here)


def said(act: str) -> list[str]:
    own = preprocessor_of(PUBS)
    turn = own.request(parse(act)).turn
    found = modifiers(own).made(frozenset(each.act_type for each in turn.acts), wanted(own, turn) or frozenset())
    return [" ".join(tokens) for tokens, _ in found]


@pytest.mark.parametrize(
    ("act", "text"),
    [
        # In the order of training: `near` before an area; lists and clauses last.
        (
            "inform_no_match(area=a;price=b;near=c)",
            "there are no SLOT_PRICE pubs near SLOT_NEAR in the SLOT_AREA area .",
        ),
        # Clauses agree with the plural.
        (
            "inform_no_match(food=a;music=b;stars=c;beers=d)",
            "there are no pubs with SLOT_BEERS beers and SLOT_STARS stars "
            "that serve SLOT_FOOD and have SLOT_MUSIC music .",
        ),
        (
            "inform_no_match(food=a;music=b;quarter=c)",
            "there are no pubs that serve SLOT_FOOD and have SLOT_MUSIC music and where SLOT_QUARTER people go .",
        ),
        # The name stays next to the noun.
        (
            "inform_only_match(name=a;price=b;food=c;area=d)",
            "there is no SLOT_PRICE pub other than SLOT_NAME in the SLOT_AREA area that serves SLOT_FOOD .",
        ),
        # An adjective cannot modify "something".
        (
            "?select(area=a;food=b)",
            "would you like something in the SLOT_AREA area that serves SLOT_FOOD ?",
        ),
        (
            "recommend(area=b)",
            "there are good pubs in the SLOT_AREA area . have you seen them , or do you have them , or is it new ?",
        ),
        ("?confirm(area=a;near=b)", "do you want a nice pub near SLOT_NEAR in the SLOT_AREA area ?"),
    ],
)
def test_nouns_are_modified_as_in_training(act: str, text: str) -> None:
    assert said(act)[0] == text


@pytest.mark.parametrize(
    "act",
    [
        # No frame: its texts give a number, say that these are all, or lack the name.
        "inform_count(price=a;area=b)",
        "inform_all(food=a)",
        "inform_no_match(name=a;area=b)",
        # No noun is modified by it.
        "inform_no_match(area=a;phone=b)",
        "inform_no_match(area=a;near)",
    ],
)
def test_nothing_is_made_where_a_slot_modifies_no_noun(act: str) -> None:
    assert not said(act)


def test_frames_with_rare_words_of_their_own_are_not_used() -> None:
    found = [*said("?confirm(area=a;near=b)"), *said("?confirm(area=a;food=b)")]
    assert len(found) > 3 and not any("haunted" in text for text in found)
    # "... that serves SLOT_FOOD that i know"
    assert [text for text in found if "that i know" in text] == [
        "you want a nice pub near SLOT_NEAR in the SLOT_AREA area that i know ?"
    ]


def test_the_subject_of_a_predicate_is_modified_too() -> None:
    assert said("inform_all(area=a;near=b;food=c)") == [
        "all pubs near SLOT_NEAR that serve SLOT_FOOD are in the SLOT_AREA area"
    ]


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("there are no | SLOT_PRICE | pubs | near SLOT_NEAR | in the SLOT_AREA area | that serve SLOT_FOOD | .", 6),
        # A comma may follow.
        ("there are no pubs | with SLOT_STARS stars | and SLOT_BEERS beers , but none is open .", 2),
        # "Serves" is the singular.
        ("there are no pubs that serves SLOT_FOOD .", 0),
        # "We pubs" is not a noun phrase.
        ("we pubs near SLOT_NEAR .", 0),
        # Nothing follows a clause.
        ("there are no pubs | that serve SLOT_FOOD near SLOT_NEAR .", 1),
        # Two nouns.
        ("a pub near SLOT_NEAR pub .", 0),
    ],
)
def test_seams_are_found_between_modifiers(text: str, places: int) -> None:
    parts = [part.split() for part in text.split("|")]
    ends = [sum(map(len, parts[: number + 1])) for number in range(len(parts) - 1)]
    tokens = tuple(token for part in parts for token in part)
    found = modifiers(preprocessor_of(PUBS)).seams.of(tokens)
    assert len(found) == places and found <= {*ends}


def test_of_too_many_texts_only_the_most_frequent_provide_modifiers(monkeypatch: pytest.MonkeyPatch) -> None:
    own = preprocessor_of([*PUBS, PUBS[7], ("inform_no_match(area=b)", PUBS[7][1])])
    turn = own.request(parse("inform_no_match(area=a;stars=b)")).turn
    text = ("there", "are", "no", "pubs", "in", "the", "SLOT_AREA", "area", "with", "SLOT_STARS", "stars", ".")
    for most, described in ((len(PUBS), True), (1, False)):
        monkeypatch.setattr(composition, "MOST_TEXTS", most)
        fluency = Fluency(own.templates.texts(), english=True)
        assert (text in dict(Composer(own).composed(turn, fluency))) == described


@pytest.mark.parametrize("act_type", ["inform_no_match", "inform_count", "inform_only_match", "?confirm"])
def test_every_slot_of_random_acts_is_said_once(act_type: str) -> None:
    preprocessor, pairs = build_preprocessor(load_corpus("trails"))
    fluency = Fluency(preprocessor.templates.texts(), english=True)
    composer, own = Composer(preprocessor), modifiers(preprocessor)
    values: dict[str, Slot] = {}
    for pair in pairs:
        for act in pair.turn.acts if [act.act_type for act in pair.turn.acts] == [act_type] else ():
            values |= {slot.name: slot for slot in act.slots if slot.value and slot.special != "dontcare"}
    draw, made = random.Random(act_type), Counter[int]()
    for number in range(2, 8):
        for _ in range(4):
            slots = draw.sample(sorted(values.values()), min(number, len(values)))
            request = preprocessor.request(Turn((DialogueAct(act_type, tuple(slots)),)))
            needed = Counter(item.placeholder for item in preprocessor.delexicalizer.required(request.turn))
            for tokens, _ in own.made(frozenset({act_type}), wanted(preprocessor, request.turn) or frozenset()):
                assert Counter(map(strip_joiner, filter(is_placeholder, map(strip_joiner, tokens)))) == needed
                assert Candidate(preprocessor, request, tokens, 0.0).report.values.errors == 0
                # Only the seams are unlike training, and what a frame has next to its noun.
                assert fluency.strange_runs(tokens) - composer.seams(tokens, fluency) <= 6
                made[number] += 1
    assert len(made) > 3 and made.total() > 50
