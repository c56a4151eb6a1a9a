"""Components of conversations, against values computed by hand and independent implementations."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import check_grad
from scipy.special import log_softmax

from dactnlg.dialogue.components.coherence import WordCoherence
from dactnlg.dialogue.components.emotions import (
    EMOTIONS,
    LabelledTurns,
    fit_softmax,
    learn_emotions,
    read_dailydialog,
)
from dactnlg.dialogue.components.engagement import laughter, question_scores, word_counts
from dactnlg.dialogue.components.overlap import BASELINES, baselines, bleu, distinct
from dactnlg.dialogue.components.sentiment import cosines, min_max_slope, sentiment, transitions
from dactnlg.dialogue.components.table import EXTRAS, NAMES, ComponentMaker, with_extras
from dactnlg.dialogue.components.teachers import CachedEmotions, CachedVectors, KeptEncoder
from dactnlg.dialogue.conversations import Conversation, Utterance
from dactnlg.errors import UserError
from dactnlg.metrics.base import Segment
from dactnlg.metrics.embeddings.embedding import EmbeddingMetrics
from dactnlg.metrics.embeddings.vectors import WordVectors, load_vectors

WORDS = {"good": (1, 0), "bad": (-1, 0.5), "day": (0, 1), "how": (0.5, 0.5)}


@pytest.fixture
def vectors(tmp_path: Path) -> WordVectors:
    file = tmp_path / "words.txt"
    file.write_text("".join(f"{word} {a} {b}\n" for word, (a, b) in WORDS.items()))
    return load_vectors(file, tmp_path / "cache")


def test_sentiment_is_the_expected_valence() -> None:
    np.testing.assert_allclose(sentiment(np.array([[0.5, 0.5], [0.1, 0.9]]), np.array([-1.0, 1.0])), [0, 0.8])


def test_a_transition_leads_to_the_next_turn_and_the_last_turn_has_none() -> None:
    np.testing.assert_array_equal(transitions(np.array([0.0, 1.0, -1.0])), [1.0, -2.0, np.nan])
    np.testing.assert_array_equal(transitions(np.array([3.0])), [np.nan])
    assert len(transitions(np.array([]))) == 0


@pytest.mark.parametrize(
    ("scores", "slope"),
    [([0, 1, 2], 1), ([2, 1, 0], -1), ([0, 0, 3, 1], 1.5), ([1, 1], 0), ([4], 0), ([3, 0, 3], -3), ([0, 5, 5], 5)],
)
def test_the_min_max_slope_is_signed_by_the_order_in_time(scores: list[float], slope: float) -> None:
    assert min_max_slope(np.array(scores, float)) == slope


def test_a_conversation_without_the_speaker_has_no_slope() -> None:
    assert np.isnan(min_max_slope(np.array([])))


def test_cosines_are_by_row_and_0_for_a_zero_vector() -> None:
    first, second = np.array([[1.0, 0], [1, 1], [0, 0]]), np.array([[0.0, 2], [2, 2], [1, 1]])
    np.testing.assert_allclose(cosines(first, second), [0, 1, 0], atol=1e-12)


def test_laughter_is_counted_in_whole_words() -> None:
    assert laughter(["Ha ha!", "that hat has", "haha", "HA.", "aha", ""]).tolist() == [2, 0, 0, 1, 0, 0]


def test_the_question_score_is_half_for_a_word_and_half_for_a_mark() -> None:
    texts = ["What?", "what a day", "Really?", "No.", "somewhat", "¿Qué?"]
    assert question_scores(texts).tolist() == [1, 0.5, 0.5, 0, 0, 0.5]


def test_words_are_counted_up_to_30() -> None:
    assert word_counts(["I'm here , really .", "", "w " * 29, "w " * 31]).tolist() == [3, 0, 29, 30]


def test_word_coherence_is_that_of_the_embedding_metrics(vectors: WordVectors) -> None:
    pairs = [("good day", "bad day"), ("how good", "good good day"), ("day", "unknown"), ("how bad", "how bad")]
    metric = EmbeddingMetrics(vectors)
    expected = metric.statistics([Segment(a, (b,)) for a, b in pairs])[:, :3]
    np.testing.assert_allclose(WordCoherence(vectors).scores(*zip(*pairs, strict=True)), expected)


def test_overlap_with_the_previous_turn_and_distinct_bigrams() -> None:
    found = bleu(["the cat sat on the mat", "a b", "", "x"], ["the cat sat on the mat", "c d", "a", ""])
    np.testing.assert_allclose(found, [1, 0, 0, 0])
    assert distinct(["a b a b"]) == pytest.approx(2 / 3)
    assert np.isnan(distinct(["a"]))
    talk = conversation("user: a b c d", "bot: a b c d", "bot: a b c d")
    np.testing.assert_allclose(baselines([talk]).values, [[1, 1, 0.5]])
    assert baselines([talk]).names == BASELINES


def conversation(*lines: str, **more: object) -> Conversation:
    turns = [line.split(": ", 1) for line in lines]
    return Conversation(tuple(Utterance("user" if who == "user" else "bot", text) for who, text in turns), more=more)


TEXTS = ("good day", "how bad", "bad", "good", "day")
VALENCES = (1.0, -0.5, -1.0, 0.5, 0.0)


@pytest.fixture
def maker(vectors: WordVectors) -> ComponentMaker:
    chances = np.array([[(1 + v) / 2, (1 - v) / 2] for v in VALENCES])
    emotions = CachedEmotions("toy", TEXTS, chances, np.array([1.0, -1.0]))
    encoder = CachedVectors("toy", TEXTS, np.array([[1, 0], [0, 1], [1, 1], [1, -1], [-1, 0]], float))
    return ComponentMaker(emotions, encoder, WordCoherence(vectors))


def test_components_are_averaged_by_speaker(maker: ComponentMaker) -> None:
    table = maker.table([conversation("user: bad", "bot: how bad", "user: good", "bot: day", "user: good day")])
    row = dict(zip(table.names, table.values[0], strict=True))
    assert table.names == NAMES and len(NAMES) == 22
    assert row["sentiment -U"] == pytest.approx(0.5 / 3)
    assert row["sentiment -B"] == pytest.approx(-0.25)
    # From -1 to .5 to 1; the last turn is masked.
    assert row["sentiment transition -U"] == pytest.approx(1.0)
    assert row["sentiment min-max -U"] == pytest.approx(1.0)
    assert row["sentiment min-max -B"] == pytest.approx(0.5)
    assert row["question score -B"] == 0.25
    assert row["words -U"] == pytest.approx(4 / 3)
    # The pairs (bad, how bad) and (good, day); the last turn of the user has no answer.
    assert row["semantic similarity -U/B"] == pytest.approx((np.sqrt(0.5) - np.sqrt(0.5)) / 2)
    assert row["semantic similarity -B/B"] == pytest.approx(0)
    p, q = np.array([0.0, 1.0]), np.array([0.25, 0.75])
    other = np.array([0.75, 0.25]) @ np.array([0.5, 0.5]) / np.linalg.norm([0.75, 0.25]) / np.sqrt(0.5)
    assert row["sentiment coherence -U/B"] == pytest.approx((p @ q / np.linalg.norm(q) + other) / 2)


def test_a_bot_alone_is_its_own_user(maker: ComponentMaker) -> None:
    alone = conversation("bot: bad", "bot: how bad", "bot: good day")
    table = maker.table([alone])
    for name in ("sentiment", "words", "sentiment min-max", "sentiment transition"):
        assert table.column(f"{name} -U") == table.column(f"{name} -B")
    for name in ("semantic similarity", "average coherence", "sentiment coherence"):
        assert table.column(f"{name} -U/B") == table.column(f"{name} -B/B")


def test_components_of_missing_turns_are_undefined(maker: ComponentMaker) -> None:
    table = maker.table([conversation("user: bad"), conversation("user: bad", "bot: good"), conversation()])
    assert np.isnan(table.column("sentiment -B"))[[0, 2]].all()
    assert np.isnan(table.column("semantic similarity -B/B")).all()
    assert not np.isnan(table.values[1, [NAMES.index("semantic similarity -U/B"), NAMES.index("sentiment -U")]]).any()
    assert maker.table([]).values.shape == (0, len(NAMES))


def test_extras_are_columns_after_those_of_the_paper(maker: ComponentMaker) -> None:
    talks = [conversation("user: bad", "bot: good", success=True, slots=4, slot_errors=1)]
    plain, more = maker.table(talks), None
    more = with_extras(plain, talks)
    assert more.names == (*NAMES, *EXTRAS)
    np.testing.assert_array_equal(more.values[0, -3:], [0.25, 1, 2])
    np.testing.assert_array_equal(more.values[:, :-3], plain.values)
    assert more.hash != plain.hash


def test_the_hash_depends_on_the_teacher(maker: ComponentMaker, vectors: WordVectors) -> None:
    other = CachedEmotions("toy", TEXTS, np.full((5, 2), 0.5), np.array([1.0, -1.0]))
    table = ComponentMaker(other, maker.encoder, maker.words).table([])
    assert table.hash != maker.table([]).hash
    assert {other.name, maker.encoder.name, vectors.name} <= set(map(str, table.signature.values()))


def test_teacher_arrays_of_wrong_shapes_are_refused(maker: ComponentMaker) -> None:
    with pytest.raises(UserError, match=r"\(1, 2\) probabilities are needed"):
        CachedEmotions("toy", ["a"], np.ones((2, 2)), np.ones(2))
    with pytest.raises(UserError, match="1 vectors for 2 texts"):
        CachedVectors("toy", ["a", "b"], np.ones((1, 2)))
    with pytest.raises(UserError, match="have nothing for the text 'unheard'"):
        maker.table([conversation("user: unheard")])


class Letters:
    """Encodes a text by how often it has each letter, and counts its calls."""

    name = "letters"

    def __init__(self) -> None:
        self.calls = 0

    def encode(self, sentences: list[str]) -> np.ndarray:
        self.calls += len(sentences)
        return np.array([[text.count(letter) for letter in "abcdefgh"] for text in sentences], np.float32)


def test_a_text_is_encoded_once_and_kept_in_a_file(tmp_path: Path) -> None:
    letters, file = Letters(), tmp_path / "v.npz"
    kept = KeptEncoder(letters, file)
    expected = letters.encode(["abba", "cc"])
    np.testing.assert_array_equal(kept.encode(["abba", "cc"]), expected)
    np.testing.assert_array_equal(KeptEncoder(letters, file).encode(["cc", "abba"]), expected[::-1])
    assert letters.calls == 4
    file.write_bytes(file.read_bytes()[:50])
    np.testing.assert_array_equal(KeptEncoder(letters, file).encode(["abba"]), expected[:1])
    assert [path.name for path in tmp_path.iterdir()] == ["v.npz"]


def test_vectors_are_kept_when_encoding_is_interrupted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Interrupted(Letters):
        def encode(self, sentences: list[str]) -> np.ndarray:
            if self.calls:
                raise KeyboardInterrupt
            return super().encode(sentences)

    monkeypatch.setattr("dactnlg.dialogue.components.teachers.BLOCK", 2)
    with pytest.raises(KeyboardInterrupt):
        KeptEncoder(Interrupted(), tmp_path / "v.npz").encode(["a", "bb", "ccc"])
    letters = Letters()
    KeptEncoder(letters, tmp_path / "v.npz").encode(["ccc", "a", "bb"])
    assert letters.calls == 1


def test_softmax_regression_finds_the_minimum_of_its_loss() -> None:
    rng = np.random.default_rng(1)
    vectors, labels = rng.normal(size=(60, 3)), rng.integers(4, size=60)
    weights, bias = fit_softmax(vectors, labels, 4)

    def loss(flat: np.ndarray) -> float:
        matrix, shift = flat[:12].reshape(3, 4), flat[12:]
        logs = log_softmax(vectors @ matrix + shift, axis=1)
        return float(-logs[np.arange(60), labels].sum() + 0.5 * (matrix**2).sum())

    found = np.concatenate([weights.ravel(), bias])
    # By finite differences the gradient is zero.
    assert check_grad(loss, lambda _: np.zeros(16), found) < 0.05
    assert all(loss(found) < loss(found + step) for step in rng.normal(scale=0.05, size=(50, 16)))


def test_emotions_are_learned_from_labelled_turns(tmp_path: Path) -> None:
    lines = [(["aaa", "bbb b"], ["happiness", "anger"]), (["a a", "b"], ["happiness", "anger"])]
    file = tmp_path / "dialogues.jsonl"
    file.write_text("".join(json.dumps({"turns": t, "emotions": e}) + "\n" for t, e in lines * 20))
    turns = read_dailydialog(file)
    assert len(turns.texts) == 80
    teacher = learn_emotions(Letters(), turns)
    chances = teacher.probabilities(["aaaa", "bbbb"])
    assert chances.shape == (2, len(EMOTIONS))
    np.testing.assert_allclose(chances.sum(axis=1), 1)
    scores = sentiment(chances, teacher.weights)
    assert scores[0] > 0.5 > -0.5 > scores[1]
    assert teacher.name.endswith("+letters")
    assert learn_emotions(Letters(), turns, most=5).name != teacher.name
    for line in ('{"turns": ["a"], "emotions": ["joy"]}', '{"turns": ["a"], "emotions": []}', "{}", "[", "3"):
        file.write_text(line)
        with pytest.raises(UserError, match="line 1: no labelled dialogue"):
            read_dailydialog(file)
    file.write_text('\ufeff{"turns": ["a"], "emotions": ["fear"]}\n\n', encoding="utf-8")
    assert read_dailydialog(file).texts == ["a"]
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(UserError, match="line 1: not UTF-8"):
        read_dailydialog(file)
    with pytest.raises(UserError, match="no labelled turns"):
        learn_emotions(Letters(), LabelledTurns([], []))
