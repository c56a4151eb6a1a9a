"""Other processes that take a share of METEOR's alignments, where there are many and a processor is free.

A helper is a fresh Python with nothing but this package in it, and blocks of sentences go through its standard input
and output. Neither a fork nor `multiprocessing`: a fork of a process that runs TensorFlow or other threads may hang,
and `multiprocessing` starts the user's script again where it has no `if __name__ == "__main__"`. Helpers give what
this process would give, so it does not matter who did what: one that cannot be started, is not ready yet or dies is
done without. A helper ends with its standard input, so none outlives this process, however that ends.
"""

from __future__ import annotations

import contextlib
import gc
import os
import pickle
import signal
import subprocess
import sys
import threading
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO

Texts = Sequence[tuple[str, str]]
"""A hypothesis and a reference each."""
Counts = list[tuple[float, ...]]

MANY = 1500
"""Alignments for which a helper is started: it takes as long as half of them."""
MOST = 3
"""Helpers, of some 80 MB each."""
_BROKEN = (OSError, EOFError, ValueError, pickle.UnpicklingError)
"""What a pipe gives whose other end has died, or which has been closed."""
_PROGRAM = "import sys; from dactnlg.metrics.meteor_helpers import serve; serve(sys.argv[1])"


class Helpers:
    """Processes that align.

    Args:
        folder: where METEOR's index lies.
        count: how many to start; one less than the processors that this process may use, and not more than `MOST`, by
            default.
    """

    def __init__(self, folder: Path, count: int | None = None) -> None:
        wanted = min(_processors() - 1, MOST) if count is None else count
        self._helpers = [helper for helper in (_Helper.start(folder) for _ in range(wanted)) if helper]

    def share(self, blocks: Sequence[Texts], align: Callable[[Texts], Counts]) -> list[Counts]:
        """Return what `align` gives for each block; helpers that are ready do some of it."""
        found: dict[int, Counts] = {}
        try:
            self._share(blocks, align, found)
        except BaseException:
            # Their answers to what they have taken would come to whoever asks next.
            self.end()
            raise
        # What a helper had taken when it died.
        return [found[index] if index in found else align(block) for index, block in enumerate(blocks)]

    def _share(self, blocks: Sequence[Texts], align: Callable[[Texts], Counts], found: dict[int, Counts]) -> None:
        waiting = deque(enumerate(blocks))
        threads: dict[_Helper, threading.Thread] = {}
        while waiting:
            for helper in self._helpers:
                if helper.ready and helper not in threads:
                    threads[helper] = threading.Thread(target=helper.work, args=(waiting, found), daemon=True)
                    threads[helper].start()
            try:
                index, block = waiting.popleft()
            except IndexError:
                break
            found[index] = align(block)
        for thread in threads.values():
            thread.join()
        self._helpers = [helper for helper in self._helpers if not helper.ended]

    def end(self) -> None:
        """End all helpers."""
        for helper in self._helpers:
            helper.end()
        self._helpers = []


class _Helper:
    """One process, as this one sees it.

    Attributes:
        ready: whether it can take blocks.
        ended: whether it has died or been ended.
    """

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.ready = self.ended = False
        self._process = process
        # Runs when this object is dropped, and when Python ends.
        self.end = weakref.finalize(self, _end, process)
        threading.Thread(target=_await, args=(weakref.ref(self), process), daemon=True).start()

    @classmethod
    def start(cls, folder: Path) -> _Helper | None:
        """Return a new one; None where no process can be started."""
        if not sys.executable:
            return None
        # Our own modules, wherever they were found, and no others that lie where the user stands.
        paths = os.pathsep.join(path or str(Path.cwd()) for path in sys.path)
        command = [sys.executable, "-P", "-c", _PROGRAM, str(folder)]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        # Arrays too small for it would only wake BLAS's threads up.
        environment = {**os.environ, "PYTHONPATH": paths, "OPENBLAS_NUM_THREADS": "1"}
        try:
            return cls(subprocess.Popen(command, env=environment, **pipes))  # type: ignore[call-overload]
        except OSError:
            return None

    def work(self, waiting: deque[tuple[int, Texts]], found: dict[int, Counts]) -> None:
        """Have blocks aligned until none waits; in a thread, which does nothing but wait."""
        while True:
            try:
                index, block = waiting.pop()
            except IndexError:
                return
            try:
                _send(self._process.stdin, block)
                found[index] = _receive(self._process.stdout)
            except _BROKEN:
                self.ready, self.ended = False, True
                return


def _await(helper: weakref.ref[_Helper], process: subprocess.Popen[bytes]) -> None:
    """Wait until a helper says that it is there."""
    with contextlib.suppress(*_BROKEN):
        _receive(process.stdout)
        if found := helper():
            found.ready = True


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    for pipe in (process.stdin, process.stdout):
        if pipe:
            with contextlib.suppress(OSError):
                pipe.close()
    process.wait()


def _send(pipe: IO[bytes] | None, value: object) -> None:
    if pipe:
        pickle.dump(value, pipe, pickle.HIGHEST_PROTOCOL)
        pipe.flush()


def _receive(pipe: IO[bytes] | None) -> Counts:
    if not pipe:
        raise EOFError
    value: Counts = pickle.load(pipe)
    return value


def _processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def serve(folder: str) -> None:
    """Be a helper: align the blocks that standard input has, until it ends."""
    from dactnlg.metrics.meteor_align import Aligner
    from dactnlg.metrics.meteor_data import MeteorData

    # Ctrl-C reaches all processes of a terminal; the one that was started by the user decides.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Alignments have no cycles, and to look for them takes a fifth of the time.
    gc.disable()
    source, target = sys.stdin.buffer, sys.stdout.buffer
    aligner = Aligner(MeteorData(Path(folder)))
    with contextlib.suppress(EOFError, BrokenPipeError):
        _send(target, [])
        while True:
            _send(target, aligner.align_texts(pickle.load(source)))
