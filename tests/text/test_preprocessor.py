"""The preprocessor: everything that training learns but the weights; saved and loaded, it is the same."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from helpers import sentence_of
from hypothesis import given
from hypothesis import strategies as st

from dactnlg.acts import DialogueAct, Slot, Turn, parse
from dactnlg.data.card import load_card
from dactnlg.data.corpus import Corpus
from dactnlg.data.pairs import TrainingData
from dactnlg.errors import RunError
from dactnlg.text.example import Pair
from dactnlg.text.placeholders import is_placeholder
from dactnlg.text.preprocessor import Preprocessor
from dactnlg.text.style import Style
from dactnlg.text.surface import JOINER, strip_joiner
from dactnlg.text.values.casing import Casing

STYLE = Style(True, False, {}, {}, ())
TRAINING = [
    ("inform(name=a;food=b)", f"SLOT_NAME serves {JOINER}SLOT_FOOD ."),
    ("inform(name=a;food=b;food=c)", "SLOT_NAME serves SLOT_FOOD and SLOT_FOOD#2 ."),
    ("goodbye()", "bye bye ."),
]


def build(
    style: Style = STYLE, casing: Casing | None = None, training: list[tuple[str, str]] = TRAINING
) -> Preprocessor:
    pairs = [Pair(parse(act), None, tuple(sentence.split())) for act, sentence in training]
    return Preprocessor.build(pairs, None, casing or Casing(), style)


# One corpus of each format: Cambridge notation in rows, DSTC2's JSON, brackets, and pairs.
@pytest.fixture(scope="module", params=["restaurants", "dstc2", "viggo", "trails"])
def learned(
    request: pytest.FixtureRequest, corpora: Callable[[str], Corpus], training_data: Callable[[str], TrainingData]
) -> tuple[Corpus, Preprocessor, list[Pair]]:
    return corpora(request.param), *training_data(request.param)


def test_a_saved_preprocessor_is_the_same(learned: tuple[Corpus, Preprocessor, list[Pair]], tmp_path: Path) -> None:
    corpus, preprocessor, pairs = learned
    preprocessor.save(tmp_path / "preprocessor.json")
    again = Preprocessor.load(tmp_path / "preprocessor.json")
    again.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "preprocessor.json").read_bytes()
    assert again.vocabulary.tokens == preprocessor.vocabulary.tokens
    assert again.placeholders == preprocessor.placeholders
    np.testing.assert_array_equal(again.kinds, preprocessor.kinds)
    assert again.style == preprocessor.style

    written = list(dict.fromkeys(example.turn for example in corpus.split("test")))
    turns = [preprocessor.delexicalizer.prepared(turn) for turn in written]
    assert [again.delexicalizer.prepared(turn) for turn in written] == turns
    np.testing.assert_array_equal(again.required_counts(turns), preprocessor.required_counts(turns))
    np.testing.assert_array_equal(again.encoder.vectors(turns), preprocessor.encoder.vectors(turns))
    for one, other in zip(again.encoder.sequences(turns), preprocessor.encoder.sequences(turns), strict=True):
        np.testing.assert_array_equal(one, other)

    sentences = [pair.tokens for pair in pairs]
    chance = random.Random(1)
    for turn in chance.sample(turns, 150):
        tokens = chance.choice(sentences)
        raw = sentence_of(preprocessor, turn, tokens).raw
        assert sentence_of(again, turn, tokens).raw == raw
        assert sentence_of(again, turn, tokens).text == sentence_of(preprocessor, turn, tokens).text
        assert again.checker.check(turn, raw) == preprocessor.checker.check(turn, raw)
        assert list(again.templates.same(turn).items()) == list(preprocessor.templates.same(turn).items())
        required = preprocessor.delexicalizer.required(turn)
        assert again.templates.cover(turn, required) == preprocessor.templates.cover(turn, required)


def test_no_placeholder_of_training_is_ever_shown(learned: tuple[Corpus, Preprocessor, list[Pair]]) -> None:
    corpus, preprocessor, pairs = learned
    turns = list(dict.fromkeys(example.turn for example in corpus.split("test")))
    sentences = sorted({pair.tokens for pair in pairs})
    chance = random.Random(2)
    for _ in range(300):
        turn, tokens = preprocessor.delexicalizer.prepared(chance.choice(turns)), chance.choice(sentences)
        for shown in (sentence_of(preprocessor, turn, tokens).raw, sentence_of(preprocessor, turn, tokens).text):
            assert shown and not re.search(f"SLOT_|#\\d|{JOINER}", shown), (turn, tokens)


def test_training_sentences_come_back(learned: tuple[Corpus, Preprocessor, list[Pair]]) -> None:
    # A turn's own sentence, delexicalised and filled again, says the turn's values as the slot checker finds them.
    _, preprocessor, pairs = learned
    chance = random.Random(3)
    wrong = 0
    for pair in chance.sample(pairs, 300):
        found = preprocessor.checker.check(pair.turn, sentence_of(preprocessor, pair.turn, pair.tokens).raw).values
        held = preprocessor.checker.tally(pair.turn, pair.tokens)
        # Cues may find a value for which no placeholder stands: "you hated it" for rating=poor.
        wrong += not set(found.missing) <= set(held.missing) or found.extra != held.extra
    # Where a value is also a word of the sentence ("cheap", "pub"), the checker finds it once more.
    assert wrong <= 6


def test_placeholders_come_first_in_one_stretch() -> None:
    preprocessor = build()
    tokens = preprocessor.vocabulary.tokens
    assert tokens[4:8] == ["SLOT_FOOD", "SLOT_FOOD#2", "SLOT_NAME", f"{JOINER}SLOT_FOOD"]
    assert not any(is_placeholder(token) for token in [*tokens[:4], *tokens[8:]])
    assert preprocessor.placeholders == ["SLOT_FOOD", "SLOT_FOOD#2", "SLOT_NAME"]
    # With and without a joiner it is the same placeholder.
    assert preprocessor.kinds[:9].tolist() == [-1, -1, -1, -1, 0, 1, 2, 0, -1]
    assert len(preprocessor.kinds) == len(tokens)


def test_required_counts_are_those_of_placeholders_that_training_said() -> None:
    preprocessor = build()
    turns = [parse(act) for act in ("inform(food=x;near=y)", "inform(food=x;food=y;food=z;name=dontcare)", "goodbye()")]
    assert preprocessor.required_counts(turns).tolist() == [[1, 0, 0], [1, 1, 0], [0, 0, 0]]
    assert preprocessor.required_counts([]).shape == (0, 3)


def test_features_and_templates_are_those_of_the_right_corpora(tmp_path: Path) -> None:
    rows = [("inform(name=a)", "tv", "the SLOT_NAME tv"), ("inform(size=a)", "laptop", "SLOT_SIZE inches")]
    pairs = [Pair(parse(act), corpus, tuple(sentence.split())) for act, corpus, sentence in rows]
    preprocessor = Preprocessor.build(pairs, "tv", Casing(), STYLE)
    # Words and entries come from all corpora, sentences only from the one that is imitated.
    assert {"corpus:tv", "corpus:laptop", "slot:size"} <= set(preprocessor.encoder.features)
    assert "inches" in preprocessor.vocabulary and preprocessor.encoder.corpus == "tv"
    assert list(preprocessor.templates.sentences.values()) == [{("the", "SLOT_NAME", "tv"): 1.0}]
    preprocessor.save(tmp_path / "preprocessor.json")
    again = Preprocessor.load(tmp_path / "preprocessor.json")
    turn = parse("inform(name=x;size=y)")
    np.testing.assert_array_equal(again.encoder.vectors([turn]), preprocessor.encoder.vectors([turn]))
    assert again.encoder.corpus == "tv"


def test_words_below_the_smallest_count_are_unknown_and_placeholders_never() -> None:
    rows = [("inform(name=a)", "the SLOT_NAME tv"), ("inform(size=a)", "the SLOT_SIZE one"), ("bye()", "the end")]
    pairs = [Pair(parse(act), None, tuple(sentence.split())) for act, sentence in rows]
    preprocessor = Preprocessor.build(pairs, None, Casing(), STYLE, min_count=2)
    assert preprocessor.vocabulary.tokens[4:] == ["SLOT_NAME", "SLOT_SIZE", "the"]
    assert preprocessor.vocabulary.encode(["the", "tv", "SLOT_SIZE"]) == [6, 3, 5]
    assert len(Preprocessor.build(pairs, None, Casing(), STYLE).vocabulary) == 4 + 6
    # Templates still have the words that the model does not.
    assert ("the", "SLOT_NAME", "tv") in preprocessor.templates.same(parse("inform(name=x)"))


@pytest.mark.parametrize(
    ("act", "tokens", "raw", "text"),
    [
        ("inform(name='x y')", "SLOT_NAME is nice .", "x y is nice .", "X y is nice."),
        # A slot that the act does not have says its name; a special value says itself, "any" to a reader.
        ("inform(name=x)", "SLOT_NAME has SLOT_HAS_WIFI food", "x has has wifi food", "X has has wifi food."),
        ("inform(food=dontcare)", "i want SLOT_FOOD food", "i want dontcare food", "I want any food."),
        ("inform(food=dont_care)", "i want SLOT_FOOD food", "i want dont care food", "I want any food."),
        ("inform(kids=no)", "SLOT_KIDS children", "no children", "No children."),
        ("?request(food)", "SLOT_FOOD ?", "food ?", "Food?"),
        # The second of a slot that has one value says it again, attached as the placeholder was.
        ("inform(near=x)", f"near SLOT_NEAR / {JOINER}SLOT_NEAR#2", "near x /x", "Near x /x."),
        ("inform(near=yes)", "SLOT_NEAR#2 SLOT_NEAR", "yes yes", "Yes yes."),
    ],
)
def test_what_stands_in_the_place_of_a_placeholder(act: str, tokens: str, raw: str, text: str) -> None:
    preprocessor = build()
    assert sentence_of(preprocessor, parse(act), tokens.split()).raw == raw
    assert sentence_of(preprocessor, parse(act), tokens.split()).text == text


def test_a_cased_corpus_gets_its_forms_back_and_an_uncased_one_its_raw_ones() -> None:
    casing = Casing({"bbc": "BBC"}, {"serves": "Serves"}, {"name": {"x": "XX y"}})
    tokens = ["serves", "bbc", "SLOT_NAME", "."]
    turn = parse("inform(name=x)")
    assert sentence_of(build(STYLE, casing), turn, tokens).raw == "Serves BBC XX y ."
    assert sentence_of(build(Style(False, True, {}, {}, ()), casing), turn, tokens).raw == "serves bbc XX y ."


def test_names_are_titles_to_a_reader_only() -> None:
    preprocessor = build(Style(False, True, {}, {}, (), proper=("name",)))
    turn, tokens = parse("inform(name='inn at the presidio';food='basque food')"), ["SLOT_NAME", "serves", "SLOT_FOOD"]
    assert sentence_of(preprocessor, turn, tokens).raw == "inn at the presidio serves basque food"
    assert sentence_of(preprocessor, turn, tokens).text == "Inn at the Presidio serves Basque food."


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("Hotel de Paris", "Hotel de Paris"),
        ("hotel de paris", "Hotel De Paris"),
        # The spelling of training is not for readers: "pizza express Fen Ditton".
        ("pizza express fen ditton", "Pizza Express Fen Ditton"),
        ("Pizza Express Fen Ditton", "Pizza Express Fen Ditton"),
    ],
)
def test_names_that_are_given_with_capitals_keep_their_small_letters(given: str, shown: str) -> None:
    casing = Casing({}, {}, {"name": {"pizza express fen ditton": "pizza express Fen Ditton"}})
    preprocessor = build(Style(False, True, {}, {}, (), proper=("name",)), casing)
    turn = Turn((DialogueAct("inform", (Slot("name", given),)),))
    assert sentence_of(preprocessor, turn, ["SLOT_NAME"]).text == f"{shown}."


def test_a_number_that_is_a_name_counts_nothing() -> None:
    training = [*TRAINING, ("inform(name=a)", "SLOT_NAME accepts cards ."), ("goodbye()", "they accept cards .")]
    style = Style(False, True, {}, {}, (), proper=("name",))
    preprocessor, tokens = build(style, training=training), ["SLOT_NAME", "accepts", "cards"]
    assert sentence_of(preprocessor, parse("inform(name=1)"), tokens).text == "1 accepts cards."


def test_acts_that_ask_end_with_a_question_mark_where_the_corpus_says_so() -> None:
    tokens = ["any", "area"]
    spaced, plain = build(Style(False, True, {}, {}, ())), build()
    assert sentence_of(spaced, parse("?request(area)"), tokens).text == "Any area?"
    assert sentence_of(spaced, parse("inform(area=x)"), tokens).text == "Any area."
    assert sentence_of(plain, parse("?request(area)"), tokens).text == "Any area."


@pytest.mark.parametrize(
    ("language", "spaced", "text"),
    [
        ("fr", False, "Il fait 19,5 degrés ! Alors, quelle pièce ?"),
        ("en", False, "Il fait 19,5 degrés! Alors, quelle pièce?"),
        ("cs", True, "Il fait 19,5 degrés! Alors, quelle pièce?"),
    ],
)
def test_spaces_before_marks_stay_where_the_language_has_them(language: str, spaced: bool, text: str) -> None:
    preprocessor = build(Style(True, spaced, {}, {}, (), language=language))
    tokens = f"il fait SLOT_TEMP degrés ! alors {JOINER}, quelle pièce ?".split()
    assert sentence_of(preprocessor, parse("inform(temp='19,5')"), tokens).text == text


def test_a_style_takes_from_its_card_what_generation_needs() -> None:
    assert load_card("laptop").style().listed == ("design",)
    card = load_card("restaurants")
    style = card.style()
    assert (style.cased, style.spaced, style.silent) == (card.cased, card.spaced, tuple(card.silent))
    for name, slot in card.slots.items():
        assert (name in style.proper, name in style.apart) == (slot.proper, slot.apart)
        assert style.cues.get(name, {}) == slot.cues and style.aliases.get(name, {}) == slot.aliases
    assert style.apart and style.cues
    assert style.checker().delexicalizer.apart == frozenset(style.apart) == style.delexicalizer().apart


NAMES = st.sampled_from(["name", "food", "near", "has wifi", "customer_rating", "é"])
VALUES = st.sampled_from(["a", "b c", "dontcare", "yes", None, "SLOT", "x_y"])
ACTS = st.builds(
    DialogueAct,
    st.sampled_from(["inform", "?request", "goodbye"]),
    st.lists(st.builds(Slot, NAMES, VALUES), max_size=4).map(tuple),
)
PLACEHOLDERS = st.sampled_from(["SLOT_NAME", "SLOT_FOOD#2", "SLOT_HAS_WIFI", "SLOT_CUSTOMER_RATING#3", "SLOT_É"])
TOKENS = st.lists(
    st.tuples(st.sampled_from(["", JOINER]), PLACEHOLDERS | st.just("it"), st.sampled_from(["", JOINER])).map("".join),
    min_size=1,
    max_size=5,
)


@given(st.lists(ACTS, min_size=1, max_size=2), TOKENS)
def test_whatever_the_model_says_no_placeholder_is_shown(acts: list[DialogueAct], tokens: list[str]) -> None:
    preprocessor, turn = build(), Turn(tuple(acts))
    raw = sentence_of(preprocessor, turn, tokens).raw
    assert not re.search(f"SLOT_|#|{JOINER}", raw + sentence_of(preprocessor, turn, tokens).text)
    # What the turn requires is said with its value.
    generated = {strip_joiner(token) for token in tokens}
    for item in preprocessor.delexicalizer.required(turn):
        assert item.placeholder not in generated or (item.slot.value or "") in raw


@pytest.mark.parametrize("damage", ["{", "[]", '{"style": {}}', '{"style": 3}'])
def test_a_file_that_is_no_preprocessor_is_refused_in_one_line(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "preprocessor.json"
    path.write_text(damage, encoding="utf-8")
    with pytest.raises(RunError, match=r"cannot read .*preprocessor\.json") as caught:
        Preprocessor.load(path)
    assert "\n" not in str(caught.value)
    with pytest.raises(RunError, match="cannot read"):
        Preprocessor.load(tmp_path / "none.json")
