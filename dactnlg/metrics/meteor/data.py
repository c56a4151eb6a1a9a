"""METEOR 1.5's data: function words, abbreviations, synonyms and the paraphrase table, without Java.

They come from the jar and the table in PyPI's `pycocoevalcap` (a jar is a zip). The table has five million entries; it
is indexed once into the user's cache, as sorted arrays that later starts only memory-map.

Words and phrases are 64-bit numbers throughout: a phrase's number is a rolling hash of its words' numbers, so that each
span of a sentence costs one multiplication.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import logging
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator
from functools import cached_property
from importlib.machinery import ModuleSpec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dactnlg.errors import MetricError
from dactnlg.metrics.cache import make_once, user_cache
from dactnlg.metrics.meteor.text import ALWAYS, BEFORE_NUMBERS

INSTALL = "pip install 'dactnlg[meteor]'"
FORMAT = 2
"""Version of the index; a change makes a new index."""
LONGEST = 7
"""Words in the longest phrase of the table."""
MASK = (1 << 64) - 1
STEP = 0x9E3779B97F4A7C15
"""A phrase's number is that of the phrase without its last word, times this, plus that word's, modulo 2^64."""
# WordNet's rules of detachment (Fellbaum 1998; morphy): an ending and its replacement, in order.
_ENDINGS = tuple(
    (ending, replacement)
    for rules in (
        "s: ses:s xes:x zes:z ches:ch shes:sh men:man ies:y",
        "s: ies:y es:e es: ed:e ed: ing:e ing:",
        "er: est: er:e est:e",
    )
    for ending, replacement in (rule.split(":") for rule in rules.split())
)


class _Table:
    """Sorted keys in a memory-mapped file, each with its values."""

    def __init__(self, folder: Path, name: str) -> None:
        self.keys, self.ends, self.values = (
            np.asarray(np.load(folder / f"{name}_{part}.npy", mmap_mode="r")) for part in ("keys", "ends", "values")
        )
        # For a single key, Python's bisect on a memoryview takes a fifth of NumPy's time.
        self._keys, self._ends = self.keys.data, self.ends.data

    def get(self, key: int) -> list[int] | None:
        """Return the values of a key; None if it is missing."""
        at = bisect_left(self._keys, key)
        if at == len(self._keys) or self._keys[at] != key:
            return None
        values: list[int] = self.values[self._ends[at - 1] if at else 0 : self._ends[at]].tolist()
        return values


class MeteorData:
    """Look-ups in the index; words are lower-cased tokens.

    Args:
        folder: the folder of the index.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        words = json.loads((folder / "words.json").read_text(encoding="utf-8"))
        self.function_words = frozenset(words["function"])
        self.abbreviations: dict[str, int] = words["abbreviations"]
        self._bases: dict[str, list[str]] = words["bases"]
        self._stems, self._sets = _Table(folder, "stem"), _Table(folder, "synset")
        self._phrases = _Table(folder, "phrase")

    def synsets(self, word: str) -> frozenset[int]:
        """Return the WordNet synsets of a word and of its base forms."""
        bases = self._bases.get(word)
        if bases is None:
            bases = [self._base(word)]
        return frozenset().union(*(self._sets.get(word_number(form)) or () for form in (word, *bases)))

    def stem(self, word: str) -> int:
        """Return the number of a word's stem."""
        # Those of common words are in the index, since stemming takes as long as a hundred look-ups.
        found = self._stems.get(word_number(word))
        return found[0] if found else word_number(self._stemmer(word))

    def paraphrases(self, phrases: NDArray[np.uint64]) -> dict[int, dict[int, None]]:
        """Return, for each of some phrases (distinct, sorted), its paraphrases that are among these phrases.

        Phrases without any are left out; the paraphrases are the keys of a dictionary, in the table's order.
        """
        table = self._phrases
        at = np.minimum(np.searchsorted(table.keys, phrases), len(table.keys) - 1)
        at = at[table.keys[at] == phrases]
        ends = table.ends[at].astype(np.int64)
        starts = np.where(at > 0, table.ends[at - 1], 0).astype(np.int64)
        sizes = ends - starts
        # The indices of all values, phrase by phrase.
        places = np.arange(sizes.sum()) + np.repeat(starts - np.cumsum(sizes) + sizes, sizes)
        values, owners = table.values[places], np.repeat(table.keys[at], sizes)
        kept = among(values, phrases)
        found: dict[int, dict[int, None]] = {}
        for phrase, value in zip(owners[kept].tolist(), values[kept].tolist(), strict=True):
            found.setdefault(phrase, {})[value] = None
        return found

    @cached_property
    def _stemmer(self) -> Callable[[str], str]:
        return load_stemmer()

    def _base(self, word: str) -> str:
        if word.endswith("ss") or len(word) <= 2:
            return word
        for ending, replacement in _ENDINGS:
            if word.endswith(ending):
                base = word[: len(word) - len(ending)] + replacement
                if self._sets.get(word_number(base)) is not None:
                    return base
        return ""


def among(values: NDArray[np.uint64], known: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Return which values are among the known ones, which are sorted."""
    if not len(known):
        return np.zeros(len(values), dtype=bool)
    # The leading bits exclude most values without a search.
    shift = np.uint64(48)
    marks = np.zeros(1 << 16, dtype=bool)
    marks[(known >> shift).astype(np.intp)] = True
    found = marks[(values >> shift).astype(np.intp)]
    left = np.flatnonzero(found)
    at = np.minimum(np.searchsorted(known, values[left]), len(known) - 1)
    found[left] = known[at] == values[left]
    return found


def load_stemmer() -> Callable[[str], str]:
    """Return Snowball's English stemmer, in the jar's version (115,041 of 115,041 words agree).

    Raises:
        MetricError: it is not installed.
    """
    try:
        from snowballstemmer.english_stemmer import EnglishStemmer
    except ImportError:
        raise MetricError(f"METEOR's stemmer is not installed: {INSTALL}") from None
    stem = EnglishStemmer().stemWord
    return lambda word: stem(word) if word[:1].isalpha() else word


def word_number(word: str) -> int:
    """Return the 64-bit number of a word."""
    return int.from_bytes(hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def installed() -> bool:
    """Whether the packages of METEOR's data and stemmer are installed."""
    return all(_found(name) is not None for name in ("pycocoevalcap", "snowballstemmer"))


def load(cache: Path | None = None) -> MeteorData:
    """Return METEOR's data; the first call on a machine builds the index (a minute or two).

    Args:
        cache: the folder for the index; the user's cache by default.

    Raises:
        MetricError: `pycocoevalcap` is not installed, or the cache cannot be written.
    """
    spec = _found("pycocoevalcap")
    if spec is None or not spec.submodule_search_locations:
        raise MetricError(f"METEOR's data are not installed: {INSTALL}")
    source = Path(spec.submodule_search_locations[0]) / "meteor"
    jar, table = source / "meteor-1.5.jar", source / "data" / "paraphrase-en.gz"
    if not (jar.is_file() and table.is_file()):
        raise MetricError(f"METEOR's data are not in {source}: reinstall pycocoevalcap")
    folder = (cache or user_cache()) / f"meteor-1.5-{FORMAT}-{jar.stat().st_size}-{table.stat().st_size}"
    if not folder.is_dir():
        logging.getLogger("dactnlg").warning("making METEOR's index, once on this machine: a minute or two")
    make_once(folder, lambda work: _make(jar, table, work), "METEOR's data")
    return MeteorData(folder)


def _found(package: str) -> ModuleSpec | None:
    try:
        return importlib.util.find_spec(package)
    except ValueError:
        # The entry of `sys.modules` under this name is not a package.
        return None


def _make(jar: Path, table: Path, work: Path) -> None:
    # Imported late, like the two below: the index is built once.
    import zipfile

    with zipfile.ZipFile(jar) as archive:

        def lines(name: str) -> list[str]:
            return archive.read(name).decode("utf-8").splitlines()

        synsets = lines("synonym/english.synsets")
        keys = array("Q", (word_number(word) for word in synsets[::2]))
        rows = [list(map(int, ids.split())) for ids in synsets[1::2]]
        _save(work, "synset", np.repeat(keys, list(map(len, rows))), np.array(sum(rows, []), np.int32), ())
        words = {
            "function": lines("function/english.words"),
            "abbreviations": dict(_abbreviations(lines("nonbreaking/english.prefixes"))),
            "bases": _bases(lines("synonym/english.exceptions")),
        }
    _index_paraphrases(table, work)
    (work / "words.json").write_text(json.dumps(words), encoding="utf-8")


def _index_paraphrases(table: Path, work: Path) -> None:
    import gzip

    from tqdm import tqdm

    keys, values = array("Q"), array("Q")
    prefixes: set[int] = set()
    numbers: dict[str, int] = {}

    def phrase_number(line: str, note: set[int] | None = None) -> int:
        """Return the number of a phrase; those of its prefixes, itself included, are added to `note`."""
        phrase = 0
        for word in line.split():
            if word not in numbers:
                numbers[word] = word_number(word)
            phrase = (phrase * STEP + numbers[word]) & MASK
            if note is not None:
                note.add(phrase)
        return phrase

    last, key = "", 0
    with gzip.open(table, "rt", encoding="utf-8", newline="\n") as stream:
        for _ in tqdm(stream, "indexing METEOR's paraphrases, once", 5_274_084, unit="", leave=False, disable=None):
            reference = next(stream)
            if reference != last:
                last, key = reference, phrase_number(reference, prefixes)
            keys.append(key)
            values.append(phrase_number(next(stream)))
    _save(work, "phrase", np.asarray(keys), np.asarray(values), prefixes)
    stem = load_stemmer()
    stems = np.fromiter((word_number(stem(word)) for word in numbers), np.uint64, len(numbers))
    _save(work, "stem", np.fromiter(numbers.values(), np.uint64, len(numbers)), stems, ())


def _save(
    folder: Path, table: str, keys: NDArray[np.uint64], values: NDArray[np.generic], prefixes: set[int] | tuple[()]
) -> None:
    """Save values sorted by key, the distinct keys (with `prefixes`, which have no values), and each key's end."""
    order = np.argsort(keys, kind="stable")
    distinct = np.union1d(np.asarray(keys, np.uint64), np.fromiter(prefixes, np.uint64, len(prefixes)))
    np.save(folder / f"{table}_keys.npy", distinct)
    np.save(folder / f"{table}_ends.npy", np.searchsorted(keys[order], distinct, side="right").astype(np.uint32))
    np.save(folder / f"{table}_values.npy", values[order])


def _abbreviations(lines: list[str]) -> Iterator[tuple[str, int]]:
    for line in lines:
        parts = line.split()
        if parts and not parts[0].startswith("#"):
            yield parts[0], BEFORE_NUMBERS if parts[1:2] == ["#NUMERIC_ONLY#"] else ALWAYS


def _bases(lines: list[str]) -> dict[str, list[str]]:
    bases: dict[str, list[str]] = {}
    for base, forms in zip(lines[::2], lines[1::2], strict=False):
        for form in forms.split():
            bases.setdefault(form, []).append(base)
    return bases
