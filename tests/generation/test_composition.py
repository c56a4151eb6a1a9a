"""Composition: texts for unseen combinations, of training's own sentences and phrases."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, pairwise

import pytest
from helpers import preprocessor_of

from dactnlg.acts import DialogueAct, Slot, Turn, parse
from dactnlg.data.corpus import load_corpus
from dactnlg.data.pairs import TrainingData, build_preprocessor
from dactnlg.generation.candidates import Candidate
from dactnlg.generation.unseen import phrases
from dactnlg.generation.unseen.combinations import Combinations
from dactnlg.generation.unseen.composition import Composer, covers
from dactnlg.generation.unseen.phrases import Phrases
from dactnlg.generation.unseen.piece_finder import PieceFinder
from dactnlg.generation.unseen.pieces import wanted
from dactnlg.text.grammar.fluency import Fluency
from dactnlg.text.preprocessor import Preprocessor
from dactnlg.text.sentences import split_sentences, without_apology

HOTELS = [
    ("inform(name=a;near=b)", "SLOT_NAME is near SLOT_NEAR ."),
    ("inform(name=a;phone=1)", "the phone number of SLOT_NAME is SLOT_PHONE ."),
    ("inform(name=a;area=b)", "SLOT_NAME is in the SLOT_AREA area ."),
    ("inform(name=a;area=b;price=1)", "SLOT_NAME is in the SLOT_AREA area . it costs SLOT_PRICE ."),
    ("inform_no_match(near=a)", "there are no hotels near SLOT_NEAR ."),
    ("inform_no_match(area=a)", "there are no hotels in the SLOT_AREA area ."),
    ("inform_no_match(price=a)", "there are no SLOT_PRICE hotels ."),
    ("inform_no_match(price=a;near=b)", "there are no SLOT_PRICE hotels near SLOT_NEAR ."),
    ("inform_no_match(price=a;stars=b)", "there are no SLOT_PRICE hotels in the SLOT_STARS class ."),
    ("inform_only_match(name=a;price=b)", "only one is SLOT_NAME , which has a SLOT_PRICE price that is good"),
    ("inform_only_match(near=a;stars=b)", "only one is near SLOT_NEAR , which has a SLOT_STARS rating that is good"),
    ("inform_only_match(near=a)", "only one is near SLOT_NEAR that is good"),
    ("inform_count(count=2;near=b)", "there are SLOT_COUNT hotels near SLOT_NEAR ."),
    ("inform_count(count=2;stars=b)", "there are SLOT_COUNT hotels in the SLOT_STARS class ."),
    ("inform_count(count=2;area=b)", "there are SLOT_COUNT hotels in the SLOT_AREA area ."),
    ("inform_count(count=2;price=b)", "i found SLOT_COUNT SLOT_PRICE hotels ."),
    ("recommend(type=a;ports=b)", "try a SLOT_TYPE . it has SLOT_PORTS ports ."),
    ("recommend(type=a;price=b)", "try a SLOT_TYPE . it costs SLOT_PRICE ."),
    ("inform_no_info(name=a;area)", "i do not know where SLOT_NAME is ."),
    ("inform_no_info(name=a;price)", "i do not know SLOT_NAME \uffed's price ."),
    ("?request(area)", "which area would you like ?"),
    ("?request(price)", "what may it cost ?"),
]


@pytest.fixture(scope="module")
def hotels() -> Preprocessor:
    return preprocessor_of(HOTELS)


def composed(preprocessor: Preprocessor, act: str) -> list[str]:
    fluency = Fluency(preprocessor.templates.texts(), english=True)
    found = Composer(preprocessor).composed(preprocessor.request(parse(act)).turn, fluency)
    return [" ".join(tokens) for tokens, doubts in found if doubts == found[0][1]]


@pytest.mark.parametrize(
    ("act", "text"),
    [
        # Consecutive sentences: later ones say "it", or do not name the thing.
        ("inform(name=x;near=y;price=2)", "SLOT_NAME is near SLOT_NEAR . it costs SLOT_PRICE ."),
        ("inform(name=x;near=y;phone=2)", "the phone number of SLOT_NAME is SLOT_PHONE . it is near SLOT_NEAR ."),
        # Without the name, with which all texts begin.
        ("inform(phone=2)", "the phone number is SLOT_PHONE ."),
        ("inform(area=x;price=2)", "it is in the SLOT_AREA area . it costs SLOT_PRICE ."),
        ("inform_no_info(area)", "i do not know where it is ."),
        # A slot that training never has without a value is requested, or unknown, by its name.
        ("?request(phone)", "which phone would you like ?"),
        # Constraints of a search stay within one sentence: a phrase is inserted.
        ("inform_no_match(price=x;area=y)", "there are no SLOT_PRICE hotels in the SLOT_AREA area ."),
        ("?request(area;price)", "what may it cost ? which area would you like ?"),
        # Without the beginnings of texts: only statements remain.
        ("recommend(ports=x;price=y)", "it has SLOT_PORTS ports . it costs SLOT_PRICE ."),
        # The words of one slot are replaced by those of another.
        ("inform_only_match(name=x;stars=y)", "only one is SLOT_NAME , which has a SLOT_STARS rating that is good"),
        # Without its count, what is counted is a plural.
        ("inform_count(near=x)", "there are hotels near SLOT_NEAR ."),
        ("inform_count(area=x)", "there are hotels in the SLOT_AREA area ."),
    ],
)
def test_unseen_combinations_are_composed(hotels: Preprocessor, act: str, text: str) -> None:
    assert text in composed(hotels, act)


def test_several_slots_may_be_asked_for_one_by_one() -> None:
    pairs = [
        ("?select(food=a;area=b)", "would you like SLOT_FOOD food in the SLOT_AREA ?"),
        ("?select(food=a)", "would you like SLOT_FOOD food ?"),
        ("?select(price=a)", "are you looking for a SLOT_PRICE price ?"),
    ]
    assert composed(preprocessor_of(pairs), "?select(food=x;price=y)") == [
        "are you looking for a SLOT_PRICE price ? would you like SLOT_FOOD food ?",
        "would you like SLOT_FOOD food ? are you looking for a SLOT_PRICE price ?",
    ]


def test_of_equivalent_sentences_the_most_typical_is_taken() -> None:
    areas = ["what area are you looking for", "which area are you looking for", "what area are you looking for a hotel"]
    asked = [("?request(area)", text) for text in [*areas, "what area would you like"]]
    own = preprocessor_of([*asked, ("?request(price)", "what may it cost"), ("?request(name)", "what is it called")])
    further = [text for text in composed(own, "?request(area;price)") if text.startswith("what may it cost")]
    assert further == ["what may it cost ? what area are you looking for"]


def test_every_requested_slot_has_a_question_of_its_own() -> None:
    slots = ["area", "price", "food", "stars", "view", "length"]
    own = preprocessor_of([(f"?request({slot})", f"what {slot} would you like ?") for slot in slots])
    (text, *_) = composed(own, f"?request({';'.join(slots)})")
    assert sorted(text.removesuffix(" ?").split(" ? ")) == sorted(f"what {slot} would you like" for slot in slots)


def test_dontcare_is_confirmed_as_it_is_for_other_slots() -> None:
    told = ("inform_count(count=2;net=dontcare)", "there are SLOT_COUNT hotels if you do not care about the internet .")
    near = ("?confirm(near=a)", "do you want a hotel near SLOT_NEAR ?")
    area = ("?confirm(area=dontcare)", "can i confirm that you do not care about the area ?")
    for asked in (area, ("?confirm(area=dontcare)", "any area ?")):
        own = preprocessor_of([told, near, asked])
        act, composer = parse("?confirm(near=a;net=dontcare)"), Composer(own)
        texts = {" ".join(text) for text, _ in composer.composed(act, Fluency(own.templates.texts(), english=True))}
        question = "can i confirm that you do not care about the internet ?"
        orders = {f"{near[1]} {question}", f"{question} {near[1]}"}
        assert bool(texts & orders) is (asked is area)


def test_the_question_after_a_statement_is_replaced() -> None:
    own = preprocessor_of(
        [
            ("inform(count=2;food=a)&request(area)", "there are SLOT_COUNT pubs with SLOT_FOOD food . where ?"),
            (
                "inform(count=2;price=a;area=b)&request(food)",
                "there are SLOT_COUNT SLOT_PRICE pubs in SLOT_AREA . what food ?",
            ),
            ("inform(count=2;food=a)", "we have SLOT_COUNT pubs in town with SLOT_FOOD food ."),
            ("inform(area=a)", "there are SLOT_COUNT pubs in SLOT_AREA ."),
            ("request(food)", "what food ?"),
            ("request(area)", "where would you like it ?"),
            ("request(price)", "what may it cost ?"),
        ]
    )
    found = composed(own, "inform(count=2;food=x)&request(price)")
    assert found == ["there are SLOT_COUNT pubs with SLOT_FOOD food . what may it cost ?"]
    # The statement loses a phrase, and the question is replaced.
    (text,) = composed(own, "inform(count=2;area=x)&request(price)")
    assert text == "there are SLOT_COUNT pubs in SLOT_AREA . what may it cost ?"
    # A statement alone asks nothing, whatever follows it in training.
    assert composed(own, "inform(count=2;area=x;price=y)") == []


def test_a_slot_without_a_question_of_its_own_is_requested_by_name() -> None:
    own = preprocessor_of(
        [
            ("?request(area)", "whereabouts shall it be ?"),
            ("inform(price_range=a)", "the price range is SLOT_PRICE_RANGE ."),
            ("inform(dogs_allowed=yes)", "dogs are allowed ."),
            ("inform_no_info(area)", "i do not know where it is ."),
        ]
    )
    assert composed(own, "?request(price_range)") == ["what price range would you like ?"]
    both = composed(own, "?request(area;price_range)")
    assert sorted(both) == [
        "what price range would you like ? whereabouts shall it be ?",
        "whereabouts shall it be ? what price range would you like ?",
    ]
    # A slot whose name is not a noun, and an act type that does not ask.
    assert composed(own, "?request(dogs_allowed)") == composed(own, "inform_no_info(price_range)") == []
    # No sentence has the noun, but its slot has values. Prepositions and verbs are not nouns.
    rows = [("?request(area)", "whereabouts is it ?"), ("inform(cost=a;near=b)", "it is SLOT_COST near SLOT_NEAR .")]
    rows += [("inform(departs=a)", f"it departs {when} SLOT_DEPARTS .") for when in ("at", "before", "after", "around")]
    own = preprocessor_of(rows)
    assert composed(own, "?request(cost)") == ["what cost would you like ?"]
    assert composed(own, "?request(near)") == composed(own, "?request(departs)") == []


def test_an_apology_is_said_once() -> None:
    own = preprocessor_of(
        [
            ("?select(food=a)", "sorry would you like SLOT_FOOD food ?"),
            ("?select(area=a)", "sorry , do you want the SLOT_AREA area ?"),
            ("?select(kids=no)", "sorry , kids are not allowed ."),
        ]
    )
    assert set(composed(own, "?select(food=x;area=y)")) == {
        "sorry would you like SLOT_FOOD food ? do you want the SLOT_AREA area ?",
        "sorry , do you want the SLOT_AREA area ? would you like SLOT_FOOD food ?",
    }
    # In a statement it is kept.
    assert without_apology(("sorry", ",", "no", "dogs")) == ("sorry", ",", "no", "dogs")
    assert without_apology(("sorry",)) == ("sorry",)


def test_interrogative_wordings_of_a_question_come_first() -> None:
    pairs = [
        ("?confirm(dogs=dontcare)", "you do not care about dogs"),
        ("?confirm(dogs=dontcare)", "do you not care about dogs"),
        ("?confirm(area=a)", "are you looking for the SLOT_AREA area"),
        ("?confirm(area=a)", "do you want the SLOT_AREA area"),
    ]
    own = preprocessor_of(pairs)
    fluency = Fluency(own.templates.texts(), english=True)
    pieces = PieceFinder(own).collect(frozenset({"?confirm"}), fluency)
    (group,) = (group for said, group in pieces.single.items() if any("dogs" in each for each in said))
    assert pieces.asking and [" ".join(piece.tokens) for piece in group.ranked][0] == "do you not care about dogs"


def test_the_model_chooses_among_wordings_of_a_question() -> None:
    asked = [("?request(area)", f"{words} area ?") for words in ("which", "what", "in which", "in what")]
    own = preprocessor_of([*asked, ("?request(price)", "what may it cost ?")])
    fluency, composer, turn = Fluency(own.templates.texts(), english=True), Composer(own), parse("?request(area;price)")
    # The wordings of all slots: a slot without words of its own takes those of any other.
    rated = {str(alone): group for alone, group in composer.questions(parse("?request(area)"), fluency)}
    assert set(rated) == {"?request(area)", "?request(price)"}
    assert {" ".join(piece.tokens) for piece in rated["?request(area)"]} == {text for _, text in asked}
    for _, group in composer.questions(turn, fluency):
        group.rate([float(piece.tokens[:2] == ("what", "area")) for piece in group])
    assert not list(composer.questions(turn, fluency))
    found = [text for text, _ in composer.composed(turn, fluency) if text[:2] == ("what", "may")]
    assert found == [("what", "may", "it", "cost", "?", "what", "area", "?")]


@pytest.mark.parametrize(
    "act",
    [
        "inform(rooms=4)",
        "inform_no_info(price)",
        "?request(near)",
        "greet()",
        "goodbye(name=x)",
        "inform(name=x;name=y)",
    ],
)
def test_nothing_is_composed_without_words_from_training(hotels: Preprocessor, act: str) -> None:
    assert composed(hotels, act) == []


def test_all_exact_covers_are_found() -> None:
    choices = [frozenset(each) for size in (1, 2) for each in combinations("abcd", size)]
    left = frozenset("abcd")
    expected = {
        frozenset(each)
        for size in (1, 2, 3)
        for each in combinations(choices, size)
        if frozenset().union(*each) == left and sum(map(len, each)) == len(left)
    }
    found = [frozenset(cover) for cover in covers(left, choices, 3)]
    assert len(found) == len(set(found)) and set(found) == expected


def test_a_noun_is_replaced_only_by_one_of_the_same_number() -> None:
    """Otherwise "are toilets important?" would become "are height important?"."""
    own = build_preprocessor(load_corpus("trails"))[0]
    found = set(composed(own, "?request(height)"))
    assert found and not any(text.startswith(("are height", "is there a height ")) for text in found)
    assert any(text.startswith("which height") for text in found)


def test_composed_texts_of_the_corpus_say_their_acts_in_sentences_of_training() -> None:
    preprocessor = build_preprocessor(load_corpus("trails"))[0]
    seen, composer = Combinations(preprocessor), Composer(preprocessor)
    fluency = Fluency(preprocessor.templates.texts(), english=True)
    finder = PieceFinder(preprocessor)
    known = {
        piece.tokens for group in finder.collect(frozenset({"inform"}), fluency).single.values() for piece in group
    }
    known |= {part for text in preprocessor.templates.texts() for part in split_sentences(text)}
    right = tried = 0
    for names in combinations(("region", "length", "height", "view", "season"), 3):
        slots = [Slot("name", "Ivy Cutting"), *(Slot(name, "Marl") for name in names), Slot("toilets", "yes")]
        request = preprocessor.request(Turn((DialogueAct("inform", tuple(slots)),)))
        assert wanted(preprocessor, request.turn) and preprocessor.templates.subject == "SLOT_NAME"
        if not seen.is_unseen(request.turn):
            continue
        found = composer.composed(request.turn, fluency)
        tried += 1
        least = [tokens for tokens, doubts in found if doubts == found[0][1]]
        right += any(Candidate(preprocessor, request, tokens, 0.0).faithful for tokens in least)
        assert any(set(split_sentences(tokens)) <= known for tokens, _ in found)
    assert tried > 3 and right == tried


def test_stopping_early_misses_no_better_text(monkeypatch: pytest.MonkeyPatch) -> None:
    preprocessor, pairs = build_preprocessor(load_corpus("trails"))
    fluency, finder = Fluency(preprocessor.templates.texts(), english=True), PieceFinder(preprocessor)

    def least(said: frozenset[str]) -> int:
        pieces = finder.collect(frozenset({"inform"}), fluency)
        phrases = Phrases(pieces.whole, fluency, preprocessor.templates.subject, finder.said_here)
        return min((changes + fluency.doubts(tokens) for tokens, changes in phrases.made(said)), default=-1)

    known = {each.turn: None for each in pairs if [act.act_type for act in each.turn] == ["inform"]}
    sets = sorted({wanted(preprocessor, turn) for turn in known} - {frozenset()}, key=sorted)[::16]
    # Without one thing, and with one of another act.
    sets = [(said - {min(said)}) | {max(other)} for said, other in pairwise(sets)]
    found = [least(said) for said in sets]
    monkeypatch.setattr(Phrases, "_settled", lambda *_: False)
    assert found == [least(said) for said in sets]
    assert sum(cost >= 0 for cost in found) > 5


def test_more_texts_are_changed_where_few_lead_nowhere(
    training_data: Callable[[str], TrainingData], monkeypatch: pytest.MonkeyPatch
) -> None:
    preprocessor, _ = training_data("hotel")
    slots = "type=hotel;dogsallowed=yes;hasinternet=yes;pricerange=moderate;acceptscreditcards=yes;area='cow hollow'"
    texts = composed(preprocessor, f"inform_count({slots})")
    assert texts
    assert all({"SLOT_TYPE", "SLOT_PRICERANGE", "SLOT_AREA"} <= {*text.split()} for text in texts)
    monkeypatch.setattr(phrases, "WIDE", 1)
    assert not composed(preprocessor, f"inform_count({slots})")


def test_acts_without_values_are_said_as_training_says_them() -> None:
    rows = [("bye()", "thank you . enjoy your day"), ("bye()", "see you"), ("bye(name=a)", "goodbye SLOT_NAME")]
    rows += [("?request(area)", "which area ?"), ("inform(name=a)", "SLOT_NAME is there")]
    own = preprocessor_of(rows)
    composer, fluency = Composer(own), Fluency(own.templates.texts(), english=True)

    def said(act: str) -> list[tuple[str, int]]:
        return [(" ".join(text), doubts) for text, doubts in composer.composed(parse(act), fluency)]

    assert said("bye()") == [("thank you . enjoy your day", 0), ("see you", 0)]
    assert said("?request(area)") == [("which area ?", 0)]
    assert said("greet()") == []
    assert ("thank you . enjoy your day", 0) not in said("bye(name=x)")


def test_a_text_that_leaves_out_its_dontcare_says_the_rest_alone() -> None:
    pairs = [
        ("inform_count(count=2;dogs=dontcare)", "there are SLOT_COUNT inns if you do not care about dogs ."),
        ("inform_count(count=2;food=dontcare)", "there are SLOT_COUNT inns if you do not care about the food ."),
        ("inform_count(count=2;stars=a;dogs=dontcare)", "we have SLOT_COUNT inns with SLOT_STARS stars ."),
    ]
    own = preprocessor_of(pairs, cues={"dogs": {"dontcare": ["care about dogs"]}})
    assert composed(own, "inform_count(count=x;stars=y)") == ["we have SLOT_COUNT inns with SLOT_STARS stars ."]


def test_only_the_words_of_an_unwanted_special_value_are_left_out() -> None:
    cues = {"dogs": {"yes": ["allow dogs"]}, "kids": {"yes": ["welcome kids"]}}
    pairs = [
        ("inform_no_match(near=a;dogs=yes)", "there are no inns near SLOT_NEAR that allow dogs ."),
        ("inform_no_match(near=a;kids=yes)", "there are no inns near SLOT_NEAR that welcome kids ."),
        (
            "inform_no_match(area=a;dogs=yes;kids=yes)",
            "there are no inns in SLOT_AREA that allow dogs and welcome kids .",
        ),
        ("inform_no_match(area=a;near=b)", "there are no inns in SLOT_AREA near SLOT_NEAR ."),
        ("inform_no_match(area=a)", "there are no inns in SLOT_AREA ."),
    ]
    own = preprocessor_of(pairs, cues=cues)
    said = composed(own, "inform_no_match(area=x;near=y;dogs=yes)")
    assert said and all("dogs" in text and "kids" not in text for text in said)
