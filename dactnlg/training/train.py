"""Training: from a configuration to a run folder.

The run folder holds everything that generation needs, and after every epoch a checkpoint with the optimizer's state,
so that a broken run goes on where it was and ends with the same weights as an unbroken one.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from dactnlg import __version__, models
from dactnlg._utils.files import replace_file
from dactnlg._utils.hashing import digest
from dactnlg.data.corpus import Corpus, load_corpus, split_hashes
from dactnlg.data.dialogues import dialogue_names
from dactnlg.data.pairs import build_preprocessor, validation_pairs
from dactnlg.errors import ConfigError, WorkerError
from dactnlg.fidelity.checker import FidelityChecker
from dactnlg.fidelity.reader_file import load_reader
from dactnlg.models import numpy as numpy_models
from dactnlg.models.dialogue_sections import DIALOGUE
from dactnlg.runs.config import Config, load_config, read_config
from dactnlg.runs.run import Run
from dactnlg.runs.writer import RunWriter
from dactnlg.text.example import Pair
from dactnlg.text.preprocessor import Preprocessor
from dactnlg.training.advice import advice
from dactnlg.training.building import build_loop
from dactnlg.training.callbacks import Callback
from dactnlg.training.initialization import sized
from dactnlg.training.messages import LOG, heard, tell_end
from dactnlg.training.plot import check_plot, save_plot
from dactnlg.training.process_group import ProcessGroup
from dactnlg.training.readers import write_reader
from dactnlg.training.recombination import recombined
from dactnlg.training.schedule import scheduled
from dactnlg.training.splits import Splits
from dactnlg.training.tensorboard import TensorBoard
from dactnlg.training.workers import Cluster


def train(
    config: str | Path | Mapping[str, Any] | Config,
    output: str | Path | None = None,
    *,
    overrides: Sequence[str] = (),
    resume: bool = False,
    overwrite: bool = False,
    progress: bool = True,
    callbacks: Sequence[Callback] = (),
    cluster: Cluster | None = None,
) -> Run:
    """Train a model and write its run folder.

    >>> run = dactnlg.train({"corpus": {"name": "trails"}, "model": {"name": "random"}}, "runs/doctest")
    >>> run.path.name
    'doctest'

    Args:
        config: the experiment: a YAML file, the name of one that comes with dactnlg, or its sections as a mapping.
        output: the run folder; made if it is not there. By default `runs/` with the file's name, for a mapping
            `runs/CORPUS-MODEL`.
        overrides: "training.epochs=3" and the like; they replace keys of the configuration.
        resume: continue from the last finished epoch, if there is one.
        overwrite: replace a run that the folder holds, when the new one is whole: until then that is trained beside
            it. With `resume` too, an interrupted replacement goes on.
        progress: show a progress bar on standard error.
        callbacks: called after each epoch; any of them may end the training.
        cluster: the devices and worker processes that train together; each process calls this with the same
            arguments but its own rank. Rank 0 alone writes, and shows progress.

    Returns:
        The run, as `Generator.load` and `dactnlg.evaluate` take it.

    Raises:
        ConfigError: mistakes in the configuration, all of them.
        WorkerError: the cluster is not to be had, or its processes do not agree.
        RunError: the folder holds a run already or something else, or another configuration is to be resumed.
        CorpusError: the corpus is missing, damaged or empty.
        UserError: NumPy is asked for and does not support the model, or a loss is no finite number.
        KeyboardInterrupt: after Ctrl-C, once what was done is on the disk; nothing is kept of the epoch that it fell
            into, so that what is resumed ends as if it had not been interrupted.
    """
    source, config = config, _checked(config, overrides)
    if config.corpus.name in dialogue_names():
        return _train_on_dialogues(
            config,
            Run(_default_output(source, config) if output is None else output),
            cluster,
            resume=resume,
            overwrite=overwrite,
            progress=progress,
            callbacks=callbacks,
        )
    if config.model.name in DIALOGUE:
        names = ", ".join(dialogue_names())
        raise ConfigError(
            f"model.name: '{config.model.name}' answers contexts; corpus.name is one of dialogues: {names}"
        )
    corpora = [load_corpus(name, config.corpus.data_dir) for name in (config.corpus.name, *config.corpus.also)]
    run, cluster = Run(_default_output(source, config) if output is None else output), cluster or Cluster()
    if cluster.parts > 1:
        _check_parts(config)
    if config.model.neural:
        _train_neural(
            config,
            corpora,
            run,
            resume=resume,
            overwrite=overwrite,
            progress=progress,
            callbacks=callbacks,
            cluster=cluster,
        )
    else:
        writer = RunWriter(run)
        with writer.opened(resume=resume, overwrite=overwrite):
            # The random baseline draws from every training sentence, whatever it leaves out (Sharma et al. 2017, 4.1).
            preprocessor = _preprocessor(config, corpora)[0]
            learn = _reader_maker(config, corpora, preprocessor, progress=progress)
            writer.begin(config, preprocessor.save, learn, resume=resume)
            writer.finish({}, split_hashes(corpora))
    return run


def _train_on_dialogues(config: Config, run: Run, cluster: Cluster | None, **options: Any) -> Run:
    """Train a model that answers contexts.

    Raises:
        WorkerError: several processes are asked for.
    """
    from dactnlg.training.dialogue import train_dialogue

    if cluster is not None and cluster.parts > 1:
        raise WorkerError(f"the model '{config.model.name}' of dialogues trains on one device")
    train_dialogue(config, run, **options)
    return run


def _train_neural(
    config: Config,
    corpora: Sequence[Corpus],
    run: Run,
    *,
    resume: bool,
    overwrite: bool,
    progress: bool,
    callbacks: Sequence[Callback],
    cluster: Cluster,
) -> None:
    """Train a model that has weights, alone or with other processes; see `train`."""
    backend, config = chosen_backend(config), sized(config, run, resume=resume and not overwrite)
    if backend == "keras" and cluster.parts == 1:
        from dactnlg.models.backend import check_trains

        check_trains()
    preprocessor, pairs = _preprocessor(config, corpora)
    config = scheduled(config, pairs)
    if config.training.plot:
        check_plot()
    held_out = validation_pairs(corpora[0], preprocessor, targets=config.corpus.targets)

    writer = RunWriter(run)

    def begin() -> None:
        folder.enter_context(writer.opened(resume=resume, overwrite=overwrite))
        writer.begin(
            config, preprocessor.save, _reader_maker(config, corpora, preprocessor, progress=progress), resume=resume
        )

    with contextlib.ExitStack() as folder:
        if cluster.parts == 1:
            begin()
        group = ProcessGroup(cluster)
        if cluster.parts > 1:
            # Keras is slow to import: not before all that can go wrong without it has been checked.
            from dactnlg.training.device_groups import join_process_group

            group = folder.enter_context(join_process_group(cluster))
            group.compare(_fingerprint(config, [*pairs, *held_out]), "configuration, corpus or version")
            group.on_rank_0(begin)
        shown = progress and group.rank == 0
        if (config.training.select == "bleu" or config.training.recombination) and writer.run.reader_path.exists():
            # What is generated to select an epoch is what the run will generate.
            preprocessor.attach(FidelityChecker(preprocessor.checker, load_reader(writer.run.reader_path)))
        pairs += recombined(config, preprocessor, pairs, progress=shown)
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
    if cluster.parts == 1 and heard():
        tell_end(run, summary, corpora[0].split("valid"))
    for warning in summary["warnings"] if group.rank == 0 else ():
        LOG.warning("%s", warning)


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


def _reader_maker(
    config: Config, corpora: Sequence[Corpus], preprocessor: Preprocessor, *, progress: bool
) -> Callable[[Path], None]:
    """Return what writes the reader of a run to a path."""
    targets = config.corpus.targets
    return partial(write_reader, corpus=corpora[0], style=preprocessor.style, targets=targets, progress=progress)


def _check_parts(config: Config) -> None:
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


def _preprocessor(config: Config, corpora: Sequence[Corpus]) -> tuple[Preprocessor, list[Pair]]:
    """Return the preprocessor that the training splits give, and their pairs."""
    return build_preprocessor(
        corpora[0],
        corpora[1:],
        targets=config.corpus.targets,
        min_count=config.corpus.min_count,
        complete_only=config.model.neural,
        lexicalized=config.corpus.lexicalized,
        context=config.model.sees_context,
    )


def _checked(config: str | Path | Mapping[str, Any] | Config, overrides: Sequence[str]) -> Config:
    """Return the configuration that a caller means, read and checked.

    Raises:
        ConfigError: there are mistakes: all of them, one a line.
    """
    if isinstance(config, Config) and not overrides:
        return config
    if isinstance(config, Config):
        config = config.model_dump()
    if isinstance(config, Mapping):
        return read_config(config, overrides, models)
    return load_config(config, overrides, models)


def _default_output(source: object, config: Config) -> Path:
    """Return the run folder of a training that names none."""
    if isinstance(source, str | Path):
        return Path("runs") / Path(source).stem
    return Path("runs") / f"{Path(config.corpus.name).stem}-{config.model.name}"


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
