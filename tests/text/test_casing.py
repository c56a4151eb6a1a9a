"""Casing: words and values are written as in training; unseen values follow the style of their slot."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dactnlg.acts import parse
from dactnlg.data.corpus import Corpus
from dactnlg.text.placeholders import is_placeholder
from dactnlg.text.values.casing import STYLES, Casing, respaced, sentence_starts
from dactnlg.text.values.delexicalization import Delexicalizer


def learn(*pairs: tuple[str, str]) -> Casing:
    """Learn from (act, sentence) pairs."""
    delexicalizer = Delexicalizer()
    turns = [(parse(act), sentence) for act, sentence in pairs]
    return Casing.learn((delexicalizer.required(turn), delexicalizer.delexicalize(turn, s)) for turn, s in turns)


def test_the_form_used_most_wins_and_the_start_has_its_own() -> None:
    casing = learn(
        ("hello()", "The BBC and the dog. The cat ? The iPhone !"),
        ("hello()", "That bbc, an iPhone and the BBC"),
    )
    lower = ["the", "bbc", "and", "the", "dog", ".", "the", "iphone", "?", "that", "cat", "!", "the"]
    assert casing.restore(lower) == [
        "The",
        "BBC",
        "and",
        "the",
        "dog",
        ".",
        "The",
        "iPhone",
        "?",
        "That",
        "cat",
        "!",
        "The",
    ]


def test_a_word_never_seen_at_a_start_is_written_as_inside() -> None:
    casing = learn(("hello()", "Hello NASA . Bye"))
    assert casing.restore(["nasa", "hello", "bye", "never"]) == ["NASA", "hello", "bye", "never"]
    assert casing.restore(["hello", ".", "bye"]) == ["Hello", ".", "Bye"]


def test_a_word_with_capitals_inside_may_be_lower_at_a_start() -> None:
    casing = learn(("hello()", "may it be"), ("hello()", "in May it rains"))
    assert casing.restore(["may", "it", "rain", "in", "may"]) == ["may", "it", "rain", "in", "May"]


def test_ties_are_settled_by_the_form_itself() -> None:
    # Not by the order of the sentences, so that a shuffled corpus gives the same casing.
    assert learn(("x()", "a Word"), ("x()", "a WORD")).restore(["a", "word"]) == ["a", "WORD"]
    assert learn(("x()", "a WORD"), ("x()", "a Word")).restore(["a", "word"]) == ["a", "WORD"]


def test_sentences_start_after_marks_and_placeholders_are_left_alone() -> None:
    assert sentence_starts(["a", "\uffed.", "b", ",", "c", "?", "!", "d"]) == [1, 0, 1, 0, 0, 0, 1, 1]
    assert sentence_starts([]) == []
    casing = Casing({"slot_name": "X", "SLOT_NAME": "X"}, {"SLOT_NAME": "Y"})
    assert casing.restore(["SLOT_NAME", "\uffedSLOT_NAME"]) == ["SLOT_NAME", "\uffedSLOT_NAME"]


def test_values_are_written_as_their_sentences_write_them() -> None:
    casing = learn(
        ("inform(name='red kite';food=thai)", "Red Kite has Thai food"),
        ("inform(name='mcDOUGAL';food=thai)", "McDougal has Thai food"),
        ("inform(name='mcdougal';food=thai)", "McDougal has thai food"),
        ("inform(name='ReD dOOr';food=thai)", "rED DooR has Thai food"),
    )
    assert casing.value("food", "thai") == casing.value("food", "THAI") == "Thai"
    assert casing.value("name", "mcdougal") == casing.value("name", "McDougal") == "McDougal"
    # However acts write a value, its commonest form in sentences wins.
    assert casing.value("name", "mcDOUGAL") == "McDougal"
    assert casing.value("name", "ReD dOOr") == "rED DooR"
    assert casing.inside == {}, "what stood in the place of a value is no word of the sentence"
    # Nothing was learned about the other slot; another name follows the style of names.
    assert casing.value("near", "red kite") == "red kite"
    assert casing.value("name", "blue door") == "Blue Door"


@pytest.mark.parametrize(
    ("values", "said", "style"),
    [
        (["a b", "c"], ["A B", "C d"], "title"),
        (["x1", "ab"], ["X1", "AB"], "upper"),
        (["Ab", "cd"], ["ab", "cd"], "lower"),
        (["Ab", "cd"], ["Ab", "cd"], "as given"),
        # If every style explains the values, they stay as given.
        (["7", "12"], ["7", "12"], "as given"),
        # Sentences are counted, not values.
        (["ab", "cd", "cd"], ["Ab", "CD", "CD"], "upper"),
    ],
)
def test_values_never_seen_follow_the_style_of_their_slot(values: list[str], said: list[str], style: str) -> None:
    casing = learn(*((f"inform(s='{value}')", f"it is {form}") for value, form in zip(values, said, strict=True)))
    assert casing.styles.get("s", "as given") == style
    assert casing.value("s", "neW vaLue") == STYLES[style]("neW vaLue")


def test_one_value_in_two_spellings_takes_the_commonest_form_of_both() -> None:
    rare, usual = ("inform(food=Thai)", "thai food"), ("inform(food=thai)", "Thai food")
    for pairs in ([rare, usual, usual], [usual, usual, rare]):
        assert learn(*pairs).value("food", "thai") == learn(*pairs).value("food", "Thai") == "Thai"


def test_values_said_in_other_words_do_not_make_a_style() -> None:
    casing = learn(("inform(area='soma or noma')", "in Noma or Soma"), ("inform(area=bay)", "in bay"))
    assert casing.value("area", "soma or noma") == "Noma or Soma"
    assert casing.value("area", "mission") == "mission"


WORDS = st.sampled_from(["dog", "Dog", "DOG", "cat", "Cat", ".", "?", "BBC", "bbc", "ab,", "Ab"])


@given(st.lists(st.lists(WORDS, max_size=6).map(" ".join), max_size=6))
def test_restoring_changes_case_only_and_picks_a_commonest_form(sentences: list[str]) -> None:
    casing = learn(*(("hello()", sentence) for sentence in sentences))
    turn = parse("hello()")
    seen: dict[tuple[str, bool], Counter[str]] = {}
    found = [Delexicalizer().delexicalize(turn, sentence).tokens for sentence in sentences]
    for tokens in found:
        for token, start in zip(tokens, sentence_starts(tokens), strict=True):
            seen.setdefault((token.lower(), start), Counter())[token] += 1
    for tokens in found:
        lower = [token.lower() for token in tokens]
        restored = casing.restore(lower)
        assert [token.lower() for token in restored] == lower
        for token, start in zip(restored, sentence_starts(tokens), strict=True):
            forms = seen[token.lower(), start]
            assert forms[token] == max(forms.values())


@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from(["x y", "X y", "Xy", "Z"])), max_size=6))
def test_what_was_learned_survives_json(pairs: list[tuple[str, str]]) -> None:
    casing = learn(*((f"inform({slot}='{value.lower()}')", f"It is {value} . yes") for slot, value in pairs))
    again = Casing(**json.loads(json.dumps(casing.to_json())))
    assert again.to_json() == casing.to_json()
    for slot, value in pairs:
        assert again.value(slot, value) == casing.value(slot, value)
    assert again.restore(["it", "is", "yes"]) == casing.restore(["it", "is", "yes"])


@pytest.mark.parametrize(("name", "least"), [("trails", 0.99), ("dstc2", 0.98), ("viggo", 0.9)])
def test_most_words_of_real_sentences_get_their_case_back(
    name: str, least: float, corpora: Callable[[str], Corpus]
) -> None:
    corpus = corpora(name)
    delexicalizer = corpus.card.style().delexicalizer()
    train, valid = (
        [
            (delexicalizer.required(turn), delexicalizer.delexicalize(turn, sentence))
            for turn, sentence in dict.fromkeys(corpus.pairs(split))
        ]
        for split in ("train", "valid")
    )
    casing = Casing.learn(train)
    right = total = plain = 0
    for _, sentence in valid:
        lower = [token if is_placeholder(token) else token.lower() for token in sentence.tokens]
        restored = casing.restore(lower)
        words = [i for i, token in enumerate(sentence.tokens) if not is_placeholder(token)]
        right += sum(restored[i] == sentence.tokens[i] for i in words)
        plain += sum(lower[i] == sentence.tokens[i] for i in words)
        total += len(words)
    assert total > 1000
    assert right >= least * total
    assert total - right < (total - plain) / 4, "it must mend most of what lower-casing broke"


def test_an_empty_corpus_teaches_nothing() -> None:
    casing = Casing.learn([])
    assert casing.to_json() == {"inside": {}, "start": {}, "values": {}, "styles": {}}
    assert casing.value("a", "b  C") == "b  C"


def test_a_value_keeps_its_own_spaces_for_readers() -> None:
    assert respaced("St . John 's", "st. john's") == "St. John's"
    assert respaced("red  Kite", "Red kite ") == "red Kite "
    # Other words are not respaced.
    assert respaced("12 main st", "12 main street") == "12 main st"
    assert respaced("Strasse", "straße") == "Strasse"
