"""Processes that compute a share of METEOR's alignments, if there are many and processors are free.

Workers compute exactly what this process would, so it does not matter which of them does what: a worker that cannot be
started, is not ready yet or dies is not needed. A worker ends when its pipe closes, so none outlives its parent.
"""

from __future__ import annotations

import contextlib
import gc
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, Pipe
from pathlib import Path

from dactnlg._utils.processors import usable_processors
from dactnlg._utils.spawning import SpawnedProcess

Texts = Sequence[tuple[str, str]]
"""Pairs of hypothesis and reference."""
Counts = list[tuple[float, ...]]
MOST = 3
"""The most workers, of some 80 MB each."""
_BROKEN = (OSError, EOFError)
"""Raised by a pipe whose other end has died."""


class Workers:
    """Processes that align.

    Args:
        folder: the folder of METEOR's index.
        count: how many to start; by default one fewer than the usable processors, at most `MOST`.
    """

    def __init__(self, folder: Path, count: int | None = None) -> None:
        wanted = min(usable_processors() - 1, MOST) if count is None else count
        self.workers: list[Worker] = []
        # A daemonic process of `multiprocessing` may not start processes and raises AssertionError.
        with contextlib.suppress(OSError, AssertionError):
            self.workers += (Worker(folder) for _ in range(wanted))

    def share(self, blocks: Sequence[Texts], align: Callable[[Texts], Counts]) -> list[Counts]:
        """Return the result of `align` for each block; workers that are ready compute some of them."""
        waiting = deque(enumerate(blocks))
        found: dict[int, Counts] = {}
        threads: dict[Worker, threading.Thread] = {}
        try:
            while waiting:
                for worker in self.workers:
                    if worker not in threads and worker.ready():
                        threads[worker] = threading.Thread(target=worker.align, args=(waiting, found), daemon=True)
                        threads[worker].start()
                try:
                    index, block = waiting.popleft()
                except IndexError:
                    break
                found[index] = align(block)
            for thread in threads.values():
                thread.join()
        except BaseException:
            # Otherwise the next caller would receive the answers to these blocks.
            self.end()
            raise
        self.workers = [worker for worker in self.workers if not worker.broken]
        # Blocks that a worker had taken when it died are aligned here.
        return [found[index] if index in found else align(block) for index, block in enumerate(blocks)]

    def end(self) -> None:
        """End all workers."""
        for worker in self.workers:
            worker.process.kill()
            worker.process.join()
        self.workers = []


class Worker:
    """The parent's handle of one worker process.

    Attributes:
        broken: whether the process has died.
        process: the process.
    """

    def __init__(self, folder: Path) -> None:
        self.broken = self._begun = False
        self._pipe, theirs = Pipe()
        self.process = SpawnedProcess(target=_serve, args=(theirs, folder), daemon=True)
        self.process.start()
        theirs.close()

    def ready(self) -> bool:
        """Whether the process is ready to take blocks."""
        with self._noting_the_end():
            if not self._begun and not self.broken and self._pipe.poll():
                self._pipe.recv()
                self._begun = True
        return self._begun and not self.broken

    def align(self, waiting: deque[tuple[int, Texts]], found: dict[int, Counts]) -> None:
        """Send waiting blocks to the process, one by one, until none is left; runs in a thread of its own."""
        with self._noting_the_end():
            while waiting:
                try:
                    index, block = waiting.pop()
                except IndexError:
                    return
                self._pipe.send(block)
                found[index] = self._pipe.recv()

    @contextlib.contextmanager
    def _noting_the_end(self) -> Iterator[None]:
        try:
            yield
        except _BROKEN:
            self.broken = True


def _serve(pipe: Connection, folder: Path) -> None:
    """Run a worker: report that it is ready, then align each block received, until the pipe closes."""
    # Arrays and numbers form no cycles, and collecting takes up to a fifth of the time.
    gc.disable()
    from dactnlg.metrics.meteor.align import Aligner
    from dactnlg.metrics.meteor.data import MeteorData

    with contextlib.suppress(*_BROKEN):
        aligner = Aligner(MeteorData(folder))
        pipe.send(None)
        while True:
            pipe.send(aligner.align_texts(pipe.recv()))
