"""The same code and weights on every Keras backend: TensorFlow trains, JAX and NumPy generate and learn the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from dactnlg import models
from dactnlg.runs.config import load_config
from dactnlg.training.train import train

ACTS = [
    "goodbye()",
    "?request(region)",
    "inform(name='Red Kite Ridge';difficulty=moderate;length='7 km';dogsallowed=yes)",
    "inform_no_match(region='Marl Valley or Hollow Hills';stroller=yes)",
]
GENERATE = """
import json, sys
from dactnlg.generation.generator import Generator
from dactnlg.generation.options import GenerationOptions
results = Generator.load(sys.argv[1]).generate(json.loads(sys.argv[2]), GenerationOptions(n_best=3))
print(json.dumps([[(other.text, other.score or 0.0) for other in result.n_best] for result in results]))
"""
LEARN = """
import json, sys
import keras, numpy as np
from dactnlg.models.backend import jit_compile
from dactnlg.models import load_model
from dactnlg.runs.run import Run
from dactnlg.text.preprocessor import Preprocessor
run = Run(sys.argv[1])
section, sizes = run.check().model, Preprocessor.load(run.preprocessor_path).sizes
model = load_model(section.name, sizes, run.weights_path, section.keywords())
model.compile(optimizer=keras.optimizers.Adam(0.01, global_clipnorm=5.0), jit_compile=jit_compile())
rng = np.random.default_rng(0)
tokens = rng.integers(4, sizes.vocabulary, (8, 7)).astype(np.int32)
batch = {"act": (rng.random((8, sizes.act)) < 0.1).astype(np.float32), "tokens": tokens[:, :-1]}
batch |= {"targets": tokens[:, 1:], "lengths": np.arange(8, dtype=np.int32) % 7, "weights": np.ones(8, np.float32)}
batch |= {"entries": rng.integers(0, sizes.act, (8, 4, 2)).astype(np.int32)}
batch |= {"words": rng.integers(0, 5, (8, 4, 4)).astype(np.int32)}
losses = [float(model.train_on_batch(batch)) for _ in range(3)]
print(json.dumps([losses, PRECISION]))
"""
PRECISION = {
    "tensorflow": '__import__("tensorflow").config.experimental.tensor_float_32_execution_enabled()',
    "jax": '__import__("jax").config.jax_default_matmul_precision',
}


def probe(script: str, backend: str, *arguments: str) -> Any:
    environment = {**os.environ, "KERAS_BACKEND": backend, "TF_CPP_MIN_LOG_LEVEL": "3"}
    command = [sys.executable, "-c", script, *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    # The hierarchical model is the others and more.
    poor = ["training.epochs=1", "model.hidden_size=24", "model.embedding_size=16", "training.batch_size=256"]
    # No dropout: each backend draws its own random numbers.
    poor += ["model.dropout=0.0", "decoding.max_length=30", "decoding.beam_width=4"]
    config = load_config("trails-hierarchical", poor, models)
    return train(config, tmp_path_factory.mktemp("backends") / "run", progress=False).path


@pytest.fixture(scope="module")
def expected(run: Path) -> Any:
    """What TensorFlow generates."""
    return probe(GENERATE, "tensorflow", str(run), json.dumps(ACTS))


@pytest.mark.parametrize("backend", ["jax", "numpy"])
def test_every_backend_generates_the_same(run: Path, backend: str, expected: Any) -> None:
    found = probe(GENERATE, backend, str(run), json.dumps(ACTS))
    for ours, theirs in zip(expected, found, strict=True):
        assert [text for text, _ in ours] == [text for text, _ in theirs]
        assert [score for _, score in ours] == pytest.approx([score for _, score in theirs], abs=1e-3)


def test_jax_learns_what_tensorflow_learns(run: Path) -> None:
    found = [probe(LEARN.replace("PRECISION", PRECISION[name]), name, str(run)) for name in ("tensorflow", "jax")]
    losses = [losses for losses, _ in found]
    assert losses[0][0] > losses[0][1] > losses[0][2]
    assert losses[1] == pytest.approx(losses[0], rel=1e-4)
    # No GPU may round the factors of products.
    assert [precision for _, precision in found] == [False, "highest"]


def test_the_users_precision_for_jax_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAX_DEFAULT_MATMUL_PRECISION", "tensorfloat32")
    script = "import json; from dactnlg.models.backend import keep_float32; keep_float32()\n"
    assert probe(f"{script}print(json.dumps({PRECISION['jax']}))", "jax") == "tensorfloat32"


def test_jax_is_there() -> None:
    # The tests above need it; the `dev` extra installs it.
    assert find_spec("jax") is not None
