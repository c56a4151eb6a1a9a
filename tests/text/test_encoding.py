"""Encoding: acts as numbers; training alone decides which there are, and padding is empty."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dactnlg.acts import DialogueAct, Slot, Turn, parse
from dactnlg.text.encoding import ActEncoder, entries, features, value_words
from dactnlg.text.vocabulary import UNK_ID, Vocabulary

NAMES = st.sampled_from(["name", "food", "near", "customer rating", "kidsallowed"])
VALUES = st.sampled_from(["red kite", "thai", "dontcare", "yes", "true", "no", "none", "?", None])
ACTS = st.builds(
    DialogueAct,
    st.sampled_from(["inform", "recommend", "?request", "goodbye"]),
    st.lists(st.builds(Slot, NAMES, VALUES), max_size=5).map(tuple),
)
TURNS = st.lists(ACTS, min_size=1, max_size=3).map(lambda acts: Turn(tuple(acts)))


def build(*acts: str) -> ActEncoder:
    return ActEncoder.build((parse(act), None) for act in acts)


def names(encoder: ActEncoder, act: str, **options: object) -> set[str]:
    """The features whose entries are set in the DA vector of an act."""
    vector = encoder.vectors([parse(act)], **options)[0]  # type: ignore[arg-type]
    assert set(np.unique(vector)) <= {0.0, 1.0}
    return {encoder.features[column] for column in np.flatnonzero(vector)}


@pytest.mark.parametrize(
    ("act", "expected"),
    [
        ("goodbye()", {"act:goodbye"}),
        ("inform(food=thai)", {"act:inform", "inform|food", "slot:food"}),
        # Special values are written one way.
        ("?request(food)", {"act:?request", "?request|food=", "slot:food="}),
        ("inform(kids=no)", {"act:inform", "inform|kids=no", "slot:kids=no"}),
        ("inform(kids=False)", {"act:inform", "inform|kids=no", "slot:kids=no"}),
        ("inform(food=dont_care)", {"act:inform", "inform|food=dontcare", "slot:food=dontcare"}),
        # Each act counts its own; different tags of one slot are different things.
        ("?select(near=a;near=b)", {"act:?select", "?select|near", "?select|near#2", "slot:near"}),
        ("?select(k=yes;k=no)", {"act:?select", "?select|k=yes", "?select|k=no", "slot:k=yes", "slot:k=no"}),
        ("a(x=1)&b(x=2)", {"act:a", "act:b", "a|x", "b|x", "slot:x"}),
        ("a(x=1)&a(x=2)", {"act:a", "a|x", "a|x#2", "slot:x"}),
    ],
)
def test_the_features_of_an_act(act: str, expected: set[str]) -> None:
    assert features(parse(act)) == expected
    assert features(parse(act), "tv") == expected | {"corpus:tv"}


def test_entries_stand_in_the_order_written_after_their_act() -> None:
    turn = parse("offer(name=x)&inform(near=a;near=b;kids=no)")
    (name,), (first, second, kids) = (act.slots for act in turn)
    assert entries(turn) == [
        ("act:offer", "act:offer", None),
        ("offer|name", "slot:name", name),
        ("act:inform", "act:inform", None),
        ("inform|near", "slot:near", first),
        ("inform|near#2", "slot:near", second),
        ("inform|kids=no", "slot:kids=no", kids),
    ]


@given(TURNS, st.randoms(use_true_random=False))
def test_vectors_do_not_depend_on_the_order_or_on_ordinary_values(turn: Turn, chance: object) -> None:
    acts = []
    for act in turn:
        slots = [Slot(s.name, f"{s.value}x" if s.delexicalizable else s.value) for s in act.slots]
        chance.shuffle(slots)  # type: ignore[attr-defined]
        acts.append(DialogueAct(act.act_type, tuple(slots)))
    chance.shuffle(acts)  # type: ignore[attr-defined]
    encoder = ActEncoder.build([(turn, None)])
    one, other = encoder.vectors([turn, Turn(tuple(acts))])
    np.testing.assert_array_equal(one, other)
    assert one.all(), "the act that was learned has every feature that was learned"


@given(st.lists(st.tuples(TURNS, st.sampled_from(["tv", "laptop", None])), max_size=4), st.lists(TURNS, max_size=3))
def test_only_training_makes_features(seen: list[tuple[Turn, str | None]], turns: list[Turn]) -> None:
    encoder = ActEncoder.build(iter(seen))
    assert encoder.features == sorted(set().union(*(features(turn, corpus) for turn, corpus in seen)))
    vectors = encoder.vectors(turns)
    assert vectors.shape == (len(turns), len(encoder.features)) and vectors.dtype == np.float32
    for turn, vector in zip(turns, vectors, strict=True):
        assert {encoder.features[i] for i in np.flatnonzero(vector)} == features(turn) & set(encoder.features)


def test_an_unseen_combination_is_known_by_its_parts() -> None:
    encoder = build("inform(food=thai;name=x)", "recommend(name=x)", "?request(area)")
    assert names(encoder, "recommend(food=thai;name=x)") == {
        "act:recommend",
        "recommend|name",
        "slot:food",
        "slot:name",
    }
    # An entry without a known part leaves no trace and is not taken for another.
    assert names(encoder, "never(altitude=7)") == set()
    assert names(encoder, "recommend(area=north)") == {"act:recommend"}
    assert names(encoder, "inform(name=x;name=y)") == {"act:inform", "inform|name", "slot:name"}


def test_known_names_are_those_of_training() -> None:
    encoder = build("inform(customer rating=5;kids=no)", "?request(area)&goodbye()")
    assert encoder.act_types == {"inform", "?request", "goodbye"}
    assert encoder.slot_names == {"customer rating", "kids", "area"}


def test_the_corpus_is_one_more_feature() -> None:
    seen = [(parse("inform(name=x)"), "tv"), (parse("inform(name=x)"), "laptop")]
    encoder = ActEncoder.build(seen, "tv")
    base = {"act:inform", "inform|name", "slot:name"}
    assert names(encoder, "inform(name=x)") == base | {"corpus:tv"}
    assert names(encoder, "inform(name=x)", corpora=["laptop"]) == base | {"corpus:laptop"}
    assert names(encoder, "inform(name=x)", corpora=[None]) == base
    assert encoder.act_types == {"inform"} and encoder.slot_names == {"name"}


def test_value_words_are_folded_and_special_values_are_one_word() -> None:
    assert value_words(Slot("name", "Red Kite's (Café)")) == ["red", "kite's", "(", "café", ")"]
    assert value_words(Slot("kids", "TRUE")) == ["yes"]
    assert value_words(Slot("kids")) == []


@given(st.lists(TURNS, min_size=1, max_size=3), st.lists(TURNS, max_size=4))
def test_sequences_hold_entries_and_words_and_zeros(seen: list[Turn], turns: list[Turn]) -> None:
    encoder = ActEncoder.build((turn, None) for turn in seen)
    numbers, words = encoder.sequences(turns)
    count, length, width = words.shape
    assert numbers.shape == (count, length, 2) and count == len(turns)
    assert length % 4 == width % 4 == 0 < length * width
    assert numbers.dtype == words.dtype == np.int32

    def name(number: int) -> str | None:
        return encoder.features[number - 1] if number else None

    for turn, pairs, ids in zip(turns, numbers, words, strict=True):
        # An entry that training has in neither form takes no place.
        known = [e for e in entries(turn) if set(e[:2]) & set(encoder.features)]
        assert not pairs[len(known) :].any() and not ids[len(known) :].any()
        for (fused, alone, slot), pair, row in zip(known, pairs, ids, strict=False):
            assert name(pair[0]) == (fused if fused in encoder.features else None)
            assert name(pair[1]) == (alone if alone in encoder.features else None)
            words_of_value = value_words(slot) if slot else []
            assert [encoder.words.tokens[i] for i in row[: len(words_of_value)]] == [
                word if word in encoder.words else "<unk>" for word in words_of_value
            ]
            assert not row[len(words_of_value) :].any()


def test_sequences_of_one_turn_do_not_depend_on_the_others() -> None:
    encoder = build("inform(name='red kite';food=thai;near=x)")
    short = parse("inform(name=kite)")
    alone = encoder.sequences([short])
    beside = encoder.sequences([short, parse("inform(name='a b c d e f g h i';food=thai;near=x;near=y;near=z)")])
    assert [array.shape for array in alone] == [(1, 4, 2), (1, 4, 4)]
    assert [array.shape for array in beside] == [(2, 8, 2), (2, 8, 12)]
    np.testing.assert_array_equal(beside[0][:1, :4], alone[0])
    np.testing.assert_array_equal(beside[1][:1, :4, :4], alone[1])
    assert not beside[0][0, 4:].any() and not beside[1][0, 4:].any() and not beside[1][0, :, 4:].any()


def test_words_never_seen_are_unknown_not_padding() -> None:
    encoder = build("inform(name='red kite')")
    _, words = encoder.sequences([parse("inform(name='red door')")])
    assert words[0, 1].tolist() == [encoder.words.id("red"), UNK_ID, 0, 0]


def test_words_and_features_are_numbered_alike_whatever_the_order_of_training() -> None:
    acts = ["inform(name='b a')", "inform(name='b c')", "recommend(near=x)"]
    one, other = build(*acts), build(*acts[::-1])
    assert one.features == other.features
    assert one.words.tokens == other.words.tokens == Vocabulary(["b", "a", "c", "x"]).tokens


def test_an_act_that_repeats_counts_its_words_once() -> None:
    # The commonest words come first: a corpus that repeats a pair must not reorder them.
    assert build("inform(name=b)", "inform(name=b)", "inform(name=a)").words.tokens[4:] == ["a", "b"]
