"""Writing files: checked before the work, whole after it."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from dactnlg.errors import UserError


def check_folders(*files: str | Path | None) -> None:
    """Refuse output files whose folder does not exist, before minutes of work are spent on them.

    Args:
        *files: paths; None and `-` (standard output) are passed over.

    Raises:
        UserError: a folder is missing; the message names file and folder.
    """
    for file in files:
        if file not in (None, "-") and not (folder := Path(str(file)).parent).is_dir():
            raise UserError(f"cannot write {file}: there is no folder {folder}")


@contextlib.contextmanager
def written(name: str) -> Iterator[TextIO]:
    """Open a text file for writing; `-` is standard output, which stays open."""
    if name == "-":
        yield sys.stdout
        return
    # JSON has an escape for a lone surrogate: it is written as that.
    with Path(name).open("w", encoding="utf-8", errors="backslashreplace") as file:
        yield file


@contextlib.contextmanager
def replace_file(path: Path) -> Iterator[Path]:
    """Replace a file at once: give a path to write to, and move it to `path` when the body has ended.

    A kill or a power cut leaves the old file or the new one, never half of one. The file given is `partial-NAME` in
    the same folder (a rename is atomic within one file system only) and keeps the name's ending, since some writers
    choose the format by it. If the body raises, the file given is deleted and `path` stays as it was.

    Raises:
        OSError: the file cannot be written; `filename` is `path` also where the system names none (a full disk).
    """
    partial = path.with_name(f"partial-{path.name}")
    try:
        # What a stranger's folder has under this name may be a link: it would be written through.
        partial.unlink(missing_ok=True)
        try:
            yield partial
            _sync(partial)
            partial.replace(path)
            _sync(path.parent)
        except BaseException:
            with contextlib.suppress(OSError):
                partial.unlink(missing_ok=True)
            raise
    except OSError as error:
        if error.filename not in (None, str(partial), partial):
            raise
        raise OSError(error.errno, error.strerror or str(error), str(path)) from None


def _sync(path: Path) -> None:
    """Wait until a file, or a folder's list of names, is on the disk."""
    if path.is_dir() and os.name == "nt":
        # Windows cannot open a folder.
        return
    number = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(number)
    finally:
        os.close(number)
