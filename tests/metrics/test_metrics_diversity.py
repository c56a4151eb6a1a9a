"""Diversity against plain definitions and NLTK, from files, and of a run."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dactnlg.cli.main import main
from dactnlg.errors import MetricError, UnknownNameError
from dactnlg.evaluation.evaluate import evaluate
from dactnlg.evaluation.scoring import TextPair, read_sentences, score_pairs, table
from dactnlg.metrics.base import CorpusMetric, Segment
from dactnlg.metrics.diversity import Diversity, Novelty, SelfBleu
from dactnlg.metrics.registry import GROUPS, Materials

SENTENCES = st.lists(st.lists(st.sampled_from("abcd"), max_size=7).map(" ".join), min_size=2, max_size=7)


def scores(metric: CorpusMetric, *sentences: str) -> dict[str, float]:
    metric.update([Segment(sentence, ()) for sentence in sentences])
    return dict(zip(metric.names, metric.scores(), strict=True))


def test_diversity_of_a_few_words_by_hand() -> None:
    """a b a, b: 4 tokens of 2 kinds, bigrams `a b` and `b a`."""
    found = scores(Diversity(), "a b a", "b", "")
    assert found == {"distinct-1": 2 / 4, "distinct-2": 2 / 2, "mean-length": 4 / 3, "vocabulary": 2}
    assert scores(Diversity(), "a b a b a")["distinct-2"] == 2 / 4
    assert scores(Novelty(["a b", "c"]), "a  b", "b a", "c", "d") == {"novelty": 0.5}


def test_diversity_of_too_few_words_is_undefined() -> None:
    found = scores(Diversity(), "", "")
    assert math.isnan(found["distinct-1"]) and math.isnan(found["distinct-2"])
    assert (found["mean-length"], found["vocabulary"]) == (0, 0)
    assert math.isnan(scores(Diversity(), "a", "b")["distinct-2"]), "no bigram"
    assert math.isnan(scores(SelfBleu(), "a b c d e")["self-BLEU"]), "no other sentence"
    assert math.isnan(scores(Novelty(None), "a")["novelty"])
    assert scores(Novelty([]), "a") == {"novelty": 1}
    result = score_pairs([TextPair("a", ("a",))], ["diversity"])
    text = table([result])
    assert text.count("undefined") == 5, "distinct-2, self-BLEU, novelty, MSTTR-100, which says why"
    assert "novelty needs the sentences of the training data" in text


@settings(deadline=None)
@given(SENTENCES)
def test_self_bleu_is_nltks(sentences: list[str]) -> None:
    """The mean of NLTK's sentence BLEU, smoothing method 1, each sentence against all others."""
    from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu

    smooth = SmoothingFunction().method1
    split = [sentence.split() for sentence in sentences]
    each = [
        sentence_bleu(split[:i] + split[i + 1 :], tokens, smoothing_function=smooth) if tokens else 0
        for i, tokens in enumerate(split)
    ]
    assert scores(SelfBleu(), *sentences)["self-BLEU"] == pytest.approx(sum(each) / len(each), abs=1e-9)


@settings(deadline=None)
@given(SENTENCES)
def test_diversity_depends_on_neither_chunks_nor_order(sentences: list[str]) -> None:
    for make in (Diversity, SelfBleu, lambda: Novelty(["a", "a b"])):
        whole = list(scores(make(), *sentences).values())
        chunked = make()
        for sentence in reversed(sentences):
            chunked.update([Segment(sentence, ())])
        assert list(chunked.scores()) == pytest.approx(whole, nan_ok=True)


def test_diversity_is_shown_beside_other_scores_and_in_no_segment() -> None:
    pairs = [TextPair("A b c d", ("a b c d",)), TextPair("a b c d", ("a b",))]
    given = Materials(train=["a b c d", "x"])
    result = score_pairs(pairs, ["diversity", "BLEU-4"], "sharma2017", given=given)
    data = result.to_dict()
    assert list(data["scores"]) == ["BLEU-4", *GROUPS["diversity"]]
    assert data["scores"]["novelty"]["value"] == 0, "hypotheses and training data are normalised alike"
    assert data["scores"]["self-BLEU"]["value"] == pytest.approx(1)
    assert all(list(segment["scores"]) == ["BLEU-4"] for segment in data["segments"])
    signature = data["scores"]["novelty"]["signature"]
    assert signature.startswith("novelty|tok:space|train:") and signature.endswith("|preset:sharma2017")
    other = score_pairs(pairs, ["novelty"], "sharma2017", given=Materials(train=["a"]))
    assert other.corpus_only["novelty"].hash != data["scores"]["novelty"]["hash"]
    assert other.segments.shape == (2, 0)


def test_score_takes_word_vectors_and_training_sentences(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {"h": "a b\nb\n", "r": "a b\na\n", "train": "a b\n\nc\n", "v.txt": "a 1 0\nb 0 1\n"}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("DACTNLG_VECTORS", str(tmp_path / "v.txt"))
    command = ["score", "--hypotheses", "h", "--references", "r", "--train", "train", "--json", "-"]
    command += ["--metric", "embedding", "--metric", "diversity"]
    assert main(command) == 0
    found = {name: score["value"] for name, score in json.loads(capsys.readouterr().out)["scores"].items()}
    assert found["embedding-average"] == pytest.approx(0.5)
    assert (found["novelty"], found["vocabulary"], found["mean-length"]) == (0.5, 2, 1.5)
    assert main([*command, "--vectors", "h"]) == 2
    told = capsys.readouterr()
    assert told.out == "" and "h, line 1: expected" in told.err
    assert told.err.count("\n") == 1


def test_evaluate_brings_the_training_data_and_refuses_what_is_missing_before_it_generates(
    random_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dactnlg.metrics.embeddings.vectors.user_cache", lambda: tmp_path)
    (tmp_path / "v.txt").write_text("the 1 0\nis 0 1\n")
    found = evaluate(random_run, presets=["single"], metrics=["embedding", "diversity"], vectors=tmp_path / "v.txt")
    scores = found.results[0].all_scores
    assert len(scores) == 3 + len(GROUPS["diversity"])
    assert all(score.value is not None for score in scores.values())
    assert "train:unknown" not in scores["novelty"].signature
    monkeypatch.setattr("dactnlg.generation.generator.Generator.load", lambda *_: pytest.fail("generated first"))
    with pytest.raises(MetricError, match="No such file"):
        evaluate(random_run, metrics=["embedding"], vectors=tmp_path / "absent")
    with pytest.raises(MetricError, match="--vectors is for embedding"):
        evaluate(random_run, metrics=["perplexity"], vectors=tmp_path / "v.txt")
    with pytest.raises(UnknownNameError, match="did you mean 'diversity'"):
        evaluate(random_run, metrics=["diversty"])


def test_unreadable_training_sentences_are_named(tmp_path: Path) -> None:
    (tmp_path / "latin").write_bytes(b"ok\ncaf\xe9\n")
    with pytest.raises(MetricError, match="latin, line 2: not UTF-8"):
        list(read_sentences(tmp_path / "latin"))
