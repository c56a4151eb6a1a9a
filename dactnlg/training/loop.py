"""The training loop: epochs, early stopping, checkpoints."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from dactnlg._utils.threads import one_blas_thread
from dactnlg.data.batching import Batch, Dataset
from dactnlg.errors import UserError
from dactnlg.models.weights import load_arrays, save_arrays
from dactnlg.runs.writer import KeptState, RunWriter
from dactnlg.training.callbacks import Callback
from dactnlg.training.devices.process_group import ProcessGroup
from dactnlg.training.interrupt import Interrupt
from dactnlg.training.learner import Learner
from dactnlg.training.messages import heard, tell_epoch, tell_start
from dactnlg.training.schedule import Schedule
from dactnlg.training.selection import BleuSelection


@dataclass
class Progress:
    """The progress of training, as stored in `state.json`.

    Attributes:
        epoch: finished epochs.
        best: the lowest validation loss; None before the first epoch's end.
        loss_epoch: the epoch with the lowest validation loss.
        best_epoch: the epoch whose weights are kept; the same as `loss_epoch` unless `selection` decides.
        best_score: its score by that selection.
        history: one row per epoch.
        seconds: spent in epochs.
    """

    epoch: int = 0
    best: float | None = None
    loss_epoch: int = 0
    best_epoch: int = 0
    best_score: float | None = None
    history: list[dict[str, Any]] = field(default_factory=list)
    seconds: float = 0.0


@dataclass(frozen=True)
class TrainingLoop:
    """Trains until there is no more improvement; the run folder then holds the best weights.

    Ctrl-C ends training after the current batch and discards the current epoch; a callback that returns False ends it
    after the current epoch. With several processes, each runs the loop; only rank 0 accesses the run folder.

    Attributes:
        learner: trains the model.
        train_set, valid_set: the training pairs, and those that decide when to stop.
        options: epochs, batch size, seed, patience and decay.
        writer: of the run folder.
        group: the processes that train together.
        callbacks: called after each epoch.
        progress: whether to show a progress bar on standard error.
        selection: scores generated sentences, to choose the best epoch; None to use the validation loss.
        about: further entries of the summary.
    """

    learner: Learner
    train_set: Dataset
    valid_set: Dataset
    options: Schedule
    writer: RunWriter
    group: ProcessGroup
    callbacks: Sequence[Callback] = ()
    progress: bool = True
    selection: BleuSelection | None = None
    about: Mapping[str, Any] = field(default_factory=dict)

    def fit(self) -> dict[str, Any]:
        """Train to the end, starting after the last finished epoch, if the run has one.

        Returns:
            A summary for the manifest: epochs, best epoch, best validation loss, seconds, and how training ended.

        Raises:
            UserError: a loss is not finite; the run folder keeps what it had.
            RunError: the run folder is damaged.
        """
        state = self._restore()
        if self.group.rank == 0:
            tell_start(self.options, len(self.train_set))
        going = not state.history or self._go_on(state.history[-1])
        # The matrix products of a step are too small to share between threads, and one thread makes them reproducible.
        # NumPy's warnings are off: losses that are not finite are reported by `_check_finite`.
        with Interrupt(self.group) as interrupt, one_blas_thread, np.errstate(all="ignore"):
            while going and not self._finished(state) and not interrupt.asked:
                row = self._epoch(state, interrupt)
                going = row is not None and self._go_on(row)
        return {
            "epochs": state.epoch,
            "best_epoch": state.best_epoch,
            "best_valid_loss": state.best,
            **({} if state.best_score is None else {"best_score": state.best_score}),
            "seconds": round(state.seconds, 1),
            "interrupted": interrupt.asked and not self._finished(state),
            "stopped": not going and not interrupt.asked,
            **self.about,
        }

    def _restore(self) -> Progress:
        """Return the run's progress, and restore the learner accordingly."""
        kept: KeptState | None = None

        def load() -> None:
            nonlocal kept
            kept = self.writer.load_state()

        self.group.on_rank_0(load)
        known = json.loads(self.group.broadcast(json.dumps(kept.state if kept else None)))
        if known is None:
            return Progress()
        state = Progress(**known)
        self.learner.restore(load_arrays(self.writer.run.checkpoint_path(state.epoch)) if kept else {})
        if kept:
            self.writer.mend(kept, self._save_weights)
        return state

    def _epoch(self, state: Progress, interrupt: Interrupt) -> dict[str, Any] | None:
        """Run one epoch and save its results; return its row of the history, or None if it was interrupted."""
        started, learner = time.perf_counter(), self.learner
        epoch, rate = state.epoch + 1, learner.learning_rate
        learned = self._learn(epoch, interrupt)
        if learned is None:
            return None
        loss, tokens = learned
        seconds = time.perf_counter() - started
        valid_loss = self._loss(self.valid_set)
        self._check_finite(valid_loss, epoch)
        lower = state.best is None or valid_loss < state.best
        if lower:
            state.best, state.loss_epoch = valid_loss, epoch
        elif (epoch - state.loss_epoch) % self.options.decay_patience == 0:
            learner.learning_rate *= self.options.decay
        row = {
            "epoch": epoch,
            "loss": loss,
            "valid_loss": valid_loss,
            "learning_rate": rate,
            "tokens_per_second": round(tokens / seconds),
            "seconds": round(seconds, 3),
        }
        better = lower
        if self.selection is not None:
            said = self.selection()
            row |= {"valid_bleu": said.bleu, "valid_faulty": said.faulty}
            if better := state.best_score is None or said.score > state.best_score:
                state.best_score = said.score
        if better:
            state.best_epoch = epoch
        state.epoch, state.history = epoch, [*state.history, row]
        state.seconds += time.perf_counter() - started
        if self.group.rank == 0:
            save_best = self._save_weights if better else None
            self.writer.save_epoch(asdict(state), self._save_checkpoint, save_best)
            tell_epoch(row, self.options, state.seconds, best=better)
        return row

    def _save_checkpoint(self, path: Path) -> None:
        save_arrays(path, self.learner.state())

    def _save_weights(self, path: Path) -> None:
        save_arrays(path, self.learner.weights())

    def _check_finite(self, loss: float, epoch: int) -> None:
        """Raise an error if a loss is not finite: no later step could repair the weights."""
        if not math.isfinite(loss):
            options, kept = self.options, self.writer.run.weights_path.exists()
            raise UserError(
                f"the loss is {loss} in epoch {epoch}: the steps are too large; lower training.learning_rate "
                f"({options.learning_rate:g}) or training.clip_norm ({options.clip_norm:g}). "
                + (f"{self.writer.path} keeps the best weights before" if kept else "There are no weights yet")
            )

    def _finished(self, state: Progress) -> bool:
        better = max(state.best_epoch, state.loss_epoch)
        stalled = state.best is not None and state.epoch - better >= self.options.patience
        return state.epoch >= self.options.epochs or stalled

    def _go_on(self, row: dict[str, Any]) -> bool:
        # Every callback is called, whatever the others return.
        answers = [callback.on_epoch_end(row) for callback in self.callbacks]
        return all(answers)

    def _learn(self, epoch: int, interrupt: Interrupt) -> tuple[float, int] | None:
        """Train on every batch once; return the mean loss and the number of real tokens, or None if interrupted."""
        size = self.options.batch_size
        # Order and dropout depend only on seed and epoch, so a resumed run repeats them.
        rng = np.random.default_rng([self.options.seed, epoch])
        self.learner.reseed(int(rng.integers(2**31)))
        losses = weight = 0.0
        done = taken = 0
        total, title = -(-len(self.train_set) // size), f"epoch {epoch}/{self.options.epochs}"
        shown, form = self.progress, "{desc} {percentage:3.0f}%|{bar}| {elapsed}<{remaining}{postfix}"
        # If each epoch is logged on a line of its own, the bar disappears.
        with tqdm(total=total, desc=title, disable=not shown, leave=not heard(), bar_format=form) as bar:
            started = time.perf_counter()
            for batch, tokens in self.train_set.batches(size, rng):
                loss = self.learner.learn(batch)
                self._check_finite(loss, epoch)
                losses += loss * _weight(batch)
                weight, done = weight + _weight(batch), done + tokens
                speed = done / (time.perf_counter() - started)
                bar.set_postfix_str(f"loss {losses / weight:.3f}, {speed:,.0f} tokens/s", refresh=False)
                bar.update()
                taken += 1
                if interrupt.agreed() and taken < total:
                    return None
        return losses / max(weight, 1.0), done

    def _loss(self, data: Dataset) -> float:
        losses = weight = 0.0
        for batch, _ in data.batches(self.options.batch_size):
            losses += self.learner.loss(batch) * _weight(batch)
            weight += _weight(batch)
        return losses / max(weight, 1.0)


def _weight(batch: Batch) -> float:
    return float(np.dot(batch["lengths"].astype(np.float64), batch["weights"].astype(np.float64)))
