"""Fluency: runs of words that training never has, faults of verbs and clauses, and what a thing can be."""

from __future__ import annotations

from collections import Counter

import pytest

from dactnlg.text.grammar.clauses import faults
from dactnlg.text.grammar.copulas import Copulas
from dactnlg.text.grammar.english import VERBS
from dactnlg.text.grammar.fluency import ORDER, Fluency
from dactnlg.text.grammar.joints import splices
from dactnlg.text.grammar.stops import LEAST
from dactnlg.text.grammar.verbs import finite, learned_verbs
from dactnlg.text.surface import tokenize

TEXTS = [
    "SLOT_NAME is a nice hotel near SLOT_NEAR .",
    "SLOT_NAME is a hotel in the SLOT_AREA area .",
    "there are no hotels near SLOT_NEAR .",
    "it has internet and does not allow dogs .",
]


def split(texts: list[str]) -> list[list[str]]:
    return [text.split() for text in texts]


def test_training_has_no_doubtful_runs() -> None:
    fluency = Fluency(split(TEXTS), english=False)
    assert [fluency.doubts(text) for text in split(TEXTS)] == [0] * len(TEXTS)


def test_doubts_are_the_runs_that_training_never_had() -> None:
    fluency = Fluency(split(TEXTS), english=False)
    text = "SLOT_NAME is a hotel near SLOT_NEAR ."
    words = ["", *text.split()[:-1], ""]
    seen = {tuple(["", *t.split()[:-1], ""][i : i + ORDER]) for t in TEXTS for i in range(len(t.split()))}
    novel = [words[i : i + ORDER] for i in range(len(words) - ORDER + 1) if tuple(words[i : i + ORDER]) not in seen]
    assert fluency.doubts(text.split()) == len(novel) > 0


def test_runs_across_a_place_are_those_that_have_words_at_both_sides() -> None:
    fluency = Fluency(split(["there are pubs in the south", "there are pubs that have beer"]), english=False)
    text = ["there", "are", "pubs", "in", "the", "south", "that", "have", "beer"]
    # New are (in the south that), (the south that have) and (south that have beer).
    assert fluency.strange_runs(text) == 3
    assert [fluency.strange_across(tuple(text), {place}) for place in (1, 3, 4, 6, 8)] == [0, 0, 1, 3, 1]
    assert fluency.strange_across(tuple(text), {4, 8}) == 2
    assert not fluency.strange_across(tuple(text), ())


def test_what_training_has_by_mistake_is_doubtful() -> None:
    right, slip = "it is in the SLOT_PRICE price range .", "it is in the price range ."
    fluency = Fluency(split([right] * 200 + [slip]), english=False)
    assert fluency.doubts(right.split()) == 0 < fluency.doubts(slip.split())
    assert Fluency(split([right] * 20 + [slip]), english=False).doubts(slip.split()) == 0


def test_a_sentence_that_stops_where_training_always_goes_on_is_broken_off() -> None:
    goes_on = ["it has a linux and mac release ."] * LEAST
    stops = ["it is out on linux and mac .", "it is out on linux and mac , and it is fun ."]
    fluency = Fluency(split([*goes_on, *stops]), english=False)
    # No run of four words is new.
    assert fluency.doubts(["it", "has", "a", "linux", "and", "mac", "."]) == 2
    assert fluency.doubts(["it", "has", "a", "linux", "and", "mac", ",", "and", "it", "is", "fun", "."]) == 2
    assert fluency.doubts(["it", "is", "out", "on", "linux", "and", "mac", "."]) == 0
    for rare in (
        goes_on[1:],
        [*goes_on, "it has a linux and mac ."],
        [*goes_on, *["it has a linux and mac port ."] * 3],
    ):
        others = Fluency(split([*rare, *stops]), english=False)
        assert others.doubts(["it", "has", "a", "linux", "and", "mac", "."]) == 0


def test_a_short_sentence_is_no_mistake() -> None:
    long, short = "there are SLOT_COUNT pubs near SLOT_NEAR .", "there are SLOT_COUNT pubs ."
    assert Fluency(split([long] * 200 + [short]), english=False).doubts(short.split()) == 0


def test_misspelt_words_are_doubtful() -> None:
    right, wrong = "it has a garden .", "it has a gardne ."
    assert Fluency(split([right] * 60 + [wrong]), english=False).doubts(wrong.split()) == 1


def test_a_pronoun_reads_as_the_name_that_it_stands_for() -> None:
    fluency = Fluency(split([*TEXTS, "SLOT_NAME is the only hotel ."]), english=True)
    assert (
        fluency.doubts(["it", "is", "the", "only", "hotel", "."])
        == fluency.doubts(["it's", "the", "only", "hotel", "."])
        == 0
    )
    assert fluency.doubts(["that", "is", "the", "only", "hotel", "."]) > 0


def test_its_reads_as_of_the_name() -> None:
    fluency = Fluency(split([*TEXTS, "the phone number of SLOT_NAME is SLOT_PHONE ."]), english=True)
    assert fluency.doubts(["its", "phone", "number", "is", "SLOT_PHONE", "."]) == 0
    assert fluency.doubts(["its", "phone", "is", "SLOT_PHONE", "."]) > 0


def test_there_is_only_one_and_not_the_only_one() -> None:
    text, right = "there is the only pub in SLOT_AREA .", "there is only one pub in SLOT_AREA ."
    # Training has the words of both.
    fluency = Fluency(split([text, right] * 3), english=True)
    assert fluency.doubts(text.split()) == fluency.doubts(right.split()) + 2


def test_what_is_counted_may_be_many_without_a_count() -> None:
    texts = ["there are SLOT_COUNT pubs near SLOT_NEAR ."] * 5 + ["there are no pubs near SLOT_NEAR ."] * 20
    fluency = Fluency(split([*texts, "i like SLOT_COUNT pubs ."]), english=True)
    assert fluency.doubts(["there", "are", "pubs", "near", "SLOT_NEAR", "."]) == 0
    assert fluency.doubts(["i", "like", "pubs", "."]) > 0
    assert fluency.lexicon.counts == {"SLOT_COUNT"} and fluency.countable(("there", "are"))
    assert not fluency.countable(("i", "like"))


def test_a_total_lacks_its_number_when_what_it_counts_is_left_out() -> None:
    texts = ["there are a total of SLOT_COUNT pubs .", "i know of SLOT_COUNT pubs ."] * 5
    fluency = Fluency(split([*texts, *["there are SLOT_COUNT pubs ."] * 50]), english=True)
    assert fluency.countable(("there", "are")) and fluency.countable(("know", "of"))
    assert not fluency.countable(("total", "of"))
    assert fluency.doubts(["there", "are", "a", "total", "of", "pubs", "."]) > 0


def test_the_values_of_a_slot_are_alike_and_so_are_marks_at_the_end() -> None:
    fluency = Fluency(split(TEXTS), english=False)
    assert fluency.doubts(["there", "are", "no", "hotels", "near", "SLOT_NEAR#2"]) == 0


@pytest.mark.parametrize(
    ("sentence", "right"),
    [
        ("there are no hotels in the SLOT_AREA area that allow dogs .", True),
        ("there are no hotels in the SLOT_AREA area is near SLOT_NEAR .", False),
        ("SLOT_NAME is a hotel and it is near SLOT_NEAR .", True),
        ("SLOT_NAME is the only hotel in the SLOT_AREA is the only hotel that allows dogs .", False),
        ("there are SLOT_COUNT hotels that do not allow dogs and have internet .", True),
        ("there are SLOT_COUNT hotels that do not allow dogs and has internet .", False),
        ("do you have a dog ?", True),
        ("a cheap pub with good food .", False),
        ("a pub that serves good food .", False),
        ("there is a pub that serves good food and has a garden .", True),
        ("there is a pub near SLOT_NEAR and has a garden .", False),
        ("has a garden .", False),
        ("can be done in SLOT_DURATION .", False),
        ("with two ports and costs SLOT_PRICE .", False),
        ("near SLOT_NEAR is a pub .", True),
        ("near SLOT_NEAR serves good food .", False),
        ("if you do not care about the area , there are SLOT_COUNT pubs .", True),
        ("if you do not care about the area or the food .", False),
        ("what are you looking for ?", True),
        ("it is good for .", False),
        ("there are SLOT_COUNT SLOT_TYPE -s .", True),
        ("there are SLOT_COUNT SLOT_TYPE -s that has a garden .", False),
        ("near SLOT_NEAR and SLOT_AREA is a pub .", True),
        ("it are pubs .", False),
        ("they is near SLOT_NEAR .", False),
        ("the price is none .", False),
        ("you is in the SLOT_AREA .", False),
        ("it has none of these .", True),
        ("it is near SLOT_NEAR , has a garden .", False),
        ("it is near SLOT_NEAR , has a garden and is cheap .", True),
        ("it has a garden , a pool and a view .", True),
        ("it is near SLOT_NEAR and do you know it ?", True),
        ("do you want to walk SLOT_LENGTH or would you ?", False),
        ("what is the food do you like ?", False),
        ("what is the food that you like ?", True),
        ("would you rather walk SLOT_LENGTH or would you rather do ?", False),
        ("are you near SLOT_NEAR ?", True),
        ("is it SLOT_DURATION or ?", False),
        ("would you like a SLOT_PRICE pub or the ?", False),
        ("what do you want to do ?", True),
        ("what would you have ?", True),
        ("would you rather walk SLOT_LENGTH or would you like ?", False),
        ("do you feel like walking SLOT_LENGTH , or would you do ?", False),
        ("speaking of pubs near SLOT_NEAR ?", False),
        ("what are you looking for in a pub ?", True),
        ("do you feel like walking SLOT_LENGTH , or would you like to ?", False),
        ("would you like a pub or do you want to be at home ?", True),
        ("which of these would you like ?", True),
        ("what about SLOT_NAME instead ?", True),
        ("how about it has a garden .", False),
        ("in the SLOT_AREA if you do not care about the price .", False),
        ("just ring if you have questions .", True),
        ("i like games that was released in SLOT_YEAR .", False),
        ("i like a game that was released in SLOT_YEAR .", True),
        ("i like games made by SLOT_NAME that have a hero and is good .", False),
        ("i like a game of levels by SLOT_NAME that has a hero and is good .", True),
        ("are there pubs that are near SLOT_NEAR and is cheap ?", False),
        ("are there pubs that are near SLOT_NEAR and are cheap ?", True),
        ("if you are hungry if you do not care about the price .", False),
        ("if you are hungry and if you do not care about the price , there is SLOT_NAME .", True),
        ("there are pubs that are near SLOT_NEAR and has a garden .", False),
        ("it is near SLOT_NEAR , has a garden and is cheap , but .", False),
        ("nobody has told me how long it takes .", True),
        ("i do not know how much costs .", False),
        ("there are no pubs in the SLOT_AREA area that allow dogs and is near SLOT_NEAR .", False),
        ("there are no pubs in the SLOT_AREA area that allow dogs and are near SLOT_NEAR .", True),
        ("can you tell me how long would you like to walk ?", True),
        ("i can tell you that it is cheap .", True),
        ("it is cheap , but not on SLOT_NEAR .", True),
        ("you'll find it in the SLOT_AREA area and has a garden .", False),
        ("you'll find it in the SLOT_AREA area and it has a garden .", True),
        ("you'll see that it is in the SLOT_AREA area and has a garden .", True),
        ("where would you like to go ?", True),
        ("which is near SLOT_NEAR .", False),
        ("would you like it to be near ?", False),
        ("what would you like it to be near ?", True),
        ("there are pubs near SLOT_NEAR and where dogs are allowed and in the SLOT_AREA area .", False),
        ("there are pubs near SLOT_NEAR and where dogs are allowed .", True),
        ("i think .", False),
        ("it is cheap , i think .", True),
        ("what do you think ?", True),
        ("there are no pub -s in the SLOT_AREA area that does not allow dogs .", False),
        ("there are no pub -s in the SLOT_AREA area that do not allow dogs .", True),
        ("there are pub -s with a garden that has a view .", True),
        ("there are no pub -s that do not allow dogs or do not have a garden .", True),
        ("do you want it to allow dogs or not ?", True),
        ("i really didn't like it .", True),
        ("information for the price none .", False),
        ("what didn't you like ?", True),
        ("what do you find so amazing ?", True),
        ("you said earlier that you dislike it .", True),
        ("there are games that i don't like .", True),
        ("can it be done in SLOT_DURATION ?", True),
        ("i can tell you that SLOT_NAME does .", False),
        ("does it have to be , or would any region do ?", False),
        ("what do you want it to be ?", True),
        ("my notes do not mention the right season for how .", False),
        ("there are pubs for those who do not care about the price .", True),
        ("there are no pubs near SLOT_NEAR , and SLOT_NAME is full .", True),
        ("there are no pubs near SLOT_NEAR , and dogs are not allowed here .", True),
        ("there are no pubs near SLOT_NEAR , but dogs are welcome in SLOT_NAME .", True),
        ("i looked for any pubs near SLOT_NEAR , but nothing came up .", True),
    ],
)
def test_faults_of_clauses_are_found(sentence: str, right: bool) -> None:
    assert (faults(sentence.split(), VERBS | {"allow"}) == 0) is right


@pytest.mark.parametrize(
    "sentence",
    [
        "do you mostly dislike pubs near SLOT_NEAR ?",
        "do you in general like pubs ?",
        "can i do anything else for you ?",
        "what makes you like it ?",
        "is there a price range you want ?",
        "the pub you are looking for is SLOT_NAME .",
        "is there an area that you'd like to start from ?",
        "it has no views to speak of .",
        "i do not know how long it is .",
        "SLOT_NAME , a cheap pub , has a garden .",
        "if you like beer , try SLOT_NAME .",
        "if you like beer , have you heard of SLOT_NAME ?",
        "speaking of pubs in the SLOT_AREA area , have you heard of SLOT_NAME ?",
        "you want pubs that have beer , is that right ?",
        "it rewards you with the sight of SLOT_VIEW and has a garden .",
        "are you looking for SLOT_FOOD food , or is it any food ?",
        "i'm sorry , but there are no pub -s near SLOT_NEAR .",
        "do you like SLOT_NAME 's garden ?",
        "goodbye !",
        "it has a garden , a view , and wine and is in the SLOT_AREA area .",
        "there are pub -s in the SLOT_PRICERANGE price range with beer and a garden .",
        "would you like SLOT_FOOD food , or any food ?",
        "have a nice day .",
        "there are pub -s near SLOT_NEAR good for SLOT_MEAL that allow dogs .",
        "what do you think of these pubs ?",
        "what is it about pubs that you can find in town that makes you like them ?",
        "what is it about SLOT_FOOD pubs that makes you find them dull ?",
        "what is it about pubs that you find so dull ?",
        "why do you find pubs that allow dogs so dull ?",
        "where do you find pubs that allow dogs ?",
        "do you often find pubs dull ?",
        "it is in the SLOT_AREA area , has beer , and is cheap .",
    ],
)
def test_what_people_say_has_no_faults(sentence: str) -> None:
    assert faults(sentence.split(), VERBS | {"allow", "like", "dislike", "heard", "makes", "rewards", "want"}) == 0


@pytest.mark.parametrize(
    "sentence",
    [
        "i'm sorry , the only pub near SLOT_NEAR .",
        "there none pub near SLOT_NEAR .",
        "it is the only pub serves beer and is cheap .",
        "it is in the SLOT_AREA area , has beer and wine .",
        "there are pub -s in the SLOT_PRICERANGE price range and a garden .",
        "it has beer and a view , wine and a garden .",
        "would you like SLOT_FOOD food , or food ?",
        "have a garden or do you not care ?",
        "with a garden , a view , and beer , has SLOT_FOOD food .",
        "why do you think these pubs ?",
        "what is it about pubs that you can find in town ?",
        "what is it about SLOT_FOOD pubs that makes you find them ?",
        "why do you find pubs that allow dogs ?",
        "what area do you do not care about ?",
        "do you often find SLOT_FOOD pubs ?",
        "why do you think the pubs near here that have beer ?",
        "it is located .",
        "it is a pub that is rated SLOT_RATING rated .",
        "it is a pub that is good for .",
        "since you like pubs in the SLOT_AREA area ?",
    ],
)
def test_what_nobody_says_has_faults(sentence: str) -> None:
    words = sentence.split()
    assert faults(words, VERBS | {"allow", "like", "find"})


def test_a_text_greets_once() -> None:
    fluency = Fluency(split(["goodbye .", "bye .", "goodbye , and enjoy SLOT_NAME ."] * 3), english=True)
    assert fluency.doubts(["goodbye", "."]) == 0
    for again in ("goodbye", "bye"):
        assert fluency.doubts([again, ".", "goodbye", ",", "and", "enjoy", "SLOT_NAME", "."]) > 0


def test_a_verb_behind_an_auxiliary_one_belongs_to_it() -> None:
    assert finite(["do", "you", "have", "what", "they", "need"], VERBS | {"need"}) == [0, 5]


def test_comma_splices_are_found() -> None:
    text = "it is a nice place , it is near SLOT_NEAR and their price is low ."
    assert splices(text.split(), VERBS) == 1
    assert splices(["if", "you", "need", "a", "pub", ",", "there", "is", "one", "."], VERBS) == 0
    for opening in ("as an alternative", "unfortunately", "i'm sorry", "it is cheap ; however"):
        assert splices([*opening.split(), ",", "it", "is", "small", "."], VERBS) == 0


def test_verbs_are_learned_from_pronouns_and_not_from_articles() -> None:
    pairs = Counter(
        {
            ("it", "climbs"): 4,
            ("and", "climbs"): 2,
            ("it", "walk"): 4,
            ("a", "walk"): 9,
            ("is", "climbed"): 8,
            ("where", "child"): 5,
            ("child", "-s"): 5,
        }
    )
    found = learned_verbs(pairs)
    assert "climbs" in found and not found & {"walk", "climbed", "child"}


def test_a_thing_is_only_what_training_says_that_it_is() -> None:
    texts = ["SLOT_NAME is a nice hotel .", "it has a good price range ."] * 60 + ["SLOT_NAME is a price range ."]
    copulas = Copulas(split(texts))
    said = [
        "SLOT_NAME is a hotel near SLOT_NEAR .",
        "it is a SLOT_PRICE price range .",
        "it is an inn .",
        "it is a SLOT_AREA .",
        "it is a cheap hotels .",
        "it is a chain of hotels .",
        "there is a SLOT_TYPE -s .",
    ]
    assert [copulas.faults(text) for text in split(said)] == [0, 1, 0, 1, 1, 0, 1]


def test_what_has_been_said_in_the_same_words_is_doubtful() -> None:
    text = "it is a nice place near SLOT_NEAR ."
    fluency = Fluency(split([text]), english=True)
    assert fluency.doubts(text.split()) == 0
    assert fluency.doubts([*text.split(), *text.split()]) > 0


def test_other_languages_have_no_faults_of_english() -> None:
    texts = [tokenize("SLOT_NAME je levná restaurace.")]
    assert Fluency(texts, english=False).doubts(texts[0]) == 0
