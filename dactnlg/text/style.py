"""Style of a corpus's sentences: case, spacing, aliases and cues."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from dactnlg.acts import Slot, Turn
from dactnlg.text.slots import Shown, SlotChecker
from dactnlg.text.tallies import Tally
from dactnlg.text.values.delexicalization import Delexicalizer


class TemplateReader(Protocol):
    """Reads what sentences with placeholders express besides their values; see `fidelity.FidelityChecker`."""

    trigger_words: dict[str, tuple[str, ...]]
    values: Mapping[str, Sequence[str]]

    def read(self, turn: Turn, tokens: Sequence[str], cues: Tally, shown: Shown) -> Tally:
        """Return the faults in a sentence's special values, questions and act types, given what its cues show."""

    def lacks(self, turn: Turn, slot: Slot, tokens: Sequence[str], cues: Tally, shown: Shown) -> bool:
        """Whether the words of a sentence fail to express a special value of a turn, given what its cues show."""

    def improbable(self, turn: Turn, tokens: Sequence[str]) -> list[str]:
        """Return the act types of a turn that a sentence with placeholders probably does not perform."""

    def knows_act(self, act_type: str) -> bool:
        """Whether sentences can be checked for performing an act of this type."""

    def unchecked(self, turn: Turn) -> tuple[str, ...]:
        """Return the special values and questions of a turn that nothing can show, as named in reports."""


@dataclass(frozen=True, slots=True)
class Style:
    """What a data card states about the sentences of a corpus, as far as generation needs it.

    Attributes:
        cased: whether the sentences have capitals.
        spaced: whether punctuation is separated from words by spaces.
        aliases: other wordings of values: `{slot: {value: [wording, ...]}}`.
        cues: regular expressions that find special values: `{slot: {"no": [pattern, ...]}}`.
        silent: "act.slot" combinations that no sentence expresses.
        proper: slots whose values are proper names.
        apart: slots whose value "A or B" counts as two values.
        listed: slots whose value "A, B" reads "A and B".
        ordinary: slot -> values that are also ordinary words.
        lexicalized: slot of a closed class -> its (folded) values, which stay in the sentences.
        forms: slot -> value -> form -> its morphological tags; see `inflection`.
        language: of the sentences; the rules of English surface forms (a/an, plurals, "I") apply only to `en`.
    """

    cased: bool
    spaced: bool
    aliases: dict[str, dict[str, list[str]]]
    cues: dict[str, dict[str, list[str]]]
    silent: tuple[str, ...]
    proper: tuple[str, ...] = ()
    apart: tuple[str, ...] = ()
    listed: tuple[str, ...] = ()
    ordinary: dict[str, list[str]] = field(default_factory=dict)
    lexicalized: dict[str, list[str]] = field(default_factory=dict)
    forms: dict[str, dict[str, dict[str, list[str]]]] = field(default_factory=dict)
    language: str = "en"

    @property
    def english(self) -> bool:
        """Whether the sentences are English."""
        return self.language == "en"

    def to_json(self) -> dict[str, Any]:
        """Return its attributes as JSON data."""
        return {name: getattr(self, name) for name in self.__slots__}

    def delexicalizer(self) -> Delexicalizer:
        """Return the delexicaliser for sentences of this style."""
        return Delexicalizer(
            self.aliases,
            self.silent,
            self.apart,
            self.ordinary,
            self.lexicalized,
            self.forms,
            shared=self._shared(),
            english=self.english,
        )

    def _shared(self) -> set[tuple[str, str]]:
        """Return (slot, value) of the values of several closed classes that no cues of their own tell apart."""
        own = [
            (slot, value)
            for slot, values in self.lexicalized.items()
            for value in values
            if value not in self.cues.get(slot, {})
        ]
        slots = Counter(value for _, value in own)
        return {pair for pair in own if slots[pair[1]] > 1}

    def checker(self) -> SlotChecker:
        """Return the slot checker for sentences of this style."""
        return SlotChecker(self.delexicalizer(), self.cues)
