"""From a configuration and pairs to a training loop: the model, its learner and the data that it wants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import keras

from dactnlg.data.batching import Dataset
from dactnlg.models import build_model
from dactnlg.models import numpy as numpy_models
from dactnlg.models.backend import computing, retraces, to_numpy
from dactnlg.models.weights import named_weights
from dactnlg.runs.config import Config
from dactnlg.runs.run import Run
from dactnlg.text.example import Pair
from dactnlg.text.preprocessor import Preprocessor
from dactnlg.training.callbacks import Callback
from dactnlg.training.learners import KerasLearner, Learner
from dactnlg.training.loop import TrainingLoop
from dactnlg.training.process_group import ProcessGroup
from dactnlg.training.workers import Cluster


def fit(
    config: Config,
    backend: str,
    preprocessor: Preprocessor,
    pairs: Sequence[Pair],
    held_out: Sequence[Pair],
    *,
    run: Run,
    progress: bool = True,
    group: ProcessGroup | None = None,
    callbacks: Sequence[Callback] = (),
) -> dict[str, Any]:
    """Build a model, train it, and return the summary for the manifest.

    Args:
        config: the experiment.
        backend: what computes, `numpy` or `keras`.
        preprocessor: of the training pairs.
        pairs: to learn from.
        held_out: the pairs that decide when to stop.
        run: the run folder, begun.
        progress: show a progress bar on standard error.
        group: the processes that train together; this one alone by default.
        callbacks: called after each epoch.
    """
    options, group = config.training, group or ProcessGroup(Cluster())
    keras.utils.set_random_seed(options.seed)
    with group.scope(), computing(options.precision):
        model = build_model(config.model.name, preprocessor.sizes, **config.model.keywords())
    train_set = Dataset.encode(preprocessor, pairs, model.inputs, options.repetition)
    valid_set = Dataset.encode(preprocessor, held_out, model.inputs)
    learner: Learner
    if backend == "numpy":
        weights = {name: to_numpy(weight) for name, weight in named_weights(model).items()}
        learner = numpy_models.build_learner(config.model, weights, options.learning_rate, options.clip_norm)
    else:
        if not retraces():
            train_set, valid_set = train_set.in_few_lengths(), valid_set.in_few_lengths()
        rate, norm, size = options.learning_rate, options.clip_norm, options.batch_size
        learner = KerasLearner(model, rate, norm, sample=train_set, batch_size=size, group=group)
    loop = TrainingLoop(learner, train_set, valid_set, options, run, group, callbacks, progress)
    return {
        **loop.fit(),
        "parameters": model.count_params(),
        "backend": "numpy" if backend == "numpy" else keras.backend.backend(),
        "workers": group.cluster.workers,
        "devices": group.cluster.devices,
    }
