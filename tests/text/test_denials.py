"""Denied values: people's own sentences raise no alarm; the same sentences with a denial before a value do."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dactnlg.acts import parse
from dactnlg.data.corpus import Corpus
from dactnlg.data.pairs import TrainingData
from dactnlg.fidelity.checker import FidelityChecker
from dactnlg.text.values.opposites import denied_at, turned

DENIED = {
    "hotel": [
        ("inform(name='abri';area=soma)", "Abri is {}in the soma area.", "not "),
        ("inform(name='abri';near=soma)", "Abri is a hotel that is {}near soma.", "not "),
    ],
    "restaurants": [("inform(name='red door';food=thai)", "Red Door {} Thai food.", "does not serve")],
    "trails": [
        ("inform(name='Ivy';length='7 km')", "Ivy is {}7 km long.", "not "),
        # People praise, "you won't regret it", and say "not far from", but deny no value.
        ("recommend(name='Ivy';region='Marl Valley')", "You might enjoy Ivy, which is {}in the Marl Valley.", "not "),
        (
            "compare(name='Ivy';near='Dark Tarn';name='Elm';length='9 km')",
            "Ivy is {}near Dark Tarn. Elm is 9 km long.",
            "not ",
        ),
    ],
}


@pytest.mark.parametrize("corpus", ["hotel", "restaurants", "laptop", "tv", "viggo", "trails"])
def test_people_deny_no_values_and_denied_ones_are_found(
    corpus: str, corpora: Callable[[str], Corpus], training_data: Callable[[str], TrainingData]
) -> None:
    preprocessor, _ = training_data(corpus)
    manners, delexicalizer = preprocessor.manners, preprocessor.delexicalizer
    alarms = 0
    said = dict.fromkeys(corpora(corpus).pairs("test"))
    for given, text in said:
        turn = delexicalizer.prepared(given)
        tokens = [t if "SLOT_" in t else t.lower() for t in delexicalizer.delexicalize(turn, text).tokens]
        alarms += bool(manners.untrue(turn, delexicalizer.required(turn), tokens))
    assert len(said) > 500 and alarms <= 0.002 * len(said)
    checker = FidelityChecker(preprocessor.checker, None, manners)
    for act, text, denial in DENIED.get(corpus, []):
        plain = "serves" if denial.startswith("does") else ""
        assert not checker.check(parse(act), text.format(plain)).missing
        (missing,) = checker.check(parse(act), text.format(denial)).missing
        assert missing in str(parse(act))


def test_a_denial_belongs_to_what_it_stands_before(training_data: Callable[[str], TrainingData]) -> None:
    preprocessor, _ = training_data("hotel")
    manners, delexicalizer = preprocessor.manners, preprocessor.delexicalizer

    def denied(act: str, text: str) -> list[str]:
        return manners.untrue(parse(act), delexicalizer.required(parse(act)), text.split())

    act = "inform(name=x;area=y)"
    assert denied(act, "SLOT_NAME isn't in the SLOT_AREA area") == ["area=y"]
    # Another clause, another value between, and too far away.
    assert not denied(act, "SLOT_NAME is not , but in the SLOT_AREA area")
    assert not denied(act, "it is not far from anything that is worth it , as SLOT_NAME is in the SLOT_AREA area")
    # A slot with a negative value may be what is denied; where nothing matches, everything is.
    assert not denied("inform(name=x;area=y;dogsallowed=no)", "SLOT_NAME does not in SLOT_AREA allow dogs")
    assert not denied("inform(name=x;area=y;dogsallowed=no)", "no dogs are not allowed in SLOT_AREA")
    assert denied("inform(name=x;area=y;dogsallowed=no)", "SLOT_NAME is not available in the SLOT_AREA") == ["area=y"]
    assert not denied("inform_no_match(area=y)", "there are not in SLOT_AREA any")
    # Also beside an act that training never has with it.
    assert not denied("?select(near=x)&inform_no_match(area=y)", "near SLOT_NEAR ? there are no hotels in SLOT_AREA")
    assert denied("?select(near=x)&inform(area=y)", "near SLOT_NEAR ? it is not in SLOT_AREA") == ["area=y"]


@pytest.mark.parametrize(
    ("act", "text", "denied"),
    [
        ("inform(name=x;area=y)", "SLOT_NAME is not located in the area of SLOT_AREA", True),
        ("inform(name=x;area=y)", "SLOT_NAME is far from SLOT_AREA", True),
        ("inform(name=x;area=y)", "SLOT_NAME is not far from SLOT_AREA", False),
        ("inform(name=x;pricerange=y)", "SLOT_NAME is not rated SLOT_PRICERANGE", True),
        ("inform(name=x;pricerange=y)", "SLOT_NAME is not a highly rated SLOT_PRICERANGE one", False),
        ("inform(name=x;near=y)", "SLOT_NAME is outside the SLOT_NEAR area", True),
        ("inform(name=x;phone=1)", "SLOT_NAME comes without a phone number , or with SLOT_PHONE", False),
        # A positive value is no reason for a denial; an unknown one is.
        ("inform(name=x;area=y;dogsallowed=yes)", "SLOT_NAME allows dogs , and is not in the SLOT_AREA area", True),
        ("inform(name=x;area=y;dogsallowed=none)", "i do not know of SLOT_AREA", False),
        # Idioms that deny nothing.
        ("inform(name=x;pricerange=y)", "it is not only SLOT_PRICERANGE but nice", False),
        ("inform(name=x)", "you can not go wrong with the SLOT_NAME", False),
        ("inform(name=x)", "why don't you try SLOT_NAME", False),
    ],
)
def test_values_are_denied_in_many_words(
    act: str, text: str, denied: bool, training_data: Callable[[str], TrainingData]
) -> None:
    preprocessor, _ = training_data("hotel")
    turn = parse(act)
    assert bool(preprocessor.manners.untrue(turn, preprocessor.delexicalizer.required(turn), text.split())) == denied


def test_an_act_type_with_few_texts_learns_from_those_of_others(
    training_data: Callable[[str], TrainingData],
) -> None:
    """A dialogue system has few prompts, and not for every combination of acts."""
    preprocessor, _ = training_data("dstc2")
    checker = FidelityChecker(preprocessor.checker, None, preprocessor.manners)
    turn = parse("offer(name='ugly duckling') & inform(food=chinese)")
    assert checker.check(turn, "ugly duckling serves chinese food").ok
    assert checker.check(turn, "ugly duckling does not serve chinese food").missing == ("food=chinese",)
    turn = parse("canthelp(food=chinese)")
    assert checker.check(turn, "I am sorry but there is no chinese restaurant").ok


@pytest.mark.parametrize(
    ("yes", "no"),
    [
        ("it has dogs .", "it has no dogs ."),
        ("SLOT_NAME is a pub with a big dog . call it .", "SLOT_NAME is a pub without a big dog . call it ."),
        ("it has SLOT_STARS stars and friendly dogs .", "it has SLOT_STARS stars but no friendly dogs ."),
        ("dogs are allowed at SLOT_NAME .", "dogs are not allowed at SLOT_NAME ."),
        ("it allows dogs .", "it does not allow dogs ."),
        ("they welcome dogs .", "they do not welcome dogs ."),
        ("it is dog friendly .", None),
        ("it has dogs and cats .", None),
        ("dogs are free .", None),
        ("it has cats . dogs play with dogs . dogs bark .", None),
        ("does it allow dogs ?", None),
        ("it offers guests friendly dogs .", None),
    ],
)
def test_a_yes_is_denied_in_its_own_words(yes: str, no: str | None) -> None:
    def names(word: str) -> bool:
        return word.startswith("dog")

    said = turned(tuple(yes.split()), names, "no")
    assert said == (None if no is None else tuple(no.split()))
    if said is not None:
        words = yes.split()
        assert not denied_at(words, next(at for at, word in enumerate(words) if names(word)))
        assert denied_at(said, next(at for at, word in enumerate(said) if names(word)))


@pytest.mark.parametrize(
    ("no", "yes"),
    [
        ("it does not have dogs .", "it has dogs ."),
        ("dogs are not allowed .", "dogs are allowed ."),
        ("SLOT_NAME has no doggies .", "SLOT_NAME has doggies ."),
        ("no dogs are allowed .", "dogs are allowed ."),
        ("a pub without dogs .", "a pub with dogs ."),
        ("it has no dog .", None),
        ("it is not cheap , and lacks dogs .", None),
        ("it has dogs .", None),
    ],
)
def test_a_no_is_affirmed_in_its_own_words(no: str, yes: str | None) -> None:
    said = turned(tuple(no.split()), lambda word: word.startswith("dog"), "yes")
    assert said == (None if yes is None else tuple(yes.split()))
