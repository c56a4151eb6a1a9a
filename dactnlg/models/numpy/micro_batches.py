"""A batch's loss and slopes by parts, its micro-batches, of which other processes take their share.

Weights and slopes lie in memory that all of them see; what goes to and fro are rows and losses. The slopes are added
up here and always in the same order, so the sum is the same to the last bit, whoever found its parts.
"""

from __future__ import annotations

import contextlib
import json
import math
import mmap
import os
import tempfile
from collections.abc import Mapping, Sequence
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dactnlg._utils.helper import BROKEN, Helper, answer
from dactnlg._utils.processors import usable_processors
from dactnlg.models.numpy.gradients import GradientModel, weight_names

Floats = NDArray[np.float32]
Arrays = Mapping[str, NDArray[Any]]
Shapes = Sequence[tuple[int, ...]]

PATIENCE = 50
"""Batches learned from before helpers are started: about as long as it takes to start one."""
AWAKE = 0.005
"""Seconds for which processes wait for each other without falling asleep; longer than between two batches."""
MEMORY = "/dev/shm"
"""A folder that lies in memory."""


class Task(NamedTuple):
    """A micro-batch.

    Attributes:
        part: its number.
        batch: its rows.
        whole: weighted words of the whole batch; None where this is all of it.
        learning: whether slopes are wanted.
        rng: draws the units to drop; None for none.
    """

    part: int
    batch: Arrays
    whole: float | None
    learning: bool
    rng: np.random.Generator | None


class MicroBatches:
    """Finds losses and slopes.

    Args:
        kind: the model's class.
        config: its keywords, as Keras has them.
        shapes: of its weights.
        parts: micro-batches of a batch.
        helpers: other processes, at most; one less than the processors that this one may use, by default.

    Attributes:
        weights: all in one vector.
        slopes: after `learn`, the loss's slope in each of them.
    """

    def __init__(
        self,
        kind: str,
        config: Mapping[str, Any],
        shapes: Shapes,
        parts: int = 1,
        helpers: int | None = None,
    ) -> None:
        self.parts = parts
        self._spare = min(parts, usable_processors() if helpers is None else 1 + helpers) - 1
        self._file = _shared_file((1 + parts) * _size(shapes)) if self._spare else None
        self._arguments = [kind, json.dumps(config), json.dumps(shapes), str(parts)]
        self._finder = Finder(kind, config, shapes, parts, self._file)
        self.weights, self.slopes = self._finder.weights, self._finder.slopes[0]
        self._patience = PATIENCE
        self._helpers: list[Helper] = []

    def loss(self, batch: Arrays) -> float:
        """Return the loss of a batch without dropout."""
        return sum(self._find(batch, False, None))

    def learn(self, batch: Arrays, rng: np.random.Generator) -> float:
        """Return the loss of a batch, and leave its slopes in `slopes`.

        Args:
            batch: see `Dataset.batches`.
            rng: draws the units to drop.
        """
        losses = self._find(batch, True, rng)
        for slopes in self._finder.slopes[1 : len(losses)]:
            self.slopes += slopes
        return sum(losses)

    def start_helpers(self, wait: bool = True) -> list[int]:
        """Start the other processes; this happens by itself when training has gone on for a while.

        Args:
            wait: return when they take part. Without it they do so as soon as they can.

        Returns:
            Their numbers.
        """
        if self._file and not self._helpers:
            file = self._file.fileno()
            found = [Helper.start(serve, str(file), *self._arguments, files=[file]) for _ in range(self._spare)]
            self._helpers = [helper for helper in found if helper]
        return [helper.process.pid for helper in self._helpers if not wait or helper.wait()]

    def _find(self, batch: Arrays, learning: bool, rng: np.random.Generator | None) -> list[float]:
        """Return the micro-batches' shares of the loss."""
        dealt = deal(batch, self.parts)
        if len(dealt) == 1:
            return self._finder.find([Task(0, batch, None, learning, rng)])
        self._patience -= 1
        if not self._patience:
            self.start_helpers(wait=False)
        whole = max(float(np.dot(batch["lengths"], batch["weights"])), 1.0)
        rngs = rng.spawn(len(dealt)) if rng else [None] * len(dealt)
        tasks = [Task(part, rows, whole, learning, rngs[part]) for part, rows in enumerate(dealt)]
        try:
            return self._share(tasks)
        except BaseException:
            # Their answers would come to whoever asks next.
            for helper in self._helpers:
                helper.end()
            self._helpers = []
            raise

    def _share(self, tasks: Sequence[Task]) -> list[float]:
        helpers = [helper for helper in self._helpers if helper.ready]
        shares = [tasks[number :: 1 + len(helpers)] for number in range(1 + len(helpers))]
        for helper, share in zip(helpers, shares[1:], strict=True):
            # If it has died, the missing answer will tell.
            with contextlib.suppress(*BROKEN):
                helper.send(share)
        losses = [self._finder.find(shares[0])]
        for helper, share in zip(helpers, shares[1:], strict=True):
            try:
                losses.append(helper.receive(AWAKE))
            except BROKEN:
                losses.append(self._finder.find(share))
        self._helpers = [helper for helper in self._helpers if not helper.ended]
        return [losses[task.part % len(shares)][task.part // len(shares)] for task in tasks]


class Finder:
    """What finds the micro-batches' losses and slopes, here or in a helper.

    Args:
        kind, config, shapes, parts: see `MicroBatches`.
        file: whose memory all processes share; None where there is one alone.

    Attributes:
        weights: all in one vector, (W,).
        slopes: of each micro-batch, (parts, W).
    """

    def __init__(
        self, kind: str, config: Mapping[str, Any], shapes: Shapes, parts: int, file: IO[bytes] | None
    ) -> None:
        size = (1 + parts) * _size(shapes)
        memory = np.frombuffer(mmap.mmap(file.fileno(), 4 * size), np.float32) if file else np.zeros(size, np.float32)
        rows = memory.reshape(1 + parts, -1)
        self.weights, self.slopes = rows[0], rows[1:]
        names = weight_names(kind)
        weights, *slopes = (dict(zip(names, cut(row, shapes), strict=True)) for row in rows)
        self._models = [GradientModel(config, weights, each) for each in slopes]

    def find(self, tasks: Sequence[Task]) -> list[float]:
        """Return the shares of the loss; the slopes, where they are wanted, are in the parts' rows then."""
        return [self._find(task) for task in tasks]

    def _find(self, task: Task) -> float:
        model = self._models[task.part]
        loss = model.loss(task.batch, task.rng, task.whole)
        if task.learning:
            model.backward()
        return loss


def deal(batch: Arrays, parts: int) -> list[dict[str, NDArray[Any]]]:
    """Return a batch in parts, none without rows if the batch has any, and none with rows that only fill it up.

    The rows are dealt out like cards, by length, so that all parts have about as many words.
    """
    order = np.argsort(-batch["lengths"], kind="stable")[: np.count_nonzero(batch["lengths"])]
    count = max(1, min(parts, len(order)))
    return [{name: array[order[part::count]] for name, array in batch.items()} for part in range(count)]


def cut(vector: Floats, shapes: Shapes) -> list[Floats]:
    """Return views of the parts of a vector, one of each shape."""
    ends = np.cumsum([math.prod(shape) for shape in shapes])
    parts = np.split(vector, ends[:-1])
    return [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]


def serve(file: str, kind: str, config: str, shapes: str, parts: str) -> None:
    """Be a helper: find losses and slopes."""
    with os.fdopen(int(file), "r+b") as memory:
        answer(Finder(kind, json.loads(config), json.loads(shapes), int(parts), memory).find, AWAKE)


def _size(shapes: Shapes) -> int:
    return sum(math.prod(shape) for shape in shapes)


def _shared_file(size: int) -> IO[bytes] | None:
    """Return a file without a name for so many floats; None where there is no room or no such thing."""
    if os.name != "posix":
        return None
    # In memory if there is room: a container often has little.
    for folder in (MEMORY, None):
        with contextlib.suppress(OSError), contextlib.ExitStack() as stack:
            file = stack.enter_context(tempfile.TemporaryFile(dir=folder))
            # Written, and not only made so long: a disk that is full says so here, later it would end the process.
            file.write(bytes(4 * size))
            file.flush()
            stack.pop_all()
            return file
    return None
