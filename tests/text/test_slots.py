"""What a sentence says of its act: values once each, special values by their cues, nothing that was not asked for."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dactnlg.acts import DialogueAct, Slot, Turn, parse
from dactnlg.data.card import load_card
from dactnlg.data.corpus import Corpus
from dactnlg.text.cues import any_of
from dactnlg.text.slots import SlotChecker
from dactnlg.text.tallies import SlotReport, Tally
from dactnlg.text.values.delexicalization import Delexicalizer


@pytest.fixture(scope="module")
def restaurants() -> SlotChecker:
    return load_card("restaurants").style().checker()


@pytest.mark.parametrize(
    ("act", "sentence", "required", "missing", "extra"),
    [
        ("inform(name=chow;food=thai)", "chow serves thai food .", 2, [], []),
        ("inform(name=chow;food=thai)", "chow is nice .", 2, ["food=thai"], []),
        ("inform(name=chow;food=thai)", "it is nice .", 2, ["name=chow", "food=thai"], []),
        ("inform(name=chow;food=thai)", "chow serves thai thai food .", 2, [], ["food=thai"]),
        # Two redundant copies count twice (Wen et al. 2015, section 5.1: q is the number of redundant slots).
        ("inform(name=chow;food=thai)", "thai thai thai food at chow .", 2, [], ["food=thai", "food=thai"]),
        ("inform(name=chow;food=thai)", "thai thai , thai", 2, ["name=chow"], ["food=thai", "food=thai"]),
        ("?compare(near=x1;near=x1)", "x1 or x1 ?", 2, [], []),
        ("?compare(near=x1;near=x1)", "x1 ?", 2, ["near=x1"], []),
        ("offer(name=chow)&inform(name=chow)", "chow , chow", 1, [], ["name=chow"]),
        ("goodbye()", "goodbye .", 0, [], []),
        ("?request(food)", "what food ?", 0, [], []),
    ],
)
def test_values_are_said_once_each(
    act: str, sentence: str, required: int, missing: list[str], extra: list[str]
) -> None:
    report = SlotChecker(Delexicalizer()).check(parse(act), sentence)
    assert (report.required, list(report.missing), list(report.extra)) == (required, missing, extra)
    assert report.values.errors == len(missing) + len(extra)
    assert report.ok == (not missing and not extra)


@given(st.lists(st.integers(0, 3), min_size=1, max_size=5))
def test_errors_are_counted_slot_by_slot(times: list[int]) -> None:
    slots = tuple(Slot(f"slot{index}", f"value{index}") for index in range(len(times)))
    words = [slot.value or "" for slot, count in zip(slots, times, strict=True) for _ in range(count)]
    tally = SlotChecker(Delexicalizer()).check(Turn((DialogueAct("inform", slots),)), " , ".join(words)).values
    assert tally.required == len(times)
    assert len(tally.missing) == times.count(0)
    assert len(tally.extra) == sum(max(0, count - 1) for count in times)


def test_placeholders_that_were_never_asked_for_are_extra() -> None:
    checker = SlotChecker(Delexicalizer())
    turn = parse("inform(name=chow;food=dontcare)")
    tally = checker.tally(turn, ["SLOT_NAME", "\uffedSLOT_FOOD", "SLOT_NAME#2", "SLOT_FOOD"])
    assert tally == Tally(1, (), ("food", "food", "name"))


@pytest.mark.parametrize(
    ("value", "said", "wrong"),
    [
        ("no", "chow does not allow child -s .", "chow allows child -s ."),
        ("yes", "chow allows kid -s .", "chow does not allow kid -s ."),
        ("yes", "Kids are welcome at chow .", "chow ."),
        ("dontcare", "chow , if you do not care whether kid -s are allowed", "chow allows kid -s ."),
        ("none", "i have no information whether chow allows kid -s .", "chow ."),
    ],
)
def test_special_values_show_by_their_cues(restaurants: SlotChecker, value: str, said: str, wrong: str) -> None:
    turn = parse(f"inform(name=chow;kidsallowed={value})")
    assert restaurants.check(turn, said).ok
    report = restaurants.check(turn, wrong)
    assert report.required == 2
    assert report.missing == (f"kidsallowed={value}",)
    assert not report.values.errors  # cues are no part of the value slot error rate


def test_a_binary_slot_must_not_be_made_up(restaurants: SlotChecker) -> None:
    turn = parse("inform(name=chow)")
    assert restaurants.check(turn, "chow allows kid -s .").extra == ("kidsallowed=yes",)
    assert restaurants.check(turn, "chow does not allow kid -s .").extra == ("kidsallowed=no",)
    assert restaurants.check(turn, "chow is a nice restaurant .").ok
    # "any food" without food=dontcare is a manner of speaking.
    assert restaurants.check(turn, "chow has any food you want .").ok


@pytest.mark.parametrize(
    ("sentence", "missing", "extra"),
    [
        ("maybe chow is nice .", ("kidsallowed=maybe",), ()),
        ("chow is nice . maybe", ("kidsallowed=maybe",), ()),
        ("chow is nice . maybe it has room for kids", (), ()),
        ("chow allows kid -s . maybe for kids over four .", (), ("kidsallowed=yes",)),
        ("chow allows kid -s .", ("kidsallowed=maybe",), ("kidsallowed=yes",)),
        ("chow is nice .", ("kidsallowed=maybe",), ()),
    ],
)
def test_a_value_beyond_yes_and_no_stands_beside_its_slot(
    restaurants: SlotChecker, sentence: str, missing: tuple[str, ...], extra: tuple[str, ...]
) -> None:
    report = restaurants.check(parse("inform(name=chow;kidsallowed=maybe)"), sentence)
    assert (report.missing, report.extra) == (missing, extra)
    # Of a slot that has such values it tells nothing.
    assert restaurants.check(parse("inform(name=chow;area=maybe)"), "maybe chow is nice .").ok


def test_questions_about_a_slot_may_be_worded_either_way(restaurants: SlotChecker) -> None:
    for act in ("?request(kidsallowed)", "?select(kidsallowed=yes;kidsallowed=no)"):
        assert restaurants.check(parse(act), "do you want a restaurant that allows kid -s or not ?").ok
    assert restaurants.check(parse("?confirm(food=thai)"), "so you do not care about the food ?").missing == (
        "food=thai",
    )


def test_a_choice_between_special_values_is_not_checked(restaurants: SlotChecker) -> None:
    report = restaurants.check(parse("?select(kidsallowed=yes;kidsallowed=no)"), "which one ?")
    assert report == SlotReport(Tally())


def test_a_statement_says_all_special_values_of_a_slot(restaurants: SlotChecker) -> None:
    turn = parse("inform(name=chow;kidsallowed=yes;kidsallowed=no)")
    assert restaurants.check(turn, "chow allows kid -s").missing == ("kidsallowed=no",)
    assert restaurants.check(turn, "chow does not allow kid -s").missing == ("kidsallowed=yes",)
    # It contradicts itself, as its act does.
    assert restaurants.check(turn, "chow allows kid -s . it does not allow kid -s").ok


def test_cues_are_looked_for_in_folded_text_and_tell_one_made_up_value() -> None:
    checker = SlotChecker(Delexicalizer(), {"kids": {"yes": ["kids welcome", "^for kids"], "no": ["no kids"]}})
    assert checker.check_cues(parse("inform(kids=yes)"), "  Kids \n WELCOME").missing == ()
    assert checker.check_cues(parse("inform(kids=yes)"), " for  kids").missing == ()
    assert checker.check_cues(parse("inform(name=x)"), "no kids welcome").extra == ("kids=yes",)
    # The cue of the opposite is ignored where the wanted value shows: "no kids welcome" does say no.
    assert checker.check_cues(parse("inform(kids=no)"), "no kids welcome") == Tally(1)
    # A value without cues cannot be checked.
    assert checker.check_cues(parse("inform(kids=dontcare)"), "hello") == Tally()


def test_the_rest_of_a_denial_is_no_yes() -> None:
    cues = {
        "kids": {"yes": [r"^(?!.*(?:\bnot family\b|\badults\b)).*\b(?:family|friendly)\b"], "no": [r"\bnot family\b"]}
    }
    checker, no = SlotChecker(Delexicalizer(), cues), parse("inform(kids=no)")
    assert checker.check_cues(no, "It is not family friendly.") == Tally(1)
    assert checker.check_cues(no, "It is not family friendly. It is family friendly.").extra == ("kids=yes",)


@pytest.mark.parametrize(
    ("sentence", "said"),
    [
        ("it has toilets", ("yes",)),
        ("it does not have toilets on the way", ("no",)),
        ("it doesn't have toilets", ("no",)),
        ("it has no toilets", ("no",)),
        ("can i ask whether or not toilets are there", ("yes",)),
    ],
)
def test_not_before_a_cue_for_yes_says_no(sentence: str, said: tuple[str, ...]) -> None:
    cues = {"toilets": {"yes": [r"\b(has|have) toilets\b", r"\btoilets are there\b"], "no": [r"\bno toilets\b"]}}
    checker = SlotChecker(Delexicalizer(), cues)
    assert checker.shown_cues("toilets", sentence) == said
    # Without cues for no, it is at least no yes.
    checker = SlotChecker(Delexicalizer(), {"toilets": {"yes": cues["toilets"]["yes"]}})
    assert checker.shown_cues("toilets", sentence) == (("yes",) if said == ("yes",) else ())


def test_values_that_stand_apart_are_checked_one_by_one(restaurants: SlotChecker) -> None:
    turn = parse("inform(area='hayes valley or noma')")
    assert restaurants.check(turn, "it is in noma and it is in hayes valley").ok
    assert restaurants.check(turn, "it is in noma or hayes valley").required == 2
    assert restaurants.check(turn, "it is in noma").missing == ("area='hayes valley'",)
    assert restaurants.check(turn, "noma , noma or hayes valley").extra == ("area=noma",)


def test_the_same_special_value_in_two_acts_is_checked(restaurants: SlotChecker) -> None:
    turn = parse("inform(kidsallowed=no)&recommend(kidsallowed=no)")
    assert restaurants.check(turn, "kid -s are not allowed").ok
    assert restaurants.check(turn, "it is nice").missing == ("kidsallowed=no",)


def test_without_cues_only_values_are_checked() -> None:
    assert SlotChecker(Delexicalizer()).check(parse("inform(kidsallowed=no)"), "hello") == SlotReport(Tally())


# Missing and redundant values in the human test sentences. RNNLG's own are far below 1%; tv's pairs say names twice;
# e2e leaves slots out (Dusek et al. 2019 report the same) and viggo words values freely.
GOLD = {
    "restaurants": 0.01,
    "hotel": 0.01,
    "laptop": 0.001,
    "tv": 0.02,
    "dstc2": 0.001,
    "e2e": 0.15,
    "viggo": 0.16,
    "trails": 0.0,
}


@pytest.mark.parametrize("name", list(GOLD))
def test_human_sentences_say_their_slots(name: str, corpora: Callable[[str], Corpus]) -> None:
    corpus = corpora(name)
    checker = corpus.card.style().checker()
    tallies = [
        checker.tally(turn, checker.delexicalizer.delexicalize(turn, sentence).tokens)
        for turn, sentence in corpus.pairs("test")
    ]
    required = sum(tally.required for tally in tallies)
    assert required > 1000
    assert sum(tally.errors for tally in tallies) <= GOLD[name] * required


def test_any_of_finds_what_any_of_the_patterns_finds() -> None:
    patterns = [
        r"\bkids? welcome",
        r"\b(?<!no )dogs",
        r"\ball|over",
        r"n't allow",
        r"\b[|(]x",
        r"\b(?:a|b)c",
        r"\bd\|e",
        r"\b(?:f|g?h)",
        r"\b(?:ij|k)*l",
    ]
    texts = [
        "kids welcome",
        "skid welcome",
        "no dogs",
        "hot dogs",
        "small",
        "takeover",
        "don't allow",
        "y(x",
        "bc",
        "abc",
    ]
    texts += ["d|e", "ad|e", "over", "e", "", "no hotdogs", "h", "a gh", "l", "ijl"]
    for count in range(1, len(patterns) + 1):
        for chosen in itertools.combinations(patterns, count):
            for text in texts:
                expected = any(re.search(pattern, text) for pattern in chosen)
                assert bool(re.search(any_of(chosen), text)) == expected, (chosen, text)


@pytest.mark.parametrize(
    ("sentence", "missing", "extra"),
    [
        ("x inn allows dogs . it does not allow dogs", (), ("dogsallowed=yes",)),
        ("x inn allows dogs", ("dogsallowed=no",), ()),  # one fault, not two
        ("x inn does not allow dogs", (), ()),
    ],
)
def test_what_is_said_both_ways_is_a_contradiction(
    sentence: str, missing: tuple[str, ...], extra: tuple[str, ...]
) -> None:
    checker = load_card("hotel").style().checker()
    report = checker.check(parse("inform(name='x inn';dogsallowed=no)"), sentence)
    assert (report.missing, report.extra) == (missing, extra)


@pytest.mark.parametrize(
    ("sentence", "extra"),
    [
        ("televisions with no usb ports have a usb port", ("hasusbport=yes",)),
        ("it has no usb ports and has usb ports", ("hasusbport=yes",)),
        ("it has 2 hdmi ports but doesn't have usb ports", ()),
        ("it does not have usb ports", ()),
        ("usb ports are not included", ()),
        ("it is said to have no usb ports", ()),
    ],
)
def test_what_clauses_of_a_sentence_say_both_ways_is_a_contradiction(sentence: str, extra: tuple[str, ...]) -> None:
    report = load_card("tv").style().checker().check(parse("inform(hasusbport=false)"), sentence)
    assert (report.missing, report.extra) == ((), extra)


@pytest.mark.parametrize(
    ("name", "slot", "sentence"),
    [
        ("hotel", "hasinternet", "x inn lacks internet access"),
        ("hotel", "dogsallowed", "x inn bans dogs"),
        ("hotel", "dogsallowed", "dogs are banned at x inn"),
        ("hotel", "acceptscreditcards", "x inn refuses credit cards"),
        ("restaurants", "kidsallowed", "x inn forbids children"),
    ],
)
def test_verbs_deny_as_no_and_not_do(name: str, slot: str, sentence: str) -> None:
    checker = load_card(name).style().checker()
    assert not checker.check(parse(f"inform(name='x inn';{slot}=no)"), sentence).missing
    assert checker.check(parse(f"inform(name='x inn';{slot}=yes)"), sentence).missing == (f"{slot}=yes",)
