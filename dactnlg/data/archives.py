"""Safe unpacking of archives: nothing outside the target folder, no links or devices, and a bounded size."""

from __future__ import annotations

import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from dactnlg._utils.paths import relative

MOST_FILES = 100_000
"""Maximum number of entries of an archive; DSTC2's have some 7,000."""
DAMAGES = (tarfile.TarError, zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, RuntimeError)
"""Exceptions for a damaged or refused archive; a zip with a password raises `RuntimeError`."""


class _Entry(NamedTuple):
    """An entry of an archive; `special` says what it is unless it is a file or folder."""

    name: str
    size: int
    special: str


def unpack(packed: Path, target: Path, most: int) -> None:
    """Unpack a zip or tar archive into an empty or new folder.

    Args:
        packed: the archive.
        target: the folder.
        most: maximum total bytes of its files.

    Raises:
        ValueError: an entry's name leads out of the folder, an entry is a link or a device, or the entries are too many
            or too large; nothing is unpacked.
        Exception: another one of `DAMAGES`.
    """
    target.mkdir(exist_ok=True)
    if zipfile.is_zipfile(packed):
        with zipfile.ZipFile(packed) as archive:
            _check(_zip_entries(archive), most)
            archive.extractall(target)
    else:
        with tarfile.open(packed) as tar:
            _check(_tar_entries(tar), most)
            # Python before 3.11.4 has no filters; `_check` has refused what this one would refuse.
            tar.extraction_filter = getattr(tarfile, "data_filter", None)
            tar.extractall(target)


def _check(entries: Iterator[_Entry], most: int) -> None:
    """Raise ValueError for the first entry that must not be unpacked."""
    whole = 0
    for number, entry in enumerate(entries, start=1):
        relative(entry.name)
        if entry.special:
            raise ValueError(f"its entry '{entry.name}' is {entry.special}")
        whole += entry.size
        if whole > most or number > MOST_FILES:
            raise ValueError(f"it holds more than {most:,} bytes, or more than {MOST_FILES:,} files")


def _zip_entries(archive: zipfile.ZipFile) -> Iterator[_Entry]:
    for info in archive.infolist():
        # The upper half holds the Unix file mode; other systems leave it 0.
        kind = stat.S_IFMT(info.external_attr >> 16)
        special = "" if kind in (0, stat.S_IFREG, stat.S_IFDIR) else "a link or a device"
        yield _Entry(info.filename, info.file_size, special)


def _tar_entries(archive: tarfile.TarFile) -> Iterator[_Entry]:
    for info in archive:
        special = "" if info.isfile() or info.isdir() else "a link or a device"
        yield _Entry(info.name, info.size, special)
