"""What is known about the sentences of a corpus: spelling, spacing, aliases and cues."""

from __future__ import annotations

from dataclasses import dataclass, field

from dactnlg.text.delexicalization import Delexicalizer
from dactnlg.text.slots import SlotChecker


@dataclass(frozen=True, slots=True)
class Style:
    """What a corpus's card says about its sentences, as far as generation needs it."""

    cased: bool
    spaced: bool
    aliases: dict[str, dict[str, list[str]]]
    cues: dict[str, dict[str, list[str]]]
    silent: tuple[str, ...]
    proper: tuple[str, ...] = ()
    apart: tuple[str, ...] = ()
    ordinary: dict[str, list[str]] = field(default_factory=dict)

    def delexicalizer(self) -> Delexicalizer:
        """Return the delexicaliser for sentences of this style."""
        return Delexicalizer(self.aliases, self.silent, self.apart, self.ordinary)

    def checker(self) -> SlotChecker:
        """Return the slot checker for sentences of this style."""
        return SlotChecker(self.delexicalizer(), self.cues)
