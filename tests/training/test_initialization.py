"""Fine-tuning from another run: weights by name, rows by what they stand for, the rest anew."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from dactnlg import models
from dactnlg.cli.main import main
from dactnlg.models.weights import load_arrays
from dactnlg.runs.config import load_config
from dactnlg.runs.run import Run
from dactnlg.text.preprocessor import Preprocessor
from dactnlg.training.initialization import Matching
from dactnlg.training.train import train

Runs = Callable[[str], Path]
# Steps so small that weights in single precision stay what they were.
STILL = ["training.epochs=1", "training.batch_size=256", "training.learning_rate=1e-30"]
STILL += ["model.hidden_size=24", "model.embedding_size=16"]


def still(name: str, output: Path, source: Path | None, *overrides: str) -> Run:
    begin = [f"model.initialize_from={json.dumps(str(source))}"] if source else []
    return train(load_config(name, [*STILL, *begin, *overrides], models), output, progress=False)


@pytest.mark.parametrize("backend", ["numpy", "keras"])
def test_the_same_corpus_and_model_take_all_weights(backend: str, poor_run: Runs, tmp_path: Path) -> None:
    source = poor_run("sclstm")
    run = still("trails-sclstm", tmp_path / "run", source, f"training.backend={backend}")
    assert run.manifest()["training"]["initialized"]["share"] == 1.0
    ours, theirs = (load_arrays(Run(path).weights_path) for path in (run.path, source))
    for name, weight in theirs.items():
        np.testing.assert_array_equal(ours[name], weight)


def test_rows_are_matched_by_what_they_stand_for(poor_run: Runs, tmp_path: Path) -> None:
    """With another vocabulary and other acts every row is taken by its name, or is a fresh one."""
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    rows = [
        ("inform(name='Ivy Cutting';difficulty=easy)", "Ivy Cutting is an easy hike."),
        ("inform(name='Red Kite Ridge';snow=deep)", "Red Kite Ridge has deep snow!"),
        ("?request(region)", "Which region would you like?"),
        ("inform_snow(name='Ivy Cutting';season=dontcare)", "Zebras walk Ivy Cutting in any season."),
    ]
    for split in ("train", "valid"):
        lines = [json.dumps({"act": act, "text": text}) + "\n" for act, text in rows]
        (corpus / f"{split}.jsonl").write_text("".join(lines))
    own = f"corpus.name={json.dumps(str(corpus))}"
    source = Run(poor_run("hierarchical"))
    tuned = still("trails-hierarchical", tmp_path / "tuned", source.path, own)
    fresh = still("trails-hierarchical", tmp_path / "fresh", None, own)
    ours, theirs, anew = (load_arrays(run.weights_path) for run in (tuned, source, fresh))
    mine, other = (Preprocessor.load(run.preprocessor_path) for run in (tuned, source))
    assert mine.vocabulary.tokens != other.vocabulary.tokens

    def check(name: str, axis: int, numbered: list[str], known: list[str], first: int = 0) -> None:
        taken = 0
        for place, token in enumerate(numbered):
            row = np.take(ours[name], first + place, axis)
            if token in known:
                expected = np.take(theirs[name], first + known.index(token), axis)
                taken += 1
            else:
                expected = np.take(anew[name], first + place, axis)
            # The other axis may be matched as well, so rows may differ in some places.
            same = np.isclose(row, expected)
            assert same.all() or (name in ("cell/act", "act_projection") and same.mean() > 0.5), (name, token)
        assert 0 < taken < len(numbered), name

    check("embedding", 0, mine.vocabulary.tokens, other.vocabulary.tokens)
    check("output_kernel", 1, mine.vocabulary.tokens, other.vocabulary.tokens)
    check("output_bias", 0, mine.vocabulary.tokens, other.vocabulary.tokens)
    check("cell/act", 0, mine.encoder.features, other.encoder.features)
    check("cell/reading", 1, mine.encoder.features, other.encoder.features)
    check("entries", 0, mine.encoder.features, other.encoder.features, first=1)
    check("words", 0, mine.encoder.words.tokens, other.encoder.words.tokens)
    gates = 4 * 24
    check("projection", 1, mine.encoder.features, other.encoder.features, first=gates)
    for name in ("projection", "bias", "encoder_projection"):
        np.testing.assert_array_equal(ours[name][..., :gates], theirs[name][..., :gates])
    np.testing.assert_array_equal(ours["cell/recurrent"], theirs["cell/recurrent"])


def preprocessor(tokens: str, said: str = "", features: str = "xy") -> Any:
    """Return what `Matching` reads of a preprocessor: lists of names."""
    listed = SimpleNamespace(features=list(features), words=SimpleNamespace(tokens=["w"]))
    context = SimpleNamespace(tokens=list(said)) if said else None
    return SimpleNamespace(vocabulary=SimpleNamespace(tokens=list(tokens)), encoder=listed, context=context)


def test_an_axis_is_matched_by_what_its_weight_numbers() -> None:
    """Even if there are as many hidden units as tokens or context words."""
    matching = Matching(preprocessor("abcd", "pqrs"), preprocessor("abdc", "srqp"), gates=16)
    given = {
        name: np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
        for name, shape in (("cell/recurrent", (4, 16)), ("embedding", (4, 4)), ("context_words", (4, 4)))
    } | {"batches": np.float32(7.0), "own/thing": np.arange(4, dtype=np.float32)}
    fresh = {name: np.full_like(array, -1.0) for name, array in given.items()}
    found, count = matching.take(fresh, given)
    np.testing.assert_array_equal(found["cell/recurrent"], given["cell/recurrent"])
    np.testing.assert_array_equal(found["embedding"][:, 0], [0, 4, 12, 8])
    np.testing.assert_array_equal(found["context_words"][:, 0], [12, 8, 4, 0])
    # For weights of unknown models the length decides; scalars start afresh.
    np.testing.assert_array_equal(found["own/thing"], [0, 1, 3, 2])
    assert found["batches"] == -1 and count == 64 + 16 + 16 + 4


def test_the_entries_of_a_cvae_posterior_are_matched_after_its_hidden_units() -> None:
    matching = Matching(preprocessor("ab", features="xyz"), preprocessor("ab", features="zwx"), gates=8)
    given = {"posterior_kernel": np.arange(10, dtype=np.float32).reshape(5, 2)}
    found, count = matching.take({"posterior_kernel": np.full((5, 2), -1, np.float32)}, given)
    np.testing.assert_array_equal(found["posterior_kernel"][:, 0], [0, 2, 8, -1, 4])
    assert count == 8


def test_context_words_are_matched_in_a_larger_vocabulary() -> None:
    matching = Matching(preprocessor("ab", "pqr"), preprocessor("ab", "rs"), gates=8)
    weights = {"context_words": np.zeros((3, 2), np.float32)}
    found, _ = matching.take(weights, {"context_words": np.array([[1, 2], [3, 4]], np.float32)})
    np.testing.assert_array_equal(found["context_words"], [[0, 0], [0, 0], [1, 2]])


def test_a_cvae_begins_from_a_cvae(poor_run: Runs, tmp_path: Path) -> None:
    run = still("trails-cvae", tmp_path / "run", poor_run("cvae"))
    # All but the counter of batches.
    assert run.manifest()["training"]["initialized"]["share"] == pytest.approx(1, abs=1e-3)


def test_another_model_takes_what_has_the_same_name(poor_run: Runs, tmp_path: Path) -> None:
    run = still("trails-sclstm", tmp_path / "run", poor_run("hierarchical"), "model.dropout=0.1")
    ours, theirs = (load_arrays(Run(path).weights_path) for path in (run.path, poor_run("hierarchical")))
    np.testing.assert_array_equal(ours["embedding"], theirs["embedding"])
    np.testing.assert_array_equal(ours["cell/recurrent"], theirs["cell/recurrent"])
    # With other sizes only weights of one axis, over tokens, can be taken.
    wide = still("trails-sclstm", tmp_path / "wide", poor_run("sclstm"), "model.hidden_size=32")
    assert 0 < wide.manifest()["training"]["initialized"]["share"] < 0.6


def test_the_train_command_initializes_from_a_run(
    poor_run: Runs, random_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [word for setting in STILL for word in ("--set", setting)]
    begin = ["train", "trails-sclstm", "--output", str(tmp_path / "run"), *words]
    assert main([*begin, "--set", f"model.initialize_from={poor_run('sclstm')}"]) == 0
    told = capsys.readouterr()
    assert told.out == f"{tmp_path / 'run'}\n"
    assert f"dactnlg: 100% of the weights began as those of {poor_run('sclstm')}\n" in told.err
    begin[3] = str(tmp_path / "other")
    assert main([*begin, "--set", "model.initialize_from=nowhere"]) == 2
    assert "nowhere does not exist" in capsys.readouterr().err
    assert main([*begin, "--set", f"model.initialize_from={random_run}"]) == 2
    assert "holds the random baseline, which has no weights" in capsys.readouterr().err
    assert main(["train", "trails-random", "--set", "model.initialize_from=x", "--output", str(tmp_path / "r")]) == 2
    assert "the model 'random' has no weights to begin with" in capsys.readouterr().err
