"""Sweeps: many runs from one configuration, ranked by a score on the validation split.

Every trial is an ordinary run folder, `OUTPUT/trial-00000` and so on, and its own checkpoint: an interrupted trial
continues from its last epoch. `OUTPUT/sweep.yaml` is the specification, `OUTPUT/base.yaml` the configuration that
the trials change, `OUTPUT/.ray` the state of Ray Tune.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from dactnlg import models
from dactnlg._utils import cluster
from dactnlg._utils.files import written
from dactnlg._utils.locks import hold
from dactnlg.data.corpus import load_corpus
from dactnlg.errors import ConfigError, CorpusError, UserError
from dactnlg.evaluation.likelihood import is_perplexity
from dactnlg.evaluation.scores import LOWER_IS_BETTER
from dactnlg.evaluation.scoring import DEFAULT_PRESET, check_metrics
from dactnlg.experiments import ray_tune
from dactnlg.experiments.ray_tune import SweepJob
from dactnlg.experiments.sweep_specification import SweepSpecification, corners
from dactnlg.experiments.trials import SPLIT, Outcome, SweepResult, read_trial, recorded_score
from dactnlg.metrics.registry import ranking_score
from dactnlg.models.dialogue_sections import DIALOGUE
from dactnlg.runs.config import load_config
from dactnlg.runs.yamlfile import read


def sweep(
    specification: SweepSpecification,
    output: Path,
    *,
    jobs: int = 1,
    resume: bool = False,
    progress: bool = True,
) -> SweepResult:
    """Train and score every trial of a sweep, through Ray Tune.

    Args:
        specification: the settings to try.
        output: a folder for the runs; created if missing.
        jobs: number of concurrent trials, each on one core.
        resume: continue the sweep that an earlier process began in the folder, if there is one.
        progress: show a progress bar on standard error.

    Raises:
        UserError: Ray is not installed, or the folder holds something else.
        CorpusError, MetricError: a corpus has no validation split, or the score cannot be computed.
        KeyboardInterrupt: after Ctrl-C, once all progress is on disk.
    """
    cluster.check_installed()
    specification = _checked(specification)
    _check_place(output, resume=resume)
    output.mkdir(parents=True, exist_ok=True)
    with (output / ".sweeping").open("a") as lock:
        hold(lock, UserError(f"{output} is being swept by another process"))
        _begin(specification, output, resume=resume)
        job = SweepJob(str(output.absolute()), specification, tuple(sys.orig_argv))
        with cluster.started(jobs) as ray:
            outcomes = ray_tune.run_trials(ray, job, jobs, resume=resume, progress=progress)
            outcomes = ray_tune.complete_trials(ray, job, outcomes)
    return _result(specification, output, outcomes)


def _result(specification: SweepSpecification, output: Path, outcomes: Mapping[str, Outcome]) -> SweepResult:
    """Return the trials, ranked; `outcomes` has all of them, by the names of their folders.

    Settings may change what a score means, as those of tokens do for perplexity: such trials are ranked apart.
    """
    trials = [read_trial(output / name, specification, outcome) for name, outcome in outcomes.items()]
    scores = (recorded_score(Path(trial.run), specification) for trial in trials)
    preset = specification.preset or next((found.preset for found in scores if found.value is not None), "")
    sign = 1 if specification.metric in LOWER_IS_BETTER else -1
    common = Counter(trial.hash for trial in trials if trial.score is not None)
    trials.sort(
        key=lambda trial: (trial.score is None, -common[trial.hash], trial.hash, sign * (trial.score or 0.0), trial.run)
    )
    return SweepResult(specification.metric, preset, trials)


def _checked(specification: SweepSpecification) -> SweepSpecification:
    """Check metric and corpora before hours of training; return the sweep with the metric as manifests name it."""
    metric = specification.metric
    if is_perplexity(metric):
        metric = metric.casefold()
    else:
        metric = ranking_score(metric)
        check_metrics(specification.preset or DEFAULT_PRESET, [metric])
    tried = list(corners(specification))
    if name := next((config.model.name for config in tried if config.model.name in DIALOGUE), None):
        raise ConfigError(f"the model '{name}' answers contexts; a sweep ranks runs by their sentences for acts")
    for name, folder in {(config.corpus.name, config.corpus.data_dir) for config in tried}:
        if not load_corpus(name, folder).split(SPLIT):
            raise CorpusError(f"corpus '{name}' has no validation split: a sweep has nothing to rank its trials on")
    return specification.model_copy(update={"metric": metric})


def _check_place(output: Path, *, resume: bool) -> None:
    """Refuse a path that is not a folder, a folder with other files, and without `resume` one with a sweep."""
    if output.exists() and not output.is_dir():
        raise UserError(f"{output} is a file; a sweep is a folder")
    if output.is_dir() and not (output / "sweep.yaml").exists():
        # A killed process may have left a lock, or an incomplete specification.
        if any(not path.name.startswith((".sweeping", "partial-")) for path in output.iterdir()):
            raise UserError(f"{output} holds other files; name an empty or a new folder with --output")
    elif output.is_dir() and not resume:
        raise UserError(f"{output} holds a sweep already: continue it with --resume, or name another folder")


def _begin(specification: SweepSpecification, output: Path, *, resume: bool) -> None:
    """Write specification and base configuration, or check that the folder's are the same."""
    _check_place(output, resume=resume)
    file, base = output / "sweep.yaml", output / "base.yaml"
    config = load_config(specification.config, specification.overrides({}), models).to_yaml()
    if file.exists():
        _check_same(specification, output, file)
        if base.exists() and base.read_text(encoding="utf-8") != config:
            raise UserError(
                f"{output} was begun with another configuration: {specification.config} has changed; {base} is what it "
                "was; name another folder"
            )
    for path, text in ((file, specification.to_yaml()), (base, config)):
        if not path.exists():
            with written(path) as target:
                target.write(text)


def _check_same(specification: SweepSpecification, output: Path, file: Path) -> None:
    """Check that the sweep in a folder was begun with this specification."""
    try:
        before = SweepSpecification.model_validate(read(file).data)
    except ValueError:
        raise ConfigError(f"{file} is damaged; begin the sweep in another folder") from None
    changed = [
        name for name in SweepSpecification.model_fields if getattr(before, name) != getattr(specification, name)
    ]
    if changed:
        raise UserError(f"{output} was begun with another {' and another '.join(changed)}; name another folder")
