"""The user's cache: indexes that metrics build of their data once and memory-map at every later start."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from dactnlg.errors import MetricError


def user_cache() -> Path:
    """Return the user's cache folder, which may not exist yet."""
    # As pooch finds it, without importing pooch.
    import platformdirs

    return Path(platformdirs.user_cache_dir("dactnlg"))


def make_once(folder: Path, make: Callable[[Path], None], what: str) -> None:
    """Create a folder and let `make` fill it, unless it exists.

    It is filled under a temporary name and then renamed, so that neither a killed process nor a concurrent one ever
    leaves or sees an incomplete folder.

    Raises:
        MetricError: the folder cannot be written, or what `make` reads cannot be read; the message says `what` it is
            the index of.
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
                # Another process was faster; its index is the same.
                if not folder.is_dir():
                    raise
        finally:
            shutil.rmtree(work, ignore_errors=True)
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        raise MetricError(f"cannot make the index of {what} in {folder}: {error.strerror or error}{where}") from None
