"""Selection by BLEU: the best epoch is kept, resuming changes nothing, and the score is that of `evaluate`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dactnlg import models
from dactnlg.errors import WorkerError
from dactnlg.evaluation.evaluate import evaluate
from dactnlg.generation.decoders.keras_decoder import KerasDecoder
from dactnlg.generation.options import GenerationOptions
from dactnlg.models.weights import load_arrays
from dactnlg.runs.config import load_config
from dactnlg.runs.run import Run
from dactnlg.training import selection
from dactnlg.training.devices.workers import Cluster
from dactnlg.training.train import train

# Steps that are too large: what is said goes up and down from epoch to epoch.
SMALL = ["training.select=bleu", "training.learning_rate=0.02", "training.batch_size=128", "decoding.max_length=30"]
SMALL += ["model.hidden_size=24", "model.embedding_size=16"]
# Without a constraint, under which a poor model searches long for unseen acts.
FREE = "decoding.constraint=none"


def trained(folder: Path, *overrides: str, **more: Any) -> Run:
    config = load_config("trails-sclstm", [*SMALL, *overrides], models)
    return train(config, folder, progress=False, **more)


class Stop:
    """Ends a training after an epoch.

    Args:
        epoch: the last one.
    """

    def __init__(self, epoch: int) -> None:
        self._epoch = epoch

    def on_epoch_end(self, row: Mapping[str, Any]) -> bool:
        """Return whether the epoch is an earlier one."""
        return row["epoch"] < self._epoch


def test_the_best_epoch_is_kept_and_resuming_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selection, "ACTS", 40)
    whole = trained(tmp_path / "whole", "training.epochs=5", FREE)
    rows, summary = whole.history(), whole.manifest()["training"]
    scores = [row["valid_bleu"] - row["valid_faulty"] for row in rows]
    assert len(rows) == 5 and len(set(scores)) > 1
    assert summary["best_epoch"] == 1 + int(np.argmax(scores))
    assert summary["best_score"] == max(scores)
    assert summary["best_valid_loss"] == min(row["valid_loss"] for row in rows)

    # What is kept are the weights of that epoch's end.
    best = load_arrays(whole.weights_path)
    short = trained(tmp_path / "short", f"training.epochs={summary['best_epoch']}", FREE)
    last = load_arrays(short.checkpoint_path(summary["best_epoch"]))
    for name, weight in best.items():
        np.testing.assert_array_equal(weight, last[f"weights/{name}"])

    for epoch in (1, 3):
        folder = tmp_path / f"stopped-{epoch}"
        trained(folder, "training.epochs=5", FREE, callbacks=[Stop(epoch)])
        run = trained(folder, "training.epochs=5", FREE, resume=True)
        assert run.weights_path.read_bytes() == whole.weights_path.read_bytes()
        facts = ("valid_bleu", "valid_faulty", "valid_loss", "learning_rate")
        assert [[row[key] for key in facts] for row in run.history()] == [[row[key] for key in facts] for row in rows]
        assert run.manifest()["training"]["best_epoch"] == summary["best_epoch"]


def test_the_score_is_that_of_evaluate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selection, "ACTS", 10**6)
    run = trained(tmp_path / "run", "training.epochs=1")
    (row,) = run.history()
    options = GenerationOptions(beam_width=selection.WIDTH)
    result = evaluate(run, split="valid", presets=["nlg-eval"], metrics=["BLEU-4"], options=options)
    assert row["valid_bleu"] == pytest.approx(result.results[0].scores["BLEU-4"].value, abs=1e-9)
    faults = sum(not generation.slots_ok or generation.origin == "template" for generation in result.generations)
    assert row["valid_faulty"] == pytest.approx(faults / len(result.generations))


@pytest.mark.parametrize("precision", ["float32", "mixed_bfloat16"])
def test_keras_searches_for_models_that_numpy_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, precision: str
) -> None:
    searched: list[int] = []
    search = KerasDecoder.search_all

    def counted(decoder: KerasDecoder, inputs: Any, plan: Any) -> Any:
        searched.append(len(inputs["act"]))
        return search(decoder, inputs, plan)

    monkeypatch.setattr(selection, "ACTS", 12)
    monkeypatch.setattr(KerasDecoder, "search_all", counted)
    monkeypatch.setattr("dactnlg.models.numpy.supports", lambda name: False)
    settings = ["training.epochs=1", "training.backend=keras", f"training.precision={precision}"]
    run = trained(tmp_path / "run", *settings, FREE)
    (row,) = run.history()
    assert 0 <= row["valid_faulty"] <= 1 and 0 <= row["valid_bleu"] <= 1
    assert max(searched) > 1


def test_selection_by_bleu_is_for_one_device() -> None:
    with pytest.raises(WorkerError, match=r"training\.select=bleu is for one device"):
        trained(Path("nowhere"), "training.backend=keras", cluster=Cluster.read(2, None, None))
