"""Readers of real corpora: what they find in people's sentences, and what they demand of generated ones."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from generated import look, read

from dactnlg.acts import DialogueAct, Slot, Turn, parse
from dactnlg.data.corpus import Corpus
from dactnlg.fidelity.checker import FidelityChecker
from dactnlg.fidelity.learning import learn_reader

RATINGS = ("excellent", "good", "average", "poor")
Learned = Callable[[str], FidelityChecker]


@pytest.fixture(scope="module")
def learned(corpora: Callable[[str], Corpus]) -> Learned:
    """Give a function for the checker of a corpus, with a reader that is learned once."""

    @cache
    def checker(name: str) -> FidelityChecker:
        corpus = corpora(name)
        cues = corpus.style().checker()
        return FidelityChecker(cues, learn_reader(list(corpus.pairs("train")), list(corpus.pairs("valid")), cues))

    return checker


def test_whether_it_is_so_leaves_a_yes_open(learned: Learned) -> None:
    checker = learned("restaurants")

    def missing(act: str, text: str) -> tuple[str, ...]:
        return look(checker, checker.delexicalizer.prepared(parse(act)), text.split()).missing

    for kids in ("?select(kidsallowed=yes)", "?confirm(kidsallowed=yes)"):
        assert missing(kids, "what is your preference as to whether it allows child -s")
        assert not missing(kids, "do you want a restaurant that allows child -s")
    both = "?select(kidsallowed=yes;kidsallowed=no)"
    assert not missing(both, "what is your preference as to whether it allows child -s")


def test_an_unknown_value_is_said_to_be_unknown_not_to_be_none(learned: Learned) -> None:
    checker = learned("restaurants")
    turn = checker.delexicalizer.prepared(parse("inform(name='red door cafe';food=none)"))

    def missing(text: str) -> tuple[str, ...]:
        return look(checker, turn, text.split()).missing

    assert missing("SLOT_NAME is a nice place , it serves none food") == ("food=none",)
    assert not missing("SLOT_NAME is a nice place , the food type is unknown")
    assert not missing("SLOT_NAME is a nice place , i do not know the type of food")


def test_an_unknown_value_is_not_told_in_another_sentence(learned: Learned) -> None:
    checker, turn = learned("restaurants"), parse("inform(name=chow;kidsallowed=none)")

    def missing(text: str) -> tuple[str, ...]:
        return read(checker, turn, checker.delexicalizer.delexicalize(turn, text).tokens).missing

    unknown = "i do not know whether they allow kid -s ."
    assert missing(f"chow is a nice place . {unknown}") == ()
    assert missing(f"chow is a nice place where no child -s are allowed . {unknown}") == ("kidsallowed=none",)


def test_a_statement_confirms_nothing_though_two_people_of_twenty_wrote_one(
    corpora: Callable[[str], Corpus], learned: Learned
) -> None:
    checker, said = learned("restaurants"), dict.fromkeys(corpora("restaurants").pairs("test"))
    stated = [
        (replace(turn, acts=(replace(turn.acts[0], act_type="?confirm"),)), text)
        for turn, text in said
        if [act.act_type for act in turn] == ["inform"] and checker.check(turn, text).ok
    ]
    assert len(stated) > 300
    assert np.mean([bool(checker.check(*pair).acts) for pair in stated]) >= 0.98
    confirmed = [pair for pair in said if str(pair[0]).startswith("?confirm(")]
    assert len(confirmed) > 10
    assert sum(bool(checker.check(*pair).acts) for pair in confirmed) <= 3


@pytest.fixture(scope="module")
def opinions(corpora: Callable[[str], Corpus]) -> FidelityChecker:
    """The checker of ViGGO with ratings as a closed class, and a reader that tells them apart."""
    corpus = corpora("viggo")
    cues = replace(corpus.style(), lexicalized={"rating": RATINGS}).checker()
    return FidelityChecker(cues, learn_reader(list(corpus.pairs("train")), list(corpus.pairs("valid")), cues))


def test_the_reader_tells_opinions_apart(corpora: Callable[[str], Corpus], opinions: FidelityChecker) -> None:
    opposite = {"poor": "excellent", "excellent": "poor", "good": "poor", "average": "excellent"}

    def other(slot: Slot) -> Slot:
        rated = slot.name == "rating" and slot.delexicalizable
        return Slot("rating", opposite[slot.value or ""]) if rated else slot

    def is_flagged(turn: Turn, text: str) -> bool:
        report = opinions.check(turn, text)
        return any(name.startswith("rating=") for name in (*report.missing, *report.contradicted))

    rows = [pair for pair in corpora("viggo").pairs("test") if any(s.name == "rating" for _, s in pair[0].slots())]
    alarms = found = 0
    for turn, text in rows[:300]:
        alarms += is_flagged(turn, text)
        acts = (DialogueAct(act.act_type, tuple(map(other, act.slots))) for act in turn)
        found += is_flagged(Turn(tuple(acts)), text)
    # Good and excellent have most words in common.
    assert alarms < 40 and found > 290, (alarms, found)


def test_one_opinion_is_said(opinions: FidelityChecker) -> None:
    """Cues show little more than that there is an opinion; the word for another opinion shows more."""

    def other(rating: str, text: str) -> dict[str, str]:
        return dict(opinions.check(parse(f"inform(name='Silent Hill 2';rating={rating})"), text).contradicted)

    assert not other("good", "Silent Hill 2 is a good game.")
    assert other("good", "Silent Hill 2 is a good game. It has poor ratings.") == {"rating=good": "rating=poor"}
    assert other("average", "Silent Hill 2 is a good game. It has average ratings.") == {
        "rating=average": "rating=good"
    }
    assert not other("poor", "Silent Hill 2 is not a good game. It has poor ratings.")


def test_what_people_get_wrong_now_and_then_is_a_fault_of_generated_text(corpora: Callable[[str], Corpus]) -> None:
    czech = corpora("cs_restaurants")
    bare = replace(czech.style(), cues={}).checker()
    # In seven of 107 sentences for kids_allowed=no people say yes.
    checker = FidelityChecker(bare, learn_reader(list(czech.pairs("train")), list(czech.pairs("valid")), bare))
    turn = parse("inform_only_match(good_for_meal=dinner;kids_allowed=no;name='Café Kampus';near='Prague Castle')")
    said = (
        "Omlouvám se , ale Café Kampus je jediná restaurace poblíž Pražského hradu , "
        "která {} vhodná pro děti a je vhodná pro večeři ."
    )
    assert checker.check(turn, said.format("je")).ok

    def missing(text: str, checker: FidelityChecker = checker, turn: Turn = turn) -> tuple[str, ...]:
        return read(checker, turn, checker.delexicalizer.delexicalize(turn, text).tokens).missing

    assert missing(said.format("není")) == ()
    assert missing(said.format("je")) == ("kids_allowed=no",)
    # Another sentence does not take back what one sentence says.
    assert missing(said.format("je") + " Restaurace není vhodná pro děti .") == ("kids_allowed=no",)
    # One thing may have what another lacks.
    two = parse("inform(kids_allowed=no;name='Café Kampus')&inform(kids_allowed=yes;name='Green Spirit')")
    text = "Café Kampus není vhodná pro děti . Green Spirit je vhodná pro děti ."
    assert "kids_allowed=no" not in missing(text, turn=two)
    # Where cues decide, the reader does not.
    cues = {"kids_allowed": {"yes": ["přístupn"], "no": ["pro děti"]}}
    cued = FidelityChecker(replace(czech.style(), cues=cues).checker(), checker.reader)
    assert missing(said.format("je"), cued) == ()


def test_a_cue_that_shows_is_overruled_only_where_another_slot_is_named(
    corpora: Callable[[str], Corpus], learned: Learned
) -> None:
    checker = learned("cs_restaurants")
    # Training names the slot in other cases and numbers.
    text = "Našla jsem 239 restaurací v různých cenových skupinách ."
    assert checker.check(parse("inform(count=239;price_range=dontcare;type=restaurant)"), text).ok
    assert checker.check(parse("inform(count=239;area=dontcare;type=restaurant)"), text).missing == ("area=dontcare",)
    assert checker.check(parse("inform(count=239;price_range=cheap;type=restaurant)"), text).missing
    pairs = dict.fromkeys(corpora("cs_restaurants").pairs("test"))
    assert sum(not checker.check(*pair).ok for pair in pairs) < 40


def test_a_wanted_value_is_told_from_one_that_does_not_matter(learned: Learned) -> None:
    checker = learned("hotel")
    act = "inform_count(count=169;type=hotel;hasinternet={};dogsallowed={})"
    text = "there are 169 hotel -s with internet if you do not care whether dogs are allowed"
    assert checker.check(parse(act.format("yes", "dontcare")), text).ok
    assert not checker.check(parse(act.format("dontcare", "yes")), text).ok
    both = "there are 169 hotel -s if you do not care whether they have internet and whether dogs are allowed"
    assert checker.check(parse(act.format("dontcare", "dontcare")), both).ok
    assert not checker.check(parse(act.format("yes", "dontcare")), both).ok


def test_people_of_a_test_split_ask_in_words_that_training_never_had(
    corpora: Callable[[str], Corpus], learned: Learned
) -> None:
    checker, pairs = learned("dstc2"), list(dict.fromkeys(corpora("dstc2").pairs("test")))
    assert np.mean([not checker.check(*pair).ok for pair in pairs]) <= 0.01
    # Where the sentence asks for another slot, the question is lost.
    other = {"area": "food", "food": "pricerange", "pricerange": "area"}
    asked = [(turn, text) for turn, text in pairs if str(turn).startswith("request(") and "impl-conf" in str(turn)]
    lost = []
    for turn, text in asked:
        slot = Slot(other[turn.acts[0].slots[0].name])
        wrong = Turn(
            (replace(turn.acts[0], slots=(slot,)), *(act for act in turn.acts[1:] if slot.name not in str(act)))
        )
        lost.append(f"request({slot.name})" in checker.check(wrong, text).questions)
    assert len(asked) > 100
    assert np.mean(lost) >= 0.95


def test_an_implicit_confirmation_needs_no_words_of_its_own(learned: Learned) -> None:
    turn = parse("request(pricerange)&inform(count=9)&impl-conf(food=dontcare)&impl-conf(area=south)")
    said = "There are 9 restaurants in the south of town if you do not care about the food."
    asked = "Would you like something in the cheap, moderate, or expensive price range?"
    assert learned("dstc2").check(turn, f"{said} {asked}").ok
    assert learned("dstc2").check(turn, said).missing == ("request()",)


def test_a_yes_is_not_said_of_what_does_not_matter(corpora: Callable[[str], Corpus]) -> None:
    televisions = corpora("tv")
    cues, pairs = televisions.style().checker(), list(televisions.pairs("train"))
    checker = FidelityChecker(cues, learn_reader(pairs[::2], pairs[1::6], cues))

    def missing(act: str, text: str) -> tuple[str, ...]:
        turn = parse(act)
        return read(checker, turn, checker.delexicalizer.delexicalize(turn, text).tokens).missing

    act = "?confirm(type=television;hasusbport=dontcare;pricerange=cheap)"
    assert missing(act, "let me confirm , a cheap television with a usb port ?") == ("hasusbport=dontcare",)
    assert missing(act, "let me confirm , a cheap television and you don't care about usb ports ?") == ()
    assert missing(act, "let me confirm , a cheap television , whether it has usb ports or not ?") == ()
    # The name of a longer slot does not name a shorter one.
    act = "inform_no_info(price=none)"
    assert missing(act, "there is no information about the price .") == ()
    assert missing(act, "there is no information about the price range .") == ("price=none",)


@pytest.mark.parametrize("name", ["trails", "dstc2"])
def test_a_question_that_no_act_asks_is_extra(name: str, corpora: Callable[[str], Corpus], learned: Learned) -> None:
    corpus, checker, chance = corpora(name), learned(name), random.Random(3)
    known = {fact.name: fact.slot for fact in checker.reader.facts.values() if fact.bare} if checker.reader else {}
    right = [pair for pair in dict.fromkeys(corpus.pairs("test")) if checker.check(*pair).ok]
    # People's sentences hardly ever ask what their act does not.
    alarms = [pair for pair in corpus.pairs("test") if not known.keys().isdisjoint(checker.check(*pair).extra)]
    assert len(set(alarms)) <= 2
    asked = [(list(turn.slots()), text) for turn, text in corpus.pairs("train") if text.endswith("?")]
    questions = [(slots[0][1].name, text) for slots, text in asked if len(slots) == 1 and slots[0][1].value is None]
    for turn, text in chance.sample(right, 100):
        (slot, question), own = chance.choice(questions), [each for _, each in turn.slots()]
        # A question in the place of one of the act's own is known by the one that is missing.
        if slot not in {each.name for each in own} and all(each.value for each in own) and not text.endswith("?"):
            both = f"{text.removesuffix(' .').removesuffix('.')} . {question}"
            tokens = checker.delexicalizer.delexicalize(turn, both).tokens
            for extra in (checker.check(turn, both).extra, look(checker, turn, tokens).extra):
                assert slot in map(known.get, extra), (turn, both)
