"""Training: from a configuration to a run folder.

The run folder holds everything that generation needs, and after every epoch a checkpoint with the optimizer's state,
so that an interrupted run can be resumed and ends with the same weights as an uninterrupted one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dactnlg import models
from dactnlg._utils.names import as_names
from dactnlg._utils.resources import dialogue_names
from dactnlg.data.corpus import load_corpus
from dactnlg.errors import ConfigError, WorkerError
from dactnlg.models.dialogue_sections import DIALOGUE
from dactnlg.runs.config import Config, load_config, read_config
from dactnlg.runs.run import Run
from dactnlg.runs.sections import UncheckedModelSection
from dactnlg.runs.writer import RunWriter
from dactnlg.training.callbacks import Callback
from dactnlg.training.devices.workers import Cluster
from dactnlg.training.messages import LOG, heard, tell_end
from dactnlg.training.neural import check_parts, preprocessor_of, reader_maker, train_neural
from dactnlg.training.splits import split_hashes


def train(
    config: str | Path | Mapping[str, Any] | Config,
    output: str | Path | None = None,
    *,
    overrides: str | Sequence[str] = (),
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
        output: the run folder; created if missing. By default `runs/` with the file's name, for a mapping
            `runs/CORPUS-MODEL`.
        overrides: replacements of keys of the configuration, such as "training.epochs=3".
        resume: continue from the last finished epoch, if there is one.
        overwrite: replace a run in the folder once the new one, trained in a separate folder, is complete. With
            `resume`, an interrupted replacement is continued.
        progress: show a progress bar on standard error.
        callbacks: called after each epoch; any of them may end the training.
        cluster: the devices and worker processes that train together; each process calls this with the same
            arguments but its own rank. Only rank 0 writes and shows progress.

    Returns:
        The run, for `Generator.load` and `dactnlg.evaluate`.

    Raises:
        ConfigError: mistakes in the configuration, all of them, or two corpora have the same name.
        WorkerError: the cluster is not available, or its processes do not agree.
        RunError: the folder already holds a run, or something else, or the run to resume has another configuration.
        CorpusError: the corpus is missing, damaged or empty.
        UserError: NumPy is requested but does not support the model, or a loss is not finite.
        KeyboardInterrupt: after Ctrl-C, once all progress is on disk; the current epoch is discarded, so that a resumed
            training ends as if it had not been interrupted.
    """
    source, config = config, _checked(config, as_names(overrides))
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
    if twice := [name for name, count in Counter(corpus.name for corpus in corpora).items() if count > 1]:
        raise ConfigError(
            f"corpus.also: several corpora are called '{twice[0]}' and could not be told apart; rename the file or "
            "folder of one, or give it a card with another name"
        )
    run, cluster = Run(_default_output(source, config) if output is None else output), cluster or Cluster()
    if cluster.parts > 1:
        check_parts(config)
    if config.model.neural:
        summary = train_neural(
            config,
            corpora,
            run,
            resume=resume,
            overwrite=overwrite,
            progress=progress,
            callbacks=callbacks,
            cluster=cluster,
        )
        if cluster.parts == 1 and heard():
            tell_end(run, summary, corpora[0].split("valid"))
        for warning in summary["warnings"]:
            LOG.warning("%s", warning)
    else:
        writer = RunWriter(run)
        with writer.opened(resume=resume, overwrite=overwrite):
            # The random baseline draws from all training sentences, even incomplete ones (Sharma et al. 2017, 4.1).
            preprocessor = preprocessor_of(config, corpora)[0]
            learn = reader_maker(config, corpora, preprocessor, progress=progress)
            writer.begin(config, preprocessor.save, learn, resume=resume)
            writer.finish({}, split_hashes(corpora))
    return run


def _train_on_dialogues(config: Config, run: Run, cluster: Cluster | None, **options: Any) -> Run:
    """Train a model that answers dialogue contexts.

    Raises:
        WorkerError: several processes or devices are requested.
    """
    from dactnlg.training.dialogue import train_dialogue

    if cluster is not None and cluster.parts > 1:
        raise WorkerError(f"the model '{config.model.name}' of dialogues trains on one device")
    train_dialogue(config, run, **options)
    return run


def _checked(config: str | Path | Mapping[str, Any] | Config, overrides: Sequence[str]) -> Config:
    """Read and check the configuration that a caller has passed.

    Raises:
        ConfigError: there are mistakes: all of them, one per line.
    """
    # Of a configuration that was read without the models only the model's name has been checked.
    if isinstance(config, Config) and not overrides and not isinstance(config.model, UncheckedModelSection):
        return config
    if isinstance(config, Config):
        config = config.model_dump()
    if isinstance(config, Mapping):
        return read_config(config, overrides, models)
    return load_config(config, overrides, models)


def _default_output(source: object, config: Config) -> Path:
    """Return the default run folder."""
    if isinstance(source, str | Path):
        return Path("runs") / Path(source).stem
    return Path("runs") / f"{Path(config.corpus.name).stem}-{config.model.name}"
