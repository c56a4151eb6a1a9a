"""Word vectors from a GloVe or word2vec text file or an .npz, indexed once and then only memory-mapped.

The index in the user's cache holds the vectors in the file's order, and the words as sorted 64-bit numbers with their
rows: a look-up is one binary search, and loading takes as long for twenty thousand words as for two million.

Shapes: V words, D dimensions, T tokens.
"""

from __future__ import annotations

import codecs
import hashlib
import json
import lzma
import os
import re
import struct
import tokenize
import zipfile
import zlib
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from dactnlg._utils.reading import regular_file
from dactnlg.errors import MetricError
from dactnlg.metrics.cache import make_once, user_cache
from dactnlg.metrics.meteor.data import word_number

Floats = NDArray[np.float32]
VARIABLE = "DACTNLG_VECTORS"
"""Environment variable that names the file if no option does."""
FORMAT = 1
"""Version of the index; a change makes a new index."""
_HEADER = re.compile(rb"\d+ \d+\s*")
_EXPANSION = 50
"""An .npz may unpack to at most this many times its size: numbers compress to a half, seldom to a tenth."""
_UNSAFE = re.compile(r"[|:\s]+")


# What zipfile, its decompressors and NumPy raise on damaged files.
_DAMAGE: tuple[type[Exception], ...] = (ValueError, TypeError, LookupError, RuntimeError, EOFError, OSError)
_DAMAGE += (MemoryError, OverflowError, SyntaxError, tokenize.TokenError)
_DAMAGE += (zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error)


class WordVectors:
    """Look-ups in the index.

    Attributes:
        name: the file's name and the first digits of its SHA-256, for signatures.
        mean: the mean of all vectors, (D,).

    Args:
        folder: the folder of the index.
        stem: the name of the file.
    """

    def __init__(self, folder: Path, stem: str) -> None:
        digest = json.loads((folder / "about.json").read_text(encoding="utf-8"))["sha256"]
        self.name = f"{_UNSAFE.sub('_', stem)}@{digest[:12]}"
        self.mean: Floats = np.load(folder / "mean.npy")
        self._keys = np.load(folder / "keys.npy", mmap_mode="r")
        self._rows = np.load(folder / "rows.npy", mmap_mode="r")
        self._vectors = np.load(folder / "vectors.npy", mmap_mode="r")
        self._known: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._vectors)

    @property
    def dimensions(self) -> int:
        """The number of dimensions of a vector."""
        return int(self._vectors.shape[1])

    def rows(self, words: Sequence[str]) -> list[int]:
        """Return the row of each word, or of its lower-case form if the word itself is unknown; -1 if both are."""
        new = [word for word in dict.fromkeys(words) if word not in self._known]
        if new:
            if len(self._known) > 1 << 18:
                self._known.clear()
                new = list(dict.fromkeys(words))
            exact, lower = self._find(new), self._find([word.lower() for word in new])
            self._known.update(zip(new, np.where(exact < 0, lower, exact).tolist(), strict=True))
        return [self._known[word] for word in words]

    def vectors(self, rows: Sequence[int] | NDArray[np.int64]) -> Floats:
        """Return the vectors of some rows, (T, D)."""
        return np.asarray(self._vectors[np.asarray(rows, dtype=np.int64)])

    def _find(self, words: Sequence[str]) -> NDArray[np.int64]:
        keys = np.fromiter((word_number(word) for word in words), np.uint64, len(words))
        at = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        return np.where(self._keys[at] == keys, self._rows[at].astype(np.int64), -1)


def load_vectors(path: str | Path | None = None, cache: Path | None = None) -> WordVectors:
    """Return the vectors of a file; the first call builds the index (three seconds per 100 MB).

    Args:
        path: a text file with a word and its numbers on each line (GloVe; word2vec, with its header of two counts), or
            an .npz with `words` (V,) and `vectors` (V, D); by default the one named by $DACTNLG_VECTORS.
        cache: the folder for the index; the user's cache by default.

    Raises:
        MetricError: no file is named, it cannot be read or is malformed, or the cache cannot be written.
    """
    named = str(path or os.environ.get(VARIABLE) or "")
    if not named:
        raise MetricError(
            f"embedding metrics need word vectors: name a GloVe or word2vec text file, or an .npz, with --vectors FILE"
            f" or in ${VARIABLE}"
        )
    file = Path(named).expanduser().resolve()
    try:
        stat = regular_file(file).stat()
        key = hashlib.sha256(f"{FORMAT} {file} {stat.st_size} {stat.st_mtime_ns}".encode("utf-8", "surrogateescape"))
        folder = (cache or user_cache()) / f"vectors-{key.hexdigest()[:32]}"
        file.open("rb").close()
    except OSError as error:
        raise MetricError(f"cannot read the word vectors {named}: {error.strerror or error}") from None
    make_once(folder, lambda work: _index(file, work), str(file))
    return WordVectors(folder, file.stem)


def _index(file: Path, work: Path) -> None:
    keys, vectors = _from_npz(file) if zipfile.is_zipfile(file) else _from_text(file, work)
    if not len(keys):
        raise MetricError(f"{file}: there is not a single word in it")
    order = np.argsort(keys, kind="stable")
    # Stable, so that the first of repeated words is found.
    distinct, first = np.unique(keys[order], return_index=True)
    np.save(work / "keys.npy", distinct)
    np.save(work / "rows.npy", order[first].astype(np.uint32))
    np.save(work / "mean.npy", vectors.mean(axis=0, dtype=np.float64).astype(np.float32))
    if not (work / "vectors.npy").exists():
        np.save(work / "vectors.npy", np.asarray(vectors, dtype=np.float32))
    with file.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    (work / "about.json").write_text(json.dumps({"file": str(file), "sha256": digest}), encoding="utf-8")


def _from_text(file: Path, work: Path) -> tuple[NDArray[np.uint64], Floats]:
    """Return keys and vectors, which are written line by line, so that the file may be larger than memory."""
    from tqdm import tqdm

    with file.open("rb") as stream:
        skipped, size, said = _shape(stream, file)
        stream.seek(0)
        count = sum(1 for _ in stream) - skipped
        if said not in (None, count):
            hint = "is it cut short, or in word2vec's binary form?"
            raise MetricError(f"{file}, line 1: {said} words are said to follow, but {count} lines do: {hint}")
        # A number takes at least a digit and a space, so a damaged line cannot make the index larger than the file.
        if 2 * count * size > file.stat().st_size + (1 << 20):
            raise MetricError(f"{file}: {count} lines of {size} numbers would be longer than it is: is it cut short?")
        vectors = np.lib.format.open_memmap(work / "vectors.npy", "w+", np.float32, (count, size))
        keys = array("Q")
        stream.seek(0)
        lines: Iterator[tuple[int, bytes]] = enumerate(stream, start=1)
        for _ in range(skipped):
            next(lines)
        for number, line in tqdm(lines, "indexing word vectors, once", count, unit="", leave=False, disable=None):
            keys.append(_parse(line, size, vectors[number - 1 - skipped], f"{file}, line {number}"))
    return np.asarray(keys, np.uint64), vectors


def _shape(stream: BinaryIO, file: Path) -> tuple[int, int, int | None]:
    """Return the number of header lines (0 or 1), the numbers per word, and the number of words in the header."""
    first, second = stream.readline(), stream.readline()
    # word2vec begins with two counts; a numeral with a one-dimensional vector looks the same.
    header = bool(_HEADER.fullmatch(first)) and len(second.split()) != 2
    if header and len(first) > 40:
        raise MetricError(f"{file}, line 1: a count of more digits than any file has words")
    size = int(first.split()[1]) if header else len(first.split()) - 1
    if size < 1:
        raise MetricError(f"{file}, line 1: expected a word and its numbers, apart by spaces; is it a text file?")
    return int(header), size, int(first.split()[0]) if header else None


def _parse(line: bytes, size: int, out: Floats, where: str) -> int:
    # Some words of GloVe contain spaces: the last `size` parts are the numbers.
    parts = line.removeprefix(codecs.BOM_UTF8).split()
    try:
        if len(parts) <= size:
            raise ValueError
        with np.errstate(over="ignore"):
            out[:] = list(map(float, parts[-size:]))
    except ValueError:
        raise MetricError(f"{where}: expected a word and {size} numbers, apart by spaces") from None
    if not np.isfinite(out).all():
        raise MetricError(f"{where}: a vector must have finite numbers")
    return word_number(b" ".join(parts[:-size]).decode("utf-8", "replace"))


def _from_npz(file: Path) -> tuple[NDArray[np.uint64], Floats]:
    form = "expected an .npz with 'words' (V,) and 'vectors' (V, D)"
    try:
        with zipfile.ZipFile(file) as packed:
            size = sum(member.file_size for member in packed.infolist())
        if size > _EXPANSION * file.stat().st_size:
            raise MetricError(f"{file}: it would unpack to {size:,} bytes, {_EXPANSION} times its own size and more")
        with np.load(file, allow_pickle=False) as held:
            if not {"words", "vectors"} <= set(held.files):
                raise MetricError(f"{file}: {form}; it has {', '.join(sorted(held.files)) or 'nothing':.200}")
            words: Any = held["words"]
            vectors: Any = held["vectors"]
    except _DAMAGE as error:
        raise MetricError(f"{file}: {form} ({' '.join(str(error).split()):.200})") from None
    if not isinstance(words, np.ndarray) or not isinstance(vectors, np.ndarray):
        raise MetricError(f"{file}: {form}; it has something else")
    if words.ndim != 1 or vectors.ndim != 2 or len(words) != len(vectors) or words.dtype.kind not in "US":
        shapes = f"words {words.shape} of type {words.dtype}, vectors {vectors.shape}"
        raise MetricError(f"{file}: {form}, words as text; it has {shapes}")
    if vectors.dtype.kind not in "fiu" or not vectors.shape[1]:
        raise MetricError(f"{file}: a vector must have finite numbers; it has {vectors.shape[1]} of {vectors.dtype}")
    with np.errstate(over="ignore"):
        vectors = vectors.astype(np.float32)
    if not np.isfinite(vectors).all():
        raise MetricError(f"{file}: a vector must have finite numbers")
    texts = (word.decode("utf-8", "replace") if isinstance(word, bytes) else word for word in words.tolist())
    return np.fromiter(map(word_number, texts), np.uint64, len(words)), vectors
