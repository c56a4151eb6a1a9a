"""Small trainings on the embedded corpus, and what their runs have learned."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from dactnlg import models
from dactnlg.models.weights import load_arrays
from dactnlg.runs.config import RANDOM, Config, load_config

SMALL = ["training.epochs=3", "model.hidden_size=16", "model.embedding_size=16", "training.batch_size=128"]
SETS = [word for each in SMALL for word in ("--set", each)]


def config(model: str, *overrides: str) -> Config:
    """Return the configuration of a small model; the settings of others are left out."""
    keys = models.section(model).model_fields
    small = [one for one in SMALL if not one.startswith("model.") or one.split("=")[0].removeprefix("model.") in keys]
    return load_config(f"trails-{model}", [*small, *overrides] if model != RANDOM else overrides, models)


def checkpoint(run: Path) -> dict[str, np.ndarray]:
    """Return all that the last checkpoint of a run holds: weights and the optimizer's state."""
    (path,) = run.glob("checkpoint-*.safetensors")
    return load_arrays(path)


def same(one: Path, two: Path) -> bool:
    """Return whether two runs have exactly the same weights and state of the optimizer."""
    ours, theirs = checkpoint(one), checkpoint(two)
    assert list(ours) == list(theirs) and any(name.startswith("weights/") for name in ours)
    return all(np.array_equal(array, theirs[name]) for name, array in ours.items())
