"""Perplexity of a run's model, fair and original, and the effect of sampling on metrics of sets of sentences."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dactnlg.cli.main import main
from dactnlg.data.corpus import load_corpus
from dactnlg.data.pairs import sentences
from dactnlg.errors import MetricError
from dactnlg.evaluation.comparison import compare
from dactnlg.evaluation.evaluate import evaluate
from dactnlg.evaluation.likelihood import fair_vocabulary
from dactnlg.evaluation.result import Evaluation
from dactnlg.evaluation.scoring import TextPair, score_pairs
from dactnlg.evaluation.stored import read_scores
from dactnlg.generation.decoders.decoder import Decoder
from dactnlg.generation.generator import Generator
from dactnlg.generation.options import GenerationOptions
from dactnlg.metrics.perplexity import NAMES, combine

SETS = ("set-BLEU", "set-perplexity", "self-BLEU")


@pytest.fixture(scope="module")
def run(poor_run: Callable[[str], Path]) -> Path:
    return poor_run("sclstm")


@pytest.fixture(scope="module")
def decoder(run: Path) -> Decoder:
    found = Generator.load(run, backend="numpy").decoder
    assert found is not None
    return found


@pytest.fixture(scope="module")
def evaluation(run: Path) -> Evaluation:
    """Perplexity and BLEU of a fast search."""
    options = GenerationOptions(beam_width=1, constraint="none")
    return evaluate(run, metrics=["perplexity", "BLEU-4"], presets=["single", "fair"], options=options)


@pytest.fixture(scope="module")
def other(poor_run: Callable[[str], Path]) -> Evaluation:
    """The same of another model, which samples."""
    options = GenerationOptions(sample=True, constraint="none")
    return evaluate(poor_run("lstm"), metrics=["perplexity", "BLEU-4"], presets=["single"], options=options)


def test_scores_of_tokens_do_not_depend_on_the_batch_or_the_backend(decoder: Decoder, run: Path) -> None:
    rows = sentences(load_corpus("trails"), "test", "human", decoder.preprocessor.style)[:300]
    turns, ids = [row.turn for row in rows], [decoder.preprocessor.vocabulary.encode(row.tokens) for row in rows]
    scores = decoder.token_scores(turns, ids)
    assert scores.shape == (300, max(map(len, ids)) + 1)
    keras = Generator.load(run, backend="keras").decoder
    assert keras is not None
    for index in (0, 17, 299):
        length = len(ids[index]) + 1
        assert not scores[index, length:].any() and (scores[index, :length] < 0).all()
        expected = keras.sentence_scores(turns[index], [ids[index]])[0]
        assert scores[index].sum() == pytest.approx(expected, rel=1e-4)
        alone = decoder.token_scores([turns[index]], [ids[index]])[0]
        np.testing.assert_allclose(alone, scores[index, :length], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(keras.token_scores(turns[:9], ids[:9]), decoder.token_scores(turns[:9], ids[:9]), 1e-3)
    assert decoder.token_scores([], []).shape == (0, 1)


def test_perplexity_is_that_of_the_references(evaluation: Evaluation, decoder: Decoder) -> None:
    """Sentence by sentence, with the rare words counted by hand."""
    corpus = load_corpus("trails")
    everything = [s for name in corpus.splits for s in sentences(corpus, name, "both", decoder.preprocessor.style)]
    known = decoder.preprocessor.vocabulary
    rare = {token for row in everything for token in row.tokens if token not in known}
    loss = spread = count = 0.0
    for turn, tokens, _ in sentences(corpus, "test", "human", decoder.preprocessor.style):
        loss -= float(decoder.sentence_scores(turn, [known.encode(tokens)])[0])
        spread += sum(token in rare for token in tokens) * math.log(len(rare) or 1)
        count += len(tokens) + 1
    for result in evaluation.results:
        values = [result.scores[name].value for name in NAMES]
        assert values == pytest.approx([math.exp((loss + spread) / count), math.exp(loss / count)], rel=1e-4)
    assert set(fair_vocabulary(decoder, corpus).rare) == rare
    assert list(evaluation.results[0].scores) == ["BLEU-4", *NAMES]


def test_the_hash_of_perplexity_depends_on_neither_model_nor_preset(evaluation: Evaluation, other: Evaluation) -> None:
    first, second = (result.scores["perplexity"] for result in evaluation.results)
    assert first == second
    assert first.signature.startswith("perplexity|tok:delexicalised|eos:counted|unk:spread|vocabulary:")
    for name in NAMES:
        assert other.results[0].scores[name].hash == evaluation.results[0].scores[name].hash
    assert other.results[0].scores["perplexity"].value != first.value


def test_each_rare_word_costs_the_logarithm_of_their_number(run: Path, tmp_path: Path) -> None:
    rows = [("goodbye()", ["the zyx", "xyz yzx is"]), ("?request(region)", ["is the is"])]
    path = tmp_path / "mine.jsonl"
    path.write_text("".join(json.dumps({"act": act, "references": texts}) + "\n" for act, texts in rows))
    found = evaluate(run, corpus=str(path), split="train", metrics=["perplexity"], presets=["single"]).results[0]
    assert list(found.scores) == ["SER", *NAMES]
    fair, original = (found.scores[name].value or 0.0 for name in NAMES)
    # Three words of R, each once, among 3 + 4 + 4 tokens and ends.
    assert fair == pytest.approx(original * 3 ** (3 / 11))
    assert found.segments[1, -2:].tolist() == pytest.approx([found.segments[1, -1]] * 2)
    assert combine(np.zeros(3)).tolist() == pytest.approx([math.nan] * 2, nan_ok=True)
    assert np.isnan(combine(np.array([1e6, 0.0, 1.0]))).all()
    unasked = evaluate(run, corpus=str(path), split="train", presets=["single"])
    assert not set(NAMES) & set(unasked.results[0].all_scores), "only if it is asked for"


def test_stored_perplexities_can_be_compared(evaluation: Evaluation, other: Evaluation, tmp_path: Path) -> None:
    for name, result in (("a", evaluation), ("b", other)):
        for scores in result.results:
            scores.add_confidence(resamples=50)
        (tmp_path / f"{name}.json").write_text(json.dumps(result.to_dict()))
    bounds = evaluation.to_dict()["confidence"]["intervals"]["perplexity"]
    assert bounds[0] < (evaluation.results[0].scores["perplexity"].value or 0.0) < bounds[1]
    both = [read_scores(tmp_path / f"{name}.json") for name in "ab"]
    found = {d.name: d for d in compare(*both, resamples=100).differences if d.preset == "single"}
    assert found["perplexity"].test is not None
    assert found["perplexity"].better == ("A" if (found["perplexity"].test.difference > 0) else "B")
    assert compare(*both, metric="perplexity", resamples=10, trials=10).metric == "perplexity", "not the original one"


def test_the_random_baseline_has_no_perplexity(random_run: Path) -> None:
    with pytest.raises(MetricError, match="no perplexity"):
        evaluate(random_run, metrics=["perplexity"])
    with pytest.raises(MetricError, match="evaluate --metric perplexity"):
        score_pairs([TextPair("a", ("a",))], ["perplexity"])


def test_a_higher_temperature_gives_more_diversity_and_less_fluency(run: Path) -> None:
    """Caccia et al. 2020."""

    def values(**chosen: Any) -> dict[str, float | None]:
        options = GenerationOptions(constraint="none", **chosen)
        found = evaluate(run, metrics=SETS, presets=["single"], options=options).results[0]
        return {name: score.value for name, score in found.corpus_only.items()}

    cold, hot = values(sample=True, temperature=0.3), values(temperature=1.0)
    assert set(hot) == {
        *("self-BLEU", "forward-BLEU", "backward-BLEU", "harmonic-BLEU", "forward-perplexity", "reverse-perplexity")
    }
    assert hot["self-BLEU"] < cold["self-BLEU"]  # type: ignore[operator]
    assert hot["forward-BLEU"] < cold["forward-BLEU"]  # type: ignore[operator]
    assert hot["forward-perplexity"] > cold["forward-perplexity"]  # type: ignore[operator]


def test_recorded_errors_are_those_of_the_scores_of_the_corpus(run: Path, evaluation: Evaluation) -> None:
    # Other tests may have evaluated the same run.
    entries = json.loads((run / "manifest.json").read_text())["evaluations"]
    found = (entry["scores"].get("single", {}) for entry in entries)
    recorded = next(scores for scores in found if "perplexity" in scores)
    # The linearised error of exp(loss / tokens), whatever the perplexities of single sentences are.
    rows = evaluation.results[0].statistics[NAMES[0]]
    loss, tokens, value = rows[:, 0], rows[:, 2], recorded["perplexity"]["value"]
    rest = loss - tokens * loss.sum() / tokens.sum()
    assert recorded["perplexity"]["error"] == pytest.approx(value * math.hypot(*rest) / tokens.sum(), rel=0.2)
    assert 0 < recorded["BLEU-4"]["error"] < 0.1


def test_evaluate_samples_and_records_how(
    run: Path, evaluation: Evaluation, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["evaluate", "--model", str(run), "--split", "valid", "--preset", "fair", "--json", "-"]
    command += ["--sample", "--temperature", "0.9", "--top-p", "0.95", "--seed", "3", "--constraint", "none"]
    command += [part for name in (*SETS, "perplexity") for part in ("--metric", name)]
    assert main(command) == 0
    scores = json.loads(capsys.readouterr().out)["scores"]
    assert set(scores) == {*NAMES, "self-BLEU", *(f"{kind}-BLEU" for kind in ("forward", "backward", "harmonic"))} | {
        "forward-perplexity",
        "reverse-perplexity",
    }
    assert all(len(score["hash"]) == 64 and score["value"] is not None for score in scores.values())
    assert scores["perplexity"]["hash"] != evaluation.results[0].scores["perplexity"].hash, "of another split"
    recorded = json.loads((run / "manifest.json").read_text())["evaluations"][-1]
    expected = {"sample": True, "temperature": 0.9, "top_p": 0.95, "seed": 3, "constraint": "none"}
    assert recorded["options"] == expected
    assert recorded["scores"]["fair"]["perplexity"]["error"] > 0
