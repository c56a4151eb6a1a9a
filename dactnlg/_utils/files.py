"""Writing files: targets are checked before the work starts and replaced atomically when it is done."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TextIO

from dactnlg.errors import UserError

_STREAMS = ("/dev/", "/proc/")
"""Names below these are treated as streams, even if they are files: the shell may redirect `/dev/stdout` to one."""
_PARTIAL = re.compile(r"^partial-(?:(\d{1,9})-)?")
"""Start of the name of a temporary file, with the number of the process; older versions left that out."""


def check_folders(*files: str | Path | None) -> None:
    """Refuse output files that cannot be written, before minutes of work are spent on them.

    Args:
        *files: paths; None and `-` (standard output) are skipped.

    Raises:
        UserError: a name is empty or names a folder, or its parent folder is missing or not writable; the message
            names the file. Or two of the files are the same.
    """
    for name, count in Counter(map(str, filter(None, files))).items():
        if count > 1 and not _is_stream(Path(name)):
            raise UserError(f"{'standard output (-)' if name == '-' else name} can be only one of the files")
    for file in files:
        if file is None or str(file) == "-":
            continue
        path = Path(file)
        if not str(file):
            raise UserError("cannot write a file without a name: give a name, or - for standard output")
        if path.is_dir():
            raise UserError(f"cannot write {file}: it is a folder")
        if not path.parent.is_dir():
            raise UserError(f"cannot write {file}: there is no folder {path.parent}")
        if not os.access(path if path.exists() and _is_stream(path) else path.parent, os.W_OK):
            raise UserError(f"cannot write {file}: permission denied")


@contextlib.contextmanager
def written(name: str | Path) -> Iterator[TextIO]:
    """Open a text file for writing; as with `replace_file`, it gets its name only once the body has finished.

    `-` is standard output, which stays open. Pipes and devices are written to directly.

    Raises:
        OSError: the file cannot be written; `filename` is `name`.
    """
    path = Path(name)
    if str(name) == "-":
        yield sys.stdout
    elif _is_stream(path):
        with naming(path), _opened(path) as file:
            yield file
    else:
        # Replace the target of a link, not the link.
        with replace_file(Path(os.path.realpath(path))) as partial, _opened(partial) as file:
            yield file


@contextlib.contextmanager
def made_folder(folder: Path) -> Iterator[None]:
    """Make a folder and its missing parents for the body to write into; if the body fails, remove the empty ones.

    Raises:
        OSError: the folder cannot be made; `filename` names what is in the way.
    """
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    try:
        yield
    except BaseException:
        for each in missing:
            with contextlib.suppress(OSError):
                each.rmdir()
        raise


@contextlib.contextmanager
def replace_file(path: Path) -> Iterator[Path]:
    """Replace a file, or make a folder, atomically: yield a temporary path to write to, then rename it to `path`.

    A kill or a power cut leaves the old file or the new one, never half of one. The temporary file is
    `partial-PROCESS-NAME` in the same folder (a rename is atomic only within one file system); it keeps the suffix of
    the name, from which some writers choose the format. If the body raises, it is deleted and `path` is left unchanged;
    what a killed process left of the same file is deleted too.

    Raises:
        OSError: the file cannot be written; `filename` is `path` even if the system names no file (a full disk).
    """
    partial = path.with_name(f"partial-{os.getpid()}-{path.name}")
    with naming(path, partial):
        # In a folder that came from elsewhere this name may be a link, and the write would follow it.
        _remove(partial)
        with contextlib.suppress(OSError):
            _clear(path)
        try:
            yield partial
            _sync(partial)
            partial.replace(path)
            _sync(path.parent)
        except BaseException:
            with contextlib.suppress(OSError):
                _remove(partial)
            raise


def final_name(name: str) -> str:
    """Return the name that `replace_file` would give to a temporary file of this name; any other is returned as is."""
    return _PARTIAL.sub("", name)


def _clear(path: Path) -> None:
    """Delete the temporary files of a path, except those of other running processes."""
    for each in path.parent.iterdir():
        found = _PARTIAL.match(each.name)
        if found and found[1] and final_name(each.name) == path.name and not _is_other_process(int(found[1])):
            _remove(each)


def _remove(path: Path) -> None:
    shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink(missing_ok=True)


def _is_other_process(number: int) -> bool:
    """Return whether another process of this number is running; on Windows, whose files in use stay, always False."""
    if number == os.getpid() or os.name == "nt":
        return False
    try:
        os.kill(number, 0)
    except OSError as error:
        return not isinstance(error, ProcessLookupError)
    return True


def write_json(path: Path, data: Mapping[str, Any]) -> None:
    """Write data as indented JSON, replacing the file atomically."""
    with replace_file(path) as partial, _opened(partial) as file:
        file.write(json.dumps(data, ensure_ascii=False, indent=1))


@contextlib.contextmanager
def naming(path: Path, *other_names: Path) -> Iterator[None]:
    """Set `filename` to `path` in each OSError that names no file (a full disk) or one of `other_names`."""
    try:
        yield
    except OSError as error:
        if error.filename not in (None, *other_names, *map(str, other_names)):
            raise
        raise OSError(error.errno, error.strerror or str(error), str(path)) from None


def _opened(path: Path) -> TextIO:
    # A lone surrogate becomes `\udXXX`, which is also its escape in JSON.
    return path.open("w", encoding="utf-8", errors="backslashreplace")


def _is_stream(path: Path) -> bool:
    """Return whether a path is a pipe, a device or an open stream, which cannot be replaced."""
    return str(path).startswith(_STREAMS) or (path.exists() and not path.is_file())


def _sync(path: Path) -> None:
    """Wait until a file, or the entries of a folder, are on the disk."""
    if path.is_dir() and os.name == "nt":
        # Windows cannot open a folder.
        return
    number = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(number)
    finally:
        os.close(number)
