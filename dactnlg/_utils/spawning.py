"""Spawned processes: a fork of a process that runs TensorFlow or other threads may hang."""

from __future__ import annotations

import signal
import sys
from multiprocessing.context import SpawnProcess
from types import ModuleType


class SpawnedProcess(SpawnProcess):
    """A process that does not run the user's script again, and leaves Ctrl-C to its parent.

    `multiprocessing` runs the main script again in a spawned process; one without `if __name__ == "__main__"` would
    repeat all its work.
    """

    def start(self) -> None:
        """Start the process."""
        main = sys.modules["__main__"]
        sys.modules["__main__"] = ModuleType("__main__")
        # A process inherits the signal mask of the thread that starts it. Windows has neither masks nor signals.
        masks = hasattr(signal, "pthread_sigmask")
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if masks else ()
        try:
            super().start()
        finally:
            if masks:
                signal.pthread_sigmask(signal.SIG_SETMASK, before)
            sys.modules["__main__"] = main
