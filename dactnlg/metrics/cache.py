"""The user's cache: indexes that metrics make of their data once, and map into memory at every later start."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from dactnlg.errors import MetricError


def user_cache() -> Path:
    """Return the user's cache folder; it need not be there yet."""
    # pooch's own way to find it, without the rest of pooch.
    import platformdirs

    return Path(platformdirs.user_cache_dir("dactnlg"))


def make_once(folder: Path, make: Callable[[Path], None], what: str) -> None:
    """Let `make` fill a folder, unless it is there.

    It is written beside and moved into place whole, so that a kill leaves no half of it and no other process sees one.

    Raises:
        MetricError: the folder cannot be written; the message names `what` it is for.
    """
    if folder.is_dir():
        return
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(prefix="making-", dir=folder.parent))
        try:
            make(work)
            try:
                work.replace(folder)
            except OSError:
                # Another process was faster: its index is as good.
                if not folder.is_dir():
                    raise
        finally:
            shutil.rmtree(work, ignore_errors=True)
    except OSError as error:
        raise MetricError(f"cannot write the index of {what} to {folder}: {error.strerror or error}") from None
