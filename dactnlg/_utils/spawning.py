"""Processes that are spawned, not forked: a fork of a process that runs TensorFlow or other threads may hang."""

from __future__ import annotations

import signal
import sys
from multiprocessing.context import SpawnProcess
from types import ModuleType


class SpawnedProcess(SpawnProcess):
    """A process that starts without the user's script, and without Ctrl-C, which is for the process that starts it.

    `multiprocessing` runs the script again in what it spawns; one without `if __name__ == "__main__"` would do all its
    work once more.
    """

    def start(self) -> None:
        """Start the process."""
        main = sys.modules["__main__"]
        sys.modules["__main__"] = ModuleType("__main__")
        # A process inherits the mask of the thread that starts it. Windows has none, and sends no signals either.
        masks = hasattr(signal, "pthread_sigmask")
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if masks else ()
        try:
            super().start()
        finally:
            if masks:
                signal.pthread_sigmask(signal.SIG_SETMASK, before)
            sys.modules["__main__"] = main
