"""Checks of file names from untrusted sources: a name that leads out of its folder is refused."""

from __future__ import annotations

import os
import stat
from pathlib import Path, PurePosixPath, PureWindowsPath

from dactnlg._utils.terminal import printable
from dactnlg.errors import UserError


def relative(name: str) -> PurePosixPath:
    """Return a name as a path relative to some folder, checked the same way on every system.

    Raises:
        ValueError: it is absolute, leads upward, or contains a colon or a control character.
    """
    # Windows splits at slashes and backslashes and has drives: what leads out there is refused on every system.
    path = PureWindowsPath(name)
    if path.anchor or ".." in path.parts or ":" in name:
        raise ValueError(f"'{printable(name)}' leads out of its folder")
    if printable(name) != name:
        raise ValueError(f"'{printable(name)}' holds a control character")
    return PurePosixPath(name)


def inside(folder: Path, name: str) -> Path:
    """Return the resolved path of this name below a folder.

    Raises:
        ValueError: it lies outside the folder, by its name or through a link.
    """
    place = (folder / relative(name)).resolve()
    if not place.is_relative_to(folder.resolve()):
        raise ValueError(f"'{name}' leads out of {folder} through a link")
    return place


def refuse_links(folder: Path, error: type[UserError]) -> None:
    """Check that a folder, if it exists, holds only files, folders and links that stay inside it.

    Args:
        folder: a folder that may come from somebody else.
        error: the error to raise if an entry is a link that leads outside (writing or publishing it would reach its
            target), or neither a file nor a folder, such as a pipe, which has no end to read to.
    """
    top = folder.resolve()
    for root, folders, files in os.walk(top):
        for name in (*folders, *files):
            path = Path(root, name)
            try:
                kind = path.lstat().st_mode
            except FileNotFoundError:
                # A temporary file of another process, which has been renamed since the folder was listed.
                continue
            if stat.S_ISLNK(kind):
                if not path.resolve().is_relative_to(top):
                    raise error(f"{path} is a link to {path.readlink()}, out of its folder; put a copy in its place")
                kind = path.stat().st_mode if path.exists() else kind
            if not (stat.S_ISREG(kind) or stat.S_ISDIR(kind)):
                raise error(f"{path} is neither a file nor a folder")
