"""Data cards: what is known about a corpus beyond its files.

A card (`datasets/NAME.yaml`) says where the files come from, how they are read, how many pairs they hold, and what
cannot be derived automatically about the slots: which wordings express "no children", which values have two spellings.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from dactnlg._utils.paths import relative
from dactnlg._utils.patterns import compile_pattern
from dactnlg._utils.resources import corpus_names, datasets_dir, dialogue_names
from dactnlg.acts import special_value
from dactnlg.errors import ConfigError, CorpusError, UnknownNameError
from dactnlg.runs import yamlfile
from dactnlg.text.style import Style

SplitName = Literal["train", "valid", "test"]
LARGEST = 2**30
"""Maximum bytes of a fetched file or unpacked archive, unless the card gives another size."""


def _below(name: str) -> str:
    """Refuse a path that is not below the data folder on every system, since a card may be untrusted."""
    if not relative(name).parts:
        raise ValueError("it names no file")
    return name


Below = Annotated[str, AfterValidator(_below)]
Address = Annotated[str, Field(pattern=r"^https?://[^\s\x00-\x1f]+$")]
_REFERENCE = re.compile(r"\(\?&(\w+)\)")


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class FileCard(_Strict):
    """A file of a corpus.

    Attributes:
        path: its path under a data folder.
        url: its publisher's address, http or https; None if it has none of its own, or comes in an archive.
        size: maximum number of bytes to fetch.
        sha256: its SHA-256.
        release: paths of the same split in the publisher's own layout, tried if `path` is missing (DSTC2's flists).
    """

    path: Below
    url: Address | None = None
    sha256: str | None = Field(default=None, pattern="^[0-9a-f]{64}$")
    release: list[Below] = []
    size: int = Field(default=LARGEST, ge=1)


class ArchiveCard(_Strict):
    """An archive that a publisher offers instead of single files.

    Attributes:
        url: its address, http or https.
        sha256: its SHA-256.
        size: maximum bytes to fetch, and maximum total bytes of its files.
        into: folder under the data folder for all files, without the single top-level folder that may wrap them; used
            if there are no `members`.
        members: the wanted files, path under the data folder -> path in the archive, of which outer folders may be left
            out.
    """

    url: Address
    sha256: str | None = Field(default=None, pattern="^[0-9a-f]{64}$")
    into: Annotated[str, AfterValidator(lambda name: str(relative(name)))] = "."
    members: dict[Below, Below] = {}
    size: int = Field(default=LARGEST, ge=1)


class FormsCard(FileCard):
    """A file of the inflected forms of values: `{table: {value: ["lemma\\tform\\ttag", ...]}}` in JSON.

    Attributes:
        slots: slot -> its table, if that has another name; `street _` for values of the table `street` followed by a
            number. `_` stands for a number in the tables too.
    """

    slots: dict[str, str] = {}


class ColumnsCard(_Strict):
    """The names of the columns of a table, or of the keys of its objects.

    Attributes:
        act: the column of the acts.
        text: the column of the sentences.
    """

    act: str = "act"
    text: str = "text"


class DivisionCard(_Strict):
    """How data that come as one file are divided into splits.

    Attributes:
        valid: percentage of the training file's pairs for the validation split, if that has no file of its own.
        test: the same for the test split.
        seed: determines the division.
    """

    valid: int = Field(default=10, ge=0, le=40)
    test: int = Field(default=10, ge=0, le=40)
    seed: int = Field(default=1, ge=0)


class SlotCard(_Strict):
    """What cannot be derived automatically about a slot.

    Attributes:
        cues: for a special value (`yes`, `no`, `dontcare`, `none`), or an ordinary one with more wordings than aliases
            can list, regular expressions, at least one of which matches the lower-cased raw sentence if it expresses
            the value. `(?&no)` in a pattern stands for the cues of `no`.
        aliases: for an ordinary value, other fixed wordings of it in the corpus.
        proper: the values are names, which should be capitalised even if the corpus has no capitals.
        apart: the sentences may express "A or B", or "A, B", in two places ("it is in the area of A and it is in the
            area of B").
        listed: each value may list several things; sentences for readers have "A and B" for "A, B".
        ordinary: values that are also ordinary words ("a good laptop" beside batteryrating=good): if one occurs
            several times, only the mention nearest to a word of the slot's name is the value.
    """

    cues: dict[str, list[str]] = {}
    aliases: dict[str, list[str]] = {}
    proper: bool = False
    apart: bool = False
    listed: bool = False
    ordinary: list[str] = []

    @field_validator("cues")
    @classmethod
    def _compile(cls, cues: dict[str, list[str]]) -> dict[str, list[str]]:
        expanded = {value: [_expand(pattern, cues) for pattern in patterns] for value, patterns in cues.items()}
        for value, patterns in expanded.items():
            # Nothing, looked for as a cue, is found in every sentence.
            if not patterns or not all(patterns):
                raise ValueError(f"'{value}' has an empty cue, or none: write one, or leave '{value}' out")
            for pattern in patterns:
                try:
                    compile_pattern(pattern)
                except ValueError as error:
                    raise ValueError(f"the cue {pattern!r:.200} of '{value}' cannot be used: {error}") from None
        # Acts may have `true` or "Yes" where sentences are checked for `yes`.
        found: dict[str, list[str]] = {}
        for value, patterns in expanded.items():
            found.setdefault(special_value(value) or value.casefold(), []).extend(patterns)
        return found


def _expand(pattern: str, cues: dict[str, list[str]]) -> str:
    def alternatives(match: re.Match[str]) -> str:
        name = match.group(1)
        if name not in cues or any(_REFERENCE.search(cue) for cue in cues[name]):
            raise ValueError(f"the cue {pattern!r} refers to '{name}', which has no cues of its own")
        return "(?:" + "|".join(cues[name]) + ")"

    return _REFERENCE.sub(alternatives, pattern)


class Card(_Strict):
    """A corpus's data card.

    Attributes:
        files: for each split its file.
        archives: archives that hold files of the corpus.
        splits: for each split its number of act/sentence pairs, as published.
        columns: for the format `pairs`: names of its columns or keys, if not act and text, or mr and ref.
        divide: take the splits without a file from the training file; equal acts stay in the same split.
        cased: the sentences have capital letters, so values are matched regardless of case.
        spaced: punctuation and morphemes are separated by spaces ("kid -s ."), as in RNNLG.
        phrases: named parts of cues, to which `(?&name)` in a cue or in a later phrase refers.
        slots: for each slot what cannot be derived automatically.
        silent: "act.slot" combinations that the sentences never express.
        language: of the sentences, as in ISO 639-1; the rules for English apply to `en` only.
        forms: the file of the inflected forms of values, for languages that inflect.
        hole: the "act.slot" whose value was lost if a sentence has two consecutive spaces and its act lacks the slot.
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
    columns: ColumnsCard | None = None
    divide: DivisionCard | None = None
    cased: bool = False
    spaced: bool = False
    phrases: dict[str, str] = {}
    slots: dict[str, SlotCard] = {}
    silent: list[str] = []
    language: str = Field(default="en", pattern=r"^[a-z]{2,3}$")
    forms: FormsCard | None = None
    hole: str | None = None

    @model_validator(mode="after")
    def _columns_of_pairs(self) -> Card:
        if self.columns is not None and self.format != "pairs":
            raise ValueError(f"columns: only the format pairs has them, not {self.format}")
        return self

    @model_validator(mode="after")
    def _something_to_divide(self) -> Card:
        if self.taken() and "train" not in self.files:
            raise ValueError("divide: the file that is divided is train, which is not under files")
        return self

    def taken(self) -> dict[str, int]:
        """Return the splits that are taken from the training file, with their percentages of its pairs."""
        shares = {"valid": self.divide.valid, "test": self.divide.test} if self.divide else {}
        return {split: percent for split, percent in shares.items() if percent and split not in self.files}

    @model_validator(mode="before")
    @classmethod
    def _write_out_phrases(cls, data: Any) -> Any:
        given, slots = data.get("phrases"), data.get("slots")
        if not isinstance(given, dict) or not isinstance(slots, dict):
            return data
        phrases: dict[str, Any] = {}

        def write_out(node: Any) -> Any:
            if isinstance(node, dict):
                return {key: write_out(value) for key, value in node.items()}
            if isinstance(node, list):
                return [write_out(value) for value in node]
            if isinstance(node, str):
                return _REFERENCE.sub(lambda m: f"(?:{phrases[m[1]]})" if m[1] in phrases else m[0], node)
            return node

        for name, phrase in given.items():
            # A phrase may refer to earlier ones.
            phrases[name] = write_out(phrase)
        return {**data, "slots": write_out(slots)}

    @property
    def all_files(self) -> tuple[FileCard, ...]:
        """The files of the splits and the file of the forms of values."""
        return (*self.files.values(), *((self.forms,) if self.forms else ()))

    def style(self, forms: dict[str, dict[str, dict[str, list[str]]]] | None = None) -> Style:
        """Return the part of the card that generation and slot checks use.

        Args:
            forms: forms of values, from the card's file; see `Corpus.style`.
        """
        return Style(
            cased=self.cased,
            spaced=self.spaced,
            aliases={name: slot.aliases for name, slot in self.slots.items() if slot.aliases},
            cues={name: slot.cues for name, slot in self.slots.items() if slot.cues},
            silent=tuple(self.silent),
            proper=tuple(name for name, slot in self.slots.items() if slot.proper),
            apart=tuple(name for name, slot in self.slots.items() if slot.apart),
            listed=tuple(name for name, slot in self.slots.items() if slot.listed),
            ordinary={name: slot.ordinary for name, slot in self.slots.items() if slot.ordinary},
            forms=forms or {},
            language=self.language,
        )


def load_card(name: str | Path) -> Card:
    """Read a data card.

    Args:
        name: a corpus's name, or the path of a card.

    Raises:
        UnknownNameError: neither a known name nor a file.
        CorpusError: the file is not a card, and the message lists every mistake with its line; or the corpus holds
            dialogues.
    """
    path = Path(name)
    if path.suffix.lower() not in (".yaml", ".yml"):
        path = datasets_dir() / f"{name}.yaml"
        if str(name) in dialogue_names():
            raise CorpusError(f"corpus '{name}' holds dialogues; this is for acts: {', '.join(corpus_names())}")
        if str(name) not in corpus_names():
            raise UnknownNameError("corpus", str(name), corpus_names())
    try:
        data, lines, mistakes = yamlfile.read(path, "a data card is a mapping with name, format and files")
    except ConfigError as error:
        raise CorpusError(str(error)) from None
    try:
        card = Card.model_validate(data)
    except ValidationError as error:
        for detail in error.errors():
            key = ".".join(map(str, detail["loc"]))
            place = yamlfile.place(path, lines, detail["loc"])
            mistakes.append(f"{place}: {key}: {_reason(detail['type'], detail['msg'], detail['input'])}")
    if mistakes:
        raise CorpusError(f"mistakes in the data card {path}:\n" + "\n".join(f"  {line}" for line in mistakes))
    return card


def _reason(kind: str, message: str, given: object) -> str:
    if kind == "string_type" and isinstance(given, bool | int | float):
        what = "a truth value" if isinstance(given, bool) else "a number"
        shown = str(given).lower() if isinstance(given, bool) else str(given)
        return f"{shown:.60} is {what} to YAML, and text is meant: write it in quotes, '{shown:.60}'"
    return f"{message} (got {given!r:.60})"
