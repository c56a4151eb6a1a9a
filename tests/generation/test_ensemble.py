"""Ensembles of runs: the renormalised geometric mean of their probabilities, in NumPy and in Keras."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from dactnlg import models
from dactnlg.acts import parse
from dactnlg.cli.main import main
from dactnlg.data.corpus import load_corpus
from dactnlg.errors import RunError
from dactnlg.generation.generator import Generator
from dactnlg.generation.options import GenerationOptions
from dactnlg.runs.config import load_config
from dactnlg.training.train import train

Runs = Callable[[str], Path]
ACTS = [
    "inform(name='Red Kite Ridge';difficulty=moderate;length='7 km';dogsallowed=yes)",
    "?request(region)",
    "inform_no_match(region='Marl Valley or Hollow Hills';stroller=yes)",
    "goodbye()",
    "inform_count(count=12;difficulty=easy)",
]


def pair(poor_run: Runs) -> list[Path]:
    """Two models of different kinds, one of which reads more arrays than the other."""
    return [poor_run("sclstm"), poor_run("hierarchical")]


def test_an_ensemble_of_a_run_with_itself_generates_as_the_run(poor_run: Runs) -> None:
    turns = [example.turn for example in load_corpus("trails").split("test")[:40]]
    for options in (GenerationOptions(), GenerationOptions(constraint="rerank", n_best=3, beam_width=4)):
        alone = Generator.load(poor_run("sclstm")).generate(turns, options)
        twice = Generator.load([poor_run("sclstm")] * 2).generate(turns, options)
        assert [g.text for g in twice] == [g.text for g in alone]
        for one, other in zip(alone, twice, strict=True):
            assert (one.score is None) == (other.score is None)
            assert other.score == pytest.approx(one.score, abs=1e-3)


def test_the_probabilities_are_the_renormalised_geometric_mean(poor_run: Runs) -> None:
    """Scores of sentences against sums over the distributions of the single models, token by token."""
    runs, turn = pair(poor_run), parse(ACTS[0])
    both = Generator.load(runs)
    assert both.decoder is not None
    rows = [both.preprocessor.vocabulary.encode(g.delexicalized.split()) for g in both.generate(ACTS)[:3]]
    distributions = []
    for run in runs:
        decoder = Generator.load(run).decoder
        assert decoder is not None
        step, first = decoder.stepper(decoder.inputs([turn]))
        per_row = []
        for row in rows:
            state, steps = [part.copy() for part in first], []
            for token in (1, *row):
                logits, state = step(state, np.array([token]), np.zeros(1, np.intp))
                probabilities = np.exp(logits[0].astype(np.float64) - logits[0].max())
                steps.append(probabilities / probabilities.sum())
            per_row.append(np.array(steps))
        distributions.append(per_row)
    expected = []
    for first_model, second_model, row in zip(*distributions, rows, strict=True):
        mean = np.sqrt(first_model * second_model)
        mean /= mean.sum(axis=1, keepdims=True)
        expected.append(np.log(mean[np.arange(len(row) + 1), [*row, 2]]).sum())
    found = both.decoder.sentence_scores(turn, rows)
    np.testing.assert_allclose(found, expected, atol=2e-4)


def test_an_ensemble_says_every_value(poor_run: Runs) -> None:
    turns = [example.turn for example in load_corpus("trails").split("test")[:120]]
    generator = Generator.load(pair(poor_run))
    checker = generator.preprocessor.checker
    for turn, generation in zip(turns, generator.generate(turns), strict=True):
        assert not checker.check(turn, generation.raw).values.errors, generation


def test_an_ensemble_generates_the_same_with_keras(poor_run: Runs) -> None:
    options = GenerationOptions(beam_width=4, n_best=2)
    ours, theirs = (Generator.load(pair(poor_run), backend).generate(ACTS, options) for backend in ("numpy", "keras"))
    for one, other in zip(ours, theirs, strict=True):
        assert [g.text for g in one.n_best] == [g.text for g in other.n_best]
        assert [g.score for g in one.n_best] == pytest.approx([g.score for g in other.n_best], abs=1e-3)


def test_samples_are_drawn_from_the_ensemble(poor_run: Runs) -> None:
    """Their scores are those that the ensemble gives them, and not those of its first model."""
    both, first = Generator.load(pair(poor_run)), Generator.load(poor_run("sclstm"))
    assert both.decoder is not None and first.decoder is not None
    found = both.generate(ACTS, GenerationOptions(sample=True, seed=3, n_best=4, constraint="none"))
    assert found == Generator.load(pair(poor_run)).generate(
        ACTS, GenerationOptions(sample=True, seed=3, n_best=4, constraint="none")
    )
    for act, each in zip(ACTS, found, strict=True):
        rows = [both.preprocessor.vocabulary.encode(g.delexicalized.split()) for g in each.n_best]
        turn = both.preprocessor.request(parse(act)).turn
        scores, others = (generator.decoder.sentence_scores(turn, rows) for generator in (both, first))
        assert [g.score for g in each.n_best] == pytest.approx(scores.tolist(), abs=1e-3)
        assert np.abs(scores - others).max() > 0.01


def test_runs_that_cannot_search_together_are_refused(
    poor_run: Runs, random_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small = ["training.epochs=1", "model.hidden_size=8", "model.embedding_size=8", "training.batch_size=256"]
    other = train(load_config("trails-sclstm", [*small, "corpus.min_count=3"], models), tmp_path / "b", progress=False)
    for second, message in (
        (other.path, "cannot search together: their vocabularies or acts differ"),
        (random_run, "holds the random baseline"),
        (tmp_path / "none", "does not exist"),
    ):
        assert main(["generate", "--model", str(poor_run("sclstm")), "--model", str(second), "goodbye()"]) == 2
        told = capsys.readouterr()
        assert (told.out, told.err.count("\n")) == ("", 1)
        assert message in told.err
    with pytest.raises(RunError, match="no run"):
        Generator.load([])


def test_commands_take_several_models(poor_run: Runs, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = [word for run in pair(poor_run) for word in ("--model", str(run))]
    expected = [generation.text for generation in Generator.load(pair(poor_run)).generate(ACTS)]

    assert main(["generate", *given, *ACTS]) == 0
    assert capsys.readouterr().out.splitlines() == expected
    (tmp_path / "acts.txt").write_text("\n".join(ACTS) + "\n")
    files = ["--input", str(tmp_path / "acts.txt"), "--output", str(tmp_path / "out.txt")]
    assert main(["generate", *given, *files]) == 0
    assert (tmp_path / "out.txt").read_text().splitlines() == expected
    # The order of runs is a setting too: the first one's decoding section holds.
    assert main(["generate", *given[2:], *given[:2], *files, "--resume"]) == 2
    assert "begun with another model" in capsys.readouterr().err

    before = [(path / "manifest.json").read_bytes() for path in pair(poor_run)]
    assert main(["evaluate", *given, "--split", "valid", "--preset", "single", "--json", "-"]) == 0
    told = capsys.readouterr()
    assert "recorded nowhere" in told.err
    assert len(json.loads(told.out)["generations"]) == len(load_corpus("trails").split("valid"))
    assert [(path / "manifest.json").read_bytes() for path in pair(poor_run)] == before
