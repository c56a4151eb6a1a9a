"""Names of files that strangers chose: inside the folder that they are meant for, or refused."""

from __future__ import annotations

import os
import stat
from pathlib import Path, PurePosixPath, PureWindowsPath

from dactnlg._utils.terminal import printable
from dactnlg.errors import UserError


def relative(name: str) -> PurePosixPath:
    """Return a name as a path below some folder, on every system.

    Raises:
        ValueError: it is absolute, leads upward, names no file, or holds a control character.
    """
    # Windows parts names at slashes and backslashes, and knows drives: what leads out there is refused everywhere.
    path = PureWindowsPath(name)
    if path.anchor or ".." in path.parts or ":" in name:
        raise ValueError(f"'{printable(name)}' leads out of its folder")
    if printable(name) != name:
        raise ValueError(f"'{printable(name)}' holds a control character")
    return PurePosixPath(name)


def inside(folder: Path, name: str) -> Path:
    """Return the file of this name below a folder, all links followed.

    Raises:
        ValueError: it lies elsewhere, by its name or through a link.
    """
    place = (folder / relative(name)).resolve()
    if not place.is_relative_to(folder.resolve()):
        raise ValueError(f"'{name}' leads out of {folder} through a link")
    return place


def refuse_links(folder: Path, error: type[UserError]) -> None:
    """Do nothing where a folder holds files and folders alone, or does not exist.

    Args:
        folder: of files that a stranger may have made.
        error: what to raise where an entry is a link to what lies elsewhere (whoever writes it or publishes it would
            reach that), or neither a file nor a folder, such as a pipe, which is never read to its end.
    """
    top = folder.resolve()
    for root, folders, files in os.walk(top):
        for name in (*folders, *files):
            path = Path(root, name)
            try:
                kind = path.lstat().st_mode
            except FileNotFoundError:
                # Another process writes a file of the folder anew, and had it half written when the folder was listed.
                continue
            if stat.S_ISLNK(kind):
                if not path.resolve().is_relative_to(top):
                    raise error(f"{path} is a link to {path.readlink()}, out of its folder; put a copy in its place")
                kind = path.stat().st_mode if path.exists() else kind
            if not (stat.S_ISREG(kind) or stat.S_ISDIR(kind)):
                raise error(f"{path} is neither a file nor a folder")
