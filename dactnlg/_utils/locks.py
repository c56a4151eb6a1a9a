"""File locks, which the operating system releases when a process ends, however it ends."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from dactnlg.errors import UserError

_PAUSE = 0.02
"""Seconds between two attempts; short, since a process that locks repeatedly releases the lock only for moments."""


def hold(file: IO[Any], refusal: UserError) -> None:
    """Lock an open file until it is closed.

    Args:
        file: the file.
        refusal: the error to raise if another process holds the lock.
    """
    # Imported late: the import takes as long as the rest of a small command.
    import portalocker

    try:
        portalocker.lock(file, portalocker.LOCK_EX | portalocker.LOCK_NB)
    except portalocker.LockException:
        raise refusal from None


@contextlib.contextmanager
def locked(path: Path, seconds: float) -> Iterator[None]:
    """Hold a lock file, creating it if necessary; wait while other processes hold it.

    Raises:
        OSError: the file cannot be created.
        TimeoutError: another process holds it for longer than `seconds`.
    """
    import portalocker

    try:
        lock = portalocker.Lock(path, timeout=seconds, check_interval=_PAUSE)
        lock.acquire()
    except portalocker.LockException:
        raise TimeoutError(None, "another process holds it", str(path)) from None
    try:
        yield
    finally:
        lock.release()
