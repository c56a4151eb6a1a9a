"""NumPy against Keras: the same numbers, the same sentences; and what is cached between calls."""

from __future__ import annotations

import gc
import os
import shutil
import subprocess
import sys
import weakref
from collections.abc import Callable
from pathlib import Path

import keras
import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from dactnlg.data.corpus import load_corpus
from dactnlg.errors import RunError, UnknownNameError, UserError
from dactnlg.generation.decoders import keras_decoder
from dactnlg.generation.decoders.decoder import Plan, row_keys
from dactnlg.generation.decoders.keras_decoder import KerasDecoder
from dactnlg.generation.decoders.numpy_decoder import FEW, NumpyDecoder
from dactnlg.generation.generator import Generator
from dactnlg.generation.options import GenerationOptions
from dactnlg.models import numpy as numpy_models
from dactnlg.search.numpy_beam import beam_search

ACT = "inform(name='Red Kite Ridge';difficulty=moderate;length='7 km';dogsallowed=yes)"


@pytest.fixture(scope="module", params=["lstm", "sclstm", "hierarchical"])
def each_run(request: pytest.FixtureRequest, poor_run: Callable[[str], Path]) -> Path:
    return poor_run(request.param)


@pytest.fixture(scope="module")
def both(each_run: Path) -> tuple[Generator, Generator]:
    return Generator.load(each_run, backend="numpy"), Generator.load(each_run, backend="keras")


@pytest.fixture(scope="module")
def run(poor_run: Callable[[str], Path]) -> Path:
    """The run of the tests that do not depend on the model."""
    return poor_run("sclstm")


def test_numpy_and_keras_find_the_same_hypotheses(both: tuple[Generator, Generator]) -> None:
    turns = [example.turn for example in load_corpus("trails").split("test")][::4]
    assert isinstance(both[0].decoder, NumpyDecoder) and isinstance(both[1].decoder, KerasDecoder)
    compared = 0
    for hard, keep in ((False, 1), (True, 5)):
        found = [generator.decoder.search(turns, Plan(5, hard, keep)) for generator in both]
        for ours, theirs in zip(*found, strict=True):
            scores = np.array([h.score for h in theirs])
            np.testing.assert_allclose([h.score for h in ours[:keep]], scores[:keep], rtol=1e-4)
            # Neighbours with nearly equal scores may change places.
            apart = np.diff(scores, prepend=np.inf, append=-np.inf) < -1e-3
            for place in range(keep):
                if apart[place] and apart[place + 1]:
                    assert ours[place].tokens == theirs[place].tokens
                    compared += 1
    assert compared > len(turns)


@pytest.mark.parametrize("hard", [False, True])
@pytest.mark.parametrize("size", [1, FEW, 60])
def test_greedy_bounds_change_no_result(both: tuple[Generator, Generator], hard: bool, size: int) -> None:
    decoder = both[0].decoder
    turns = [example.turn for example in load_corpus("trails").split("test")][:size]
    inputs = decoder.inputs(turns)
    found = decoder.search_all(inputs, Plan(6, hard))
    rules, step, state = decoder.constrained(inputs, hard=hard)
    beams = beam_search(step, state, rules, width=6, max_length=decoder.max_length)
    assert [row[0].tokens for row in found] == [row[0].tokens for row in beams]
    np.testing.assert_allclose([row[0].score for row in found], [row[0].score for row in beams], rtol=1e-5)


def test_numpy_and_keras_score_sentences_alike(both: tuple[Generator, Generator]) -> None:
    turn = load_corpus("trails").split("test")[3].turn
    rows = [[4, 5, 6, 7], [9], [8, 8, 30, 31, 32, 33]]
    scores = [generator.decoder.sentence_scores(turn, rows) for generator in both]
    np.testing.assert_allclose(scores[0], scores[1], rtol=1e-4)
    # A sentence's score is the sum of its steps: the search's own score of what it found.
    best = both[0].decoder.search([turn], Plan(3, True, 3))[0]
    for hypothesis in best:
        if hypothesis.finished:
            score = both[0].decoder.sentence_scores(turn, [hypothesis.tokens])[0]
            assert score == pytest.approx(hypothesis.score, rel=1e-4)


def test_results_do_not_depend_on_order_or_caches(
    both: tuple[Generator, Generator], monkeypatch: pytest.MonkeyPatch
) -> None:
    generator = both[0]
    turns = [example.turn for example in load_corpus("trails").split("test")][::2]
    texts = [result.text for result in generator.generate(turns)]
    assert [result.text for result in generator.generate(turns[::-1])] == texts[::-1]
    generator.decoder.forget()
    monkeypatch.setattr(generator.decoder, "reuse", False)
    assert [result.text for result in generator.generate(turns)] == texts


def test_results_do_not_depend_on_the_number_of_blas_threads(each_run: Path) -> None:
    """Ray and batch systems give a process fewer threads than it has alone; its files must be the same."""
    turns = [example.turn for example in load_corpus("trails").split("test")][::4]
    rows = [list(range(4, 4 + length)) for length in range(1, 100)]
    found = []
    for threads in (1, 2, 3):
        with threadpool_limits(threads, user_api="blas"):
            decoder = Generator.load(each_run, backend="numpy").decoder
            assert decoder is not None
            searched = [[(best.tokens, best.score) for best in row] for row in decoder.search(turns, Plan(3, True, 3))]
            found.append((searched, decoder.sentence_scores(turns[0], rows).tolist()))
    assert found[0] == found[1] == found[2]


def test_equal_acts_are_searched_once(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    generator = Generator.load(run)
    decoder = generator.decoder
    searched: list[int] = []
    search = decoder.search_all

    def counted(inputs, plan):
        searched.append(len(inputs["act"]))
        return search(inputs, plan)

    monkeypatch.setattr(decoder, "search_all", counted)
    # Under a constraint, faults would cause further searches.
    free = GenerationOptions(constraint="none")
    generator.generate([ACT, ACT, "goodbye()"], free)
    generator.generate([ACT], free)
    assert searched == [2]
    generator.generate([ACT], GenerationOptions(constraint="none", beam_width=3))
    assert searched == [2, 1]
    decoder.forget()
    generator.generate([ACT], free)
    assert searched == [2, 1, 1]


def test_batches_are_padded_to_the_given_sizes(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    generator = Generator.load(run, backend="keras")
    decoder = KerasDecoder(generator.decoder.model, generator.preprocessor, batch_sizes=(2, 5))
    decoder.reuse = False
    turns, seen = [example.turn for example in load_corpus("trails").split("test")][:9], []

    def program(inputs, keep):
        assert keep == 1
        size = len(inputs["act"])
        seen.append(size)
        return np.full((1, size, 1), 7), np.zeros((1, size, 1), np.intp), np.zeros((size, 1)), np.ones((size, 1), bool)

    monkeypatch.setattr(keras_decoder, "compiled", lambda function: program)
    assert [found[0].tokens for found in decoder.search(turns, Plan(1, False))] == [(7,)] * 9
    assert seen == [5, 5]
    decoder.search(turns[:2], Plan(1, False))
    assert seen == [5, 5, 2]
    # If states need too much memory, batches have the smallest size.
    monkeypatch.setattr(keras_decoder, "MOST", 1)
    seen.clear()
    decoder.search(turns[:4], Plan(1, False))
    assert seen == [2, 2]


def test_compiled_searches_are_kept_for_the_last_few_beam_widths(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    generator = Generator.load(run, backend="keras")
    decoder = KerasDecoder(generator.decoder.model, generator.preprocessor)
    decoder.reuse = False
    turns, made = [example.turn for example in load_corpus("trails").split("test")][:1], []

    def compiled(function):
        def program(inputs, keep):
            width, size = function.keywords["plan"].width, len(inputs["act"])
            return np.full((1, size, width), 7), np.zeros((1, size, width), np.intp), *np.ones((2, size, width))

        made.append((function.keywords["plan"].width, weakref.ref(program)))
        return program

    monkeypatch.setattr(keras_decoder, "compiled", compiled)
    for width in range(1, 30):
        # The width that most clients ask for is never compiled again.
        for asked in (width, 4):
            assert len(decoder.search(turns, Plan(asked, False))[0]) == asked
    assert [width for width, _ in made] == [1, 4, *(width for width in range(2, 30) if width != 4)]
    gc.collect()
    assert {width for width, program in made if program()} == {4, *range(23, 30)}


def test_keys_tell_inputs_apart() -> None:
    act = np.eye(3, dtype=np.float32)[[0, 1, 0]]
    keys = row_keys({"act": act}, (10, True))
    assert keys[0] == keys[2] != keys[1]
    assert row_keys({"act": act}, (5, True))[0] != keys[0]
    # The same bytes in another shape are another input.
    assert row_keys({"act": act.reshape(3, 3, 1)}, (10, True))[0] != keys[0]


def test_generating_by_command_imports_no_keras(each_run: Path) -> None:
    code = "import sys; sys.argv[1:] = {}; from dactnlg.cli.main import app; app(standalone_mode=False); "
    code += "print(sorted({{'tensorflow', 'keras', 'jax', 'torch'}} & set(sys.modules)))"
    command = [sys.executable, "-c", code.format(["generate", "--model", str(each_run), ACT])]
    environment = {key: value for key, value in os.environ.items() if key != "KERAS_BACKEND"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    text, modules = done.stdout.splitlines()
    assert modules == "[]"
    assert text == Generator.load(each_run).generate([ACT])[0].text


def test_the_backend_can_be_chosen(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KERAS_BACKEND", raising=False)
    assert isinstance(Generator.load(run).decoder, NumpyDecoder)
    monkeypatch.setenv("KERAS_BACKEND", keras.backend.backend())
    assert isinstance(Generator.load(run).decoder, KerasDecoder)
    assert isinstance(Generator.load(run, backend="numpy").decoder, NumpyDecoder)
    with pytest.raises(UnknownNameError, match="cuda"):
        Generator.load(run, backend="cuda")


def test_numpy_says_which_models_it_supports(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numpy_models, "INPUTS", {"another": ("act",)})
    monkeypatch.delenv("KERAS_BACKEND", raising=False)
    with pytest.raises(UserError, match="backend numpy does not support the model"):
        Generator.load(run, backend="numpy")
    # By default Keras runs what NumPy does not support.
    assert isinstance(Generator.load(run).decoder, KerasDecoder)


@pytest.mark.parametrize("backend", ["numpy", "keras"])
@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("hidden_size", "x", "model.hidden_size"),
        ("alpha", "[1]", "model.alpha"),
        ("hidden_size", "9", "it belongs to another run"),
        ("units", "3", "model.units"),
    ],
)
def test_a_damaged_configuration_is_reported_in_one_line(
    run: Path, tmp_path: Path, backend: str, key: str, value: str, message: str
) -> None:
    copy = tmp_path / "run"
    shutil.copytree(run, copy)
    lines = [line for line in (copy / "config.yaml").read_text().splitlines() if not line.startswith(f"  {key}:")]
    lines.insert(lines.index("model:") + 1, f"  {key}: {value}")
    (copy / "config.yaml").write_text("\n".join(lines) + "\n")
    with pytest.raises(RunError, match=message) as caught:
        Generator.load(copy, backend=backend)
    assert "\n" not in str(caught.value)
