"""Another process that takes a share of some work, where a processor is free.

A helper is a fresh Python with nothing but this package in it; tasks come through its standard input and answers go
through its standard output, one at a time. Neither a fork nor `multiprocessing`: a fork of a process that runs
TensorFlow or other threads may hang, and `multiprocessing` starts the user's script again where it has no
`if __name__ == "__main__"`. A helper gives what the process that started it would give, so it does not matter who did
what: one that cannot be started, is not ready yet or dies is done without. A helper ends with its standard input, so
none outlives the process that started it, however that ends.
"""

from __future__ import annotations

import contextlib
import gc
import os
import pickle
import select
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

BROKEN = (OSError, EOFError, ValueError, pickle.UnpicklingError)
"""What a pipe gives whose other end has died, or which has been closed."""
_PROGRAM = "import sys; from {} import {} as serve; serve(*sys.argv[1:])"


class Helper:
    """One process, as the one that started it sees it.

    Attributes:
        ready: whether it takes tasks.
        ended: whether it has died or been ended.
        process: it.
        end: ends it.
    """

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.ready = self.ended = False
        self.process = process
        # Runs when this object is dropped, and when Python ends.
        self.end = weakref.finalize(self, _end, process)
        self._waiting = threading.Thread(target=_await, args=(weakref.ref(self), process), daemon=True)
        self._waiting.start()

    @classmethod
    def start(cls, serve: Callable[..., None], *arguments: str, files: Sequence[int] = ()) -> Helper | None:
        """Return a new one; None where no process can be started.

        Args:
            serve: a module's function, which calls `answer`.
            *arguments: what to call it with.
            files: open files that it gets under the same numbers.
        """
        if not sys.executable:
            return None
        # Our own modules, wherever they were found, and no others that lie where the user stands.
        paths = os.pathsep.join(path or str(Path.cwd()) for path in sys.path)
        command = [sys.executable, "-P", "-c", _PROGRAM.format(serve.__module__, serve.__name__), *arguments]
        # Arrays too small for it would only wake BLAS's threads up.
        environment = {**os.environ, "PYTHONPATH": paths, "OPENBLAS_NUM_THREADS": "1"}
        pipe = subprocess.PIPE
        try:
            process = subprocess.Popen(
                command, env=environment, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, pass_fds=files
            )
        except OSError:
            return None
        return cls(process)

    def wait(self) -> bool:
        """Wait until it takes tasks, and return whether it does; not, if it has died."""
        self._waiting.join()
        return self.ready

    def send(self, task: object) -> None:
        """Send a task.

        Raises:
            BROKEN: one of these, where the helper has died.
        """
        with self._noting_the_end():
            _send(self.process.stdin, task)

    def receive(self, awake: float = 0.0) -> Any:
        """Wait for the answer to the task that was sent.

        Args:
            awake: seconds to wait without falling asleep; see `answer`.

        Raises:
            BROKEN: one of these, where the helper has died.
        """
        with self._noting_the_end():
            return _receive(self.process.stdout, awake)

    @contextlib.contextmanager
    def _noting_the_end(self) -> Iterator[None]:
        try:
            yield
        except BROKEN:
            self.ready, self.ended = False, True
            raise


def _await(helper: weakref.ref[Helper], process: subprocess.Popen[bytes]) -> None:
    """Wait until a helper says that it is there."""
    with contextlib.suppress(*BROKEN):
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
        # In one piece: each one wakes the other end up.
        pipe.write(pickle.dumps(value, pickle.HIGHEST_PROTOCOL))
        pipe.flush()


def _receive(pipe: IO[bytes] | None, awake: float = 0.0) -> Any:
    if not pipe:
        raise EOFError
    if awake and os.name == "posix":
        end = time.perf_counter() + awake
        while not select.select([pipe], [], [], 0.0)[0] and time.perf_counter() < end:
            os.sched_yield()
    return pickle.load(pipe)


def answer(work: Callable[[Any], Any], awake: float = 0.0) -> None:
    """Be a helper that is ready: answer every task that standard input has, until it ends.

    Args:
        work: does a task.
        awake: seconds to wait for the next task without falling asleep. A virtual machine's processor may take longer
            to wake up than a small task takes.
    """
    # Ctrl-C reaches all processes of a terminal; the one that was started by the user decides.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Arrays and numbers have no cycles, and to look for them takes up to a fifth of the time.
    gc.disable()
    source, target = sys.stdin.buffer, sys.stdout.buffer
    with contextlib.suppress(EOFError, BrokenPipeError):
        _send(target, None)
        while True:
            _send(target, work(_receive(source, awake)))
