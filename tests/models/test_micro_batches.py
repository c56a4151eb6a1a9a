"""A batch learned from in parts: the same slopes, whoever finds them and whatever becomes of helpers."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_gradients import CLASSES, batch, build

from dactnlg.models import load_model
from dactnlg.models.numpy import micro_batches
from dactnlg.models.numpy.micro_batches import MicroBatches, deal
from dactnlg.runs.config import load_config
from dactnlg.training.train import train

# It starts processes with a file that they inherit, and finds their share in memory.
pytestmark = pytest.mark.skipif(os.name != "posix", reason="elsewhere there are no helpers")


def made(name: str, parts: int, helpers: int = 0, dropout: float = 0.3) -> MicroBatches:
    """Return a model whose helpers, if it has any, take part."""
    model = build(name, dropout=dropout)
    shapes = [tuple(variable.shape) for variable in model.trainable_variables]
    found = MicroBatches(type(model).__name__, model.get_config(), shapes, parts, helpers)
    found.weights[:] = np.concatenate([np.asarray(weight).ravel() for weight in model.trainable_variables])
    assert len(found.start_helpers()) == helpers
    return found


def learned(model: MicroBatches, batches: int = 4) -> list[Any]:
    """Return all losses and slopes of a few batches, each with units of its own dropped."""
    rng, found = np.random.default_rng(7), []
    for seed in range(batches):
        found += [model.learn(batch(seed), rng), model.slopes.copy(), model.loss(batch(seed))]
    return found


def same(one: list[Any], two: list[Any]) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(one, two, strict=True))


@pytest.fixture
def pair() -> Iterator[tuple[MicroBatches, MicroBatches]]:
    """Two like models, one with a helper."""
    alone, together = made("sclstm", 2), made("sclstm", 2, 1)
    yield alone, together
    for helper in together._helpers:
        helper.end()


@given(st.lists(st.integers(0, 40), min_size=1, max_size=70), st.integers(1, 9))
def test_rows_are_dealt_out_once_and_evenly(lengths: list[int], parts: int) -> None:
    rows = {"lengths": np.array(lengths), "number": np.arange(len(lengths))}
    dealt = deal(rows, parts)
    real = [number for number, length in enumerate(lengths) if length]
    assert sorted(np.concatenate([part["number"] for part in dealt]).tolist()) == real
    assert len(dealt) == max(1, min(parts, len(real)))
    sizes = [len(part["lengths"]) for part in dealt]
    words = [int(part["lengths"].sum()) for part in dealt]
    assert max(sizes) - min(sizes) <= 1
    assert max(words) - min(words) <= max(lengths)
    assert all(part["lengths"].tolist() == [lengths[number] for number in part["number"]] for part in dealt)


@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize("parts", [2, 3, 9])
def test_parts_add_up_to_the_whole(name: str, parts: int) -> None:
    whole, dealt = made(name, 1, dropout=0.0), made(name, parts, dropout=0.0)
    for seed in (5, 6):
        rng = np.random.default_rng(0)
        assert dealt.learn(batch(seed), rng) == pytest.approx(whole.learn(batch(seed), rng), rel=1e-6)
        assert dealt.loss(batch(seed)) == pytest.approx(whole.loss(batch(seed)), rel=1e-6)
        assert np.abs(whole.slopes).max() > 1e-2
        np.testing.assert_allclose(dealt.slopes, whole.slopes, atol=1e-6, rtol=1e-4)


def test_parts_drop_units_of_their_own() -> None:
    """Two like rows, one in each part: with the same units dropped their slopes would be twice those of one."""
    model = made("lstm", 2)
    twice = {name: np.repeat(array[:1], 2, axis=0) for name, array in batch().items()}
    model.learn(twice, np.random.default_rng(0))
    one, two = (finder.kept for finder in model._finder._models)
    assert one is not None
    assert two is not None
    assert not np.array_equal(one, two)


@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize(("parts", "helpers"), [(2, 1), (3, 1), (3, 2)])
def test_helpers_change_no_bit(name: str, parts: int, helpers: int) -> None:
    together = made(name, parts, helpers)
    assert same(learned(made(name, parts)), learned(together))
    assert len(together._helpers) == helpers, "one has died"
    # They see what becomes of the weights.
    before = together.loss(batch())
    together.weights *= 0.5
    assert abs(together.loss(batch()) - before) > 1e-3


def test_a_helper_does_its_share(pair: tuple[MicroBatches, MicroBatches]) -> None:
    done = []
    find = pair[1]._finder._find
    pair[1]._finder._find = lambda task: done.append(task.part) or find(task)  # type: ignore[method-assign, func-returns-value]
    learned(pair[1], 2)
    assert done == [0] * 4


def test_a_helper_that_dies_is_done_without(pair: tuple[MicroBatches, MicroBatches]) -> None:
    alone, together = pair
    expected = learned(alone)
    (helper,) = together._helpers
    find = together._finder.find

    def while_it_dies(tasks: Any) -> list[float]:
        helper.process.kill()
        helper.process.wait()
        return find(tasks)

    together._finder.find = while_it_dies  # type: ignore[method-assign]
    assert same(learned(together), expected)
    assert not together._helpers


def test_one_that_has_died_before_is_done_without(pair: tuple[MicroBatches, MicroBatches]) -> None:
    alone, together = pair
    together._helpers[0].process.kill()
    together._helpers[0].process.wait()
    assert same(learned(together), learned(alone))
    assert not together._helpers


def test_an_error_here_ends_the_helpers(
    pair: tuple[MicroBatches, MicroBatches], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer that it still owes would be taken for the next one."""
    alone, together = pair
    process = together._helpers[0].process

    def broken(_: Any) -> list[float]:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(together._finder, "find", broken)
        with pytest.raises(KeyboardInterrupt):
            together.loss(batch())
    assert process.poll() is not None
    assert same(learned(together), learned(alone))


@pytest.mark.parametrize("full", [{micro_batches.MEMORY}, {micro_batches.MEMORY, None}])
def test_where_there_is_no_room(full: set[str | None], monkeypatch: pytest.MonkeyPatch) -> None:
    class Full(io.BytesIO):
        def write(self, *_: Any) -> int:
            raise OSError(28, "No space left on device")

    expected, make = learned(made("sclstm", 2)), tempfile.TemporaryFile
    monkeypatch.setattr(micro_batches.tempfile, "TemporaryFile", lambda dir: Full() if dir in full else make(dir=dir))
    model = build("sclstm", dropout=0.3)
    shapes = [tuple(variable.shape) for variable in model.trainable_variables]
    found = MicroBatches("SCLSTM", model.get_config(), shapes, 2, 1)
    found.weights[:] = np.concatenate([np.asarray(weight).ravel() for weight in model.trainable_variables])
    # Without a file in memory there is one on the disk, and without either nobody to share with.
    assert len(found.start_helpers()) == (None not in full)
    assert same(learned(found), expected)


@pytest.mark.parametrize(("parts", "processors", "expected"), [(1, 8, 0), (2, 1, 0), (2, 2, 1), (3, 2, 1), (3, 8, 2)])
def test_helpers_are_for_free_processors(
    parts: int, processors: int, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = []
    monkeypatch.setattr(micro_batches, "usable_processors", lambda: processors)
    monkeypatch.setattr(micro_batches.Helper, "start", lambda *_, **__: started.append(1))
    monkeypatch.setattr(micro_batches, "PATIENCE", 3)
    model = build("lstm")
    shapes = [tuple(variable.shape) for variable in model.trainable_variables]
    found = MicroBatches("LSTM", model.get_config(), shapes, parts)
    for number in range(5):
        # And for trainings that have lasted for a while.
        assert len(started) == (expected if number >= 3 else 0)
        found.loss(batch())
    assert len(started) == expected


SCRIPT = """
import sys
from pathlib import Path
import dactnlg.models.numpy.micro_batches as micro_batches
from dactnlg.runs.config import load_config
from dactnlg.training.train import train
micro_batches.PATIENCE = 3
micro_batches.usable_processors = lambda: 2
start, joined = micro_batches.Helper.start, []
def at_once(*arguments, **options):
    helper = start(*arguments, **options)
    joined.append(helper.wait())
    return helper
micro_batches.Helper.start = at_once
sets = sys.argv[2:]
train(load_config("trails-hierarchical", sets), Path(sys.argv[1]), progress=False)
print(joined)
"""


def test_a_training_with_helpers_ends_with_the_same_weights(tmp_path: Path, repository: Path) -> None:
    """In a script without a guard, in which `multiprocessing` would start the script again."""
    small = ["training.epochs=2", "training.batch_size=16", "training.micro_batch_size=8", "model.hidden_size=16"]
    (tmp_path / "script.py").write_text(SCRIPT)
    environment = {**os.environ, "PYTHONPATH": str(repository)}
    command = [sys.executable, "script.py", "together", *small]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment, timeout=200)
    assert (done.stdout, done.returncode) == ("[True]\n", 0), done.stderr
    alone = {}
    for rows in (8, 16):
        config = load_config("trails-hierarchical", [*small, f"training.micro_batch_size={rows}"])
        alone[rows] = load_model(train(config, tmp_path / str(rows), progress=False).model_path).get_weights()
    together = load_model(tmp_path / "together" / "model.keras").get_weights()
    assert same(together, alone[8])
    # On the size of the parts it does depend.
    assert not same(together, alone[16])
