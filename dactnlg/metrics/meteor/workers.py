"""Processes that take a share of METEOR's alignments, where there are many and processors are free.

Workers give what this process would give, so it does not matter who aligns what: one that cannot be started, is not
ready yet or dies is done without. A worker ends when its pipe does, so none outlives the process that started it.
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
"""A hypothesis and a reference each."""
Counts = list[tuple[float, ...]]
MOST = 3
"""Workers, of some 80 MB each."""
_BROKEN = (OSError, EOFError)
"""What a pipe raises whose other end has died."""


class Workers:
    """Processes that align.

    Args:
        folder: where METEOR's index lies.
        count: how many to start; by default one less than the processors that this process may use, at most `MOST`.
    """

    def __init__(self, folder: Path, count: int | None = None) -> None:
        wanted = min(usable_processors() - 1, MOST) if count is None else count
        self.workers: list[Worker] = []
        # A daemon of `multiprocessing` may have no processes of its own: an AssertionError.
        with contextlib.suppress(OSError, AssertionError):
            self.workers += (Worker(folder) for _ in range(wanted))

    def share(self, blocks: Sequence[Texts], align: Callable[[Texts], Counts]) -> list[Counts]:
        """Return what `align` gives for each block; workers that are ready do some of it."""
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
            # Answers to what workers have taken would come to whoever asks next.
            self.end()
            raise
        self.workers = [worker for worker in self.workers if not worker.broken]
        # What a worker had taken when it died.
        return [found[index] if index in found else align(block) for index, block in enumerate(blocks)]

    def end(self) -> None:
        """End all workers."""
        for worker in self.workers:
            worker.process.kill()
            worker.process.join()
        self.workers = []


class Worker:
    """One process, as the one that started it sees it.

    Attributes:
        broken: whether it has died.
        process: it.
    """

    def __init__(self, folder: Path) -> None:
        self.broken = self._begun = False
        self._pipe, theirs = Pipe()
        self.process = SpawnedProcess(target=_serve, args=(theirs, folder), daemon=True)
        self.process.start()
        theirs.close()

    def ready(self) -> bool:
        """Whether it takes blocks."""
        with self._noting_the_end():
            if not self._begun and not self.broken and self._pipe.poll():
                self._pipe.recv()
                self._begun = True
        return self._begun and not self.broken

    def align(self, waiting: deque[tuple[int, Texts]], found: dict[int, Counts]) -> None:
        """Have blocks aligned until none waits; in a thread, which does nothing but wait."""
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
    """Be a worker: say that it is ready, then align every block that comes, until the pipe ends."""
    # Arrays and numbers have no cycles, and to look for them takes up to a fifth of the time.
    gc.disable()
    from dactnlg.metrics.meteor.align import Aligner
    from dactnlg.metrics.meteor.data import MeteorData

    with contextlib.suppress(*_BROKEN):
        aligner = Aligner(MeteorData(folder))
        pipe.send(None)
        while True:
            pipe.send(aligner.align_texts(pipe.recv()))
