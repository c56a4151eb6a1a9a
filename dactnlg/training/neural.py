"""Training of models that have weights: their pairs, alone or taught, and the loop that learns from them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from dactnlg import __version__
from dactnlg._utils.files import replace_file
from dactnlg._utils.hashing import digest
from dactnlg.data.corpus import Corpus, split_hashes
from dactnlg.data.pairs import build_preprocessor, validation_pairs
from dactnlg.errors import WorkerError
from dactnlg.fidelity.checker import FidelityChecker
from dactnlg.fidelity.reader_file import load_reader
from dactnlg.models import numpy as numpy_models
from dactnlg.runs.config import Config
from dactnlg.runs.run import Run
from dactnlg.runs.writer import RunWriter
from dactnlg.text.example import Pair
from dactnlg.text.preprocessor import Preprocessor
from dactnlg.training.advice import advice
from dactnlg.training.augmentation.recombination import recombined
from dactnlg.training.augmentation.teachers import taught
from dactnlg.training.building import build_loop
from dactnlg.training.callbacks import Callback
from dactnlg.training.devices.process_group import ProcessGroup
from dactnlg.training.devices.workers import Cluster
from dactnlg.training.initialization import sized
from dactnlg.training.plot import check_plot, save_plot
from dactnlg.training.readers import write_reader
from dactnlg.training.schedule import scheduled
from dactnlg.training.splits import Splits
from dactnlg.training.tensorboard import TensorBoard


def train_neural(
    config: Config,
    corpora: Sequence[Corpus],
    run: Run,
    *,
    resume: bool,
    overwrite: bool,
    progress: bool,
    callbacks: Sequence[Callback],
    cluster: Cluster,
) -> dict[str, Any]:
    """Train a model that has weights, alone or with other processes, and return a summary; see `train`."""
    backend, config = chosen_backend(config), sized(config, run, resume=resume and not overwrite)
    if backend == "keras" and cluster.parts == 1:
        from dactnlg.models.backend import check_trains

        check_trains()
    preprocessor, pairs = preprocessor_of(config, corpora)
    config = scheduled(config, pairs)
    if config.training.plot:
        check_plot()
    held_out = validation_pairs(corpora[0], preprocessor, targets=config.corpus.targets)

    writer = RunWriter(run)

    def begin() -> None:
        folder.enter_context(writer.opened(resume=resume, overwrite=overwrite))
        writer.begin(
            config, preprocessor.save, reader_maker(config, corpora, preprocessor, progress=progress), resume=resume
        )

    with contextlib.ExitStack() as folder:
        if cluster.parts == 1:
            begin()
        group = ProcessGroup(cluster)
        if cluster.parts > 1:
            # Keras is slow to import: not before all that can go wrong without it has been checked.
            from dactnlg.training.devices.device_groups import join_process_group

            group = folder.enter_context(join_process_group(cluster))
            group.compare(_fingerprint(config, [*pairs, *held_out]), "configuration, corpus or version")
            group.on_rank_0(begin)
        shown = progress and group.rank == 0
        teach = partial(_train_teacher, corpora=corpora, progress=progress, cluster=cluster)
        pairs += _further(config, writer.run, preprocessor, pairs, teach, progress=shown)
        splits = Splits(pairs, held_out, corpora[0])
        if config.training.tensorboard and group.rank == 0:
            callbacks = [*callbacks, TensorBoard(writer.run.tensorboard_path)]
        loop = build_loop(
            config, backend, preprocessor, splits, writer=writer, group=group, callbacks=callbacks, progress=shown
        )
        summary = loop.fit()
        if summary["epochs"]:
            group.on_rank_0(lambda: _finish(config, splits, writer, summary, corpora))
    if summary["interrupted"]:
        raise KeyboardInterrupt
    return {"warnings": [], **summary}


def _further(
    config: Config,
    run: Run,
    preprocessor: Preprocessor,
    pairs: Sequence[Pair],
    teach: Callable[[Config, Run], None],
    *,
    progress: bool,
) -> list[Pair]:
    """Return the pairs that are made of a corpus's own: recombined ones, and those that teachers say."""
    if (config.training.select == "bleu" or config.training.recombination) and run.reader_path.exists():
        # What is generated to select an epoch is what the run will generate.
        preprocessor.attach(FidelityChecker(preprocessor.checker, load_reader(run.reader_path)))
    found = recombined(config, preprocessor, pairs, progress=progress)
    return found + taught(config, run, preprocessor, [*pairs, *found], teach, progress=progress)


def _train_teacher(config: Config, run: Run, *, corpora: Sequence[Corpus], progress: bool, cluster: Cluster) -> None:
    """Train a teacher into a folder of the run that it is for, or go on with that."""
    train_neural(config, corpora, run, resume=True, overwrite=False, progress=progress, callbacks=(), cluster=cluster)


def _finish(
    config: Config, splits: Splits, writer: RunWriter, summary: dict[str, Any], corpora: Sequence[Corpus]
) -> None:
    """Make a run of what was trained; the warnings that it gives rise to are added to the summary."""
    history = writer.run.history()
    if config.training.plot:
        with replace_file(writer.run.plot_path) as partial:
            save_plot(partial, history, summary["best_epoch"])
    summary["warnings"] = advice(config.training, splits, history, summary)
    writer.finish(summary, split_hashes(corpora))


def check_parts(config: Config) -> None:
    """Refuse what one process alone can do.

    Raises:
        WorkerError: names the key to change.
    """
    options = config.training
    if options.backend != "keras" or not config.model.neural:
        raise WorkerError("only neural models train on several devices or workers, with training.backend=keras")
    if options.select != "loss":
        raise WorkerError(f"training.select={options.select} is for one device: choose training.select=loss")
    if options.recombination:
        raise WorkerError(f"training.recombination={options.recombination:g} is for one device: choose 0")
    if options.teachers:
        raise WorkerError(f"training.teachers={options.teachers} is for one device: choose 0")


def preprocessor_of(config: Config, corpora: Sequence[Corpus]) -> tuple[Preprocessor, list[Pair]]:
    """Return the preprocessor that the training splits give, and their pairs."""
    return build_preprocessor(
        corpora[0],
        corpora[1:],
        counterfeited=config.corpus.counterfeit,
        targets=config.corpus.targets,
        min_count=config.corpus.min_count,
        complete_only=config.model.neural,
        lexicalized=config.corpus.lexicalized,
        context=config.model.sees_context,
    )


def reader_maker(
    config: Config, corpora: Sequence[Corpus], preprocessor: Preprocessor, *, progress: bool
) -> Callable[[Path], None]:
    """Return what writes the reader of a run to a path."""
    targets = config.corpus.targets
    return partial(write_reader, corpus=corpora[0], style=preprocessor.style, targets=targets, progress=progress)


def chosen_backend(config: Config) -> str:
    """Return what computes: `numpy`, `keras`, or `none` for the random baseline.

    Raises:
        UserError: NumPy is asked for and does not support the model.
    """
    if not config.model.neural:
        return "none"
    if config.training.backend == "auto" and config.training.precision != "float32":
        return "keras"
    return numpy_models.chosen_backend(config.model.name, config.training.backend, "training.backend")


def _fingerprint(config: Config, pairs: Sequence[Pair]) -> str:
    """Return the hash of what has to be the same in all processes; where the corpora lie may differ."""
    options = config.model_dump()
    options["corpus"].pop("data_dir")
    return digest(
        [__version__, options, [[str(pair.turn), pair.corpus, list(pair.tokens), pair.context] for pair in pairs]]
    )
