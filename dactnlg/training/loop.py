"""Fitting a neural model: epochs, early stopping, checkpoints."""

from __future__ import annotations

import json
import shutil
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import keras
import numpy as np
from threadpoolctl import threadpool_limits
from tqdm import tqdm

from dactnlg.data.batching import Batch, Dataset
from dactnlg.models import build_model
from dactnlg.models.backend import computing, retraces
from dactnlg.runs.config import Config, TrainingConfig
from dactnlg.text.example import Pair
from dactnlg.text.preprocessor import Preprocessor
from dactnlg.training.learners import ArrayLearner, KerasLearner, Learner
from dactnlg.training.team import Team
from dactnlg.training.workers import Cluster

if TYPE_CHECKING:
    from dactnlg.runs.run import Run

ASK_EVERY = 10
"""Batches between two moments at which processes tell each other of a Ctrl-C."""


def fit(
    config: Config,
    preprocessor: Preprocessor,
    pairs: Sequence[Pair],
    held_out: Sequence[Pair],
    run: Run,
    progress: bool,
    team: Team | None = None,
    report: Callable[[Mapping[str, Any]], bool] | None = None,
) -> dict[str, Any]:
    """Train until the validation loss stops falling; the run folder then holds the best weights.

    Ctrl-C ends training after the current batch and keeps the best weights so far; so does a `report` that says False
    (see `training.train`) after the current epoch. Of several processes each calls this with the same arguments; only
    the chief touches the run folder.

    Returns:
        A summary for the manifest: epochs, best epoch, best validation loss, seconds.
    """
    options, team = config.training, team or Team(Cluster())
    keras.utils.set_random_seed(options.seed)
    with team.scope(), computing(options.precision):
        model = build_model(config.model.name, preprocessor, **config.model.model_dump(exclude={"name"}))
    train_set = Dataset.encode(preprocessor, pairs, model.lexicalized, options.repetition)
    valid_set = Dataset.encode(preprocessor, held_out, model.lexicalized)
    learner: Learner
    if options.backend == "numpy":
        parts = -(-options.batch_size // options.micro_batch_size)
        learner = ArrayLearner(model, options.learning_rate, options.clip_norm, parts)
    else:
        if not retraces():
            train_set, valid_set = train_set.in_few_lengths(), valid_set.in_few_lengths()
        learner = KerasLearner(model, options.learning_rate, options.clip_norm, train_set, options.batch_size, team)
    state = json.loads(team.told(json.dumps(run.load_state() if team.chief else None)))
    state = state or {"epoch": 0, "best": None, "best_epoch": 0, "history": [], "seconds": 0.0}
    if state["epoch"]:
        learner.restore(run.checkpoint_path(state["epoch"]))
    going = report is None or not state["history"] or report(state["history"][-1])
    # The products of a step are too small to be shared between threads, and one thread gives the same digits again.
    with _Interrupt(team) as interrupt, threadpool_limits(1, user_api="blas"):
        while going and not _finished(state, options) and not interrupt.asked:
            started = time.perf_counter()
            epoch = state["epoch"] + 1
            loss, tokens = _epoch(learner, train_set, options, epoch, progress, interrupt)
            if interrupt.asked and state["best"] is not None:
                break
            seconds = time.perf_counter() - started
            valid_loss = _loss(learner, valid_set, options.batch_size)
            better = state["best"] is None or valid_loss < state["best"]
            if better:
                state["best"], state["best_epoch"] = valid_loss, epoch
            elif (epoch - state["best_epoch"]) % options.decay_patience == 0:
                learner.learning_rate *= options.decay
            row = {
                "epoch": epoch,
                "loss": loss,
                "valid_loss": valid_loss,
                "learning_rate": learner.learning_rate,
                "tokens_per_second": round(tokens / seconds),
                "seconds": round(seconds, 3),
            }
            state["epoch"], state["history"] = epoch, [*state["history"], row]
            state["seconds"] += time.perf_counter() - started
            if team.chief:
                _keep(run, learner, state, better)
            going = report is None or report(row)
    return {
        "epochs": state["epoch"],
        "best_epoch": state["best_epoch"],
        "best_valid_loss": state["best"],
        "seconds": round(state["seconds"], 1),
        "interrupted": interrupt.asked,
        "stopped": not going,
        "parameters": model.count_params(),
        "backend": "numpy" if options.backend == "numpy" else keras.backend.backend(),
        "workers": team.cluster.workers,
        "devices": team.cluster.devices,
    }


def _keep(run: Run, learner: Learner, state: dict[str, Any], better: bool) -> None:
    """Write what an epoch has led to."""
    # The checkpoint first, then the state that names it.
    checkpoint = run.checkpoint_path(state["epoch"])
    with _replacing(checkpoint) as path:
        learner.save(path)
    if better:
        with _replacing(run.model_path) as path:
            shutil.copyfile(checkpoint, path)
    run.save_state(state)
    run.write_history(state["history"])


def _finished(state: dict[str, Any], options: TrainingConfig) -> bool:
    stalled = state["best"] is not None and state["epoch"] - state["best_epoch"] >= options.patience
    return state["epoch"] >= options.epochs or stalled


def _epoch(
    learner: Learner, data: Dataset, options: TrainingConfig, epoch: int, progress: bool, interrupt: _Interrupt
) -> tuple[float, int]:
    # Order and dropout of an epoch depend on seed and epoch alone, so a resumed run does the same.
    rng = np.random.default_rng([options.seed, epoch])
    learner.reseed(int(rng.integers(2**31)))
    total = -(-len(data) // options.batch_size)
    losses = weight = 0.0
    done = 0
    with tqdm(total=total, desc=f"epoch {epoch}/{options.epochs}", unit="batch", disable=not progress) as bar:
        started = time.perf_counter()
        for batch, tokens in data.batches(options.batch_size, rng):
            losses += learner.learn(batch) * _weight(batch)
            weight, done = weight + _weight(batch), done + tokens
            speed = done / (time.perf_counter() - started)
            bar.set_postfix_str(f"loss {losses / weight:.3f}, {speed:,.0f} tokens/s", refresh=False)
            bar.update()
            if interrupt.agreed():
                break
    return losses / max(weight, 1.0), done


def _loss(learner: Learner, data: Dataset, size: int) -> float:
    losses = weight = 0.0
    for batch, _ in data.batches(size):
        losses += learner.loss(batch) * _weight(batch)
        weight += _weight(batch)
    return losses / max(weight, 1.0)


def _weight(batch: Batch) -> float:
    return float(np.dot(batch["lengths"].astype(np.float64), batch["weights"].astype(np.float64)))


@contextmanager
def _replacing(path: Path) -> Iterator[Path]:
    """Give a path to write to; what is written takes the place of `path` when it is whole."""
    partial = path.with_name(f"partial-{path.name}")
    yield partial
    partial.replace(path)


class _Interrupt:
    """Turns the first Ctrl-C into a request to stop; the second one interrupts at once.

    Args:
        team: several processes stop when one is asked to, all after the same batch.
    """

    def __init__(self, team: Team) -> None:
        self.asked = False
        self._asked_here = False
        self._team, self._batches = team, 0
        self._before: Any = None

    def __enter__(self) -> _Interrupt:
        # Signals can only be caught in the main thread; elsewhere (a notebook's worker) Ctrl-C is somebody else's.
        try:
            self._before = signal.signal(signal.SIGINT, self._ask)
        except ValueError:
            self._before = None
        return self

    def _ask(self, number: int, frame: FrameType | None) -> None:
        if self._asked_here:
            raise KeyboardInterrupt
        self._asked_here = True

    def agreed(self) -> bool:
        """Return whether to stop after this batch."""
        self._batches += 1
        # To ask the others takes as long as a small batch may.
        if self._team.cluster.workers == 1 or self._batches % ASK_EVERY == 0:
            self.asked = self._team.agree(self._asked_here)
        return self.asked

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
