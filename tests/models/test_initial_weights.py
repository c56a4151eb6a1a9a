"""What the models that NumPy supports begin with: the weights of the Keras models, distributed as Keras draws them."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from dactnlg import models
from dactnlg.models import build_model
from dactnlg.models.backend import to_numpy
from dactnlg.models.numpy import INPUTS
from dactnlg.models.numpy.initial import fresh_weights, weights_of
from dactnlg.models.weights import named_weights
from dactnlg.runs.config import ModelSection, load_config
from dactnlg.text.encoding import Sizes

SIZES = Sizes(vocabulary=90, act=37, words=50, context=60)


def section(name: str) -> ModelSection:
    name, _, more = name.partition("+")
    changes = ["model.hidden_size=48", "model.embedding_size=40", *([f"model.{more}=true"] if more else [])]
    return load_config(f"trails-{name}", changes, models).model


@pytest.mark.parametrize("name", [*INPUTS, "sclstm+context", "hierarchical+context"])
def test_the_weights_are_those_of_the_keras_model(name: str) -> None:
    chosen = section(name)
    theirs = {n: to_numpy(w) for n, w in named_weights(build_model(chosen.name, SIZES, **chosen.keywords())).items()}
    ours = fresh_weights(chosen, SIZES, 1)
    assert {n: w.shape for n, w in ours.items()} == {n: w.shape for n, w in theirs.items()}
    for weight, (_, kind, _) in weights_of(chosen, SIZES).items():
        mine, other = ours[weight], theirs[weight]
        assert mine.dtype == other.dtype == np.float32
        if kind in ("zeros", "forget_gate"):
            assert np.array_equal(mine, other), weight
        elif kind == "orthogonal":
            for each in (mine, other):
                assert np.allclose(each @ each.T, np.eye(len(each)), atol=1e-5), weight
            assert stats.ks_2samp(mine.ravel(), other.ravel()).pvalue > 1e-4, weight
        else:
            # Uniform within the same bounds.
            limit = 0.05 if kind == "uniform" else math.sqrt(6 / sum(mine.shape))
            for each in (mine, other):
                assert np.abs(each).max() <= limit * (1 + 1e-6), weight
                assert stats.kstest(each.ravel(), stats.uniform(-limit, 2 * limit).cdf).pvalue > 1e-4, weight


def test_weights_depend_on_the_seed() -> None:
    one, again, other = (fresh_weights(section("hierarchical"), SIZES, seed) for seed in (1, 1, 2))
    assert all(np.array_equal(one[name], again[name]) for name in one)
    assert not np.array_equal(one["embedding"], other["embedding"])
    assert not np.array_equal(one["lower/cell/recurrent"][:, :40], one["upper/cell/recurrent"][:50, :40])


def test_training_in_numpy_needs_no_keras(tmp_path: Path) -> None:
    program = f"""if True:
        import sys, dactnlg
        for model in ("lstm", "hierarchical"):
            small = ["training.epochs=1", "model.hidden_size=8", "training.batch_size=128", "training.select=bleu"]
            small.append("decoding.constraint=none")
            dactnlg.train(f"trails-{{model}}", f"{tmp_path}/{{model}}", overrides=small, progress=False)
        print(sorted({{"keras", "tensorflow", "jax", "torch"}} & set(sys.modules)))
    """
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout, done.stderr) == (0, "[]\n", "")
