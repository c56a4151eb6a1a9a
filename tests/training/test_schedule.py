"""The length of a training where the configuration does not say: enough updates for little data, and for much."""

from __future__ import annotations

import json
import random
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dactnlg import models
from dactnlg.acts import parse
from dactnlg.generation.generator import Generator
from dactnlg.runs.config import config_names, load_config
from dactnlg.runs.run import Run
from dactnlg.text.example import Pair
from dactnlg.training.schedule import Schedule, scheduled
from dactnlg.training.train import train

LENGTH = ("epochs", "batch_size", "patience", "decay_patience")


def schedule(count: int, *overrides: str) -> Schedule:
    """Return the schedule for so many different pairs, each of them twice."""
    turn = parse("inform(name=x)")
    pairs = [Pair(turn, None, (f"w{number}",)) for number in range(count) for _ in range(2)]
    unset = [f"training.{name}=null" for name in LENGTH]
    found = scheduled(load_config("trails-sclstm", [*unset, *overrides], models), pairs).training
    assert isinstance(found, Schedule)
    return found


@pytest.mark.parametrize(
    ("pairs", "batch", "epochs", "patience"),
    # 6,000 updates at most, and 600 without a better epoch: by hand.
    [(1, 16, 500, 600), (300, 16, 316, 32), (3000, 32, 64, 7), (40_000, 64, 10, 5)],
)
def test_the_schedule_is_that_computed_by_hand(pairs: int, batch: int, epochs: int, patience: int) -> None:
    found = schedule(pairs)
    assert (found.batch_size, found.epochs, found.patience) == (batch, epochs, patience)


@settings(max_examples=20)
@given(st.integers(1, 5000))
def test_enough_updates_whatever_the_data(count: int) -> None:
    found = schedule(count)
    batches = -(-count // found.batch_size)
    assert found.epochs * batches >= 6000 or found.epochs == 500
    assert found.patience * batches >= 600 and found.decay_patience * batches >= 150
    assert found.epochs <= 500 and found.decay_patience < found.patience


def test_given_lengths_are_kept() -> None:
    found = schedule(300, "training.epochs=7", "training.patience=3")
    assert (found.epochs, found.patience, found.batch_size) == (7, 3, 16)


def test_the_configurations_give_all_lengths() -> None:
    # Their results are published, so a change of the rule must not change them.
    for name in config_names():
        config = load_config(name, (), models)
        if config.model.neural:
            assert None not in (getattr(config.training, key) for key in LENGTH), name


def flights(count: int, chance: random.Random) -> list[dict[str, str]]:
    """Return pairs such as a user's first ones: a few cities and airlines, yes and no, several wordings."""
    airlines, cities = ("KLM", "Delta", "Iberia", "Air France"), ("Rome", "Oslo", "Paris", "New York", "Cairo")
    rows = []
    for _ in range(count):
        airline, city, refund, stops = (chance.choice(each) for each in (airlines, cities, ("yes", "no"), (2, 3)))
        act, text = f"airline='{airline}'", chance.choice([f"{airline} flies", f"There is a flight of {airline}"])
        if chance.random() < 0.7:
            act, text = f"{act};to='{city}'", f"{text} to {city}"
        if chance.random() < 0.5:
            act, text = f"{act};stops={stops}", f"{text} with {stops} stops"
        if chance.random() < 0.5:
            said = {"yes": "The ticket is refundable.", "no": "There is no refund."}[refund]
            act, text = f"{act};refundable={refund}", f"{text}. {said}".removesuffix(".")
        rows.append({"act": f"inform({act})", "text": f"{text}."})
    return rows


def test_defaults_alone_learn_little_data(tmp_path: Path) -> None:
    rows = flights(150, random.Random(5))
    for name, part in (("train", rows[:110]), ("valid", rows[110:])):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in part))
    run = train({"corpus": {"name": str(tmp_path)}, "model": {"name": "sclstm"}}, tmp_path / "run", progress=False)
    config = load_config(run.config_path)
    assert config.training.batch_size == 16 and config.training.epochs == 500
    assert run.manifest()["config"]["training"]["patience"] == config.training.patience
    said = {
        f"{start}{to}{stops}.{refund}"
        for start in ("KLM flies", "There is a flight of KLM")
        for to, stops in product(("", " to Rome"), ("", " with 2 stops"))
        for refund in ("", " The ticket is refundable.", " There is no refund.")
    }
    chosen = (";to=Rome", ""), (";stops=2", ""), (";refundable=yes", ";refundable=no", "")
    acts = [f"inform(airline=KLM{''.join(more)})" for more in product(*chosen)]
    for generation in Generator.load(run).generate(acts):
        assert generation.text in said and generation.slots_ok, generation


def test_a_resumed_training_has_the_same_length(few_pairs: Path, tmp_path: Path) -> None:
    class Once:
        def on_epoch_end(self, row: object) -> bool:
            return False

    unset = [f"training.{name}=null" for name in LENGTH[1:]]
    few = ["training.epochs=2", "model.hidden_size=16", "model.embedding_size=16", *unset]
    few.append(f"corpus.name={few_pairs}")
    train("trails-lstm", tmp_path / "broken", overrides=few, progress=False, callbacks=[Once()])
    train("trails-lstm", tmp_path / "broken", overrides=few, resume=True, progress=False)
    train("trails-lstm", tmp_path / "whole", overrides=few, progress=False)
    weights = [Run(tmp_path / name).weights_path.read_bytes() for name in ("broken", "whole")]
    assert weights[0] == weights[1]


def test_the_history_has_the_learning_rate_that_an_epoch_learned_with(tmp_path: Path) -> None:
    sizes = ["model.hidden_size=16", "model.embedding_size=16", "training.batch_size=32"]
    options = ["training.learning_rate=0.5", "training.epochs=8", "training.decay_patience=1", "training.patience=9"]
    rows = train("trails-lstm", tmp_path / "run", overrides=[*sizes, *options], progress=False).history()
    losses, rates = ([float(row[name]) for row in rows] for name in ("valid_loss", "learning_rate"))
    falls = [0.5 if losses[k] >= min(losses[:k], default=np.inf) else 1.0 for k in range(7)]
    assert rates[0] == 0.5 and min(falls) == 0.5
    assert [rates[k + 1] / rates[k] for k in range(7)] == pytest.approx(falls)
