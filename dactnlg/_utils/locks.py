"""Locks on files, which the operating system releases when a process ends, however it ends."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from dactnlg.errors import UserError

_PAUSE = 0.02
"""Seconds between two tries: whoever locks again and again, such as many scores of one run, lets go for moments."""


def hold(file: IO[Any], refusal: UserError) -> None:
    """Lock an open file until it is closed.

    Args:
        file: the file.
        refusal: raised where another process holds it.
    """
    # Late: it takes as long to import as all the rest of a small command.
    import portalocker

    try:
        portalocker.lock(file, portalocker.LOCK_EX | portalocker.LOCK_NB)
    except portalocker.LockException:
        raise refusal from None


@contextlib.contextmanager
def locked(path: Path, seconds: float) -> Iterator[None]:
    """Hold a lock file, made if it is not there; wait for other processes that hold it.

    Raises:
        OSError: it cannot be made; or, as TimeoutError, another process holds it for longer than `seconds`.
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
