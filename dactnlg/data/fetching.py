"""Fetching corpora from their publishers, with checksums and a progress bar.

A file gets its name only once all of it has been downloaded and its SHA-256 is right; pooch downloads beside it.
"""

from __future__ import annotations

import shutil
import tarfile
import tempfile
import zipfile
from hashlib import sha256
from pathlib import Path

from dactnlg.data.card import ArchiveCard, Card, load_card
from dactnlg.data.corpus import Corpus, cache_dir, load_corpus
from dactnlg.errors import CorpusError


def fetch(
    name: str | Path, data_dir: str | Path | None = None, base_url: str | None = None, *, progress: bool = True
) -> list[Path]:
    """Download the files of a corpus that are missing, and return the file of each split.

    Args:
        name: a corpus's name, or the path of a card.
        data_dir: the folder to put them in; by default the user's cache, which `load_corpus` searches anyway.
        base_url: a mirror: `{base_url}/{path}` for files, `{base_url}/{name}` for archives.
        progress: show a progress bar on standard error.

    Raises:
        UnknownNameError: no such corpus.
        CorpusError: no address, no connection, a wrong checksum, or a damaged archive; no partial file is left.
    """
    card = load_card(name)
    root = Path(data_dir) if data_dir else cache_dir()
    here = Corpus(card, [root])
    for split in here.splits:
        file = card.files[split]  # type: ignore[index]
        if file.url:
            url = f"{base_url.rstrip('/')}/{file.path}" if base_url else file.url
            _retrieve(url, root / file.path, file.sha256, progress=progress)
    if card.archives and not _complete(here, root):
        for archive in card.archives:
            _retrieve_archive(card, archive, root, base_url, progress=progress)
    # The embedded corpus lies beside its card, and users may keep others elsewhere.
    found = here if _complete(here, root) else load_corpus(name, data_dir)
    try:
        return [found.path(split) for split in found.splits]
    except CorpusError:
        source = f"; see {card.source}" if card.source else ""
        raise CorpusError(f"corpus '{card.name}' has no address to fetch it from{source}") from None


def _complete(corpus: Corpus, root: Path) -> bool:
    """Return whether every split is there; a file at the card's own path must have the card's checksum."""
    for split in corpus.splits:
        file = corpus.card.files[split]  # type: ignore[index]
        try:
            path = corpus.path(split)
        except CorpusError:
            return False
        if path == root / file.path and file.sha256 and sha256(path.read_bytes()).hexdigest() != file.sha256:
            return False
    return True


def _retrieve(url: str, target: Path, checksum: str | None, *, progress: bool) -> None:
    """Download a file, unless one with this SHA-256 is there."""
    import pooch
    import requests

    pooch.get_logger().setLevel("WARNING")
    downloader = pooch.HTTPDownloader(progressbar=progress, timeout=60)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        pooch.retrieve(
            url,
            known_hash=f"sha256:{checksum}" if checksum else None,
            fname=target.name,
            path=target.parent,
            downloader=downloader,
        )
    except ValueError as error:
        if "hash" not in str(error).lower():
            raise CorpusError(f"cannot fetch {url}: {error}") from None
        raise CorpusError(
            f"{url} is not the file it should be (its SHA-256 is not {checksum}): the download broke off, "
            f"or the publisher changed it; nothing was kept"
        ) from None
    except requests.RequestException as error:
        raise CorpusError(f"cannot fetch {url}: {error}") from None
    except OSError as error:
        raise CorpusError(f"cannot write {target}: {error.strerror or error}") from None


def _retrieve_archive(card: Card, archive: ArchiveCard, root: Path, base_url: str | None, *, progress: bool) -> None:
    """Download an archive and put its files, or those that the card names, under `root`."""
    filename = archive.url.rsplit("/", 1)[-1]
    url = f"{base_url.rstrip('/')}/{filename}" if base_url else archive.url
    try:
        root.mkdir(parents=True, exist_ok=True)
        workspace = tempfile.TemporaryDirectory(dir=root, prefix=".fetching-")
    except OSError as error:
        raise CorpusError(f"cannot write {root}: {error.strerror or error}") from None
    with workspace as folder:
        packed, unpacked = Path(folder) / filename, Path(folder) / "unpacked"
        _retrieve(url, packed, archive.sha256, progress=progress)
        try:
            _unpack(packed, unpacked)
        except (tarfile.TarError, zipfile.BadZipFile, EOFError, OSError, ValueError) as error:
            raise CorpusError(f"{url} is not a whole archive: {error}") from None
        if archive.members:
            _place_members(card, archive, unpacked, root, url)
        else:
            _merge(unpacked, root / archive.into)


def _unpack(packed: Path, target: Path) -> None:
    target.mkdir()
    if zipfile.is_zipfile(packed):
        with zipfile.ZipFile(packed) as archive:
            archive.extractall(target)
    else:
        with tarfile.open(packed) as archive:
            # The filter refuses paths that lead out of the folder.
            archive.extractall(target, filter="data")


def _place_members(card: Card, archive: ArchiveCard, unpacked: Path, root: Path, url: str) -> None:
    """Move the files that the card names to their paths: all of them, or none where one is missing or wrong."""
    checksums = {file.path: file.sha256 for file in card.files.values()}
    placed: list[tuple[Path, Path]] = []
    for path, member in archive.members.items():
        found = [file for file in unpacked.rglob(Path(member).name) if file.is_file()]
        if not found:
            raise CorpusError(f"{url} holds no {member}")
        if checksums.get(path) and sha256(found[0].read_bytes()).hexdigest() != checksums[path]:
            raise CorpusError(f"{member} in {url} is not the file it should be (SHA-256 {checksums[path]})")
        placed.append((found[0], root / path))
    for source, target in placed:
        target.parent.mkdir(parents=True, exist_ok=True)
        source.replace(target)


def _merge(unpacked: Path, target: Path) -> None:
    """Move all files of an archive to the target folder, without the one folder that may wrap them."""
    entries = list(unpacked.iterdir())
    top = entries[0] if len(entries) == 1 and entries[0].is_dir() else unpacked
    for source in sorted(top.rglob("*")):
        if source.is_file():
            place = target / source.relative_to(top)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.move(source, place)
