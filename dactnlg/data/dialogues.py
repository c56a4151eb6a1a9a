"""Corpora of dialogues: cards in `datasets/dialogues/`, their splits, and pairs of a context and the next turn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from dactnlg._utils.hashing import digest
from dactnlg._utils.resources import datasets_dir, dialogue_names
from dactnlg.data.corpus import search_path
from dactnlg.data.readers.dialogue_formats import FORMATS, Dialogue
from dactnlg.errors import ConfigError, CorpusError, UnknownNameError
from dactnlg.runs import yamlfile
from dactnlg.text.dialogue_preprocessor import ContextPair


class DialogueCard(BaseModel):
    """The card of a corpus of dialogues.

    Attributes:
        name: the corpus's name.
        title, licence, citation, source, notes: information for people.
        format: the name of a reader in `data.readers.dialogue_formats`.
        files: the file of each split, below a folder that is searched for corpora.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    name: str = Field(pattern=r"^[\w.-]+$")
    title: str = ""
    licence: str = ""
    citation: str = ""
    source: str = ""
    notes: str = ""
    format: str
    files: dict[str, str]


class DialogueCorpus(NamedTuple):
    """The dialogues of a card.

    Attributes:
        card: the card.
        splits: name of a split -> its dialogues.
        notes: what the reader left out, with counts.
    """

    card: DialogueCard
    splits: dict[str, list[Dialogue]]
    notes: Counter[str]

    def hashes(self) -> dict[str, str]:
        """Return the hash of every split."""
        return {split: digest([list(each.turns) for each in found]) for split, found in self.splits.items()}


def load_dialogue_card(name: str) -> DialogueCard:
    """Return a card.

    Raises:
        UnknownNameError: there is no such corpus.
        CorpusError: the card is damaged.
    """
    if name not in dialogue_names():
        raise UnknownNameError("corpus of dialogues", name, dialogue_names())
    path = datasets_dir() / "dialogues" / f"{name}.yaml"
    try:
        card = DialogueCard.model_validate(yamlfile.read(path).data)
    except (ConfigError, ValidationError) as error:
        raise CorpusError(f"{path} is no card of dialogues: {error}") from None
    if card.format not in FORMATS:
        raise UnknownNameError("format of dialogues", card.format, sorted(FORMATS))
    return card


def load_dialogues(
    name: str, data_dir: str | Path | None = None, splits: Sequence[str] = ("train", "valid", "test")
) -> DialogueCorpus:
    """Read splits of a corpus of dialogues.

    Args:
        name: a card of `datasets/dialogues`.
        data_dir: a folder to search for files first.
        splits: the splits to read.

    Raises:
        UnknownNameError: there is no such corpus.
        CorpusError: a file is missing or damaged, or the card has no such split.
    """
    card, notes = load_dialogue_card(name), Counter[str]()
    roots = search_path(data_dir)
    found = {}
    for split in splits:
        if split not in card.files:
            raise CorpusError(f"corpus '{name}' has no split '{split}'; it has {', '.join(card.files)}")
        paths = [root / card.files[split] for root in roots]
        path = next((path for path in paths if path.is_file()), None)
        if path is None:
            where, origin = ", ".join(map(str, roots)), f" ({card.source})" if card.source else ""
            remedy = f"it is not fetched: get it from its publisher{origin}, and name its folder with --data-dir or "
            raise CorpusError(f"{card.files[split]} of corpus '{name}' is not in {where}; {remedy}DACTNLG_DATA")
        found[split] = FORMATS[card.format](path, notes)
    return DialogueCorpus(card, found, notes)


def context_pairs(dialogues: Iterable[Dialogue], turns: int) -> list[ContextPair]:
    """Return every turn but the first of each dialogue with at most `turns` preceding turns as its context."""
    return [pair for number, dialogue in enumerate(dialogues) for pair in _pairs(dialogue, number, turns)]


def _pairs(dialogue: Dialogue, number: int, turns: int) -> list[ContextPair]:
    said = dialogue.turns
    acts = dialogue.acts or ((),) * len(said)
    return [ContextPair(said[max(0, i - turns) : i], said[i], number, acts[i]) for i in range(1, len(said))]
