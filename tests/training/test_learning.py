"""Both learners take the same steps, and each goes on from its own checkpoint; which of them is chosen."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import keras
import numpy as np
import pytest

from dactnlg import models
from dactnlg.data.batching import Batch, Dataset
from dactnlg.data.corpus import load_corpus
from dactnlg.data.pairs import build_preprocessor
from dactnlg.errors import ConfigError, UserError
from dactnlg.models import build_model
from dactnlg.models import numpy as numpy_models
from dactnlg.models.backend import to_numpy
from dactnlg.models.base import NeuralModel
from dactnlg.models.numpy.learner import NumpyLearner
from dactnlg.models.weights import load_arrays, named_weights, save_arrays
from dactnlg.runs.config import Config, ModelSection, load_config
from dactnlg.text.encoding import Sizes
from dactnlg.training.keras_learner import KerasLearner
from dactnlg.training.neural import chosen_backend
from dactnlg.training.train import train

SIZE = 32


class Setting(NamedTuple):
    """The embedded corpus, and a model for it."""

    pairs: Dataset
    section: ModelSection
    sizes: Sizes

    def model(self) -> NeuralModel:
        """Return an untrained model, always the same."""
        keras.utils.set_random_seed(1)
        return build_model(self.section.name, self.sizes, **self.section.keywords())

    def numpy(self, rate: float, clip: float) -> NumpyLearner:
        weights = {name: to_numpy(weight) for name, weight in named_weights(self.model()).items()}
        return numpy_models.build_learner(self.section, weights, rate, clip)

    def keras(self, rate: float, clip: float) -> KerasLearner:
        return KerasLearner(self.model(), rate, clip, sample=self.pairs, batch_size=SIZE)


@pytest.fixture(scope="module")
def setting() -> Setting:
    sizes = ["model.hidden_size=12", "model.embedding_size=8", "model.encoder_size=6", "model.value_size=5"]
    config = load_config("trails-hierarchical", [*sizes, "model.dropout=0.0"], models)
    preprocessor, pairs = build_preprocessor(load_corpus("trails"))
    names = models.model_class("hierarchical").inputs
    return Setting(Dataset.encode(preprocessor, pairs, names), config.model, preprocessor.sizes)


def batches(data: Dataset, seed: int) -> list[Batch]:
    return [batch for batch, _ in data.batches(SIZE, np.random.default_rng(seed))][:4]


def test_both_learners_take_the_same_steps(setting: Setting, tmp_path: Path) -> None:
    pairs, path = setting.pairs, tmp_path / "checkpoint.safetensors"
    # A norm that some gradients exceed.
    by_numpy, by_keras = setting.numpy(0.01, 0.5), setting.keras(0.01, 0.5)
    for batch in batches(pairs, 0):
        assert by_numpy.learn(batch) == pytest.approx(by_keras.learn(batch), rel=1e-4)
    assert by_numpy.loss(batches(pairs, 1)[0]) == pytest.approx(by_keras.loss(batches(pairs, 1)[0]), rel=1e-4)
    assert list(by_numpy.weights()) == list(by_keras.weights())
    for name, weight in by_keras.weights().items():
        np.testing.assert_allclose(by_numpy.weights()[name], weight, atol=2e-3, err_msg=name)
    for learner, again in ((by_numpy, setting.numpy(0.1, 0.5)), (by_keras, setting.keras(0.1, 0.5))):
        learner.learning_rate *= 0.7
        save_arrays(path, learner.state())
        again.restore(load_arrays(path))
        assert again.learning_rate == learner.learning_rate == pytest.approx(0.007)
        for batch in batches(pairs, 2):
            assert again.learn(batch) == learner.learn(batch), "a restored learner takes other steps"
        assert all(np.array_equal(array, again.state()[name]) for name, array in learner.state().items())
    for batch in batches(pairs, 3):
        assert by_numpy.learn(batch) == pytest.approx(by_keras.learn(batch), rel=1e-4)


def test_the_whole_gradient_is_clipped(setting: Setting) -> None:
    # With words of values that occur more than once in a batch, whose gradients are summed.
    by_numpy, by_keras = setting.numpy(0.1, 0.01), setting.keras(0.1, 0.01)
    batch = {name: np.repeat(values[:1], SIZE, axis=0) for name, values in batches(setting.pairs, 3)[0].items()}
    by_numpy.learn(batch)
    by_keras.learn(batch)
    # Adam's first moments are a tenth of the clipped gradient, whose norm is known. Keras has two counters before them.
    means = [array for name, array in by_numpy.state().items() if name.startswith("mean/")]
    for moments in (means, [to_numpy(variable) for variable in by_keras.optimizer.variables[2::2]]):
        norm = np.sqrt(sum(np.sum(moment.astype(np.float64) ** 2) for moment in moments))
        assert norm == pytest.approx(0.1 * 0.01, rel=1e-5)


@pytest.mark.parametrize(
    ("name", "settings", "expected"),
    [
        ("lstm", [], "numpy"),
        ("sclstm", [], "numpy"),
        ("hierarchical", [], "numpy"),
        ("hierarchical", ["training.backend=keras"], "keras"),
        ("sclstm", ["training.precision=mixed_bfloat16"], "keras"),
        ("sclstm", ["training.precision=mixed_float16"], "keras"),
    ],
)
def test_auto_chooses_numpy_where_it_can(name: str, settings: list[str], expected: str) -> None:
    config = load_config(f"trails-{name}", settings, models)
    assert settings[:1] == ["training.backend=keras"] or config.training.backend == "auto"
    assert chosen_backend(config) == expected


def other_model(backend: str) -> Config:
    """Return the configuration of a model that NumPy does not support."""
    config = load_config("trails-sclstm", [f"training.backend={backend}"], models)
    return config.model_copy(update={"model": config.model.model_copy(update={"name": "transformer"})})


def test_a_model_that_numpy_does_not_support_is_learned_by_keras(tmp_path: Path) -> None:
    assert chosen_backend(other_model("auto")) == chosen_backend(other_model("keras")) == "keras"
    with pytest.raises(UserError, match="numpy does not support the model 'transformer', only lstm, sclstm, hier"):
        train(other_model("numpy"), tmp_path / "run", progress=False)
    assert not (tmp_path / "run").exists()


def test_numpy_computes_in_single_precision_only() -> None:
    with pytest.raises(ConfigError, match="precision mixed_float16 needs backend: keras"):
        load_config("trails-sclstm", ["training.backend=numpy", "training.precision=mixed_float16"])


@pytest.mark.parametrize("model", ["sclstm", "hierarchical"])
def test_both_backends_begin_with_the_same_weights(model: str, few_pairs: Path, tmp_path: Path) -> None:
    # Batches of more rows than there are pairs: the loss of the first epoch is that of the first weights.
    few = ["training.epochs=1", "training.batch_size=512", "model.dropout=0.0", "model.hidden_size=16"]
    few.append(f"corpus.name={few_pairs}")
    losses = [
        train(
            load_config(f"trails-{model}", [*few, f"training.backend={backend}"], models),
            tmp_path / backend,
            progress=False,
        ).history()[0]["loss"]
        for backend in ("numpy", "keras")
    ]
    assert losses[0] == pytest.approx(losses[1], rel=1e-6)
