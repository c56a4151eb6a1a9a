"""What a corpus is: examples, data cards, and where the files are looked for.

A card (`datasets/NAME.yaml`) says where the files come from and how they are to be read; a `Corpus` reads a split
when it is first asked for. Files are looked for in the data folder given, in `$DACTNLG_DATA`, in the user's cache
(where `dactnlg corpora fetch` puts them) and beside the card.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from dactnlg import resources
from dactnlg.acts import Turn
from dactnlg.errors import CorpusError, UnknownNameError

SPLITS = ("train", "valid", "test")
SplitName = Literal["train", "valid", "test"]


@dataclass(frozen=True, slots=True)
class Example:
    """One meaning representation with the sentences that a corpus gives for it.

    Attributes:
        turn: the acts.
        references: the human sentences, exactly as the corpus has them.
        handcrafted: sentences of a handcrafted generator (RNNLG's third column).
        origin: file and row, for messages ("train.json, row 12").
    """

    turn: Turn
    references: tuple[str, ...]
    handcrafted: tuple[str, ...] = ()
    origin: str = ""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class FileCard(_Strict):
    """One file of a corpus: its path under a data folder, its publisher's address and its SHA-256.

    `url` is None where the file has no publisher of its own; `release` is the path of the same split in the
    publisher's own layout, read if `path` is not there (DSTC2's flists).
    """

    path: str
    url: str | None = None
    sha256: str | None = Field(default=None, pattern="^[0-9a-f]{64}$")
    release: str | None = None


class ArchiveCard(_Strict):
    """An archive that a publisher offers instead of single files; it is unpacked into the folder `into`.

    `members` are the paths, under the data folder, that must be there afterwards.
    """

    url: str
    into: str
    sha256: str | None = Field(default=None, pattern="^[0-9a-f]{64}$")
    members: list[str] = []


def _spell_special_keys(mapping: Any) -> Any:
    # YAML 1.1 reads the bare keys `yes` and `no` as booleans.
    if not isinstance(mapping, dict):
        return mapping
    return {{True: "yes", False: "no"}.get(key, key) if isinstance(key, bool) else key: v for key, v in mapping.items()}


class SlotCard(_Strict):
    """What the code cannot work out about a slot.

    Attributes:
        cues: for a special value (`yes`, `no`, `dontcare`, `none`), regular expressions of which one is found in the
            lower-cased raw sentence where the value is expressed.
        aliases: for an ordinary value, the other fixed wordings in which the corpus says it.
    """

    cues: dict[str, list[str]] = {}
    aliases: dict[str, list[str]] = {}

    _bare_keys = field_validator("cues", "aliases", mode="before")(_spell_special_keys)

    @field_validator("cues")
    @classmethod
    def _compile(cls, cues: dict[str, list[str]]) -> dict[str, list[str]]:
        for value, patterns in cues.items():
            for pattern in patterns:
                try:
                    re.compile(pattern)
                except re.error as error:
                    raise ValueError(f"the cue {pattern!r} of '{value}' is not a regular expression: {error}") from None
        return cues


class Card(_Strict):
    """A corpus's data card.

    Attributes:
        files: for each split its file.
        splits: for each split its number of act/sentence pairs, as published.
        cased: the sentences have capital letters, so values are matched regardless of case.
        spaced: punctuation and morphemes stand alone ("kid -s ."), as in RNNLG.
        silent: "act.slot" combinations that the sentences never say.
    """

    name: str = Field(pattern=r"^[\w.-]+$")
    title: str = ""
    licence: str = ""
    citation: str = ""
    source: str = ""
    notes: str = ""
    format: Literal["rnnlg", "dstc2", "bracket", "pairs"]
    files: dict[SplitName, FileCard]
    archives: list[ArchiveCard] = []
    splits: dict[SplitName, int] = {}
    cased: bool = False
    spaced: bool = False
    slots: dict[str, SlotCard] = {}
    silent: list[str] = []


class Corpus:
    """A card and where its files lie; a split is read when it is first asked for, and kept.

    Attributes:
        card: the data card.
        repairs: what was mended while reading, with counts ("train: stray quote stripped from a value").
    """

    def __init__(self, card: Card, roots: list[Path]) -> None:
        self.card = card
        self.repairs: Counter[str] = Counter()
        self._roots = roots
        self._splits: dict[str, list[Example]] = {}

    def __repr__(self) -> str:
        return f"Corpus({self.card.name!r})"

    @property
    def name(self) -> str:
        """The corpus's name, from its card."""
        return self.card.name

    @property
    def splits(self) -> tuple[str, ...]:
        """The splits that the card names, in the order train, valid, test."""
        return tuple(split for split in SPLITS if split in self.card.files)

    def path(self, split: str) -> Path:
        """Return the split's file: the first one found in the folders that are searched.

        Raises:
            CorpusError: the corpus has no such split, or its file is in none of the folders.
        """
        if split not in self.splits:
            raise CorpusError(f"corpus '{self.name}' has no split '{split}'; it has {', '.join(self.splits)}")
        file = self.card.files[split]  # type: ignore[index]
        for root in self._roots:
            for relative in filter(None, (file.path, file.release)):
                if (root / relative).is_file():
                    return root / relative
        looked = ", ".join(map(str, self._roots))
        raise CorpusError(
            f"{file.path} of corpus '{self.name}' is not in {looked}; "
            f"get it with: dactnlg corpora fetch {self.name} (or name its folder with --data-dir or DACTNLG_DATA)"
        )

    def split(self, name: str) -> list[Example]:
        """Return the examples of `train`, `valid` or `test`, in file order.

        Raises:
            CorpusError: no such split, no such file, or a row that cannot be read (the message names file and row).
        """
        if name not in self._splits:
            from dactnlg.corpora import readers

            path = self.path(name)
            notes: Counter[str] = Counter()
            self._splits[name] = readers()[self.card.format](path, notes)
            self.repairs.update({f"{name}: {note}": count for note, count in notes.items()})
        return self._splits[name]

    def pairs(self, split: str) -> Iterator[tuple[Turn, str]]:
        """Yield every (turn, human sentence) of a split, one for each reference."""
        for example in self.split(split):
            for sentence in example.references:
                yield example.turn, sentence

    def digest(self, split: str = "train") -> str:
        """Return the SHA-256 of a split's acts and sentences: what a run records to name its data."""
        state = hashlib.sha256()
        for example in self.split(split):
            for text in (str(example.turn), *example.references):
                state.update(text.encode("utf-8", "surrogatepass") + b"\0")
            state.update(b"\n")
        return state.hexdigest()


def corpus_names() -> list[str]:
    """Return the names of the corpora that have a card in `datasets/`."""
    return sorted(path.stem for path in resources.datasets_dir().glob("*.yaml"))


def load_card(name: str | Path) -> Card:
    """Read a data card: a corpus's name, or the path of a user's own card.

    Raises:
        UnknownNameError: neither a known name nor a file.
        CorpusError: the file is not a card; every mistake is named.
    """
    path = Path(name)
    if path.suffix not in (".yaml", ".yml"):
        path = resources.datasets_dir() / f"{name}.yaml"
        if str(name) not in corpus_names():
            raise UnknownNameError("corpus", str(name), corpus_names())
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise CorpusError(f"cannot read the data card {path}: {error}") from None
    except yaml.YAMLError as error:
        raise CorpusError(f"{path} is not YAML: {' '.join(str(error).split())}") from None
    if not isinstance(data, dict):
        raise CorpusError(f"{path} is not a data card: a card is a mapping with name, format, files")
    try:
        return Card(**{str(key): value for key, value in data.items()})
    except ValidationError as error:
        lines = [f"  {'.'.join(map(str, e['loc']))}: {e['msg']} (got {e['input']!r:.60})" for e in error.errors()]
        raise CorpusError(f"mistakes in the data card {path}:\n" + "\n".join(lines)) from None


def search_path(data_dir: str | Path | None = None) -> list[Path]:
    """Return the folders where corpus files are looked for: `data_dir`, `$DACTNLG_DATA`, the user's cache."""
    roots = [Path(data_dir)] if data_dir else []
    if os.environ.get("DACTNLG_DATA"):
        roots.append(Path(os.environ["DACTNLG_DATA"]))
    return [*roots, cache_dir()]


def cache_dir() -> Path:
    """Return the user's cache folder, where fetched corpora are kept."""
    import pooch

    return Path(pooch.os_cache("dactnlg"))


def load_corpus(name: str | Path, data_dir: str | Path | None = None) -> Corpus:
    """Return a corpus; its files are read when a split is asked for.

    Args:
        name: a corpus's name, the path of a card (`.yaml`), of one `.jsonl` or `.csv` file (all of it is the train
            split), or of a folder with train, valid and test files of that kind.
        data_dir: a folder to look in first.

    Raises:
        UnknownNameError: neither a known name nor such a path.
        CorpusError: a damaged card or file.
    """
    path = Path(name)
    is_card = path.suffix in (".yaml", ".yml")
    if not is_card and str(name) not in corpus_names() and (path.suffix in (".jsonl", ".csv") or path.is_dir()):
        from dactnlg.corpora import pairs

        return pairs.open_path(path)
    card = load_card(name)
    beside = path.parent if is_card else resources.datasets_dir()
    return Corpus(card, [*search_path(data_dir), beside])
