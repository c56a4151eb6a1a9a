"""Corpora: examples in splits, each read when it is first used.

Files are searched for in the given data folder, in `$DACTNLG_DATA`, in the user's cache (where `dactnlg corpora fetch`
puts them) and beside the card.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from pydantic import ValidationError

from dactnlg._utils.hashing import digest
from dactnlg._utils.resources import corpus_names, datasets_dir
from dactnlg._utils.terminal import say_once
from dactnlg.acts import Turn
from dactnlg.data.card import ArchiveCard, Card, ColumnsCard, DivisionCard, FileCard, SlotCard, load_card
from dactnlg.data.division import FEWEST, divide
from dactnlg.data.forms import read_forms
from dactnlg.data.hashes import hash_examples
from dactnlg.data.readers import pairs, readers, rnnlg
from dactnlg.errors import CorpusError
from dactnlg.text.example import Example
from dactnlg.text.grammar.english import looks_english
from dactnlg.text.style import Style

__all__ = [
    "SPLITS",
    "ArchiveCard",
    "Card",
    "Corpus",
    "FileCard",
    "SlotCard",
    "cache_dir",
    "corpus_of_file",
    "corpus_names",
    "load_card",
    "load_corpus",
    "search_path",
]
SPLITS = ("train", "valid", "test")
_FILE_NAMES = {"train": ("train",), "valid": ("valid", "dev", "devel", "validation"), "test": ("test",)}
_ATTACHED, _APART = re.compile(r"\w[.,?!;](?:\s|$)"), re.compile(r"\s[.,?!;](?:\s|$)")
"""Punctuation that is attached to a word, and that is set apart from words."""
RELEASE_LISTS = "scripts/config"
"""Folder of the file lists in the DSTC2 release."""


class Corpus:
    """A data card and the folders of its files; a split is read when it is first used, and kept.

    Args:
        card: the data card.
        roots: folders to search for files; the first that has a file wins.
        announce: log a message when a file is divided, for corpora whose card does not say so.

    Attributes:
        card: the data card.
        repairs: repairs and omissions of the reader, with counts ("train: stray quote stripped from a value").
    """

    def __init__(self, card: Card, roots: list[Path], *, announce: bool = False) -> None:
        self.card, self.announce = card, announce
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
        """The splits on the card, in the order train, valid, test."""
        return tuple(split for split in SPLITS if split in self.card.files or split in self.card.taken())

    def undivided(self) -> Corpus:
        """Return the corpus of the same files without dividing the training file into splits."""
        return Corpus(self.card.model_copy(update={"divide": None}), self._roots)

    def path(self, split: str) -> Path:
        """Return a split's file, the first one found in the searched folders.

        Raises:
            CorpusError: the corpus has no such split, or its file is in none of the folders.
        """
        if split not in self.splits:
            raise CorpusError(f"corpus '{self.name}' has no split '{split}'; it has {', '.join(self.splits)}")
        return self.find(self.card.files["train" if split in self.card.taken() else split])  # type: ignore[index]

    def style(self) -> Style:
        """Return the part of the card that generation and slot checks use, with the forms of values if it has any.

        Raises:
            CorpusError: the file of forms is missing or cannot be read.
        """
        forms = self.card.forms
        return self.card.style(read_forms(self.find(forms), forms.slots) if forms else None)

    def checker_name(self) -> str:
        """Return the name of the slot checker for signatures: the corpus's, and first digits of a SHA-256 of its style.

        The name alone would make two rates comparable that were counted with different aliases or cues.

        Raises:
            CorpusError: as in `style`.
        """
        return f"{self.name}@{digest(self.style().to_json())[:12]}"

    def find(self, file: FileCard) -> Path:
        """Return the path of a file of the card, in the first of the searched folders that has it.

        Raises:
            CorpusError: none of them has it.
        """
        for root in self._roots:
            for relative in (file.path, *file.release):
                if (root / relative).is_file():
                    return root / relative
        looked = ", ".join(map(str, self._roots))
        remedy = "name its folder with --data-dir or DACTNLG_DATA"
        # What has no address, as data of one's own, cannot be fetched.
        if file.url or self.card.archives:
            remedy = f"get it with: dactnlg corpora fetch {self.name} (or {remedy})"
        raise CorpusError(f"{file.path} of corpus '{self.name}' is not in {looked}; {remedy}")

    def split(self, name: str) -> list[Example]:
        """Return the examples of `train`, `valid` or `test`, in file order.

        Raises:
            CorpusError: there is no such split or file, or a row cannot be read (the message names file and row).
        """
        if name not in self._splits:
            path, taken = self.path(name), self.card.taken()
            own = name if name not in taken else "train"
            notes: Counter[str] = Counter()
            examples = self._read(path, notes)
            self.repairs.update({f"{own}: {note}": count for note, count in notes.items()})
            if own == "train" and taken and self.card.divide:
                self._splits |= self._divided(examples, path, taken, self.card.divide.seed)
            else:
                self._splits[name] = examples
        return self._splits[name]

    def _read(self, path: Path, notes: Counter[str]) -> list[Example]:
        if columns := self.card.columns:
            return pairs.read(path, notes, (columns.act, columns.text))
        return readers()[self.card.format](path, notes)

    def _divided(
        self, examples: list[Example], path: Path, taken: Mapping[str, int], seed: int
    ) -> dict[str, list[Example]]:
        parts = divide(examples, taken, seed)
        counts = {split: sum(len(example.references) for example in part) for split, part in parts.items()}
        total = sum(counts.values())
        if total < FEWEST or not all(counts.values()):
            why = f"{total} pairs are too few, and {FEWEST} the least"
            if total >= FEWEST:
                why = "equal acts stay together, and of every act type one act stays in train, so too few are left"
            raise CorpusError(
                f"{path} cannot be divided into {', '.join(counts)}: {why}; add pairs, or give every split a file of "
                "its own: train, valid and test in one folder, or under 'files' on a card"
            )
        shown = ", ".join(f"{split} {count}" for split, count in counts.items())
        if self.announce:
            say_once(f"{path} is one file: its pairs are divided into {shown} (by act type, seed {seed})")
        return parts

    def pairs(self, split: str) -> Iterator[tuple[Turn, str]]:
        """Yield every (turn, human sentence) of a split, in file order: one pair per reference."""
        for example in self.split(split):
            for sentence in example.references:
                yield example.turn, sentence

    def digest(self, split: str = "train") -> str:
        """Return the SHA-256 of a split's acts and sentences, regardless of order, which runs record."""
        return hash_examples(self.split(split))


def search_path(data_dir: str | Path | None = None) -> list[Path]:
    """Return the folders to search for corpus files: `data_dir`, `$DACTNLG_DATA`, the user's cache."""
    roots = [Path(data_dir)] if data_dir else []
    if os.environ.get("DACTNLG_DATA"):
        roots.append(Path(os.environ["DACTNLG_DATA"]))
    return [*roots, cache_dir()]


def cache_dir() -> Path:
    """Return the user's cache folder, to which corpora are fetched."""
    import pooch

    return Path(pooch.os_cache("dactnlg"))


def load_corpus(name: str | Path, data_dir: str | Path | None = None) -> Corpus:
    """Return a corpus; its files are read when a split is used.

    Args:
        name: a corpus's name, or the path of a card (`.yaml`), of one `.jsonl`, `.json`, `.csv` or `.tsv` file, of a
            folder with train, valid and test files of that kind, or of the DSTC2 release. For a single file, or a
            folder with a train file only, the other splits are taken from the train file: see `data.division`.
        data_dir: a folder to search first.

    Raises:
        UnknownNameError: it is neither a known name nor such a path.
        CorpusError: the card, or a corpus file without a card, cannot be read.
    """
    path = Path(name)
    is_card = path.suffix.lower() in (".yaml", ".yml")
    if not is_card and str(name) not in corpus_names() and (path.suffix.lower() in pairs.SUFFIXES or path.is_dir()):
        if any((path / RELEASE_LISTS).glob("dstc2_*.flist")):
            return _open_release(path)
        return _open_folder(path) if path.is_dir() else corpus_of_file(path)
    card = load_card(name)
    if not is_card:
        return Corpus(card, [*search_path(data_dir), datasets_dir()])
    # Data beside a user's card belong to it; elsewhere, files of the same names may belong to another corpus.
    return Corpus(card, [*([Path(data_dir)] if data_dir else []), path.parent, *search_path()])


def _open_release(folder: Path) -> Corpus:
    """Return DSTC2, read from its publishers' release in `folder`."""
    card = load_card("dstc2")
    names = {"train": "train", "valid": "dev", "test": "test"}
    files = {split: FileCard(path=f"{RELEASE_LISTS}/dstc2_{name}.flist") for split, name in names.items()}
    present = {split: file for split, file in files.items() if (folder / file.path).is_file()}
    return Corpus(card.model_copy(update={"files": present}), [folder])


def corpus_of_file(path: Path, columns: tuple[str, str] | None = None) -> Corpus:
    """Return a corpus without a card: a single file, which is divided if it is large enough.

    Args:
        path: the file.
        columns: the columns of acts and sentences, if not the reader's defaults.

    Raises:
        CorpusError: there is no such file, it cannot be read, or it holds no pairs.
    """
    if not path.is_file():
        raise CorpusError(f"there is no corpus file {path}")
    return _without_card(path.resolve().stem, path.parent, {"train": path.name}, columns)


def _open_folder(folder: Path) -> Corpus:
    """Return a corpus without a card: a folder with a file for each split.

    Raises:
        CorpusError: the folder has no train file such as `train.jsonl` or `train.csv`.
    """
    files = {split: found for split in SPLITS if (found := _find(folder, _FILE_NAMES[split]))}
    if "train" not in files:
        raise CorpusError(f"the folder {folder} has no train.jsonl or train.csv, .tsv or .json")
    return _without_card(folder.resolve().name, folder, files, None)


def _without_card(name: str, root: Path, files: Mapping[str, str], columns: tuple[str, str] | None) -> Corpus:
    """Return a corpus with a derived card: case, spacing and language are detected from the train split."""
    train, notes = root / files["train"], Counter[str]()
    found = rnnlg.is_rnnlg(train)
    examples = rnnlg.read(train, notes) if found else pairs.read(train, notes, columns)
    sentences = [sentence for example in examples for sentence in example.references]
    if not sentences:
        raise CorpusError(f"{train} holds no act/sentence pair")
    attached, apart = (sum(map(bool, map(pattern.search, sentences))) for pattern in (_ATTACHED, _APART))
    # A file too small to be divided can still be inspected; training requires more.
    alone = len(files) == 1 and len(sentences) >= FEWEST
    try:
        card = Card(
            name=re.sub(r"[^\w.-]", "-", name) or "corpus",
            format="rnnlg" if found else "pairs",
            files={split: FileCard(path=file) for split, file in files.items()},
            columns=ColumnsCard(act=columns[0], text=columns[1]) if columns else None,
            divide=DivisionCard() if alone else None,
            cased=any(sentence != sentence.lower() for sentence in sentences),
            # RNNLG's files set punctuation apart, but for slips: in 5% of the sentences about televisions.
            spaced=attached <= 0.1 * (attached + apart),
            language="en" if len(sentences) < FEWEST or looks_english(sentences) else "und",
        )
    except ValidationError as error:
        raise CorpusError(f"{root}: {error.errors()[0]['msg']}") from None
    return Corpus(card, [root], announce=alone)


def _find(folder: Path, names: tuple[str, ...]) -> str | None:
    for name in names:
        for suffix in pairs.SUFFIXES:
            if (folder / (name + suffix)).is_file():
                return name + suffix
    return None
