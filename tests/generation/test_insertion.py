"""Insertion: unknown placeholders go where the model scores the sentence best, found by trying every place."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
import pytest
from helpers import preprocessor_of
from keras import ops

from dactnlg.acts import Turn, parse
from dactnlg.generation.decoders.decoder import Plan
from dactnlg.generation.decoders.keras_decoder import KerasDecoder
from dactnlg.generation.insertion import insert_missing
from dactnlg.models import build_model
from dactnlg.text.placeholders import Required, is_placeholder
from dactnlg.text.preprocessor import Preprocessor
from dactnlg.text.surface import JOINER
from dactnlg.text.vocabulary import BOS_ID, EOS_ID, UNK_ID

TRAINING = [
    ("inform(name=a;food=b;near=c)", "SLOT_NAME serves SLOT_FOOD food near SLOT_NEAR ."),
    ("inform(near=a;near=b)", f"near SLOT_NEAR or SLOT_NEAR#2 {JOINER}?"),
    ("inform(food=a)", f"what {JOINER}SLOT_FOOD -{JOINER} ({JOINER} is good"),
]


class Toy:
    """A model whose next word depends on the last word and the place: a random table."""

    inputs = ("act",)
    traced = False

    def __init__(self, seed: int, size: int) -> None:
        self.table = np.random.default_rng(seed).normal(size=(40, size, size)).astype(np.float32) * 3
        self.prepared: list[dict[str, Any]] = []

    def prepare(self, inputs: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        self.prepared.append(inputs)
        return {}, {"place": ops.zeros((ops.shape(inputs["act"])[0], 1), "int32")}

    def step(self, context: dict[str, Any], state: dict[str, Any], tokens: Any) -> tuple[Any, dict[str, Any]]:
        size = self.table.shape[1]
        index = state["place"][:, 0] * size + tokens
        return ops.take(ops.reshape(self.table, (-1, size)), index, axis=0), {"place": state["place"] + 1}

    def score(self, words: list[int]) -> float:
        """The log probability of a whole sentence, computed independently of the package."""
        path = [BOS_ID, *words, EOS_ID]
        total = 0.0
        for place, (last, word) in enumerate(zip(path, path[1:], strict=False)):
            row = self.table[place, last].astype(np.float64)
            total += row[word] - np.log(np.exp(row).sum())
        return total


@pytest.fixture(scope="module")
def preprocessor() -> Preprocessor:
    return preprocessor_of(TRAINING)


def toy(preprocessor: Preprocessor, seed: int) -> tuple[Toy, KerasDecoder]:
    model = Toy(seed, len(preprocessor.vocabulary))
    return model, KerasDecoder(model, preprocessor)  # type: ignore[arg-type]


def unknown(decoder: KerasDecoder, turn: Turn) -> list[Required]:
    return [
        item
        for item in decoder.preprocessor.delexicalizer.required(turn)
        if item.placeholder not in decoder.preprocessor.placeholders
    ]


def exhaustive(
    model: Toy, preprocessor: Preprocessor, words: list[str], stand_ins: list[int]
) -> dict[int, tuple[float, int]]:
    """For every gap the best score over the stand-ins, and the stand-in that gave it."""
    ids = preprocessor.vocabulary.encode(words)
    return {
        gap: max((model.score([*ids[:gap], choice, *ids[gap:]]), choice) for choice in stand_ins)
        for gap in range(len(ids) + 1)
    }


def plain_placeholders(preprocessor: Preprocessor) -> list[int]:
    names = ["SLOT_FOOD", "SLOT_NAME", "SLOT_NEAR"]
    assert set(preprocessor.placeholders) == {*names, "SLOT_NEAR#2"}
    return [preprocessor.vocabulary.id(name) for name in names]


@pytest.mark.parametrize("seed", range(12))
def test_every_place_is_scored_and_the_best_comes_first(preprocessor: Preprocessor, seed: int) -> None:
    model, decoder = toy(preprocessor, seed)
    turn = parse("inform(name=x;altitude='7 m')")
    tokens = ("SLOT_NAME", "is", "good", ".")
    stand_ins = [
        index for index in plain_placeholders(preprocessor) if index != preprocessor.vocabulary.id("SLOT_NAME")
    ]
    found = insert_missing(decoder, turn, tokens, unknown(decoder, turn))
    expected = exhaustive(model, preprocessor, list(tokens), stand_ins)
    order = sorted(expected, key=lambda gap: -expected[gap][0])
    assert [words for words, _ in found] == [(*tokens[:gap], "SLOT_ALTITUDE", *tokens[gap:]) for gap in order]
    np.testing.assert_allclose([score for _, score in found], [expected[gap][0] for gap in order], rtol=1e-4)


@pytest.mark.parametrize("seed", range(12))
def test_a_second_unknown_value_is_inserted_around_the_first_in_its_best_place(
    preprocessor: Preprocessor, seed: int
) -> None:
    model, decoder = toy(preprocessor, seed)
    turn = parse("inform(altitude='7 m';depth=deep)")
    stand_ins = plain_placeholders(preprocessor)
    words = ["what", "is", "near"]
    first = exhaustive(model, preprocessor, words, stand_ins)
    gap = max(first, key=lambda g: first[g][0])
    # The first one keeps its best stand-in, which is then no longer free.
    choice = first[gap][1]
    read = [*words[:gap], preprocessor.vocabulary.tokens[choice], *words[gap:]]
    shown = [*words[:gap], "SLOT_ALTITUDE", *words[gap:]]
    second = exhaustive(model, preprocessor, read, [index for index in stand_ins if index != choice])
    found = insert_missing(decoder, turn, tuple(words), unknown(decoder, turn))
    order = sorted(second, key=lambda g: -second[g][0])
    assert [row for row, _ in found] == [(*shown[:g], "SLOT_DEPTH", *shown[g:]) for g in order]
    np.testing.assert_allclose([score for _, score in found], [second[g][0] for g in order], rtol=1e-4)


def test_a_second_value_of_a_known_slot_is_inserted_too(preprocessor: Preprocessor) -> None:
    _, decoder = toy(preprocessor, 1)
    turn = parse("inform(food=x;food=y)")
    assert [item.placeholder for item in unknown(decoder, turn)] == ["SLOT_FOOD#2"]
    for words, _ in insert_missing(decoder, turn, ("SLOT_FOOD", "food"), unknown(decoder, turn)):
        assert sorted(filter(is_placeholder, words)) == ["SLOT_FOOD", "SLOT_FOOD#2"]


@pytest.mark.parametrize(
    ("sentence", "gaps"),
    [
        ("what is good", [0, 1, 2, 3]),
        (f"what {JOINER}?", [0, 2]),
        (f"({JOINER} good", [0, 2]),
        (f"what -{JOINER} {JOINER}SLOT_FOOD is", [0, 1, 3, 4]),
        (f"({JOINER}", [0]),
        ("", [0]),
        # If no place is free, it goes to the end.
        (f"{JOINER}-{JOINER}", [1]),
    ],
)
def test_nothing_is_inserted_between_attached_tokens(
    preprocessor: Preprocessor, sentence: str, gaps: list[int]
) -> None:
    _, decoder = toy(preprocessor, 3)
    turn = parse("inform(altitude='7 m')")
    tokens = tuple(sentence.split())
    found = insert_missing(decoder, turn, tokens, unknown(decoder, turn))
    assert sorted(words.index("SLOT_ALTITUDE") for words, _ in found) == gaps
    assert all(tuple(word for word in words if word != "SLOT_ALTITUDE") == tokens for words, _ in found)


def test_unk_is_scored_where_no_placeholder_is_free(preprocessor: Preprocessor) -> None:
    model, decoder = toy(preprocessor, 2)
    turn = parse("inform(altitude='7 m')")
    tokens = ("SLOT_NAME", "SLOT_FOOD", "SLOT_NEAR")
    found = insert_missing(decoder, turn, tokens, unknown(decoder, turn))
    expected = exhaustive(model, preprocessor, list(tokens), [UNK_ID])
    assert len(found) == 4
    for words, score in found:
        assert score == pytest.approx(expected[words.index("SLOT_ALTITUDE")][0], rel=1e-4)


def test_nothing_is_inserted_without_unknown_placeholders(preprocessor: Preprocessor) -> None:
    model, decoder = toy(preprocessor, 2)
    assert insert_missing(decoder, parse("goodbye()"), ("what", "?"), []) == [(("what", "?"), 0.0)]
    assert not model.prepared


def test_scores_do_not_depend_on_other_rows(preprocessor: Preprocessor) -> None:
    model, decoder = toy(preprocessor, 5)
    rng = np.random.default_rng(1)
    rows = [rng.integers(4, len(preprocessor.vocabulary), length).tolist() for length in (0, 3, 17, 1, 8, 2, 30)]
    expected = [model.score(row) for row in rows]
    turn = parse("inform(name=x)")
    np.testing.assert_allclose(decoder.sentence_scores(turn, rows), expected, rtol=1e-4)
    np.testing.assert_allclose(decoder.sentence_scores(turn, rows[::-1]), expected[::-1], rtol=1e-4)
    alone = [decoder.sentence_scores(turn, [row])[0] for row in rows]
    np.testing.assert_allclose(alone, expected, rtol=1e-4)
    # Compiled programs are traced for few shapes, with one act for all rows, and with the model's inputs only.
    assert 1 <= len(model.prepared) <= 3
    for inputs in model.prepared:
        assert set(inputs) == {"act"}
        assert inputs["act"].shape == (1, len(preprocessor.encoder.features))


@pytest.mark.parametrize("name", ["lstm", "hierarchical"])
def test_a_real_model_scores_a_sentence_as_its_search_does(preprocessor: Preprocessor, name: str) -> None:
    keras.utils.set_random_seed(3)
    sizes = {"hidden_size": 6, "embedding_size": 5}
    sizes |= {"value_size": 4, "encoder_size": 4} if name == "hierarchical" else {}
    model = build_model(name, preprocessor.sizes, **sizes)
    # With untrained weights, which are small, all words including the end have nearly equal scores.
    model.set_weights([weight * 4 for weight in model.get_weights()])
    model.output_bias.assign(np.eye(len(preprocessor.vocabulary))[EOS_ID] * 2)
    decoder = KerasDecoder(model, preprocessor, max_length=12)
    turn = parse("inform(name=x;food='b c')")
    found = [h for h in decoder.search([turn], Plan(5, hard=False, keep=5))[0] if h.finished]
    assert len(found) > 2
    scores = decoder.sentence_scores(turn, [h.tokens for h in found])
    np.testing.assert_allclose(scores, [h.score for h in found], rtol=1e-3)
