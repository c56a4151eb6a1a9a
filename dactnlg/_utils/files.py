"""Files that a command writes."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from dactnlg.errors import UserError


def check_folders(*files: str | Path | None) -> None:
    """Refuse files whose folder is not there: before minutes of work, not after.

    Raises:
        UserError: names the file and the folder.
    """
    for file in files:
        if file not in (None, "-") and not (folder := Path(str(file)).parent).is_dir():
            raise UserError(f"cannot write {file}: there is no folder {folder}")


@contextlib.contextmanager
def written(name: str) -> Iterator[TextIO]:
    """Open a file for writing; `-` is standard output."""
    if name == "-":
        yield sys.stdout
        return
    # A lone surrogate in JSON comes out as the escape that JSON has for it.
    with Path(name).open("w", encoding="utf-8", errors="backslashreplace") as file:
        yield file
