"""Training: from a configuration to a run folder.

The run folder holds everything that generation needs, and after every epoch a checkpoint with the optimizer's state,
so that a broken run goes on where it was and ends with the same weights as an unbroken one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from dactnlg import __version__
from dactnlg._utils.hashing import digest
from dactnlg.data.corpus import Corpus, load_corpus, split_hashes
from dactnlg.data.pairs import build_preprocessor, validation_pairs
from dactnlg.errors import WorkerError
from dactnlg.runs.config import Config, load_config
from dactnlg.runs.run import Run
from dactnlg.text.example import Pair
from dactnlg.training.workers import Cluster

Report = Callable[[Mapping[str, Any]], bool]
"""Told of an epoch; says whether to go on."""


def train(
    config: str | Path | Mapping[str, Any] | Config,
    output: str | Path | None = None,
    *,
    overrides: Sequence[str] = (),
    resume: bool = False,
    progress: bool = True,
    report: Report | None = None,
    cluster: Cluster | None = None,
) -> Run:
    """Train a model and write its run folder.

    >>> import dactnlg
    >>> run = dactnlg.train({"corpus": {"name": "trails"}, "model": {"name": "random"}}, "runs/doctest")
    >>> run.path.name
    'doctest'

    Args:
        config: the experiment: a YAML file, the name of one that comes with dactnlg, or its sections as a mapping.
        output: the run folder; made if it is not there. By default `runs/` with the file's name, for a mapping
            `runs/CORPUS-MODEL`.
        overrides: "training.epochs=3" and the like; they replace keys of the configuration.
        resume: continue from the last finished epoch, if there is one.
        progress: show a progress bar on standard error.
        report: gets each epoch's row of the history, of a resumed run the last one's first; training ends, with the
            best weights so far, where it returns False.
        cluster: the devices and worker processes that train together; each process calls this with the same
            arguments, its own number apart. Only the chief writes, and shows progress.

    Returns:
        The run, as `Generator.load` and `dactnlg.evaluate` take it.

    Raises:
        ConfigError: mistakes in the configuration, all of them.
        WorkerError: the cluster is not to be had, or its processes do not agree.
        RunError: the folder holds another run, or another configuration is to be resumed.
        CorpusError: the corpus is missing, damaged or empty.
    """
    source, config = config, load_config(config, overrides)
    corpus = load_corpus(config.corpus.name, config.corpus.data_dir)
    others = [load_corpus(name, config.corpus.data_dir) for name in config.corpus.also]
    run = Run(_default_output(source, config) if output is None else output)
    if cluster is not None and cluster.parts > 1:
        return _train_together(config, cluster, corpus, others, run, resume, progress)
    if config.training.backend == "keras" and config.model.name != "random":
        from dactnlg.models.backend import check_trains

        check_trains()
    run.begin(config, resume)
    # The random baseline draws from every training sentence, whatever it leaves out (Sharma et al. 2017, 4.1).
    preprocessor, pairs = build_preprocessor(config.corpus, corpus, others, whole=config.model.name != "random")
    preprocessor.save(run.preprocessor_path)
    if config.model.name == "random":
        run.finish({}, split_hashes([corpus, *others]))
        return run
    # Keras is slow to import: not before all that can go wrong without it has been checked.
    from dactnlg.training.loop import fit

    held_out = validation_pairs(config.corpus, corpus, preprocessor)
    summary = fit(config, preprocessor, pairs, held_out, run, progress, report=report)
    run.finish(summary, split_hashes([corpus, *others]))
    return run


def _default_output(source: object, config: Config) -> Path:
    """Return the run folder of a training that names none."""
    if isinstance(source, str | Path):
        return Path("runs") / Path(source).stem
    return Path("runs") / f"{Path(config.corpus.name).stem}-{config.model.name}"


def _train_together(
    config: Config,
    cluster: Cluster,
    corpus: Corpus,
    others: Sequence[Corpus],
    run: Run,
    resume: bool,
    progress: bool,
) -> Run:
    """Train on several devices or in several processes; see `train`."""
    if config.training.backend != "keras" or config.model.name == "random":
        raise WorkerError("only neural models train on several devices or workers, with training.backend=keras")
    preprocessor, pairs = build_preprocessor(config.corpus, corpus, others)
    held_out = validation_pairs(config.corpus, corpus, preprocessor)

    def begin() -> None:
        run.begin(config, resume)
        preprocessor.save(run.preprocessor_path)

    from dactnlg.training.loop import fit
    from dactnlg.training.team import gather

    with gather(cluster) as team:
        team.compare(_fingerprint(config, [*pairs, *held_out]), "configuration, corpus or version")
        team.chiefly(begin)
        summary = fit(config, preprocessor, pairs, held_out, run, progress and team.chief, team)
        team.chiefly(lambda: run.finish(summary, split_hashes([corpus, *others])))
    return run


def _fingerprint(config: Config, pairs: Sequence[Pair]) -> str:
    """Return the hash of what has to be the same in all processes; where the corpora lie may differ."""
    options = config.model_dump()
    options["corpus"].pop("data_dir")
    return digest([__version__, options, [[str(pair.turn), pair.corpus, list(pair.tokens)] for pair in pairs]])
