"""From a configuration and pairs to a training loop: the model, its learner and its data."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from dactnlg.data.batching import Dataset
from dactnlg.generation.decoders.decoder import Decoder
from dactnlg.generation.decoders.numpy_decoder import NumpyDecoder
from dactnlg.models import numpy as numpy_models
from dactnlg.models.numpy.initial import fresh_weights
from dactnlg.runs.config import Config
from dactnlg.runs.writer import RunWriter
from dactnlg.text.preprocessor import Preprocessor
from dactnlg.training.callbacks import Callback
from dactnlg.training.devices.process_group import ProcessGroup
from dactnlg.training.initialization import initial_weights
from dactnlg.training.learner import Learner
from dactnlg.training.loop import TrainingLoop
from dactnlg.training.schedule import Schedule
from dactnlg.training.selection import BleuSelection
from dactnlg.training.splits import Splits


class Learning(NamedTuple):
    """A model ready for training.

    Attributes:
        learner: trains it.
        train_set, valid_set: the training data, and the data that decides when to stop.
        make_decoder: returns a decoder with the current weights.
        about: what the manifest records about it.
    """

    learner: Learner
    train_set: Dataset
    valid_set: Dataset
    make_decoder: Callable[[], Decoder]
    about: dict[str, Any]


def build_loop(
    config: Config,
    backend: str,
    preprocessor: Preprocessor,
    pairs: Splits,
    *,
    writer: RunWriter,
    group: ProcessGroup,
    callbacks: Sequence[Callback] = (),
    progress: bool = True,
) -> TrainingLoop:
    """Build a model, its learner and the loop that trains it.

    Args:
        config: the experiment.
        backend: `numpy` or `keras`.
        preprocessor: of the training pairs.
        pairs: the training pairs, and those that decide when to stop.
        writer: of the run folder, already begun.
        group: the processes that train together.
        callbacks: called after each epoch.
        progress: show a progress bar on standard error.
    """
    options = Schedule.model_validate(config.training.model_dump())
    build = _in_numpy if backend == "numpy" else _in_keras
    # All processes resume from the origin that rank 0 has recorded.
    origin = json.loads(group.broadcast(json.dumps(writer.run.origin() if group.rank == 0 else None)))
    found = build(config, options, preprocessor, pairs, group, origin)
    group.on_rank_0(lambda: writer.keep_origin(found.about))
    about = {**found.about, "workers": group.cluster.workers, "devices": group.cluster.devices}
    selection = None
    if options.select == "bleu":
        selection = BleuSelection(config, preprocessor, pairs.corpus, found.make_decoder)
    return TrainingLoop(
        found.learner,
        found.train_set,
        found.valid_set,
        options,
        writer,
        group,
        callbacks,
        progress=progress,
        selection=selection,
        about=about,
    )


def _in_numpy(
    config: Config,
    options: Schedule,
    preprocessor: Preprocessor,
    pairs: Splits,
    group: ProcessGroup,
    origin: Mapping[str, Any] | None,
) -> Learning:
    """Return a model to train in NumPy; Keras is not imported."""
    section = config.model
    fresh = fresh_weights(section, preprocessor.sizes, options.seed)
    weights, origin = initial_weights(section, preprocessor, fresh, origin)
    learner = numpy_models.build_learner(section, weights, options.learning_rate, options.clip_norm)
    names = numpy_models.inputs_of(section)
    train_set = Dataset.encode(preprocessor, pairs.train, names, options.repetition)
    valid_set = Dataset.encode(preprocessor, pairs.valid, names)
    about = {"parameters": sum(weight.size for weight in weights.values()), "backend": "numpy", **origin}
    return Learning(learner, train_set, valid_set, _numpy_decoders(config, preprocessor, learner), about)


def _in_keras(
    config: Config,
    options: Schedule,
    preprocessor: Preprocessor,
    pairs: Splits,
    group: ProcessGroup,
    origin: Mapping[str, Any] | None,
) -> Learning:
    """Return a model to train in Keras; if NumPy supports it, it starts from the same weights as in NumPy."""
    import keras

    from dactnlg.models import build_model
    from dactnlg.models.backend import computing, retraces, to_numpy
    from dactnlg.models.weights import named_weights
    from dactnlg.training.keras_learner import KerasLearner

    section, numpy = config.model, numpy_models.supports(config.model.name)
    keras.utils.set_random_seed(options.seed)
    with group.scope(), computing(options.precision):
        model = build_model(section.name, preprocessor.sizes, **section.keywords())
        variables = named_weights(model)
        if numpy:
            fresh = fresh_weights(section, preprocessor.sizes, options.seed)
        else:
            fresh = {name: to_numpy(weight) for name, weight in variables.items()}
        weights, origin = initial_weights(section, preprocessor, fresh, origin)
        for name, weight in variables.items() if origin or numpy else ():
            weight.assign(weights[name])
    train_set = Dataset.encode(preprocessor, pairs.train, model.inputs, options.repetition)
    valid_set = Dataset.encode(preprocessor, pairs.valid, model.inputs)
    if not retraces():
        train_set, valid_set = train_set.in_few_lengths(), valid_set.in_few_lengths()
    rate, norm, size = options.learning_rate, options.clip_norm, options.batch_size
    learner = KerasLearner(model, rate, norm, sample=train_set, batch_size=size, group=group)
    about = {"parameters": model.count_params(), "backend": keras.backend.backend(), **origin}
    decoders = (_numpy_decoders if numpy else _keras_decoders)(config, preprocessor, learner)
    return Learning(learner, train_set, valid_set, decoders, about)


def _numpy_decoders(config: Config, preprocessor: Preprocessor, learner: Learner) -> Callable[[], Decoder]:
    """Return a function that makes a NumPy decoder with the current weights."""

    def decoder() -> Decoder:
        model = numpy_models.searching(config.model, learner.weights())
        return NumpyDecoder(model, preprocessor, max_length=config.decoding.max_length)

    return decoder


def _keras_decoders(config: Config, preprocessor: Preprocessor, learner: Learner) -> Callable[[], Decoder]:
    """Return a function that makes a Keras decoder with the current weights."""
    from dactnlg.generation.decoders.keras_decoder import KerasDecoder
    from dactnlg.models import build_model
    from dactnlg.models.weights import named_weights

    def decoder() -> Decoder:
        # A new model each time: it searches in single precision, as the run will, whatever it is trained in; and on
        # JAX a compiled program keeps the weights that it was compiled with.
        model = build_model(config.model.name, preprocessor.sizes, **config.model.keywords())
        weights, variables = learner.weights(), named_weights(model)
        for name, variable in variables.items():
            variable.assign(weights[name])
        return KerasDecoder(model, preprocessor, max_length=config.decoding.max_length)

    return decoder
