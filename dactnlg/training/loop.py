"""The training loop: epochs, early stopping, checkpoints."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from tqdm import tqdm

from dactnlg._utils.threads import one_blas_thread
from dactnlg.data.batching import Batch, Dataset
from dactnlg.models.weights import load_arrays, save_arrays
from dactnlg.runs.config import TrainingConfig
from dactnlg.runs.run import Run
from dactnlg.training.callbacks import Callback
from dactnlg.training.interrupt import Interrupt
from dactnlg.training.learners import Learner
from dactnlg.training.process_group import ProcessGroup


@dataclass
class Progress:
    """How far a training has come: what `state.json` holds.

    Attributes:
        epoch: epochs done.
        best: the lowest validation loss; None before the first epoch's end.
        best_epoch: the epoch that it is of.
        history: a row for each epoch.
        seconds: spent in epochs.
    """

    epoch: int = 0
    best: float | None = None
    best_epoch: int = 0
    history: list[dict[str, Any]] = field(default_factory=list)
    seconds: float = 0.0


@dataclass(frozen=True)
class TrainingLoop:
    """Trains until the validation loss stops falling; the run folder then holds the best weights.

    Ctrl-C ends training after the current batch and keeps the best weights so far; so does a callback that returns
    False, after the current epoch. Of several processes each runs the loop; rank 0 alone touches the run folder.

    Attributes:
        learner: changes the model.
        train_set, valid_set: the pairs to learn from, and those that decide when to stop.
        options: epochs, batch size, seed, patience and decay.
        run: the run folder.
        group: the processes that train together.
        callbacks: called after each epoch.
        progress: whether to show a progress bar on standard error.
        about: what the summary says beside the loop's own facts.
    """

    learner: Learner
    train_set: Dataset
    valid_set: Dataset
    options: TrainingConfig
    run: Run
    group: ProcessGroup
    callbacks: Sequence[Callback] = ()
    progress: bool = True
    about: Mapping[str, Any] = field(default_factory=dict)

    def fit(self) -> dict[str, Any]:
        """Train to the end, from the last finished epoch if the run has one.

        Returns:
            A summary for the manifest: epochs, best epoch, best validation loss, seconds, how it ended.
        """
        state = self._restore()
        going = not state.history or self._go_on(state.history[-1])
        # The products of a step are too small to be shared between threads, and one thread gives the same digits again.
        with Interrupt(self.group) as interrupt, one_blas_thread:
            while going and not self._finished(state) and not interrupt.asked:
                row = self._epoch(state, interrupt)
                going = row is not None and self._go_on(row)
        return {
            "epochs": state.epoch,
            "best_epoch": state.best_epoch,
            "best_valid_loss": state.best,
            "seconds": round(state.seconds, 1),
            "interrupted": interrupt.asked,
            "stopped": not going and not interrupt.asked,
            **self.about,
        }

    def _restore(self) -> Progress:
        """Return how far the run has come, with the learner where it was then."""
        kept = self.run.load_state() if self.group.rank == 0 else None
        known = json.loads(self.group.broadcast(json.dumps(kept)))
        if known is None:
            return Progress()
        state = Progress(**known)
        if state.epoch:
            path = self.run.checkpoint_path(state.epoch)
            self.learner.restore(load_arrays(path, self.run.preprocessor_path) if self.group.rank == 0 else {})
        return state

    def _epoch(self, state: Progress, interrupt: Interrupt) -> dict[str, Any] | None:
        """Do one epoch and keep what it has led to; return its row of the history, None if it was broken off."""
        started, learner = time.perf_counter(), self.learner
        epoch = state.epoch + 1
        loss, tokens = self._learn(epoch, interrupt)
        if interrupt.asked and state.best is not None:
            return None
        seconds = time.perf_counter() - started
        valid_loss = self._loss(self.valid_set)
        better = state.best is None or valid_loss < state.best
        if better:
            state.best, state.best_epoch = valid_loss, epoch
        elif (epoch - state.best_epoch) % self.options.decay_patience == 0:
            learner.learning_rate *= self.options.decay
        row = {
            "epoch": epoch,
            "loss": loss,
            "valid_loss": valid_loss,
            "learning_rate": learner.learning_rate,
            "tokens_per_second": round(tokens / seconds),
            "seconds": round(seconds, 3),
        }
        state.epoch, state.history = epoch, [*state.history, row]
        state.seconds += time.perf_counter() - started
        if self.group.rank == 0:
            self._keep(state, better=better)
        return row

    def _keep(self, state: Progress, *, better: bool) -> None:
        """Write the checkpoint first, then the state that names it."""
        known = self.run.preprocessor_path
        arrays = self.learner.state()
        self.run.replace(self.run.checkpoint_path(state.epoch), lambda path: save_arrays(path, arrays, known))
        if better:
            best = self.learner.weights()
            self.run.replace(self.run.weights_path, lambda path: save_arrays(path, best, known))
        self.run.save_state(asdict(state))
        self.run.write_history(state.history)

    def _finished(self, state: Progress) -> bool:
        stalled = state.best is not None and state.epoch - state.best_epoch >= self.options.patience
        return state.epoch >= self.options.epochs or stalled

    def _go_on(self, row: dict[str, Any]) -> bool:
        # Every callback is called, whatever the ones before it return.
        answers = [callback.on_epoch_end(row) for callback in self.callbacks]
        return all(answers)

    def _learn(self, epoch: int, interrupt: Interrupt) -> tuple[float, int]:
        """Learn from every batch once; return the mean loss, and the number of real tokens."""
        size = self.options.batch_size
        # Order and dropout of an epoch depend on seed and epoch alone, so a resumed run does the same.
        rng = np.random.default_rng([self.options.seed, epoch])
        self.learner.reseed(int(rng.integers(2**31)))
        losses = weight = 0.0
        done = 0
        total, title = -(-len(self.train_set) // size), f"epoch {epoch}/{self.options.epochs}"
        with tqdm(total=total, desc=title, unit="batch", disable=not self.progress) as bar:
            started = time.perf_counter()
            for batch, tokens in self.train_set.batches(size, rng):
                losses += self.learner.learn(batch) * _weight(batch)
                weight, done = weight + _weight(batch), done + tokens
                speed = done / (time.perf_counter() - started)
                bar.set_postfix_str(f"loss {losses / weight:.3f}, {speed:,.0f} tokens/s", refresh=False)
                bar.update()
                if interrupt.agreed():
                    break
        return losses / max(weight, 1.0), done

    def _loss(self, data: Dataset) -> float:
        losses = weight = 0.0
        for batch, _ in data.batches(self.options.batch_size):
            losses += self.learner.loss(batch) * _weight(batch)
            weight += _weight(batch)
        return losses / max(weight, 1.0)


def _weight(batch: Batch) -> float:
    return float(np.dot(batch["lengths"].astype(np.float64), batch["weights"].astype(np.float64)))
