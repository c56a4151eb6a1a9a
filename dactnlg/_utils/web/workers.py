"""An application in several processes behind one port, for more load than one interpreter can handle."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, Pipe, wait
from types import FrameType
from typing import Protocol

from dactnlg._utils.spawning import SpawnedProcess
from dactnlg._utils.web.signals import left_to_supervisor
from dactnlg.errors import DactnlgError, UserError

RETRY_SECONDS = 5.0
"""Pause before a worker whose predecessor could not start, for instance because a run's files were being exchanged."""
_log = logging.getLogger("dactnlg")


class Work(Protocol):
    """What a worker does: it serves at a socket until SIGTERM. It must be picklable, to be sent to the worker."""

    def __call__(self, listening: socket.socket, ready: Callable[[], None]) -> None:
        """Serve, and call `ready` once requests and signals are handled."""


def serve_in_processes(
    work: Work,
    listening: Sequence[socket.socket],
    count: int,
    *,
    ready: Callable[[], None] | None = None,
    ended: Callable[[int], object] | None = None,
) -> None:
    """Serve until SIGINT or SIGTERM; then let running requests finish, and return.

    SIGHUP is passed on to every worker that is ready. A worker that dies is replaced, and connections waiting at its
    socket go to its successor. If a worker cannot start, it ends the others, since its successor would fail in the same
    way; but once all have been ready, the others go on, and another successor follows after `RETRY_SECONDS`.

    Args:
        work: what each worker does.
        listening: sockets, from `server.bound_together`; they are closed in the end.
        count: number of workers.
        ready: called when all workers are ready.
        ended: called with the process id of each worker that has ended.

    Raises:
        UserError: a worker could not start; the message gives the reason.
    """
    _Supervisor(work, listening, ready, ended).run(count)


class _Worker:
    """A worker process, as the supervisor sees it.

    Args:
        work: what it does.
        listening: its socket.
        delay: seconds that the process waits before it begins.

    Attributes:
        listening: its socket.
        process: the process.
        pipe: on which the process reports that it is ready, or why it could not start.
        ready: whether it has reported that it is ready.
        trouble: why it could not start; empty if it has reported nothing of the kind.
    """

    def __init__(self, work: Work, listening: socket.socket, delay: float) -> None:
        self.listening, self.ready, self.trouble = listening, False, ""
        self.pipe, theirs = Pipe()
        self.process = SpawnedProcess(target=_work, args=(work, listening, theirs, delay))
        self.process.start()
        theirs.close()

    def listen(self) -> None:
        """Read what the process has reported."""
        with contextlib.suppress(EOFError, OSError):
            while self.pipe.poll():
                told = self.pipe.recv()
                self.ready, self.trouble = not told, told

    def signal(self, number: int) -> None:
        """Send a signal to the process, if there still is one."""
        if self.process.is_alive() and self.process.pid is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.process.pid, number)


class _Supervisor:
    def __init__(
        self,
        work: Work,
        listening: Sequence[socket.socket],
        ready: Callable[[], None] | None,
        ended: Callable[[int], object] | None,
    ) -> None:
        self._work, self._listening, self._ready, self._ended = work, listening, ready, ended
        self._workers: list[_Worker] = []
        self._begun = self._ending = False

    def run(self, count: int) -> None:
        """Keep `count` workers alive until a signal ends them."""
        failure: _Worker | None = None
        with self._signals():
            for number in range(count):
                self._start(self._listening[number % len(self._listening)])
            while self._workers:
                wait([one.process.sentinel for one in self._workers] + [one.pipe for one in self._beginning()])
                for worker in tuple(self._workers):
                    worker.listen()
                    if not worker.process.is_alive() and not self._bury(worker):
                        failure = failure or worker
                if not self._begun and [one.ready for one in self._workers] == [True] * count:
                    self._begun = True
                    if self._ready is not None:
                        self._ready()
        if failure is not None:
            raise UserError(failure.trouble or f"a worker ended before it could answer, {_reason(failure)}")

    def _start(self, listening: socket.socket, delay: float = 0.0) -> None:
        if self._ending:
            return
        worker = _Worker(self._work, listening, delay)
        self._workers.append(worker)
        if self._ending:
            # A signal arrived before the worker was in the list.
            worker.signal(signal.SIGTERM)

    def _beginning(self) -> list[_Worker]:
        return [one for one in self._workers if not one.ready and not one.trouble]

    def _bury(self, worker: _Worker) -> bool:
        """Remove a worker that has ended and start another; return False if all end because it could not start."""
        self._workers.remove(worker)
        worker.pipe.close()
        if self._ended is not None and worker.process.pid is not None:
            self._ended(worker.process.pid)
        if self._ending:
            return True
        if worker.ready:
            _log.error("a worker ended, %s; another one takes its place", _reason(worker))
            self._start(worker.listening)
            return True
        if not self._begun:
            self._end()
            return False
        why = worker.trouble or _reason(worker)
        _log.error("a worker could not start, %s; another one tries in %g seconds", why, RETRY_SECONDS)
        if len(self._listening) > 1:
            # Connections at the socket would wait in vain; the others get them until the successor listens again.
            with contextlib.suppress(OSError):
                worker.listening.shutdown(socket.SHUT_RD)
        self._start(worker.listening, RETRY_SECONDS)
        return True

    def _end(self) -> None:
        self._ending = True
        for each in self._listening:
            # Connections at an open socket would wait in vain.
            each.close()
        for worker in tuple(self._workers):
            worker.signal(signal.SIGTERM)

    @contextlib.contextmanager
    def _signals(self) -> Iterator[None]:
        def end(number: int, _frame: FrameType | None) -> None:
            if self._ending and number == signal.SIGINT:
                # A second Ctrl-C: do not wait for running requests.
                for worker in self._workers:
                    worker.process.kill()
            self._end()

        def pass_on(number: int, _frame: FrameType | None) -> None:
            for worker in tuple(self._workers):
                # A worker that is still starting reads fresh data anyway, and does not handle the signal yet.
                if worker.ready:
                    worker.signal(number)

        handlers = {signal.SIGINT: end, signal.SIGTERM: end}
        if hasattr(signal, "SIGHUP"):
            handlers[signal.SIGHUP] = pass_on
        before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def _reason(worker: _Worker) -> str:
    code = worker.process.exitcode or 0
    return f"by signal {-code}" if code < 0 else f"with exit code {code}"


def _work(work: Work, listening: socket.socket, pipe: Connection, delay: float) -> None:
    """Run in the worker process: after a delay, serve until SIGTERM, or until the supervisor is gone."""

    def follow() -> None:
        # The supervisor never sends anything: `recv` returns only when its end of the pipe closes, however it died.
        with contextlib.suppress(EOFError, OSError):
            pipe.recv()
        os.kill(os.getpid(), signal.SIGTERM)

    def ready() -> None:
        pipe.send("")
        threading.Thread(target=follow, daemon=True).start()

    signal.signal(signal.SIGINT, left_to_supervisor)
    time.sleep(delay)
    try:
        work(listening, ready)
    except DactnlgError as error:
        pipe.send(str(error))
