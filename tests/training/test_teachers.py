"""Teachers: their sentences are faultless and learned, interruptions lose none of them, and nothing stays behind."""

from __future__ import annotations

import itertools
import json
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dactnlg import Generator, models
from dactnlg.acts import Turn
from dactnlg.data.corpus import load_corpus
from dactnlg.data.pairs import build_preprocessor
from dactnlg.errors import ConfigError, RunError, WorkerError
from dactnlg.fidelity.checker import FidelityChecker
from dactnlg.fidelity.reader_file import load_reader
from dactnlg.models.numpy.learner import NumpyLearner
from dactnlg.models.weights import load_arrays
from dactnlg.runs.config import Config, load_config
from dactnlg.runs.run import Run
from dactnlg.text.requests import DelexicalizedAct
from dactnlg.text.segments import faults
from dactnlg.training.augmentation import teachers
from dactnlg.training.augmentation.invention import invent
from dactnlg.training.augmentation.teachers import APART, Teachers, taught, teacher_configs
from dactnlg.training.devices.workers import Cluster
from dactnlg.training.train import train

SMALL = [
    *("training.epochs=9", "training.batch_size=16", "training.learning_rate=0.01", "model.hidden_size=48"),
    *("training.teachers=2", "training.invention=0.2"),
]
KEPT = 64
"""A smaller block of acts than by default, so that the few acts of these tests fill several."""


@pytest.fixture(scope="module")
def small(few_pairs: Path) -> list[str]:
    """The settings of a small student of two teachers."""
    return [*SMALL, f"corpus.name={few_pairs}"]


@pytest.fixture(scope="module")
def run(small: list[str], tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Return a small run that two teachers have taught."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(teachers, "KEPT", KEPT)
        return train("trails-sclstm", tmp_path_factory.mktemp("taught") / "run", overrides=small, progress=False)


def sentences(run: Run) -> list[list[str]]:
    """Return what a run's teachers have said."""
    return [json.loads(line) for line in run.taught_path.read_text(encoding="utf-8").splitlines()]


def weights(run: Run) -> dict[str, Any]:
    """Return a run's weights."""
    return load_arrays(run.weights_path)


def test_taught_sentences_say_their_acts(run: Run, few_pairs: Path) -> None:
    preprocessor, pairs = build_preprocessor(load_corpus(few_pairs))
    preprocessor.attach(FidelityChecker(preprocessor.checker, load_reader(run.reader_path)))
    first: dict[DelexicalizedAct, Turn] = {}
    for pair in pairs:
        first.setdefault(preprocessor.request(pair.turn).act, pair.turn)
    invented = [pair.turn for pair in invent(pairs, round(0.2 * len(pairs)), 1)]
    said, turns = sentences(run), [*first.values(), *invented]
    kept = [(turn, tokens) for turn, tokens in zip(turns, said, strict=True) if tokens]
    assert len(kept) > 30 and len(invented) / 20 < sum(map(bool, said[len(first) :])) < len(invented)
    for turn, tokens in kept:
        assert set(tokens) <= set(preprocessor.vocabulary.tokens)
        assert faults(preprocessor, turn, tuple(tokens)) == ()


def test_taught_sentences_are_learned_beside_the_pairs(
    run: Run, small: list[str], few_pairs: Path, tmp_path: Path
) -> None:
    config = load_config("trails-sclstm", small, models)
    preprocessor, pairs = build_preprocessor(load_corpus(few_pairs))
    place = Run(tmp_path)
    place.taught_path.write_bytes(run.taught_path.read_bytes())
    found = taught(config, place, preprocessor, pairs, no_training, progress=False)
    invented = {pair.turn for pair in invent(pairs, round(0.2 * len(pairs)), 1)}
    texts = set(map(tuple, sentences(run)))
    assert {pair.tokens for pair in found} <= texts and () not in {pair.tokens for pair in found}
    # An act is taught as often as the corpus has it, and an invented one once.
    own = [preprocessor.request(pair.turn).act for pair in pairs]
    said = [preprocessor.request(pair.turn).act for pair in found if pair.turn not in invented]
    assert 0 < len(said) <= len(pairs)
    assert all(said.count(act) == own.count(act) for act in set(said))
    others = [pair.turn for pair in found if pair.turn in invented]
    assert others and len(others) == len(set(others))


def no_training(config: Config, run: Run) -> None:
    """Fail: nothing is to be trained."""
    raise AssertionError(run)


def test_teachers_differ_in_their_seeds_alone() -> None:
    config = load_config("trails-sclstm", ["training.teachers=3", "training.seed=4294967295"], models)
    found = teacher_configs(config)
    assert [each.training.seed for each in found] == [APART - 1, 2 * APART - 1, 3 * APART - 1]
    for each in found:
        same = each.training.model_copy(update={"seed": config.training.seed, "teachers": 3})
        assert each.training.teachers == 0 and same == config.training and each.model == config.model
    assert teacher_configs(load_config("trails-sclstm", [], models)) == []


def test_a_run_is_whole_without_its_teachers(run: Run) -> None:
    assert not run.teachers_path.exists()
    generator = Generator.load(run)
    assert all(found.slots_ok for found in generator.generate(["inform(name=x;length='7 km')", "goodbye()"]))


def test_an_interrupted_training_with_teachers_ends_alike(
    run: Run, small: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trained, firsts = list[str](), list[int]()
    real_said, real_trained = Teachers.said, teachers._trained

    def broken_off(*args: Any, **options: Any) -> Any:
        firsts.append(args[-1])
        for number, tokens in enumerate(real_said(*args, **options)):
            if number == KEPT + 11 and len(firsts) == 1:
                raise KeyboardInterrupt
            yield tokens

    def noted(config: Config, place: Run, make: Any) -> Any:
        def made(each: Config, teacher: Run) -> None:
            trained.append(teacher.path.name)
            make(each, teacher)

        return real_trained(config, place, made)

    def interrupting(self: NumpyLearner, *arguments: Any) -> float:
        if next(batches) == 80:
            signal.raise_signal(signal.SIGINT)
        return learn(self, *arguments)

    monkeypatch.setattr(teachers, "KEPT", KEPT)
    monkeypatch.setattr(Teachers, "said", broken_off)
    monkeypatch.setattr(teachers, "_trained", noted)
    batches, learn = itertools.count(1), NumpyLearner.learn
    monkeypatch.setattr(NumpyLearner, "learn", interrupting)
    with pytest.raises(KeyboardInterrupt):
        train("trails-sclstm", tmp_path / "run", overrides=small, progress=False)
    # The first teacher is interrupted in one of its nine epochs, and could be used as it is.
    assert trained == ["1"]
    assert 1 < Run(tmp_path / "run" / ".teachers" / "1").manifest()["training"]["epochs"] < 9
    trained.clear()
    with pytest.raises(KeyboardInterrupt):
        train("trails-sclstm", tmp_path / "run", overrides=small, progress=False, resume=True)
    assert trained == ["1", "2"]
    place = tmp_path / "run" / ".teachers" / "said.jsonl"
    # Incomplete, as a kill may leave it.
    place.write_text(place.read_text(encoding="utf-8")[:-3], encoding="utf-8")
    again = train("trails-sclstm", tmp_path / "run", overrides=small, progress=False, resume=True)
    # Neither were the teachers trained again, nor was the first block generated again.
    assert trained == ["1", "2"] and firsts == [0, KEPT]
    assert again.taught_path.read_bytes() == run.taught_path.read_bytes()
    one, other = weights(run), weights(again)
    assert one.keys() == other.keys() and all(np.array_equal(one[name], other[name]) for name in one)


def test_without_resume_teachers_are_trained_anew(
    small: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(config: Config, place: Run, make: Any) -> Sequence[Path]:
        place.teachers_path.mkdir()
        (place.teachers_path / "left").touch()
        raise KeyboardInterrupt

    few = [*small, "training.epochs=1", "training.teachers=1", "training.invention=0"]
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(teachers, "_trained", interrupt)
        train("trails-sclstm", tmp_path / "run", overrides=few, progress=False)
    assert (tmp_path / "run" / ".teachers" / "left").exists()
    found = train("trails-sclstm", tmp_path / "run", overrides=few, progress=False)
    assert not found.teachers_path.exists()


@pytest.mark.parametrize("content", ["[", "5\n", '["a"]\n', ""])
def test_damaged_taught_sentences_are_an_error(few_pairs: Path, small: list[str], tmp_path: Path, content: str) -> None:
    config = load_config("trails-sclstm", small, models)
    preprocessor, pairs = build_preprocessor(load_corpus(few_pairs))
    Run(tmp_path).taught_path.write_text(content, encoding="utf-8")
    with pytest.raises(RunError, match=r"taught\.jsonl is .*train the model anew"):
        taught(config, Run(tmp_path), preprocessor, pairs, no_training, progress=False)


def test_teachers_are_for_one_device_and_for_acts(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="invention needs teachers"):
        load_config("trails-sclstm", ["training.invention=1"], models)
    options = ["training.backend=keras", "training.teachers=1"]
    with pytest.raises(WorkerError, match=r"training\.teachers=1 is for one device"):
        train("trails-sclstm", tmp_path / "run", overrides=options, cluster=Cluster(devices=2))
    with pytest.raises(ConfigError, match=r"training\.teachers"):
        train("dailydialog-hred", tmp_path / "run", overrides=["training.teachers=1"])
