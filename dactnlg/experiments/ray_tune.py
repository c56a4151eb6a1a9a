"""Running the trials of a sweep with Ray Tune: drawing settings, early stopping, and the code of its processes."""

from __future__ import annotations

import contextlib
import json
import math
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from tqdm import tqdm

from dactnlg import models
from dactnlg._utils import cluster
from dactnlg._utils.locks import locked
from dactnlg.experiments.sweep_specification import SweepSpecification, corners
from dactnlg.experiments.trials import SPLIT, Outcome, recorded_score
from dactnlg.runs.config import Config, load_config
from dactnlg.runs.run import Run
from dactnlg.training.schedule import EPOCHS

_LINGERING_SECONDS = 120
"""How long a trial waits for a process still training it after the sweep was killed."""
_GRACE_EPOCHS, _REDUCTION = 3, 3
"""ASHA (Li et al. 2020): epochs before any trial is stopped; at each rung one in `_REDUCTION` trials continues."""


@dataclass(frozen=True, slots=True)
class SweepJob:
    """What all trials of a sweep share; it is sent to Ray's processes.

    Attributes:
        output: the folder of the sweep, absolute.
        specification: the settings to try.
        command: the words of the command that runs the sweep, for the manifests.
    """

    output: str
    specification: SweepSpecification
    command: Sequence[str]


def run_trials(ray: Any, job: SweepJob, jobs: int, *, resume: bool, progress: bool) -> dict[str, Outcome]:
    """Run the trials, and return how they ended, by the names of their folders.

    Args:
        ray: the module from `cluster.started`.
        job: the sweep.
        jobs: number of concurrent trials.
        resume: continue from the state that Ray Tune has saved, if any.
        progress: show a progress bar on standard error.

    Raises:
        KeyboardInterrupt: after Ctrl-C, which Ray Tune catches.
    """
    from ray import tune

    from dactnlg.experiments.trial_search import TrialSearch

    TrialSearch.jobs = jobs
    needed = {"cpu": 1.0, "gpu": cluster.gpu_share(ray, jobs)}
    trainable = tune.with_resources(partial(_train_trial, job), needed)
    specification, storage = job.specification, Path(job.output) / ".ray"
    tuner = _restored(storage, trainable) if resume else None
    if tuner is None:
        tuner = tune.Tuner(
            trainable,
            param_space={key: _domain(spec) for key, spec in specification.space.items()},
            tune_config=tune.TuneConfig(
                # Limited here: Ray Tune applies `max_concurrent_trials` only to other search algorithms.
                search_alg=TrialSearch(max_concurrent=jobs, random_state=specification.seed),
                scheduler=_scheduler(specification),
                num_samples=specification.samples,
                # Reuse processes that have already imported TensorFlow.
                reuse_actors=True,
                trial_dirname_creator=_trial_name,
            ),
            run_config=tune.RunConfig(
                name=storage.name,
                storage_path=job.output,
                verbose=0,
                callbacks=[_progress_bar(specification.size())] if progress else [],
            ),
        )
    results = tuner.fit()
    ended = [result for result in results if result.error or _has_ended(result.metrics or {})]
    if len(ended) < specification.size():
        raise KeyboardInterrupt
    return {
        Path(result.path).name: Outcome(_plain(result.config), _reason(result.error) if result.error else "")
        for result in results
    }


def _has_ended(metrics: Mapping[str, Any]) -> bool:
    """Whether a trial has ended, from its last report.

    Ray Tune marks a report as the last one only once the process of the trial is back; what it had written to the disk
    before stays as it was, so that a trial that has ended may come back without the mark.
    """
    return bool(metrics.get("done")) or metrics.get("epoch") == math.inf


def _restored(storage: Path, trainable: Any) -> Any:
    """Return a tuner that continues an interrupted sweep; None if there is no usable saved state.

    If the process was killed, Ray Tune's own files may be incomplete. They are then deleted: the seed draws the same
    settings again, and every trial continues from its run folder.
    """
    from ray import tune

    if not tune.Tuner.can_restore(str(storage)):
        return None
    try:
        # Check here what Ray Tune would read only when it starts.
        states = sorted(storage.glob("experiment_state-*.json"))
        json.loads(states[-1].read_text(encoding="utf-8"))
        return tune.Tuner.restore(str(storage), trainable, resume_errored=True)
    except Exception:  # noqa: BLE001 - unpickling half a file may raise anything
        shutil.rmtree(storage)
        return None


def complete_trials(ray: Any, job: SweepJob, outcomes: Mapping[str, Outcome]) -> dict[str, Outcome]:
    """Complete and score the runs of trials that were stopped early, or whose folders were removed after their end.

    Args:
        ray: the module from `cluster.started`.
        job: the sweep.
        outcomes: of `run_trials`.

    Returns:
        The outcomes, with the failures of this.
    """
    complete, output = ray.remote(num_cpus=1)(_complete_trial), Path(job.output)
    ended = {name: outcome for name, outcome in outcomes.items() if not outcome.message}
    unscored = [name for name in ended if recorded_score(output / name, job.specification).value is None]
    tasks = {name: complete.remote(job, name, ended[name].settings) for name in unscored}
    found = dict(outcomes)
    for name, task in tasks.items():
        try:
            ray.get(task)
        except ray.exceptions.RayError as error:
            found[name] = ended[name]._replace(message=_reason(error))
    return found


def _train_trial(job: SweepJob, settings: Mapping[str, Any]) -> None:
    """Train and score one trial; runs in a Ray process."""
    from ray import tune

    from dactnlg.training.train import train

    # The manifest should record the command of the sweep, not that of this process.
    sys.orig_argv[:] = job.command
    folder = Path(job.output) / _trial_name(tune.get_context())
    _wait_for_trial(folder)
    train(_config(job, _plain(settings)), folder, resume=True, progress=False, callbacks=[_ReportToTune()])
    _score(job, folder)
    # The random baseline has no epochs, but Ray Tune expects at least one report per trial.
    tune.report({"epoch": math.inf, "valid_loss": math.inf})


def _config(job: SweepJob, settings: Mapping[str, Any]) -> Config:
    """Return the configuration of a trial."""
    return load_config(job.specification.config, job.specification.overrides(settings), models)


def _plain(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Convert the NumPy numbers that some distributions draw to Python's."""
    return {key: value.item() if hasattr(value, "item") else value for key, value in settings.items()}


def _wait_for_trial(folder: Path) -> None:
    """Wait until no process trains in a folder: those of a killed sweep live on for a moment."""
    if folder.is_dir():
        with contextlib.suppress(OSError), locked(Run(folder).training_lock_path, _LINGERING_SECONDS):
            pass


class _ReportToTune:
    """Training callback that reports every epoch's validation loss to Ray Tune."""

    def on_epoch_end(self, row: Mapping[str, Any]) -> bool:
        """Report the epoch and continue; Ray Tune itself ends trials that are to be stopped."""
        from ray import tune

        tune.report({"epoch": row["epoch"], "valid_loss": row["valid_loss"]})
        return True


class _StopNow:
    """Training callback that ends a resumed training at once, with the best weights so far."""

    def on_epoch_end(self, row: Mapping[str, Any]) -> bool:
        """Return False: no further epoch is trained."""
        return False


def _complete_trial(job: SweepJob, name: str, settings: Mapping[str, Any]) -> None:
    """Complete and score the run of a trial that Ray Tune has ended; runs in a Ray process.

    A run that has disappeared is trained again, to its end: there is nothing to stop it early.
    """
    from dactnlg.training.train import train

    sys.orig_argv[:] = job.command
    folder = Path(job.output) / name
    if not Run(folder).manifest_path.exists():
        callbacks = [_StopNow()] if Run(folder).state_path.exists() else []
        train(_config(job, settings), folder, resume=True, progress=False, callbacks=callbacks)
    _score(job, folder)


def _score(job: SweepJob, folder: Path) -> None:
    from dactnlg.evaluation.evaluate import evaluate

    specification = job.specification
    if recorded_score(folder, specification).value is None:
        presets = [specification.preset] if specification.preset else []
        evaluate(folder, split=SPLIT, presets=presets, metrics=[specification.metric])


def _domain(spec: Any) -> Any:
    """Return the search space of one key in Ray Tune's form."""
    from ray import tune

    if isinstance(spec, list):
        return tune.grid_search(spec)
    distribution, values = next(iter(spec.items()))
    return tune.choice(values) if distribution == "choice" else getattr(tune, distribution)(*values)


def _scheduler(specification: SweepSpecification) -> Any:
    from ray.tune.schedulers import AsyncHyperBandScheduler, FIFOScheduler

    if not specification.early_stopping:
        return FIFOScheduler()
    # If the number of epochs is derived from the pairs, this is its maximum.
    longest = max(config.training.epochs or EPOCHS[1] for config in corners(specification))
    return AsyncHyperBandScheduler(
        time_attr="epoch",
        metric="valid_loss",
        mode="min",
        stop_last_trials=False,
        max_t=longest,
        grace_period=min(_GRACE_EPOCHS, longest),
        reduction_factor=_REDUCTION,
    )


def _trial_name(trial: Any) -> str:
    """Return the name of a trial's folder, from its number in Ray Tune."""
    number = trial.get_trial_id() if hasattr(trial, "get_trial_id") else trial.trial_id
    return f"trial-{str(number).rpartition('_')[2]}"


def _progress_bar(total: int) -> Any:
    """Return a Ray Tune callback that shows the number of finished trials."""
    from ray.tune import Callback

    class ProgressBar(Callback):  # type: ignore[misc]
        """A progress bar; Ray Tune pickles the callback, which excludes the bar."""

        def __init__(self) -> None:
            self._bar: Any = None

        def __getstate__(self) -> dict[str, Any]:
            return {"_bar": None}

        def setup(self, *_: Any, **__: Any) -> None:
            self._bar = tqdm(desc="sweeping", unit=" trials", total=total)

        def on_trial_complete(self, *_: Any, **__: Any) -> None:
            self._bar.update()

        on_trial_error = on_trial_complete

        def on_experiment_end(self, *_: Any, **__: Any) -> None:
            self._bar.close()

    return ProgressBar()


def _reason(error: BaseException) -> str:
    """Return the last line of an error, for which Ray Tune gives a whole traceback."""
    last = str(error).strip().split("\n")[-1]
    return re.sub(r"^dactnlg\.errors\.\w+: ", "", last)
