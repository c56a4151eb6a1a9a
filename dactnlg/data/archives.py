"""Unpacking archives of publishers: files and folders below the folder given, in bounded space, or nothing."""

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
"""Entries that an archive may have; DSTC2's have some 7,000."""
DAMAGES = (tarfile.TarError, zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, RuntimeError)
"""What a damaged or refused archive raises; a zip with a password is a `RuntimeError`."""


class _Entry(NamedTuple):
    """One entry of an archive; `special` says what it is if it is neither a file nor a folder."""

    name: str
    size: int
    special: str


def unpack(packed: Path, target: Path, most: int) -> None:
    """Unpack a zip or tar archive into an empty or new folder.

    Args:
        packed: the archive.
        target: the folder.
        most: bytes that its files may have together.

    Raises:
        ValueError: an entry's name leads out of the folder, an entry is a link or a device, or there are too many or
            too large ones; nothing is unpacked.
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
            # Python before 3.11.4 has no filters; what this one would refuse has been refused.
            tar.extraction_filter = getattr(tarfile, "data_filter", None)
            tar.extractall(target)


def _check(entries: Iterator[_Entry], most: int) -> None:
    """Refuse the first entry that may not be unpacked, before any is."""
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
        # The upper half holds what Unix knows of a file; other systems leave it empty.
        kind = stat.S_IFMT(info.external_attr >> 16)
        special = "" if kind in (0, stat.S_IFREG, stat.S_IFDIR) else "a link or a device"
        yield _Entry(info.filename, info.file_size, special)


def _tar_entries(archive: tarfile.TarFile) -> Iterator[_Entry]:
    for info in archive:
        special = "" if info.isfile() or info.isdir() else "a link or a device"
        yield _Entry(info.name, info.size, special)
