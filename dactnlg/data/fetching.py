"""Fetching corpora from their publishers, with checksums and a progress bar.

A file gets its name only once it is downloaded completely and its SHA-256 is right; pooch downloads beside it. Cards
and archives may be untrusted: names that lead out of the data folder are refused.
"""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path, PurePosixPath

from dactnlg._utils.hashing import file_digest
from dactnlg._utils.paths import inside
from dactnlg._utils.resources import corpus_names
from dactnlg.data.archives import DAMAGES, unpack
from dactnlg.data.card import ArchiveCard, Card, load_card
from dactnlg.data.corpus import Corpus, cache_dir, load_corpus
from dactnlg.errors import CorpusError

SECONDS = 60
"""How long a server may send nothing."""
CHUNK = 1 << 16
"""Bytes written at a time."""


def fetch(
    name: str | Path, data_dir: str | Path | None = None, base_url: str | None = None, *, progress: bool = True
) -> list[Path]:
    """Download the missing files of a corpus, and return the file of each split.

    Args:
        name: a corpus's name, or the path of a card.
        data_dir: the folder to put them in; by default the user's cache, which `load_corpus` searches anyway.
        base_url: a mirror: `{base_url}/{path}` for files, `{base_url}/{name}` for archives.
        progress: show a progress bar on standard error.

    Raises:
        UnknownNameError: there is no such corpus.
        CorpusError: there is no address or no connection, a checksum is wrong, an archive is damaged, a file has more
            bytes than the card allows, or its path is outside the folder or belongs to another corpus; no partial file
            is left.
    """
    card = load_card(name)
    root = Path(data_dir) if data_dir else cache_dir()
    here = Corpus(card, [root])
    for file in card.all_files:
        if file.url:
            url = f"{base_url.rstrip('/')}/{file.path}" if base_url else file.url
            _retrieve(url, _place(card, root, file.path), file.sha256, file.size, progress=progress)
    if card.archives and not _complete(here, root):
        for archive in card.archives:
            _retrieve_archive(card, archive, root, base_url, progress=progress)
    # The embedded corpus is stored beside its card, and users may keep others elsewhere.
    found = here if _complete(here, root) else load_corpus(name, data_dir)
    try:
        return [found.path(split) for split in found.splits]
    except CorpusError:
        source = f"; see {card.source}" if card.source else ""
        raise CorpusError(f"corpus '{card.name}' has no address to fetch it from{source}") from None


def _complete(corpus: Corpus, root: Path) -> bool:
    """Return whether every file exists; a file at the card's own path must have the card's checksum."""
    for file in corpus.card.all_files:
        try:
            path = corpus.find(file)
        except CorpusError:
            return False
        if path == root / file.path and file.sha256 and file_digest(path) != file.sha256:
            return False
    return True


def _place(card: Card, root: Path, name: str) -> Path:
    """Return the path to which a file named by a card is written.

    Raises:
        CorpusError: it is outside the data folder, by its name or through a link, or belongs to another corpus.
    """
    try:
        target = inside(root, name)
    except ValueError as error:
        raise CorpusError(f"corpus '{card.name}' cannot be fetched: {error}") from None
    other = _shipped_files().get(target.relative_to(root.resolve()).as_posix())
    # A user's card derived from a shipped one, with other cues, has the same files from the same addresses.
    if other and not (_sources(card) <= _sources(other) and card.archives == other.archives):
        raise CorpusError(f"corpus '{card.name}' cannot be fetched: {target} is a file of '{other.name}'")
    return target


def _sources(card: Card) -> set[tuple[str, str | None, str | None]]:
    """Return (path, address, SHA-256) of every file of a card."""
    return {(file.path, file.url, file.sha256) for file in card.all_files}


@cache
def _shipped_files() -> dict[str, Card]:
    """Return path -> card for the files of the corpora in `datasets/`."""
    return {file.path: card for card in map(load_card, corpus_names()) for file in card.all_files}


def _retrieve(url: str, target: Path, checksum: str | None, most: int, *, progress: bool) -> None:
    """Download a file unless one with this SHA-256 exists."""
    import pooch
    import requests
    from tqdm import tqdm

    def download(address: str, name: str, _: object) -> None:
        """Download an address to a file, with the signature that `pooch.retrieve` expects; refuse more than `most`."""
        with requests.get(address, stream=True, timeout=SECONDS) as response, Path(name).open("wb") as file:
            response.raise_for_status()
            length = int(response.headers.get("content-length", 0)) or None
            with tqdm(total=length, ncols=79, unit="B", unit_scale=True, disable=not progress) as bar:
                for chunk in response.iter_content(CHUNK):
                    bar.update(file.write(chunk))
                    if file.tell() > most:
                        raise CorpusError(f"{url} has more than the {most:,} bytes that its card allows")

    pooch.get_logger().setLevel("WARNING")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        pooch.retrieve(
            url,
            known_hash=f"sha256:{checksum}" if checksum else None,
            fname=target.name,
            path=target.parent,
            downloader=download,  # type: ignore[arg-type]  # The types allow only pooch's own downloaders.
        )
    except ValueError as error:
        if "hash" not in str(error).lower():
            raise CorpusError(f"cannot fetch {url}: {error}") from None
        raise CorpusError(
            f"{url} is not the file it should be (its SHA-256 is not {checksum}): the download broke off, "
            f"or the publisher changed it; nothing was kept"
        ) from None
    except requests.exceptions.ProxyError as error:
        raise CorpusError(f"cannot fetch {url}: the proxy does not let it through ({_reason(error)})") from None
    except requests.ConnectionError as error:
        raise CorpusError(f"cannot fetch {url}: no connection ({_reason(error)})") from None
    except requests.RequestException as error:
        raise CorpusError(f"cannot fetch {url}: {error}") from None
    except OSError as error:
        raise CorpusError(f"cannot write {target}: {error.strerror or error}") from None


def _reason(error: BaseException) -> str:
    """Return the message of the innermost error; those around it repeat address and port."""
    while inner := next((e for e in (getattr(error, "reason", None), *error.args) if isinstance(e, Exception)), None):
        error = inner
    return str(error).rpartition(": ")[2]


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
        packed, unpacked = Path(folder) / "archive", Path(folder) / "unpacked"
        _retrieve(url, packed, archive.sha256, archive.size, progress=progress)
        try:
            unpack(packed, unpacked, archive.size)
        except DAMAGES as error:
            raise CorpusError(f"{url} is not a whole archive, or not one to unpack: {error}") from None
        places = _members(card, archive, unpacked, url) if archive.members else _all_files(archive, unpacked)
        # Check all paths before moving any file.
        moves = [(source, _place(card, root, name)) for source, name in places]
        try:
            for source, target in moves:
                target.parent.mkdir(parents=True, exist_ok=True)
                source.replace(target)
        except OSError as error:
            raise CorpusError(f"cannot write {error.filename or root}: {error.strerror or error}") from None


def _members(card: Card, archive: ArchiveCard, unpacked: Path, url: str) -> list[tuple[Path, str]]:
    """Return the unpacked files that the card lists as members, each with its path below the data folder.

    Raises:
        CorpusError: one is missing or has another checksum.
    """
    checksums = {file.path: file.sha256 for file in card.all_files}
    files = sorted(file for file in unpacked.rglob("*") if file.is_file())
    placed = []
    for path, member in archive.members.items():
        # Archives often wrap everything in a folder; of several such files, the one with the shortest path is meant.
        parts = PurePosixPath(member).parts
        found = min((f for f in files if f.parts[-len(parts) :] == parts), key=lambda f: len(f.parts), default=None)
        if found is None:
            raise CorpusError(f"{url} holds no {member}")
        if checksums.get(path) and file_digest(found) != checksums[path]:
            raise CorpusError(f"{member} in {url} is not the file it should be (SHA-256 {checksums[path]})")
        placed.append((found, path))
    return placed


def _all_files(archive: ArchiveCard, unpacked: Path) -> list[tuple[Path, str]]:
    """Return all files, each with its path below the data folder, without a single top-level folder around them."""
    entries = list(unpacked.iterdir())
    top = entries[0] if len(entries) == 1 and entries[0].is_dir() else unpacked
    files = sorted(source for source in top.rglob("*") if source.is_file())
    return [(source, str(PurePosixPath(archive.into, source.relative_to(top).as_posix()))) for source in files]
