"""Sweeps: many runs from one configuration, through Ray Tune, ranked on the validation split.

Every trial is an ordinary run folder, `OUTPUT/trial-00000` and so on. It is its own checkpoint: a trial that was cut
off goes on from its last epoch. What Ray Tune remembers of the sweep is in `OUTPUT/.ray`.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from tqdm import tqdm

from dactnlg import models
from dactnlg._utils import cluster
from dactnlg.data.corpus import load_corpus
from dactnlg.errors import ConfigError, CorpusError, UserError
from dactnlg.evaluation.scores import LOWER_IS_BETTER
from dactnlg.evaluation.scoring import DEFAULT_PRESET, check_metrics
from dactnlg.experiments.sweep_specification import Sweep, corners
from dactnlg.experiments.trials import SPLIT, Result, Trial
from dactnlg.metrics.registry import NOTHING
from dactnlg.runs.config import load_config
from dactnlg.runs.run import Run
from dactnlg.runs.yamlfile import read


@dataclass(frozen=True, slots=True)
class Task:
    """What all trials of a sweep have in common."""

    output: str
    sweep: Sweep
    command: Sequence[str]


def sweep(space: Sweep, output: Path, jobs: int = 1, resume: bool = False, progress: bool = True) -> Result:
    """Train and score every trial of a sweep.

    Args:
        space: the sweep.
        output: a folder for the runs.
        jobs: trials side by side, each on one core.
        resume: go on where an earlier process was stopped, if there was one.
        progress: show a progress bar on standard error.

    Raises:
        UserError: Ray is not installed; the folder is another sweep's.
        CorpusError, MetricError: a corpus without a validation split; a score that cannot be had.
        KeyboardInterrupt: after Ctrl-C, once what was done is safe.
    """
    cluster.check_installed()
    _check(space)
    _begin(space, output, resume)
    task = Task(str(output.absolute()), space, tuple(sys.orig_argv))
    with cluster.started(jobs) as ray:
        errors = _run(ray, task, jobs, resume, progress)
        _finish(ray, task, [folder for folder in _folders(output) if folder.name not in errors])
    folders = sorted({*_folders(output), *(output / name for name in errors)})
    trials = [_read(task, folder, errors.get(folder.name)) for folder in folders]
    preset = space.preset or next(
        (_scored(Path(trial.run), space)[0] for trial in trials if trial.score is not None), ""
    )
    sign = 1 if space.metric in LOWER_IS_BETTER else -1
    trials.sort(key=lambda trial: (trial.score is None, sign * (trial.score or 0.0), trial.run))
    return Result(space.metric, preset, trials)


def _check(space: Sweep) -> None:
    """Find out what cannot go well: before hours of work, not after."""
    if space.metric != "perplexity":
        check_metrics(space.preset or DEFAULT_PRESET, [space.metric], NOTHING)
    for name, folder in {(config.corpus.name, config.corpus.data_dir) for config in corners(space)}:
        if not load_corpus(name, folder).split(SPLIT):
            raise CorpusError(f"corpus '{name}' has no validation split: a sweep has nothing to rank its trials on")


def _begin(space: Sweep, output: Path, resume: bool) -> None:
    """Make the folder, or check that it is this sweep's."""
    file = output / "sweep.yaml"
    if output.exists() and not output.is_dir():
        raise UserError(f"{output} is a file; a sweep is a folder")
    if output.is_dir() and any(output.iterdir()):
        if not file.exists():
            raise UserError(f"{output} holds other files; name an empty or a new folder with --output")
        if not resume:
            raise UserError(f"{output} holds a sweep already: go on with it with --resume, or name another folder")
        try:
            before = Sweep.model_validate(read(file)[0])
        except ValueError:
            raise ConfigError(f"{file} is damaged; begin the sweep in another folder") from None
        changed = [name for name in Sweep.model_fields if getattr(before, name) != getattr(space, name)]
        if changed:
            raise UserError(f"{output} was begun with another {' and another '.join(changed)}; name another folder")
        return
    output.mkdir(parents=True, exist_ok=True)
    file.write_text(space.to_yaml(), encoding="utf-8")


def _run(ray: Any, task: Task, jobs: int, resume: bool, progress: bool) -> dict[str, str]:
    """Run the trials; return the message of each that failed."""
    from ray import tune

    needed = {"cpu": 1.0, "gpu": cluster.gpu_share(ray, jobs)}
    trainable = tune.with_resources(partial(_trial, task), needed)
    storage = Path(task.output) / ".ray"
    if resume and tune.Tuner.can_restore(str(storage)):
        tuner = tune.Tuner.restore(str(storage), trainable, resume_errored=True)
    else:
        tuner = tune.Tuner(
            trainable,
            param_space={key: _domain(spec) for key, spec in task.sweep.space.items()},
            tune_config=tune.TuneConfig(
                # Ray Tune leaves this one alone with `max_concurrent_trials`: it has a limit of its own.
                search_alg=tune.search.BasicVariantGenerator(max_concurrent=jobs, random_state=task.sweep.seed),
                scheduler=_scheduler(task.sweep),
                num_samples=task.sweep.samples,
                # A process that has imported TensorFlow trains the next one, too.
                reuse_actors=True,
                trial_dirname_creator=_trial_name,
            ),
            run_config=tune.RunConfig(
                name=storage.name,
                storage_path=task.output,
                verbose=0,
                callbacks=[_bar(task.sweep.size())] if progress else [],
            ),
        )
    grid = tuner.fit()
    ended = [result for result in grid if result.error or (result.metrics or {}).get("done")]
    if len(ended) < task.sweep.size():
        raise KeyboardInterrupt
    return {Path(result.path).name: _reason(result.error) for result in grid if result.error}


def _trial(task: Task, settings: Mapping[str, Any]) -> None:
    """Train and score one run, in a process of Ray's."""
    from ray import tune

    # The manifest shall tell the command that was given, not that of this process.
    sys.orig_argv[:] = task.command
    folder = Path(task.output) / _trial_name(tune.get_context())
    plain = {key: value.item() if hasattr(value, "item") else value for key, value in settings.items()}

    from dactnlg.training.train import train

    config = load_config(task.sweep.config, task.sweep.overrides(plain), models)
    train(config, folder, resume=True, progress=False, callbacks=[_ReportToTune()])
    _score(task, folder)
    # The random baseline has no epochs, and Ray Tune wants to hear of every trial.
    tune.report({"epoch": math.inf, "valid_loss": math.inf})


class _ReportToTune:
    """Tells Ray Tune of every epoch."""

    def on_epoch_end(self, row: Mapping[str, Any]) -> bool:
        """Report the validation loss; Ray Tune itself ends a trial."""
        from ray import tune

        tune.report({"epoch": row["epoch"], "valid_loss": row["valid_loss"]})
        return True


class _StopNow:
    """Ends a training that was stopped early, with the best weights that it has."""

    def on_epoch_end(self, row: Mapping[str, Any]) -> bool:
        """Return False."""
        return False


def _score(task: Task, folder: Path) -> None:
    from dactnlg.evaluation.evaluate import evaluate

    if _scored(folder, task.sweep)[1] is None:
        evaluate(folder, split=SPLIT, presets=_presets(task.sweep), metrics=[task.sweep.metric])


def _complete(task: Task, folder: str) -> None:
    """Make an ordinary run of one that was stopped early, and score it."""
    from dactnlg.training.train import train

    sys.orig_argv[:] = task.command
    path = Path(folder)
    if not Run(path).manifest_path.exists():
        train(load_config(Run(path).config_path), path, resume=True, progress=False, callbacks=[_StopNow()])
    _score(task, path)


def _finish(ray: Any, task: Task, folders: Sequence[Path]) -> None:
    complete = ray.remote(num_cpus=1)(_complete)
    ray.get([complete.remote(task, str(path.absolute())) for path in folders if _scored(path, task.sweep)[1] is None])


def _presets(space: Sweep) -> list[str]:
    return [space.preset] if space.preset else []


def _scored(folder: Path, space: Sweep) -> tuple[str, float | None]:
    """Return the protocol and the score that the manifest of a run has."""
    if Run(folder).manifest_path.exists():
        for entry in Run(folder).manifest().get("evaluations", []):
            for preset, scores in entry["scores"].items():
                if entry["split"] == SPLIT and preset == (space.preset or preset) and space.metric in scores:
                    return preset, scores[space.metric]["value"]
    return "", None


def _read(task: Task, folder: Path, error: str | None) -> Trial:
    """Return what became of a trial."""
    run = Run(folder)
    config = load_config(run.config_path).model_dump() if run.config_path.exists() else {}
    settings = {key: config.get(key.partition(".")[0], {}).get(key.partition(".")[2]) for key in task.sweep.space}
    training = run.manifest()["training"] if run.manifest_path.exists() else {}
    status = "failed" if error else "stopped" if training.get("stopped") else "done"
    loss, epochs, seconds = (training.get(name) for name in ("best_valid_loss", "epochs", "seconds"))
    score = _scored(folder, task.sweep)[1]
    return Trial(str(folder), settings, score, loss, epochs, seconds, status, error or "")


def _folders(output: Path) -> list[Path]:
    return sorted(path for path in output.glob("trial-*") if path.is_dir())


def _domain(spec: Any) -> Any:
    """Return one entry of a space as Ray Tune has it."""
    from ray import tune

    if isinstance(spec, list):
        return tune.grid_search(spec)
    way, values = next(iter(spec.items()))
    return tune.choice(values) if way == "choice" else getattr(tune, way)(*values)


def _scheduler(space: Sweep) -> Any:
    from ray.tune.schedulers import AsyncHyperBandScheduler, FIFOScheduler

    if not space.early_stopping:
        return FIFOScheduler()
    longest = max(config.training.epochs for config in corners(space))
    ways = {"time_attr": "epoch", "metric": "valid_loss", "mode": "min", "stop_last_trials": False}
    return AsyncHyperBandScheduler(**ways, max_t=longest, grace_period=min(3, longest), reduction_factor=3)


def _trial_name(trial: Any) -> str:
    """Return a trial's folder: Ray Tune numbers them."""
    number = trial.get_trial_id() if hasattr(trial, "get_trial_id") else trial.trial_id
    return f"trial-{str(number).rpartition('_')[2]}"


def _bar(total: int) -> Any:
    """Return a callback that shows how many trials have ended."""
    from ray.tune import Callback

    class Bar(Callback):  # type: ignore[misc]
        """A progress bar; Ray Tune stores the callback, the bar stays behind."""

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

    return Bar()


def _reason(error: BaseException) -> str:
    lines = str(error).strip().split("\n")
    return lines[-1].removeprefix("dactnlg.errors.")
