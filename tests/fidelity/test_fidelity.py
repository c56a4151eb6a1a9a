"""What the checker says of sentences of the embedded corpus, with a run's reader and without one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
from generated import look, read

from dactnlg.acts import DialogueAct, Slot, Turn, parse
from dactnlg.data.corpus import Corpus
from dactnlg.fidelity.checker import FidelityChecker
from dactnlg.fidelity.reader import Limits, Reader
from dactnlg.generation.generator import Generator
from dactnlg.text.owners import compared
from dactnlg.text.surface import tokenize
from dactnlg.text.tallies import Tally

OPPOSITE = {"yes": "no", "no": "yes"}


def test_human_sentences_are_hardly_ever_flagged(checker: FidelityChecker, corpus: Corpus) -> None:
    reports = [checker.check(turn, sentence) for turn, sentence in corpus.pairs("test")]
    assert np.mean([not report.ok for report in reports]) <= 0.02


def test_what_people_do_is_probable_and_what_another_act_does_is_not(checker: FidelityChecker, corpus: Corpus) -> None:
    pairs = [(turn, sentence) for turn, sentence in corpus.pairs("test") if len(turn.acts) == 1]
    tokens = [checker.delexicalizer.delexicalize(turn, sentence).tokens for turn, sentence in pairs]
    own = [checker.improbable(turn, said) for (turn, _), said in zip(pairs, tokens, strict=True)]
    assert np.mean([not each for each in own]) >= 0.97
    # Sentences of plain statements do not say that it is the only one, that there is none, or how many there are.
    plain = [said for (turn, _), said in zip(pairs, tokens, strict=True) if turn.acts[0].act_type == "inform"]
    for act_type in ("inform_only_match", "inform_no_match", "inform_count"):
        others = [checker.improbable(Turn((DialogueAct(act_type),)), said) for said in plain]
        assert np.mean([each == [f"{act_type}()"] for each in others]) >= 0.97
    assert FidelityChecker(checker.checker).improbable(pairs[0][0], tokens[0]) == []


@pytest.mark.parametrize(
    ("acts", "logits", "improbable"),
    [
        ("recommend(name=x)", {"recommend()": 2.0, "inform()": 1.0}, []),
        ("recommend(name=x)", {"recommend()": 1.0, "inform()": 2.0}, ["recommend()"]),
        ("recommend(name=x)", {"recommend()": -1.0, "inform()": -2.0}, ["recommend()"]),
        ("recommend(name=x)&inform(area=y)", {"recommend()": 1.0, "inform()": 2.0}, []),
        ("recommend(name=x)", {"recommend()": 1.0}, []),
    ],
)
def test_what_sounds_like_informing_is_improbable_for_another_act(
    checker: FidelityChecker, acts: str, logits: dict[str, float], improbable: list[str]
) -> None:
    reader = SimpleNamespace(act_logits=lambda words: logits, limits=dict.fromkeys(logits, Limits(0.0, 5.0)))
    of_logits = FidelityChecker(checker.checker)
    of_logits.reader = cast("Reader", reader)
    assert of_logits.improbable(parse(acts), ["words"]) == improbable


def test_questions_are_lost_beside_others(checker: FidelityChecker) -> None:
    turn = parse("?request(toilets;dogsallowed;season)")
    tokens = tokenize("would you need toilets? is there a dog with you?")
    assert look(checker, turn, tokens).questions == ("?request(season)",)
    assert read(checker, turn, tokens).missing == ("season",)


@pytest.mark.parametrize(
    ("text", "lost"),
    [
        ("How long would you like to be out? How far would you like to walk?", []),
        ("For how long do you want to walk? How difficult should it be? How far would you like to walk?", []),
        ("How long would you like to be out? How long would you like to be out?", ["?request(length)"]),
        ("How far would you like to walk? How difficult should it be?", ["?request(toilets)"]),
    ],
)
def test_each_of_several_questions_is_read_by_itself(checker: FidelityChecker, text: str, lost: list[str]) -> None:
    more = ";difficulty" * ("difficult" in text)
    slots = f"length;duration{more}" if "long" in text else f"length;toilets{more}"
    found = checker.check(parse(f"?request({slots})"), text)
    assert list(found.questions) == lost


def test_an_act_of_no_information_names_its_slot(checker: FidelityChecker) -> None:
    turn = parse("inform_no_info(view)")
    assert checker.check(turn, "I don't know.").questions == ("inform_no_info(view)",)
    assert checker.check(turn, "I have no notes on the views.").questions == ()
    # A lone question without the slot's name may still ask for it.
    assert checker.check(parse("?request(region)"), "and where?").questions == ()


@pytest.mark.parametrize(
    ("act", "sentence", "lost"),
    [
        ("?request(phone)", "which region do you have in mind ?", ("?request(phone)",)),
        ("?request(phone)", "what is your phone number ?", ()),
        ("inform_no_info(stroller)", "i don't know how long it is .", ("inform_no_info(stroller)",)),
    ],
)
def test_a_slot_that_training_never_asked_for_is_named(
    checker: FidelityChecker, act: str, sentence: str, lost: tuple[str, ...]
) -> None:
    turn = parse(act)
    assert look(checker, turn, tokenize(sentence)).questions == lost
    # In people's sentences it cannot be checked; generated ones must name the slot.
    report = checker.check(turn, sentence)
    assert report.questions == () and report.unchecked


def test_what_one_sentence_does_is_done(checker: FidelityChecker) -> None:
    turn = parse("recommend(name='Ivy Cutting';dogsallowed=no;toilets=no)")
    doing, informing = "How about Ivy Cutting?", "Ivy Cutting is nice."
    more = "It does not allow dogs. It has no toilets."
    assert checker.check(turn, f"{doing} {more}").acts == {}
    assert checker.check(turn, f"{informing} {more}").acts == {"recommend()": "inform()"}


def test_a_yes_for_a_no_is_a_contradiction(checker: FidelityChecker, corpus: Corpus) -> None:
    found = []
    for turn, sentence in corpus.pairs("test"):
        binary = [slot for _, slot in turn.slots() if slot.special in OPPOSITE]
        if len(turn.acts) == 1 and binary and "?" not in str(turn) and "no_" not in str(turn):
            slot = binary[0]
            flipped = tuple(Slot(s.name, OPPOSITE[s.special or ""]) if s is slot else s for s in turn.acts[0].slots)
            report = checker.check(Turn((DialogueAct(turn.acts[0].act_type, flipped),)), sentence)
            found.append(f"{slot.name}={OPPOSITE[slot.special or '']}" in report.contradicted)
    assert len(found) > 100
    assert np.mean(found) >= 0.98


@pytest.mark.parametrize(
    ("act", "sentence", "key", "value"),
    [
        ("inform(name='Ivy Cutting';difficulty=easy)", "Ivy Cutting is easy.", "slots_ok", True),
        ("inform(name='Ivy Cutting';difficulty=easy)", "Ivy Cutting is lovely.", "missing", ["difficulty=easy"]),
        (
            "inform(name='Ivy Cutting';difficulty=easy)",
            "Ivy Cutting is demanding.",
            "contradicted",
            {"difficulty=easy": "difficulty=demanding"},
        ),
        (
            "inform(name='Ivy Cutting';dogsallowed=no)",
            "Dogs are welcome at Ivy Cutting.",
            "contradicted",
            {"dogsallowed=no": "dogsallowed=yes"},
        ),
        ("inform(name='Ivy Cutting')", "Ivy Cutting has no toilets.", "extra", ["toilets=no"]),
        (
            "inform(near='Lake Orrin';region=north)",
            "Unfortunately, we don't have trails near Lake Orrin in the north.",
            "acts",
            {"inform()": "inform_no_match()"},
        ),
        ("?request(region)", "How long should the walk be?", "questions", ["?request(region)"]),
        (
            "inform(name='Ivy Cutting';height='560 m';length='7 km')",
            "Ivy Cutting is 560 m long and reaches 7 km at its highest point.",
            "misplaced",
            {"height": "length", "length": "height"},
        ),
    ],
)
def test_faults_are_named_by_their_kind(
    checker: FidelityChecker, act: str, sentence: str, key: str, value: object
) -> None:
    report = checker.check(parse(act), sentence).to_json()
    assert report[key] == value
    assert report["slots_ok"] is (key == "slots_ok")


def test_misplaced_slots_have_the_names_of_the_turn(checker: FidelityChecker) -> None:
    turn = parse("inform(name='Ivy Cutting';Height='560 m';Length='7 km')")
    report = checker.check(turn, "Ivy Cutting is 560 m long and reaches 7 km at its highest point.")
    assert report.misplaced == {"Height": "Length", "Length": "Height"}


@pytest.mark.parametrize("sentence", ["", " ", ". …"])
def test_without_a_word_no_act_is_done(checker: FidelityChecker, sentence: str) -> None:
    assert checker.check(parse("inform(name='Ivy Cutting';toilets=no)"), sentence).missing
    for act in ("goodbye()", "inform()", "inform(name='Ivy Cutting')"):
        assert f"{parse(act).acts[0].act_type}()" in checker.check(parse(act), sentence).missing


def test_what_is_said_twice_is_no_fault(checker: FidelityChecker) -> None:
    turn = parse("inform(name='Ivy Cutting';region=north)")
    assert checker.check(turn, "Ivy Cutting lies in the north. Ivy Cutting is in the north.").ok


def test_without_a_reader_cues_tell_what_they_can(corpus: Corpus) -> None:
    alone = FidelityChecker(corpus.card.style().checker())
    turn = parse("inform(name='Ivy Cutting';dogsallowed=no;phone=dontcare)")
    report = alone.check(turn, "Ivy Cutting welcomes dogs.")
    assert (report.missing, report.unchecked) == (("dogsallowed=no",), ("phone=dontcare",))
    assert not report.acts
    assert not report.misplaced


def test_a_template_that_denies_what_its_act_states_is_not_ok(random_run: Path) -> None:
    preprocessor = Generator.load(random_run).preprocessor
    made = preprocessor.request(parse("inform(name='Ivy Cutting';region=north)")).act
    good = preprocessor.template(made, tuple(tokenize("SLOT_NAME lies in the SLOT_REGION.")))
    bad = preprocessor.template(made, tuple(tokenize("sorry, we don't have SLOT_NAME in the SLOT_REGION.")))
    assert good.cues.errors == 0
    assert bad.cues.missing == ("inform()", "name='Ivy Cutting'")
    assert bad.cues.extra == ("inform_no_match()",)


@pytest.mark.parametrize(
    ("act", "sentence", "missing", "extra"),
    [
        ("inform_no_info(phone=none)", "i do not know the phone number .", (), ()),
        ("inform_no_info(phone=none)", "i do not know .", ("phone=none",), ()),
        ("inform_no_info(phone=none)", "i have nothing about the view .", ("phone=none",), ("view=none",)),
        ("inform_no_info(phone=none)", "now the phone number is known .", ("phone=none",), ()),
        ("inform_no_info(phone=none)", "i can't tell you the phone number .", (), ()),
        ("inform_no_info(view=none;phone=none)", "i know of no view and of no phone number .", (), ()),
        ("inform_no_info(view=none;phone=none)", "i know of no view .", ("phone=none",), ()),
        (
            "?confirm(season=dontcare;region=dontcare)",
            "so you do not care about the season ?",
            ("region=dontcare",),
            (),
        ),
    ],
)
def test_what_is_generated_names_what_is_unknown(
    checker: FidelityChecker, act: str, sentence: str, missing: tuple[str, ...], extra: tuple[str, ...]
) -> None:
    found = look(checker, parse(act), sentence.split())
    assert set(missing) <= {*found.missing, *found.contradicted}
    assert set(found.extra) == set(extra)


def test_people_need_not_name_what_is_unknown(checker: FidelityChecker, corpus: Corpus) -> None:
    unknown = [pair for pair in corpus.pairs("test") if "=none" in str(pair[0]) or "no_info" in str(pair[0])]
    assert len(unknown) > 20
    assert np.mean([checker.check(*pair).ok for pair in unknown]) >= 0.98


def test_a_word_in_the_place_of_a_number_is_not_misplaced(checker: FidelityChecker) -> None:
    assert checker.reader is not None
    placed = checker.reader.misplaced(["there", "are", "SLOT_DIFFICULTY", "hikes", "."], alone=True)
    assert placed == {}
    assert "SLOT_DIFFICULTY" in checker.reader.misplaced(["it", "climbs", "to", "SLOT_DIFFICULTY", "."], alone=True)


@pytest.mark.parametrize(
    ("act", "text", "misplaced"),
    [
        # A sample may invent slots, which are extra and cannot be missing.
        ("inform(name='Ivy Cutting')", "SLOT_NAME climbs to SLOT_DIFFICULTY .", {}),
        ("inform(name='Ivy Cutting';difficulty=easy)", "it climbs to SLOT_DIFFICULTY .", {"difficulty": "height"}),
        ("inform(Difficulty=easy)", "it climbs to SLOT_DIFFICULTY .", {"Difficulty": "height"}),
    ],
)
def test_only_slots_of_the_turn_are_misplaced(
    checker: FidelityChecker, act: str, text: str, misplaced: dict[str, str]
) -> None:
    assert checker.look(parse(act), text.split(), Tally(), {}).misplaced == misplaced


@pytest.mark.parametrize(
    ("sentence", "missing"),
    [
        ("SLOT_NAME allows dogs . SLOT_NAME#2 allows dogs .", []),
        ("SLOT_NAME and SLOT_NAME#2 both allow dogs .", []),
        ("Both SLOT_NAME and SLOT_NAME#2 allow dogs .", []),
        ("SLOT_NAME allows dogs . SLOT_NAME#2 is 4 km in all .", ["dogsallowed=yes"]),
        ("SLOT_NAME allows dogs . SLOT_NAME#2 is near .", ["dogsallowed=yes"]),
    ],
)
def test_a_special_value_of_several_things_is_said_of_each(
    checker: FidelityChecker, sentence: str, missing: list[str]
) -> None:
    turn = parse("compare(name='Raven Scar';dogsallowed=yes;name='Quarry Rim';dogsallowed=yes)")
    assert list(look(checker, turn, sentence.split()).missing) == missing


@pytest.mark.parametrize("name", ["trails", "laptop"])
def test_special_values_of_things_in_each_others_place_are_found(name: str, corpora: Callable[[str], Corpus]) -> None:
    corpus = corpora(name)
    checker = FidelityChecker(corpus.style().checker())
    flagged, found = [], []
    for turn, sentence in (pair for split in corpus.splits for pair in corpus.pairs(split)):
        turn = checker.delexicalizer.prepared(turn)
        each = [{s.name: s for s in thing.slots if s.special in OPPOSITE} for thing in compared(turn)]
        for slot in set(each[0]) & set(each[1]) if len(each) == 2 else ():
            first, second = (slots[slot] for slots in each)
            if first.special != second.special:
                swap = {id(first): second, id(second): first}
                slots = tuple(swap.get(id(s), s) for s in turn.acts[0].slots)
                flagged.append(bool(checker.check(turn, sentence).misplaced))
                wrong = checker.check(Turn((replace(turn.acts[0], slots=slots),)), sentence)
                found.append(str(first.name) in " ".join(wrong.misplaced))
    assert len(found) >= 20
    # Two of laptop's sentences are people's own mistakes.
    assert sum(flagged) <= 3
    assert np.mean(found) >= 0.9


@pytest.mark.parametrize(
    ("sentence", "misplaced"),
    [
        (
            "Orrin Falls allows dogs and Ivy Cutting allows none. Both allow dogs.",
            {"dogsallowed=yes": "name='Ivy Cutting'"},
        ),
        ("Orrin Falls allows dogs. Ivy Cutting does not. Neither has toilets.", {}),
        ("Orrin Falls allows dogs. Both do not allow dogs.", {"dogsallowed=no": "name='Orrin Falls'"}),
        ("Orrin Falls allows dogs and Ivy Cutting does not allow dogs. Both have toilets.", {}),
    ],
)
def test_what_is_said_of_both_holds_for_both(
    checker: FidelityChecker, sentence: str, misplaced: dict[str, str]
) -> None:
    turn = parse("compare(name='Orrin Falls';dogsallowed=yes;name='Ivy Cutting';dogsallowed=no)")
    assert checker.check(turn, sentence).misplaced == misplaced
    # Both may have the same value.
    turn = parse("compare(name='Orrin Falls';dogsallowed=yes;name='Ivy Cutting';dogsallowed=yes)")
    assert not checker.check(turn, "Orrin Falls and Ivy Cutting both allow dogs. Both allow dogs.").misplaced


@pytest.mark.parametrize(
    ("act", "sentence", "extra"),
    [
        ("inform_count(count=3;season=summer)", "If you do not care about the season, 3 trails suit summer.", "season"),
        ("inform_count(count=3;season=summer)", "Without a preference for the season, 3 trails suit summer.", "season"),
        ("inform_count(count=3;season=summer)", "If you are not picky about the season, 3 suit summer.", "season"),
        ("inform_count(count=3;season=summer)", "3 trails suit summer in particular.", ""),
        ("?confirm(season=summer)", "Do you care about the season? Is summer fine?", ""),
        ("?confirm(season=summer)", "Is summer your preference for the season?", ""),
        ("inform_count(count=3;season=dontcare)", "There are 3 trails if you do not care about the season.", ""),
        # A question asks for a slot and does not confirm that it does not matter.
        ("?request(season)", "You do not care about the season?", "season"),
        ("?request(season)", "What season would you like, or do you not care about the season?", ""),
        ("?select(season=summer;season=dontcare)", "Would you like summer, or do you not care about the season?", ""),
    ],
)
def test_what_is_wanted_does_matter(checker: FidelityChecker, act: str, sentence: str, extra: str) -> None:
    found = checker.check(parse(act), sentence).extra
    assert [name for name in found if name.endswith("=dontcare")] == ([f"{extra}=dontcare"] if extra else [])
