"""Corrections of candidates: for unseen acts, where the act is still said; n-best lists keep their length."""

from __future__ import annotations

import pytest
from helpers import preprocessor_of

from dactnlg.acts import parse
from dactnlg.data.corpus import load_corpus
from dactnlg.data.pairs import build_preprocessor
from dactnlg.generation.candidates import Candidate
from dactnlg.generation.unseen.mender import Mender
from dactnlg.generation.unseen.unseen_acts import UnseenActs
from dactnlg.text.preprocessor import Preprocessor
from dactnlg.text.sentences import Tokens
from dactnlg.text.surface import tokenize


@pytest.fixture(scope="module")
def preprocessor() -> Preprocessor:
    return build_preprocessor(load_corpus("trails"))[0]


@pytest.fixture(scope="module")
def mender(preprocessor: Preprocessor) -> Mender:
    return Mender(preprocessor, UnseenActs(preprocessor))


def _candidates(preprocessor: Preprocessor, act: str, *texts: str) -> list[Candidate]:
    request = preprocessor.request(parse(act))
    tokens = [tuple(token.replace("_2", "#2") for token in tokenize(text)) for text in texts]
    return [Candidate(preprocessor, request, each, -1.0 - place) for place, each in enumerate(tokens)]


def _text(candidate: Candidate) -> str:
    return " ".join(candidate.tokens).replace("\uffed", "")


SEEN, UNSEEN = "inform(name=x;duration=a;height=b)", "inform(name=x;length=a;height=b;near=c)"


@pytest.mark.parametrize(("value", "ending"), [("easy", "routes"), ("hard", "\uffeds"), ("grey", "\uffeds")])
def test_a_value_without_a_plural_gets_a_noun(
    preprocessor: Preprocessor, mender: Mender, value: str, ending: str
) -> None:
    # "Easys" is not a plural, so a noun is added: "we have 4 easy routes". "Greys" is one.
    request = preprocessor.request(parse(f"inform_count(count=4;difficulty={value})"))
    tokens = ("we", "have", "SLOT_COUNT", "SLOT_DIFFICULTY", "\uffeds", "\uffed.")
    (found,) = mender.mended([Candidate(preprocessor, request, tokens, -1.0)])
    assert found.tokens == (*tokens[:4], ending, tokens[5])


def test_seen_acts_are_left_as_they_are(preprocessor: Preprocessor, mender: Mender) -> None:
    listed = "SLOT_NAME has a duration of SLOT_DURATION, a height of SLOT_HEIGHT, and starts at SLOT_NEAR"
    for act, text, better in (
        (SEEN, listed.replace("and starts at SLOT_NEAR", "and is fine"), ""),
        (f"{SEEN[:-1]};near=c;length=d)", f"{listed} for SLOT_LENGTH", listed.replace("DURATION,", "DURATION and")),
    ):
        (found,) = mender.mended(_candidates(preprocessor, act, text))
        assert found.tokens == tuple(tokenize(f"{better} for SLOT_LENGTH" if better else text))
        assert found.score == -1.0


@pytest.mark.parametrize(
    ("act", "text", "better"),
    [
        (
            "inform_count(count=4;difficulty=a;near=b;length=c;toilets=yes)",
            "we have SLOT_COUNT SLOT_DIFFICULTY trails of SLOT_LENGTH. it is close to SLOT_NEAR and has toilets",
            "we have SLOT_COUNT SLOT_DIFFICULTY trails of SLOT_LENGTH . they are close to SLOT_NEAR and have toilets",
        ),
        (
            "inform_count(count=1;difficulty=a;near=b;length=c;toilets=yes)",
            "we have SLOT_COUNT SLOT_DIFFICULTY trail of SLOT_LENGTH that are near SLOT_NEAR and have toilets",
            "we have SLOT_COUNT SLOT_DIFFICULTY trail of SLOT_LENGTH that is near SLOT_NEAR and has toilets",
        ),
        (
            "inform_only_match(name=x;near=a;height=b;length=c)",
            "SLOT_NAME is a SLOT_LENGTH route near SLOT_NEAR that climbs to SLOT_HEIGHT",
            "SLOT_NAME is the only SLOT_LENGTH route near SLOT_NEAR that climbs to SLOT_HEIGHT",
        ),
        (
            "?select(view=a;near=b;height=c;length=d)",
            "SLOT_VIEW, SLOT_HEIGHT, SLOT_LENGTH or SLOT_NEAR.",
            "SLOT_VIEW , SLOT_HEIGHT , SLOT_LENGTH or SLOT_NEAR . which would you like ?",
        ),
    ],
)
def test_corrections_depend_on_the_act(
    preprocessor: Preprocessor, mender: Mender, act: str, text: str, better: str
) -> None:
    (found,) = mender.mended(_candidates(preprocessor, act, text))
    assert _text(found) == better


def test_the_only_match_is_called_the_only_one(preprocessor: Preprocessor, mender: Mender) -> None:
    """Without the correction, 38 of the 58 such test acts of laptop were said as of any laptop."""
    act = "inform_only_match(name=x;near=a)"
    for text, better in (
        ("SLOT_NAME is a route near SLOT_NEAR", "SLOT_NAME is the only route near SLOT_NEAR"),
        ("the only route near SLOT_NEAR is SLOT_NAME", ""),
        ("no other route than SLOT_NAME is near SLOT_NEAR", ""),
        ("SLOT_NAME has a hut near SLOT_NEAR", ""),
    ):
        (found,) = mender.mended(_candidates(preprocessor, act, text))
        assert _text(found) == (better or text)
    (found,) = mender.mended(_candidates(preprocessor, SEEN, "SLOT_NAME is a route"))
    assert _text(found) == "SLOT_NAME is a route"


def test_acts_that_mostly_ask_get_a_question(preprocessor: Preprocessor, mender: Mender) -> None:
    for text, better in (
        ("SLOT_REGION or anywhere .", "SLOT_REGION or anywhere . which would you like ?"),
        ("would you like SLOT_REGION or anywhere ?", ""),
    ):
        (found,) = mender.mended(_candidates(preprocessor, "?select(region=a;region=dontcare)", text))
        assert _text(found) == (better or text)


def test_a_correction_that_says_less_is_rejected(
    preprocessor: Preprocessor, mender: Mender, monkeypatch: pytest.MonkeyPatch
) -> None:
    def shorter(tokens: Tokens, *_: object, **__: object) -> Tokens:
        return tokens[:-1]

    monkeypatch.setattr("dactnlg.generation.unseen.mender.mended", shorter)
    right = "SLOT_NAME is near SLOT_NEAR , climbs to SLOT_HEIGHT and covers SLOT_LENGTH"
    (found,) = mender.mended(_candidates(preprocessor, UNSEEN, right))
    assert _text(found) == right
    (found,) = mender.mended(_candidates(preprocessor, UNSEEN, f"{right} now"))
    assert _text(found) == right


def test_n_best_lists_keep_their_length(preprocessor: Preprocessor, mender: Mender) -> None:
    listed = "SLOT_NAME has a length of SLOT_LENGTH, a height of SLOT_HEIGHT, and starts near SLOT_NEAR"
    both = [listed.replace("LENGTH,", "LENGTH and"), listed]
    candidates = _candidates(preprocessor, UNSEEN, *both)
    assert [each.tokens for each in mender.mended(candidates)] == [each.tokens for each in candidates]


@pytest.mark.parametrize(
    ("act", "text", "better"),
    [
        # What has been said is not repeated.
        (
            "inform(name=x;length=a;near=b;height=c;toilets=no)",
            "SLOT_NAME is a SLOT_LENGTH walk near SLOT_NEAR and has no toilets. it climbs to SLOT_HEIGHT. "
            "there are no toilets.",
            "SLOT_NAME is a SLOT_LENGTH walk near SLOT_NEAR and has no toilets. it climbs to SLOT_HEIGHT.",
        ),
        # A sentence that only names the kind of thing says nothing.
        (
            "inform(length=a;near=b;height=c;toilets=no)",
            "it is a route. it is SLOT_LENGTH long and near SLOT_NEAR. it climbs to SLOT_HEIGHT and has no toilets.",
            "it is SLOT_LENGTH long and near SLOT_NEAR. it climbs to SLOT_HEIGHT and has no toilets.",
        ),
        # The only sentence for a slot stays, whatever its words are.
        (
            "inform(name=x;length=a;near=b;height=c;toilets=no)",
            "SLOT_NAME is a SLOT_LENGTH walk near SLOT_NEAR. it climbs to SLOT_HEIGHT. well toilets no none.",
            "",
        ),
        (
            "inform(name=x;length=a;near=b;height=c;toilets=no;dogsallowed=no)",
            "SLOT_NAME is a SLOT_LENGTH walk near SLOT_NEAR and has no toilets. it climbs to SLOT_HEIGHT. "
            "it does not allow dogs.",
            "",
        ),
        # A sentence about one thing does not say anything about another.
        (
            "inform(name=x;name=y;near=b;toilets=no)",
            "SLOT_NAME is near SLOT_NEAR. there are no toilets. SLOT_NAME_2 is a route. there are no toilets.",
            "",
        ),
    ],
)
def test_redundant_sentences_are_left_out(
    preprocessor: Preprocessor, mender: Mender, act: str, text: str, better: str
) -> None:
    (found,) = mender.mended(_candidates(preprocessor, act, text))
    assert _text(found) == " ".join(tokenize(better or text)).replace("\uffed", "").replace("_2", "#2")


def test_a_redundant_question_that_must_stay_stays(
    preprocessor: Preprocessor, mender: Mender, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "how long should it be ? how long should it be in the north ?"
    (found,) = mender.mended(_candidates(preprocessor, "?request(length;season;view;toilets)", text))
    assert _text(found) == "how long should it be in the north ?"
    # Without the first question, a reader may find that something is lost.
    monkeypatch.setattr("dactnlg.generation.unseen.mender._as_good", lambda candidate, _: candidate)
    (found,) = mender.mended(_candidates(preprocessor, "?request(length;season;view;toilets)", text))
    assert _text(found) == text


PUBS = [
    ("inform(name=x;pricerange=a)", "SLOT_NAME is a SLOT_PRICERANGE pub."),
    ("inform(name=x;food=a)", "SLOT_NAME serves SLOT_FOOD food."),
    ("inform(pricerange=a)", "it is in the SLOT_PRICERANGE price range."),
]


@pytest.mark.parametrize(
    ("value", "text", "better"),
    [
        ("moderate", "SLOT_NAME is a SLOT_PRICERANGE pub.", "SLOT_NAME is a SLOT_PRICERANGE -ly priced pub ."),
        (
            "moderate",
            "it serves SLOT_PRICERANGE SLOT_FOOD food.",
            "it serves SLOT_PRICERANGE -ly priced SLOT_FOOD food .",
        ),
        ("moderate", "it is in the SLOT_PRICERANGE price range.", ""),
        ("moderate", "it is a SLOT_PRICERANGE and small pub.", ""),
        ("moderate", "it is SLOT_PRICERANGE.", ""),
        ("cheap", "SLOT_NAME is a SLOT_PRICERANGE pub.", ""),
    ],
)
def test_a_moderate_price_is_called_a_price(value: str, text: str, better: str) -> None:
    pubs = preprocessor_of(PUBS)
    slots = [f"{token[5:].lower()}=x" for token in tokenize(text) if token.startswith("SLOT_") and "PRICE" not in token]
    act = f"inform({';'.join([*slots, f'pricerange={value}'])};area=north)"
    (found,) = Mender(pubs, UnseenActs(pubs)).mended(_candidates(pubs, act, text))
    assert _text(found) == (better or " ".join(tokenize(text)).replace("\uffed", ""))
    if better:
        assert "moderately priced" in found.text


EXCEPTIONS = [
    ("canthelp(food=x)&canthelp.exception(name=y)", "sorry , there is no other SLOT_FOOD pub ."),
    ("canthelp(food=x)", "sorry , there is no SLOT_FOOD pub ."),
    ("offer(name=x)", "SLOT_NAME is a nice pub ."),
]


@pytest.mark.parametrize(
    ("act", "text", "better"),
    [
        ("canthelp.exception(name=mill)", "there is no other pub .", "there is no other pub than SLOT_NAME ."),
        (
            "canthelp.exception(name=mill)",
            "there is no other pub is that is near here .",
            "there is no other pub than SLOT_NAME that is near here .",
        ),
        (
            "canthelp.exception(name=mill)",
            "there is no other pub near here .",
            "there is no other pub than SLOT_NAME near here .",
        ),
        (
            "offer(name=ship)&canthelp.exception(name=mill)",
            "SLOT_NAME is nice . there is no other pub .",
            "SLOT_NAME is nice . there is no other pub than SLOT_NAME#2 .",
        ),
        (
            "canthelp.exception(name=mill)&canthelp.exception(name=ship)",
            "there is no other pub .",
            "there is no other pub than SLOT_NAME and SLOT_NAME#2 .",
        ),
        # Beside what there is not, the name is known from before, as in training.
        ("canthelp(food=thai)&canthelp.exception(name=mill)", "there is no other SLOT_FOOD pub .", ""),
        ("canthelp.exception(name=mill)", "there is nothing .", ""),
        ("canthelp.exception(name=mill)", "there is no other .", ""),
    ],
)
def test_an_exception_from_nothing_else_is_named(act: str, text: str, better: str) -> None:
    pubs = preprocessor_of(EXCEPTIONS, silent=("canthelp.exception.name",))
    candidates = [Candidate(pubs, pubs.request(parse(act)), tuple(text.split()), -1.0)]
    (found,) = Mender(pubs, UnseenActs(pubs)).mended(candidates)
    assert " ".join(found.tokens) == (better or text)
    assert found.report.ok
    assert ("mill" in found.text.casefold()) == bool(better)
