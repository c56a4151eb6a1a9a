"""Training of models that answer a dialogue context: different data, but the same learner, loop and run folder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dactnlg.data.batching import Dataset
from dactnlg.data.dialogues import context_pairs, load_dialogues
from dactnlg.data.teacher_arrays import TeacherArrays, load_teacher_arrays
from dactnlg.errors import ConfigError, CorpusError
from dactnlg.models.dialogue_sections import DialogueSection
from dactnlg.runs.config import Config, DecodingConfig
from dactnlg.runs.run import Run
from dactnlg.runs.writer import RunWriter
from dactnlg.text.dialogue_preprocessor import ContextPair, DialoguePreprocessor
from dactnlg.text.vocabulary import BOS_ID
from dactnlg.training.callbacks import Callback
from dactnlg.training.devices.process_group import ProcessGroup
from dactnlg.training.devices.workers import Cluster
from dactnlg.training.loop import TrainingLoop
from dactnlg.training.messages import tell_left_out
from dactnlg.training.plot import check_plot, save_plot
from dactnlg.training.schedule import Schedule
from dactnlg.training.tensorboard import TensorBoard

if TYPE_CHECKING:
    from dactnlg.models.base import NeuralModel

DEFAULTS = {"epochs": 20, "batch_size": 64, "patience": 3, "decay_patience": 1}
"""Defaults of the section `training` for dialogues."""


def train_dialogue(
    config: Config,
    run: Run,
    *,
    resume: bool = False,
    overwrite: bool = False,
    progress: bool = False,
    callbacks: Sequence[Callback] = (),
) -> None:
    """Train a model on dialogues and write its run folder; see `training.train.train`.

    Raises:
        ConfigError: the model and the corpus do not fit together, or a key is set that applies only to acts.
        CorpusError: the corpus is missing or damaged.
        RunError: the folder already holds a run, or something else.
        UserError: the teacher's arrays cannot be used, or a plot cannot be drawn.
        KeyboardInterrupt: after Ctrl-C, once all progress is on disk.
    """
    section = checked(config)
    given = {name: value for name, value in config.training.model_dump().items() if value is not None}
    options = Schedule(**{**DEFAULTS, **given})
    config = config.model_copy(update={"training": options})
    if options.plot:
        check_plot()
    corpus = load_dialogues(config.corpus.name, config.corpus.data_dir)
    tell_left_out(corpus.notes)
    pairs = {split: pairs_of(section, corpus.splits[split]) for split in ("train", "valid")}
    for split, found in pairs.items():
        if not found:
            raise CorpusError(f"the split '{split}' of {corpus.card.name} has no dialogue of two turns")
    teacher = load_teacher_arrays(section.teacher) if section.teacher else None
    _check_sizes(section, teacher)
    preprocessor = DialoguePreprocessor.build(
        pairs["train"],
        turns=section.turns,
        longest=section.longest,
        most=section.most_words,
        teacher=teacher.id if teacher else "",
        acts=labels_of(section, pairs["train"]),
    )
    writer = RunWriter(run)
    with writer.opened(resume=resume, overwrite=overwrite):
        writer.begin(config, preprocessor.save, resume=resume)
        if options.tensorboard:
            callbacks = [*callbacks, TensorBoard(writer.run.tensorboard_path)]
        loop = _loop(config, options, preprocessor, pairs, teacher, writer, callbacks, progress=progress)
        summary = loop.fit()
        if summary["epochs"]:
            if options.plot:
                save_plot(writer.run.plot_path, writer.run.history(), summary["best_epoch"])
            writer.finish({**summary, "warnings": []}, {corpus.card.name: {**corpus.hashes()}})
    if summary["interrupted"]:
        raise KeyboardInterrupt


def checked(config: Config) -> DialogueSection:
    """Check that a configuration can be used with dialogues, and return its model's section.

    Raises:
        ConfigError: the model does not answer contexts, or a key does not apply to dialogues; names the key.
    """
    if not isinstance(config.model, DialogueSection):
        raise ConfigError(f"model.name: '{config.model.name}' says acts; {config.corpus.name} holds dialogues")
    options, corpus, unknown = config.training, config.corpus, []
    unknown += ["training.select"] if options.select != "loss" else []
    unknown += ["training.recombination"] if options.recombination else []
    unknown += ["training.teachers"] if options.teachers else []
    unknown += ["training.backend"] if options.backend == "numpy" else []
    unknown += ["training.teachers_mbr"] if options.teachers_mbr else []
    unknown += ["training.invention"] if options.invention else []
    unknown += ["training.repetition"] if options.repetition != 1.0 else []
    unknown += ["corpus.also"] if corpus.also else []
    unknown += ["corpus.targets"] if corpus.targets != "human" else []
    unknown += ["corpus.min_count"] if corpus.min_count != 1 else []
    unknown += ["corpus.lexicalized"] if corpus.lexicalized else []
    unknown += ["model.initialize_from"] if config.model.initialize_from else []
    usual = DecodingConfig().model_dump()
    unknown += [f"decoding.{key}" for key, value in config.decoding.model_dump().items() if value != usual[key]]
    if unknown:
        raise ConfigError(f"{', '.join(unknown)}: not for dialogues; leave it at its default")
    return config.model


def pairs_of(section: DialogueSection, dialogues: Sequence[Any]) -> list[ContextPair]:
    """Return the pairs of a split, limited to the section's number of dialogues."""
    return context_pairs(dialogues[: section.dialogues], section.turns)


def labels_of(section: DialogueSection, pairs: Sequence[ContextPair]) -> set[str]:
    """Return the labels of acts that the model is given; none unless `section.acts`.

    Raises:
        ConfigError: the model needs them, but the corpus has none.
    """
    if not getattr(section, "acts", False):
        return set()
    found = {label for pair in pairs for label in pair.acts}
    if not found:
        raise ConfigError("model.acts: the corpus has no labels of acts; leave it at false")
    return found


def _check_sizes(section: DialogueSection, teacher: TeacherArrays | None) -> None:
    """Refuse a teacher whose arrays do not have the sizes of the model's section.

    Raises:
        ConfigError: names the keys and the values that they need.
    """
    if teacher is None or getattr(section, "ei", "none") == "none":
        return
    sizes = {"emotions": teacher.emotions.shape[1], "vector_size": teacher.vectors.shape[1]}
    if wrong := {name: size for name, size in sizes.items() if getattr(section, name) != size}:
        keys = ", ".join(f"model.{name} to {size}" for name, size in wrong.items())
        raise ConfigError(f"model.teacher: the arrays of {teacher.name} are of other sizes: set {keys}")


def encode(
    preprocessor: DialoguePreprocessor, pairs: Sequence[ContextPair], model: NeuralModel, teacher: TeacherArrays | None
) -> Dataset:
    """Return pairs as arrays: the inputs of the model and, with a teacher, its emotions and vectors of the context."""
    contexts = [pair.context for pair in pairs]
    inputs = preprocessor.arrays(contexts, [preprocessor.known_acts(pair.acts) for pair in pairs])
    if teacher is not None:
        inputs |= teacher.of(contexts, preprocessor.turns)
    noises = model.float_inputs()
    inputs |= {n: np.zeros((len(pairs), *noises[n]), np.float32) for n in model.inputs if n not in inputs}
    rows = [[BOS_ID, *preprocessor.encode(pair.target)] for pair in pairs]
    lengths = np.array([len(row) - 1 for row in rows], np.int32)
    tokens = np.zeros((len(rows), preprocessor.longest + 1), np.int32)
    for index, row in enumerate(rows):
        tokens[index, : len(row)] = row
    return Dataset(inputs, tokens, lengths, np.ones(len(rows), np.float32))


def _loop(
    config: Config,
    options: Schedule,
    preprocessor: DialoguePreprocessor,
    pairs: dict[str, list[ContextPair]],
    teacher: TeacherArrays | None,
    writer: RunWriter,
    callbacks: Sequence[Callback],
    *,
    progress: bool,
) -> TrainingLoop:
    import keras

    from dactnlg.models import build_model
    from dactnlg.models.backend import check_trains, computing, retraces
    from dactnlg.training.keras_learner import KerasLearner

    check_trains()
    keras.utils.set_random_seed(options.seed)
    with computing(options.precision):
        model = build_model(config.model.name, preprocessor.sizes, **config.model.keywords())
    train_set, valid_set = (encode(preprocessor, pairs[split], model, teacher) for split in ("train", "valid"))
    if not retraces():
        train_set, valid_set = train_set.in_few_lengths(), valid_set.in_few_lengths()
    learner = KerasLearner(
        model, options.learning_rate, options.clip_norm, sample=train_set, batch_size=options.batch_size
    )
    about = {"parameters": model.count_params(), "backend": keras.backend.backend(), "workers": 1, "devices": 1}
    about |= {"teacher": preprocessor.teacher}
    group = ProcessGroup(Cluster())
    return TrainingLoop(
        learner, train_set, valid_set, options, writer, group, callbacks, progress=progress, about=about
    )
