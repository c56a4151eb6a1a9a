"""Slots of a closed class: their values stay in the sentences, without placeholders, and cues find them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dactnlg import Generator, parse, train
from dactnlg.data.card import load_card
from dactnlg.data.corpus import Corpus
from dactnlg.data.pairs import TrainingData, build_preprocessor
from dactnlg.errors import ConfigError
from dactnlg.fidelity.facts import facts
from dactnlg.generation.options import GenerationOptions
from dactnlg.text.encoding import features
from dactnlg.text.slots import SlotChecker
from dactnlg.text.traits import canonical, combination
from dactnlg.text.values.delexicalization import Delexicalizer, LexicalizedSlot, ParaphrasedSlot

CLOSED = {
    "area": ["city centre", "riverside"],
    "customer rating": ["1 out of 5", "3 out of 5", "5 out of 5", "average", "high", "low"],
    "eatType": ["coffee shop", "pub", "restaurant"],
    "food": ["english", "fast food", "italian"],
    "priceRange": ["cheap", "high", "less than £20", "moderate", "more than £30", "£20-25"],
}


@pytest.fixture(scope="module")
def e2e() -> SlotChecker:
    return replace(load_card("e2e").style(), lexicalized=CLOSED).checker()


def test_a_known_value_is_an_entry_of_its_own_and_an_unknown_one_keeps_its_placeholder(e2e: SlotChecker) -> None:
    turn = parse("inform(name=Zizzi;food=Italian;area=Thai)")
    prepared = e2e.delexicalizer.prepared(turn)
    name, food, area = prepared.acts[0].slots
    assert isinstance(food, LexicalizedSlot) and food.special == "italian" and not food.delexicalizable
    assert (name, area) == turn.acts[0].slots[::2], "training has no such area"
    assert str(prepared) == str(turn) and prepared != turn
    assert e2e.delexicalizer.prepared(prepared) == prepared
    assert {"inform|food=italian", "slot:food=italian", "inform|area"} <= features(prepared)
    assert [item.placeholder for item in e2e.delexicalizer.required(turn)] == ["SLOT_NAME", "SLOT_AREA"]
    found = e2e.delexicalizer.delexicalize(turn, "Zizzi is an Italian place.")
    assert " ".join(found.tokens).startswith("SLOT_NAME is an Italian place")


RATINGS = ("excellent", "good", "average", "poor")


def test_opinions_are_the_readers_to_read() -> None:
    # All values of the slot are ordinary words, so that no cue of the card tells which opinion it is.
    turn = parse("verify_attribute(name=Tetris;rating=poor;genres='arcade, puzzle')")
    style = load_card("viggo").style()
    checker = replace(style, lexicalized={"rating": RATINGS}).checker()
    prepared = checker.delexicalizer.prepared(turn)
    _, rating, *genres = prepared.acts[0].slots
    assert isinstance(rating, ParaphrasedSlot) and checker.delexicalizer.prepared(prepared) == prepared
    assert [slot.value for slot in genres] == ["arcade", "puzzle"]
    assert facts(prepared)["rating=poor"].kind == "=poor"
    # Cues show that there is an opinion; words that may express one are no extra opinion.
    for each in (checker, style.checker()):
        assert each.check(turn, "You said you hated Tetris. Do you dislike arcade games with puzzles?").ok
        played = "You said you played Tetris. Do you play arcade and puzzle games?"
        assert each.check(turn, played).missing == ("rating=poor",)
        assert each.check(parse("suggest(name=Tetris)"), "I know that you like good games such as Tetris.").ok
    # Where one value is a word of its own, cues find them, as they do E2E's prices.
    some = Delexicalizer(lexicalized={"rating": RATINGS}, ordinary={"rating": RATINGS[1:]})
    (mixed,) = some.prepared(parse("inform(rating=poor)")).acts[0].slots
    assert isinstance(mixed, LexicalizedSlot) and not isinstance(mixed, ParaphrasedSlot)


def test_a_combination_of_slots_is_one_whatever_the_values_of_a_closed_class_are(e2e: SlotChecker) -> None:
    acts = ("inform(name=x;food=Italian;familyFriendly=yes)", "inform(name=y;food=English;familyFriendly=yes)")
    first, second = (combination(e2e.delexicalizer.prepared(parse(act))) for act in acts)
    other = combination(e2e.delexicalizer.prepared(parse("inform(name=x;food=English;familyFriendly=no)")))
    assert first == second != other
    assert str(canonical("inform|familyFriendly=true")) == "inform|familyFriendly=yes"
    # A text says which of a closed class it is.
    assert str(canonical("inform|food=Italian")) == "inform|food=italian" != str(canonical("inform|food=English"))
    assert str(canonical("inform|rating='Worth a try'")) == "inform|rating=worth a try"


@pytest.mark.parametrize(
    ("slots", "sentence", "missing", "extra"),
    [
        ("area=riverside", "a pub by the river", [], ["eatType=pub"]),
        ("area=riverside", "it is in the city centre", ["area=riverside"], ["area=city centre"]),
        ("area=riverside;eatType=restaurant", "a restaurant", ["area=riverside"], []),
        ("eatType=pub", "a pub restaurant", [], []),
        ("priceRange='less than £20'", "it costs less than £20", [], []),
        ("priceRange='less than £20'", "it is cheap", [], []),
        ("priceRange=cheap", "it costs less than £20", ["priceRange=cheap"], ["priceRange=less than £20"]),
        ("priceRange=high", "it is not cheap, it is expensive", [], ["priceRange=cheap"]),
        ("priceRange=high", "a pub with a high price range", [], ["eatType=pub"]),
        ("priceRange=high;customer rating=low", "low rated and high priced", [], []),
        ("priceRange=cheap;customer rating=high", "highly rated with low prices", [], []),
        ("customer rating=high", "with a high price range", ["customer rating=high"], ["priceRange=high"]),
        ("customer rating='1 out of 5'", "it has a rating of 1 out of 5", [], []),
        (
            "customer rating='5 out of 5'",
            "rated 3 out of 5",
            ["customer rating=5 out of 5"],
            ["customer rating=3 out of 5"],
        ),
        ("customer rating='5 out of 5'", "a five star place", [], []),
        ("food=English", "British food", [], []),
        ("food=Italian", "The English House", ["food=italian"], ["food=english"]),
        ("name='The English House';food=Italian", "The English House serves pasta", [], []),
    ],
)
def test_closed_classes_are_found_by_their_words(
    e2e: SlotChecker, slots: str, sentence: str, missing: list[str], extra: list[str]
) -> None:
    tally = e2e.check_cues(parse(f"inform({slots})"), sentence)
    assert (list(tally.missing), list(tally.extra)) == (missing, extra)


@given(st.sampled_from("abcx 1-"), st.sampled_from("abcx 1-"))
def test_without_cues_a_value_is_found_by_its_spellings_as_whole_words(before: str, after: str) -> None:
    checker = SlotChecker(Delexicalizer({"view": {"sea": ["the ocean"]}}, lexicalized={"view": ["sea", "old town"]}))
    for words in ("sea", "Old Town", "the ocean"):
        shown = checker.shown_cues("view", f"go{before}{words}{after}go".lower())
        whole = not (before.isalnum() or after.isalnum())
        assert bool(shown) == whole, (before, words, after)


def test_a_run_says_closed_classes_in_words_and_unknown_values_all_the_same(
    tmp_path: Path, corpora: Callable[[str], Corpus]
) -> None:
    run = tmp_path / "run"
    changes = ["corpus.lexicalized=[difficulty, season]", "model.hidden_size=60"]
    changes += ["training.epochs=3", "training.batch_size=32", "training.learning_rate=0.03"]
    train("trails-sclstm", overrides=changes, output=run)
    generator = Generator.load(run)
    known = generator.preprocessor.style.lexicalized
    assert set(known) == {"difficulty", "season"} and "moderate" in known["difficulty"]
    placeholders = " ".join(generator.preprocessor.placeholders)
    assert "SLOT_NAME" in placeholders and "SLOT_SEASON" not in placeholders
    values = {
        example.turn: [slot.value for _, slot in example.turn.slots() if slot.name in known and slot.delexicalizable]
        for example in corpora("trails").split("test")
    }
    turns = [turn for turn, closed in values.items() if closed]
    origins = Counter[str]()
    for turn, result in zip(turns, generator.generate(turns, GenerationOptions(constraint="hard")), strict=True):
        if result.slots_ok:
            origins[result.origin] += 1
            words = {word for value in values[turn] for word in value.lower().split()} - {"or"}
            assert all(word in result.text.lower() for word in words), (turn, result)
    # Most sentences are composed of training sentences, but the model says many itself.
    assert origins.total() > 40 and origins["model"] > 10
    (result,) = generator.generate([parse("inform(name='Crag Loop';difficulty=vertiginous)")])
    assert "vertiginous" in result.text.lower() and result.slots_ok


def test_training_leaves_out_sentences_that_lack_a_closed_value(
    corpora: Callable[[str], Corpus], training_data: Callable[[str], TrainingData]
) -> None:
    plain = training_data("viggo")
    closed = build_preprocessor(corpora("viggo"), lexicalized=["esrb", "player_perspective"])
    checker = closed.preprocessor.checker
    tallies = [
        (checker.tally(p.turn, p.tokens), checker.look(checker.expected(p.turn), p.tokens)) for p in closed.pairs
    ]
    faulty = [bool(values.missing or cues.errors) for values, cues in tallies]
    kinds = [frozenset(features(pair.turn)) for pair in closed.pairs]
    good = {kind for kind, fault in zip(kinds, faulty, strict=True) if not fault}
    bad = {kind for kind, fault in zip(kinds, faulty, strict=True) if fault}
    assert good and bad and not good & bad, "a sentence with faults stays only where an act has no better one"
    assert len(closed.pairs) > 0.9 * len(plain.pairs)


def test_a_lexicalized_slot_that_training_lacks_is_refused(corpora: Callable[[str], Corpus]) -> None:
    with pytest.raises(ConfigError, match=r"corpus\.lexicalized.*'dificulty'.*difficulty"):
        build_preprocessor(corpora("trails"), lexicalized=["dificulty"])
