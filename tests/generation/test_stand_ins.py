"""Stand-ins: unseen values are said in the places of known ones, or beside others of their slot."""

from __future__ import annotations

import pytest

from dactnlg.acts import parse
from dactnlg.generation.candidates import Candidate
from dactnlg.generation.completion import Completer
from dactnlg.generation.generation import Generation
from dactnlg.generation.generator import Generator
from dactnlg.generation.options import GenerationOptions
from dactnlg.generation.template_files import template_rows
from dactnlg.generation.unseen.stand_ins import StandIns
from dactnlg.text.example import Pair
from dactnlg.text.preprocessor import Preprocessor
from dactnlg.text.style import Style
from dactnlg.text.surface import tokenize
from dactnlg.text.values.casing import Casing
from dactnlg.training.train import train

PUBS = [
    ("inform(name=a;food=indian;price='more than £30')", "SLOT_NAME serves indian food for more than £30 ."),
    ("inform(name=a;food=indian;area='city centre')", "SLOT_NAME is an indian pub in the city centre ."),
    ("inform(name=a;food=french;area=riverside)", "SLOT_NAME is a french pub in the riverside area ."),
    ("inform(name=a;food=italian;price=cheap)", "SLOT_NAME is a cheap italian pub ."),
    ("inform(name=a;price='less than £20')", "SLOT_NAME costs less than £20 ."),
    ("inform(name=a;view=b;view=c)", "SLOT_NAME has views of SLOT_VIEW and SLOT_VIEW#2 ."),
    ("inform(name=a;view=b)", "SLOT_NAME has views of SLOT_VIEW ."),
    ("inform_no_match(view=b)", "there is no pub with views of SLOT_VIEW ."),
    ("?confirm(view=b)", "do you want views of SLOT_VIEW ?"),
    ("?compare(name=a;view=c;name=b;view=d)", "SLOT_NAME has SLOT_VIEW , SLOT_NAME#2 has SLOT_VIEW#2 ."),
]
LEXICALIZED = {
    "food": ["french", "indian", "italian"],
    "area": ["city centre", "riverside"],
    "price": ["cheap", "less than £20", "more than £30"],
}
CUES = {"price": {"cheap": ["cheap", "low price"], "less than £20": [r"\b20\b"], "more than £30": [r"\b30\b"]}}


def tokens_of(text: str) -> tuple[str, ...]:
    return tuple(token for word in text.split() for token in ([word] if "SLOT" in word else tokenize(word)))


def built(pairs: list[tuple[str, str]], language: str = "en") -> Preprocessor:
    cues = {name: {value: [rf"\b{value}\b"] for value in values} for name, values in LEXICALIZED.items()}
    style = Style(False, True, {}, cues | CUES, (), lexicalized=LEXICALIZED, language=language)
    prepared = style.delexicalizer().prepared
    rows = [Pair(prepared(parse(act)), None, tokens_of(text)) for act, text in pairs]
    return Preprocessor.build(rows, None, Casing(), style)


@pytest.fixture(scope="module")
def pubs() -> Preprocessor:
    return built(PUBS)


def acts(preprocessor: Preprocessor, act: str) -> list[str]:
    return [str(each.request.turn) for each in StandIns(preprocessor).of(preprocessor.request(parse(act)))]


def said(preprocessor: Preprocessor, act: str, *texts: str) -> list[str]:
    """Return what is said for an act, given texts for its first stand-in."""
    request, stand_ins = preprocessor.request(parse(act)), StandIns(preprocessor)
    first = stand_ins.of(request)[0]
    candidates = [Candidate(preprocessor, first.request, tokens_of(text), 0.0) for text in texts]
    found = stand_ins.said(request, first, candidates, ask=True)
    assert all(each.right and each.origin == "inserted" for each in found)
    return [each.text for each in found]


@pytest.mark.parametrize(
    "act",
    [
        "inform(name=x;food=Indian;price=cheap;area=riverside)",
        "inform(name=x;view=y;view=z)",
        "inform(name=x;terrace=y)",  # training has no values for it
        "?compare(name=x;view=1;name=y;view=2;name=z;view=3)",  # each by itself
        "goodbye()",
    ],
)
def test_acts_of_known_values_need_no_stand_in(pubs: Preprocessor, act: str) -> None:
    assert acts(pubs, act) == []


def test_the_most_similar_values_come_first(pubs: Preprocessor) -> None:
    assert acts(pubs, "inform(name=x;price='more than £45')") == [
        "inform(name=x;price='more than £30')",
        "inform(name=x;price='less than £20')",
        "inform(name=x;price=cheap)",
    ]
    assert acts(pubs, "inform(name=x;area='old town')")[0] == "inform(name=x;area='city centre')"
    # A slot with fewer values repeats them.
    both = acts(pubs, "inform(name=x;price='more than £45';area='old town')")
    assert both[0] == "inform(name=x;price='more than £30';area=riverside)" or len(set(both)) == len(both) == 3


def test_two_values_of_a_slot_do_not_become_one(pubs: Preprocessor) -> None:
    for act in ("inform(food=korean;food=italian)", "inform(food=italian;food=korean)"):
        for each in acts(pubs, act):
            assert [slot.value for _, slot in parse(each).slots()] == ["italian"]
        assert said(pubs, act, "it is an italian pub .") == ["It is an Italian and Korean pub."]


def test_a_value_stands_where_the_known_one_stood(pubs: Preprocessor) -> None:
    act = "inform(name='red door';food=Ethiopian;area='old town')"
    first = "SLOT_NAME is an indian pub in the city centre ."
    stand_in = acts(pubs, act)[0]
    known = first if "indian" in stand_in else first.replace("indian", "italian")
    known = known if "centre" in stand_in else known.replace("the city centre", "riverside")
    assert said(pubs, act, known)[0].startswith("Red door is an Ethiopian pub in")
    assert "old town" in said(pubs, act, known)[0]


@pytest.mark.parametrize(
    "text",
    [
        "SLOT_NAME is a pub .",  # it does not say the value
        "SLOT_NAME costs more than £30 , more than £30 .",  # twice
        "SLOT_NAME is cheap at more than £30 .",  # another value of the slot stays
        "SLOT_NAME costs more than £30 near SLOT_VIEW .",  # it says more
    ],
)
def test_texts_that_do_not_say_the_stand_in_once_are_rejected(pubs: Preprocessor, text: str) -> None:
    act = "inform(name=x;price='more than £45')"
    assert said(pubs, act, text, "SLOT_NAME costs more than £30 .") == ["X costs more than £45."]


@pytest.mark.parametrize(
    ("lacking", "stand_in", "text", "expected"),
    [
        (
            "SLOT_NAME is a french pub .",
            "inform(name=x;food=french;price='more than £30')",
            0,
            "it costs less than £20.",
        ),
        (
            "SLOT_NAME is a cheap french pub .",
            "inform(name=x;food=french;price='more than £30')",
            0,
            "it costs less than £20.",
        ),
        ("SLOT_NAME costs less than £20 .", "inform(name=x;food=indian;price='less than £20')", 1, "is a French pub"),
        ("SLOT_NAME is a french pub for less than £20 .", "", 0, ""),
    ],
)
def test_a_known_value_that_is_not_said_is_exchanged_for_another(
    pubs: Preprocessor, lacking: str, stand_in: str, text: int, expected: str
) -> None:
    request, stand_ins = pubs.request(parse("inform(name=x;food=french;price='less than £20')")), StandIns(pubs)
    lost = stand_ins.lost(Candidate(pubs, request, tokens_of(lacking), 0.0))
    standing = stand_ins.of(request, lost)
    assert [str(each.request.turn) for each in standing][:1] == [stand_in][: bool(stand_in)]
    texts = ["SLOT_NAME is a french pub . it costs more than £30 .", "SLOT_NAME is an indian pub for less than £20 ."]
    for each in standing[:1]:
        candidates = [Candidate(pubs, each.request, tokens_of(texts[text]), 0.0)]
        (found,) = stand_ins.said(request, each, candidates, ask=True)
        assert found.right and expected.casefold() in found.text.casefold()
        # A text that lacks the other value is no help.
        assert not stand_ins.said(request, each, [Candidate(pubs, each.request, tokens_of(lacking), 0.0)], ask=True)


@pytest.mark.parametrize(
    ("act", "text", "expected"),
    [
        ("inform(name=x;view=a;view=b;view=c)", "SLOT_NAME has SLOT_VIEW and SLOT_VIEW#2 .", "X has a, b and c."),
        ("inform(name=x;view=a;view=b;view=c)", "SLOT_NAME has SLOT_VIEW SLOT_VIEW#2 views .", "X has a b c views."),
        (
            "inform(name=x;view=a;view=b;view=c)",
            "SLOT_VIEW is what SLOT_NAME has , and SLOT_VIEW#2 .",
            "A is what x has, and b and c.",
        ),
        ("inform(name=x;view=a;view=b;view=c)", "SLOT_NAME has SLOT_VIEW , SLOT_VIEW#2 .", "X has a, b, c."),
        (
            "inform(name=x;view=a;view=b;view=c)",
            "SLOT_NAME has the SLOT_VIEW and SLOT_VIEW#2 view .",
            "X has the a, b and c views.",
        ),
        ("inform(name=x;name=y;view=b)", "SLOT_NAME has views of SLOT_VIEW .", "X and y have views of b."),
        ("inform(name=x;name=y;view=b)", "SLOT_NAME is a nice pub at SLOT_VIEW .", "X and y are nice pubs at b."),
        ("inform(name=x;name=y;view=b)", "the view of SLOT_NAME is SLOT_VIEW .", "The view of x and y is b."),
        ("inform_no_match(view=a;view=b)", "there is no view of SLOT_VIEW .", "There is no view of a or b."),
        ("inform_no_match(view=a;view=b;view=c)", "there is no view of SLOT_VIEW .", "There is no view of a, b or c."),
        ("?confirm(view=a;view=b)", "do you want SLOT_VIEW ?", "Do you want a or b?"),
        ("inform_no_match(view=a;view=b)", "i can't say : it has SLOT_VIEW .", "I can't say: it has a and b."),
        # Nothing is inserted next to attached words.
        ("?confirm(view=a;view=b)", "do you want \uffedSLOT_VIEW ?", None),
        ("?confirm(view=a;view=b)", "do you want any ?", None),
    ],
)
def test_further_values_stand_beside_those_of_their_slot(
    pubs: Preprocessor, act: str, text: str, expected: str | None
) -> None:
    assert said(pubs, act, text) == ([expected] if expected else [])


@pytest.mark.parametrize(
    ("act", "text", "expected"),
    [
        ("inform(name=x;food=french;food=indian)", "SLOT_NAME is a french pub .", "X is a French and Indian pub."),
        ("inform(name=x;food=french;food=French)", "SLOT_NAME is a french pub .", None),
        ("inform(name=x;food=french;food=Thai)", "SLOT_NAME is a french pub .", "X is a French and Thai pub."),
        (
            "inform(name=x;food=french;food=Thai;food=indian)",
            "SLOT_NAME has french food .",
            "X has French and Thai and Indian food.",
        ),
        (
            "inform(name=x;food=french;food=indian;food=italian)",
            "SLOT_NAME has french food .",
            "X has French and Italian and Indian food.",
        ),
        (
            "inform(name=x;area=riverside;area='city centre')",
            "SLOT_NAME is in the riverside area .",
            "X is in the riverside and city centre areas.",
        ),
        (
            "inform(name=x;area=riverside;area='city centre';area=docks)",
            "SLOT_NAME is in the riverside area .",
            "X is in the riverside and docks and city centre areas.",
        ),
        ("inform_no_match(food=french;food=indian)", "there is no french pub .", "There is no French or Indian pub."),
        ("inform(name=x;food=french;food=indian)", "SLOT_NAME is a pub .", ""),
    ],
)
def test_further_values_of_a_closed_class_stand_beside_the_first(
    pubs: Preprocessor, act: str, text: str, expected: str | None
) -> None:
    if expected is None:
        assert acts(pubs, act) == []
    else:
        assert said(pubs, act, text) == ([expected] if expected else [])


def test_many_further_values_need_few_texts() -> None:
    """Words either become plurals or stay as they are: two texts, however many values there are."""
    slots = [f"s{number}" for number in range(20)]
    words = " ".join(f"the SLOT_S{number} s{number} ." for number in range(20))
    alone = built([(f"inform({';'.join(f'{slot}=a' for slot in slots)})", words)])
    several = ";".join(f"{slot}=a;{slot}=b" for slot in slots)
    (text,) = said(alone, f"inform({several})", words)
    assert text.count("The a and b s") == 20


def test_values_that_training_combines_need_no_stand_in() -> None:
    pair = ("?select(food=french;food=indian)", "do you want french or indian food ?")
    assert acts(built([*PUBS, pair]), "?select(food=italian;food=indian)") == []
    assert acts(built(PUBS), "?select(food=italian;food=indian)") == ["?select(food=italian)"]


def test_values_of_other_languages_are_joined_by_commas_alone() -> None:
    polish = built(PUBS, language="pl")
    assert said(polish, "?confirm(view=a;view=b)", "do you want SLOT_VIEW ?") == ["Do you want a, b?"]


@pytest.fixture(scope="module")
def generator(tmp_path_factory: pytest.TempPathFactory) -> Generator:
    sizes = ["model.hidden_size=64", "model.embedding_size=32", "training.epochs=12", "training.batch_size=32"]
    folder = tmp_path_factory.mktemp("lexicalized") / "run"
    overrides = [*sizes, "corpus.lexicalized=[difficulty]"]
    return Generator.load(train("trails-sclstm", folder, overrides=overrides, progress=False).path)


@pytest.mark.parametrize("value", ["brutal", "fairly tough", "t3", "an 8b"])
@pytest.mark.parametrize("slots", ["name='Red Kite Ridge'", "name='Red Kite Ridge';length='7 km';dogsallowed=no"])
def test_a_new_value_is_said_as_a_known_one(generator: Generator, value: str, slots: str) -> None:
    (found,) = generator.generate([f"inform({slots};difficulty='{value}')"])
    assert found.slots_ok
    assert found.text.count(value) == 1
    assert found.delexicalized.split(" ").count("SLOT_DIFFICULTY") == 1
    known = sorted(generator.preprocessor.style.lexicalized["difficulty"])
    wide = GenerationOptions(n_best=10)
    said = {each.raw for each in _every(generator, [f"inform({slots};difficulty={other})" for other in known], wide)}
    assert any(found.raw.replace(value, other) in said for other in known)


def test_templates_are_filed_under_their_lexicalised_values(generator: Generator) -> None:
    """A lexicalised value is part of the template: no program could fill it in."""
    acts = [f"inform(name='Red Kite Ridge';difficulty={value};length='7 km')" for value in ("easy", "arduous")]
    first, second = template_rows(generator, [parse(act) for act in acts])
    assert first["delexicalized_act"] == "inform(name;difficulty=easy;length)"
    assert second["delexicalized_act"] == "inform(name;difficulty=arduous;length)"
    assert first["template"] != second["template"]


def _every(generator: Generator, acts: list[str], options: GenerationOptions) -> list[Generation]:
    return [each for found in generator.generate(acts, options) for each in found.n_best]


HOTELS = [
    ("inform(name=a;stars=4;internet=yes)", "SLOT_NAME has SLOT_STARS stars and free internet ."),
    ("inform(name=a;stars=4;internet=yes)", "SLOT_NAME is a SLOT_STARS star hotel with internet ."),
    ("inform(name=a;internet=yes;phone=none)", "SLOT_NAME has internet . i do not know the phone number ."),
    ("inform(name=a;phone=b)", "the phone number of SLOT_NAME is SLOT_PHONE ."),
    ("inform(name=a;postcode=b)", "the postcode of SLOT_NAME is SLOT_POSTCODE ."),
]


def test_an_unseen_no_negates_the_words_for_yes() -> None:
    hotels, act = built(HOTELS), "inform(name=Ritz;stars=4;internet=no)"
    assert acts(hotels, act) == [act.replace("=no", "=yes")]
    assert said(hotels, act, HOTELS[1][1], HOTELS[0][1]) == [
        "Ritz is a 4 star hotel without internet.",
        "Ritz has 4 stars but no free internet.",
    ]
    # If the model has no such words, those of training are used.
    request, stand_ins = hotels.request(parse(act)), StandIns(hotels)
    (best,) = stand_ins.said(request, stand_ins.of(request)[0], [], ask=True)
    assert (best.text, best.origin) == ("Ritz has 4 stars but no free internet.", "composed")
    assert acts(hotels, "inform(name=Ritz;stars=no)") == acts(hotels, act.replace("=no", "=yes")) == []


@pytest.mark.parametrize(
    ("act", "sentence"),
    [
        ("inform(name=Ritz;postcode=b;internet=no)", "The postcode of Ritz is b. It has no internet."),
        ("inform(name=Ritz;phone=b;postcode=none)", "There is no information about the postcode."),
    ],
)
def test_an_unseen_special_value_is_said_after_the_covering_text(act: str, sentence: str) -> None:
    hotels = built(HOTELS)
    assert Completer(hotels).covering(hotels.request(parse(act))).text.endswith(sentence)
    assert "information" not in Completer(built(HOTELS, "und")).covering(hotels.request(parse(act))).text
