"""The same code and weights on every Keras backend: TensorFlow trains, JAX and NumPy generate and learn the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import backend_probe
import keras
import pytest

from dactnlg import models
from dactnlg.runs.config import load_config
from dactnlg.training.train import train

JAX = pytest.mark.needs("jax", "dactnlg[jax]")
# For programs that run once, fast compilation matters more than fast code.
SOON = "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"

pytestmark = pytest.mark.skipif(keras.backend.backend() != "tensorflow", reason="the reference is TensorFlow")


def probe(backend: str, run: Path, *tasks: str) -> Any:
    environment = {**os.environ, "KERAS_BACKEND": backend, "XLA_FLAGS": SOON}
    command = [sys.executable, backend_probe.__file__, str(run), *tasks]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    # The hierarchical model contains the others.
    poor = ["training.epochs=1", "model.hidden_size=24", "model.embedding_size=16", "training.batch_size=256"]
    # No dropout: each backend draws its own random numbers.
    poor += ["model.dropout=0.0", "decoding.max_length=30", "decoding.beam_width=4"]
    config = load_config("trails-hierarchical", poor, models)
    return train(config, tmp_path_factory.mktemp("backends") / "run", progress=False).path


@pytest.fixture(scope="module")
def found(run: Path) -> Callable[[str], Any]:
    """What a run says and learns with a backend, from one process each; NumPy cannot learn."""

    @cache
    def probed(backend: str) -> Any:
        return probe(backend, run, *(["said"] if backend == "numpy" else ["said", "learned"]))

    return probed


@pytest.mark.parametrize("backend", [pytest.param("jax", marks=JAX), "numpy"])
def test_every_backend_generates_the_same(run: Path, backend: str, found: Callable[[str], Any]) -> None:
    for ours, theirs in zip(backend_probe.said(run), found(backend)["said"], strict=True):
        assert [text for text, _ in ours] == [text for text, _ in theirs]
        assert [score for _, score in ours] == pytest.approx([score for _, score in theirs], abs=1e-3)


@pytest.mark.parametrize("backend", [pytest.param("jax", marks=JAX), "tensorflow"])
def test_a_latent_model_draws_anew_in_every_call(backend: str, tmp_path: Path) -> None:
    first, again = probe(backend, tmp_path, "drawn")["drawn"]
    numbers = [number for call in first for number in call]
    assert len(set(numbers)) == len(numbers) == 5
    assert again == first


@JAX
def test_jax_learns_what_tensorflow_learns(run: Path, found: Callable[[str], Any]) -> None:
    losses, precision = backend_probe.learned(run), backend_probe.precision()
    theirs, their_precision = found("jax")["learned"]
    assert losses[0] > losses[1] > losses[2]
    assert theirs == pytest.approx(losses, rel=1e-4)
    # GPUs must not round the factors of products.
    assert (precision, their_precision) == (False, "highest")


@JAX
def test_the_users_precision_for_jax_is_kept(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAX_DEFAULT_MATMUL_PRECISION", "tensorfloat32")
    assert probe("jax", run, "kept") == {"kept": "tensorfloat32"}
