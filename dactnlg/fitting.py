"""Fitting a neural model: epochs, early stopping, checkpoints."""

from __future__ import annotations

import signal
import time
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import keras
import numpy as np
from tqdm import tqdm

from dactnlg.batching import Batch, Dataset
from dactnlg.codec import Codec, Pair
from dactnlg.compilation import jit_compile, make_deterministic, to_numpy
from dactnlg.config import Config, TrainingConfig
from dactnlg.models import build_model, load_model

if TYPE_CHECKING:
    from dactnlg.models.base import NeuralModel
    from dactnlg.run import Run


def fit(
    config: Config, codec: Codec, pairs: Sequence[Pair], held_out: Sequence[Pair], run: Run, progress: bool
) -> dict[str, Any]:
    """Train until the validation loss stops falling; the run folder then holds the best weights.

    Ctrl-C ends training after the current batch and keeps the best weights so far.

    Returns:
        A summary for the manifest: epochs, best epoch, best validation loss, seconds.
    """
    options = config.training
    keras.utils.set_random_seed(options.seed)
    make_deterministic()
    model = build_model(config.model.name, codec, **config.model.model_dump(exclude={"name"}))
    train_set = Dataset.encode(codec, pairs, model.lexicalized, options.repetition)
    valid_set = Dataset.encode(codec, held_out, model.lexicalized)
    optimizer = keras.optimizers.Adam(options.learning_rate, global_clipnorm=options.clip_norm)
    model.compile(optimizer=optimizer, jit_compile=jit_compile())
    optimizer.build(model.trainable_variables)
    state = run.load_state() or {"epoch": 0, "best": None, "best_epoch": 0, "history": [], "seconds": 0.0}
    _warm_up(model, train_set, options.batch_size)
    if state["epoch"]:
        _restore(model, run.checkpoint_path(state["epoch"]))
    with _Interrupt() as interrupt:
        while not _finished(state, options) and not interrupt.asked:
            started = time.perf_counter()
            epoch = state["epoch"] + 1
            loss, tokens = _epoch(model, train_set, options, epoch, progress, interrupt)
            if interrupt.asked and state["best"] is not None:
                break
            seconds = time.perf_counter() - started
            valid_loss = _loss(model, valid_set, options.batch_size)
            better = state["best"] is None or valid_loss < state["best"]
            if better:
                state["best"], state["best_epoch"] = valid_loss, epoch
                _save(model, run.model_path)
            elif (epoch - state["best_epoch"]) % options.decay_patience == 0:
                optimizer.learning_rate = float(optimizer.learning_rate) * options.decay
            row = {
                "epoch": epoch,
                "loss": loss,
                "valid_loss": valid_loss,
                "learning_rate": float(optimizer.learning_rate),
                "tokens_per_second": round(tokens / seconds),
                "seconds": round(seconds, 3),
            }
            state["epoch"], state["history"] = epoch, [*state["history"], row]
            state["seconds"] += time.perf_counter() - started
            # The checkpoint first, then the state that names it.
            _save(model, run.checkpoint_path(epoch))
            run.save_state(state)
            run.write_history(state["history"])
    return {
        "epochs": state["epoch"],
        "best_epoch": state["best_epoch"],
        "best_valid_loss": state["best"],
        "seconds": round(state["seconds"], 1),
        "interrupted": interrupt.asked,
        "parameters": model.count_params(),
        "backend": keras.backend.backend(),
    }


def _warm_up(model: NeuralModel, data: Dataset, size: int) -> None:
    """Have the training step compiled for sentences of any length, and leave the model as it was.

    Keras compiles for the first batch's length, then for any length. Which sentences meet the first program would
    depend on where a run begins, and two programs may differ in a last digit: a resumed run would not be the same.
    """
    kept = [to_numpy(variable).copy() for variable in (*model.variables, *model.optimizer.variables)]
    for length in (1, 2):
        model.train_on_batch(data.empty(size, length))
        model.test_on_batch(data.empty(size, length))
    for variable, value in zip((*model.variables, *model.optimizer.variables), kept, strict=True):
        variable.assign(value)


def _finished(state: dict[str, Any], options: TrainingConfig) -> bool:
    stalled = state["best"] is not None and state["epoch"] - state["best_epoch"] >= options.patience
    return state["epoch"] >= options.epochs or stalled


def _epoch(
    model: NeuralModel, data: Dataset, options: TrainingConfig, epoch: int, progress: bool, interrupt: _Interrupt
) -> tuple[float, int]:
    # Order and dropout of an epoch depend on seed and epoch alone, so a resumed run does the same.
    rng = np.random.default_rng([options.seed, epoch])
    model.reseed(int(rng.integers(2**31)))
    total = -(-len(data) // options.batch_size)
    losses = weight = 0.0
    done = 0
    with tqdm(total=total, desc=f"epoch {epoch}/{options.epochs}", unit="batch", disable=not progress) as bar:
        started = time.perf_counter()
        for batch, tokens in data.batches(options.batch_size, rng):
            model.reset_metrics()
            losses += float(model.train_on_batch(batch)) * _weight(batch)
            weight, done = weight + _weight(batch), done + tokens
            speed = done / (time.perf_counter() - started)
            bar.set_postfix_str(f"loss {losses / weight:.3f}, {speed:,.0f} tokens/s", refresh=False)
            bar.update()
            if interrupt.asked:
                break
    return losses / max(weight, 1.0), done


def _loss(model: NeuralModel, data: Dataset, size: int) -> float:
    losses = weight = 0.0
    for batch, _ in data.batches(size):
        model.reset_metrics()
        losses += float(model.test_on_batch(batch)) * _weight(batch)
        weight += _weight(batch)
    return losses / max(weight, 1.0)


def _weight(batch: Batch) -> float:
    return float(np.dot(batch["lengths"].astype(np.float64), batch["weights"].astype(np.float64)))


def _save(model: NeuralModel, path: Path) -> None:
    partial = path.with_name(f"partial-{path.name}")
    model.save(partial)
    partial.replace(path)


def _restore(model: NeuralModel, path: Path) -> None:
    """Load weights and the optimizer's state into a compiled model."""
    saved = load_model(path, compiled=True)
    model.set_weights(saved.get_weights())
    for own, kept in zip(model.optimizer.variables, saved.optimizer.variables, strict=True):
        own.assign(kept)


class _Interrupt:
    """Turns the first Ctrl-C into a request to stop; the second one interrupts at once."""

    def __init__(self) -> None:
        self.asked = False
        self._before: Any = None

    def __enter__(self) -> _Interrupt:
        # Signals can only be caught in the main thread; elsewhere (a notebook's worker) Ctrl-C is somebody else's.
        try:
            self._before = signal.signal(signal.SIGINT, self._ask)
        except ValueError:
            self._before = None
        return self

    def _ask(self, number: int, frame: FrameType | None) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
