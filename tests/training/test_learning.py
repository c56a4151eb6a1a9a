"""Both ways to learn take the same steps, and go on from each other's checkpoints."""

from __future__ import annotations

from pathlib import Path

import keras
import numpy as np
import pytest

from dactnlg.data.batching import Batch, Dataset
from dactnlg.data.corpus import load_corpus
from dactnlg.data.pairs import build_preprocessor
from dactnlg.models import build_model
from dactnlg.models.backend import to_numpy
from dactnlg.models.base import NeuralModel
from dactnlg.training.learners import ArrayLearner, KerasLearner

SIZE = 32


@pytest.fixture(scope="module")
def data() -> tuple[Dataset, NeuralModel, NeuralModel, NeuralModel]:
    """The embedded corpus, and three like models that have learned nothing."""
    preprocessor, pairs = build_preprocessor(load_corpus("trails"))
    models = []
    for _ in range(3):
        keras.utils.set_random_seed(1)
        models.append(
            build_model("hierarchical", preprocessor, hidden_size=12, embedding_size=8, encoder_size=6, value_size=5)
        )
    return (Dataset.encode(preprocessor, pairs, True), *models)  # type: ignore[return-value]


def batches(data: Dataset, seed: int) -> list[Batch]:
    return [batch for batch, _ in data.batches(SIZE, np.random.default_rng(seed))][:4]


def test_both_take_the_same_steps_from_the_same_checkpoint(
    data: tuple[Dataset, NeuralModel, NeuralModel, NeuralModel], tmp_path: Path
) -> None:
    pairs, one, two, three = data
    # A norm that the gradient exceeds, at times.
    array, framework = ArrayLearner(one, 0.01, 0.5), KerasLearner(two, 0.01, 0.5, pairs, SIZE)
    for batch in batches(pairs, 0):
        assert array.learn(batch) == pytest.approx(framework.learn(batch), rel=1e-4)
    assert array.loss(batches(pairs, 1)[0]) == pytest.approx(framework.loss(batches(pairs, 1)[0]), rel=1e-4)
    array.learning_rate *= 0.7
    array.save(tmp_path / "checkpoint.keras")
    for variable, other in zip(one.trainable_variables, two.trainable_variables, strict=True):
        np.testing.assert_allclose(to_numpy(variable), to_numpy(other), atol=2e-3, err_msg=variable.path)
    again = ArrayLearner(three, 0.01, 0.5)
    again.restore(tmp_path / "checkpoint.keras")
    framework.restore(tmp_path / "checkpoint.keras")
    assert again.learning_rate == array.learning_rate == framework.learning_rate
    for batch in batches(pairs, 2):
        loss = array.learn(batch)
        assert again.learn(batch) == loss, "a restored learner takes other steps"
        assert framework.learn(batch) == pytest.approx(loss, rel=1e-4)


def test_the_whole_gradient_is_clipped(
    data: tuple[Dataset, NeuralModel, NeuralModel, NeuralModel], tmp_path: Path
) -> None:
    # Words of values that occur more than once in a batch: their slopes count together.
    pairs, one, two, _ = data
    two.set_weights(one.get_weights())
    array, framework = ArrayLearner(one, 0.1, 0.01), KerasLearner(two, 0.1, 0.01, pairs, SIZE)
    batch = {name: np.repeat(values[:1], SIZE, axis=0) for name, values in batches(pairs, 3)[0].items()}
    array.learn(batch)
    framework.learn(batch)
    # Adam's first moments, after two counters, are a tenth of the clipped gradient, whose norm is known.
    array.save(tmp_path / "checkpoint.keras")
    for learner in (array, framework):
        moments = [to_numpy(variable).astype(np.float64) for variable in learner.optimizer.variables[2::2]]
        norm = np.sqrt(sum(np.sum(moment**2) for moment in moments))
        assert norm == pytest.approx(0.1 * 0.01, rel=1e-5)
