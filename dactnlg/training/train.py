"""Training: from a configuration to a run folder.

The run folder holds everything that generation needs, and after every epoch a checkpoint with the optimizer's state,
so that a broken run goes on where it was and ends with the same weights as an unbroken one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dactnlg import models
from dactnlg._utils.names import as_names
from dactnlg._utils.resources import dialogue_names
from dactnlg.data.corpus import load_corpus, split_hashes
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
        ConfigError: mistakes in the configuration, all of them, or two corpora have the same name.
        WorkerError: the cluster is not to be had, or its processes do not agree.
        RunError: the folder holds a run already or something else, or another configuration is to be resumed.
        CorpusError: the corpus is missing, damaged or empty.
        UserError: NumPy is asked for and does not support the model, or a loss is no finite number.
        KeyboardInterrupt: after Ctrl-C, once what was done is on the disk; nothing is kept of the epoch that it fell
            into, so that what is resumed ends as if it had not been interrupted.
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
            # The random baseline draws from every training sentence, whatever it leaves out (Sharma et al. 2017, 4.1).
            preprocessor = preprocessor_of(config, corpora)[0]
            learn = reader_maker(config, corpora, preprocessor, progress=progress)
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


def _checked(config: str | Path | Mapping[str, Any] | Config, overrides: Sequence[str]) -> Config:
    """Return the configuration that a caller means, read and checked.

    Raises:
        ConfigError: there are mistakes: all of them, one a line.
    """
    # What was read without the models has nothing but the model's name checked.
    if isinstance(config, Config) and not overrides and not isinstance(config.model, UncheckedModelSection):
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
