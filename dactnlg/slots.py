"""Which slots a sentence says: the proof that goes with every generated sentence, and the slot error rate.

A delexicalisable slot is said when its placeholder (or its value, in a finished sentence) is there, once. A special
value (`kidsallowed=no`) is said when one of the surface cues on the corpus's data card is there.
Slot error rate (Wen et al. 2015, section 5.1): (missing + redundant) / required.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from dactnlg.acts import Turn
from dactnlg.cues import Cue
from dactnlg.delexicalization import Delexicalizer
from dactnlg.placeholders import is_placeholder
from dactnlg.surface import strip_joiner


@dataclass(frozen=True, slots=True)
class Tally:
    """What was asked for and how it came out, one entry a fault: `food=thai`."""

    required: int = 0
    missing: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()

    @property
    def errors(self) -> int:
        """Missing and redundant slots together; two redundant copies count twice."""
        return len(self.missing) + len(self.extra)


@dataclass(frozen=True, slots=True)
class SlotReport:
    """The slots of one sentence: `values` the delexicalisable ones, `cues` the special values that can be checked."""

    values: Tally
    cues: Tally = Tally()

    @property
    def missing(self) -> tuple[str, ...]:
        """Slots that should have been said and were not."""
        return self.values.missing + self.cues.missing

    @property
    def extra(self) -> tuple[str, ...]:
        """Slots said too often, or never asked for."""
        return self.values.extra + self.cues.extra

    @property
    def required(self) -> int:
        """The number of slots that could be checked."""
        return self.values.required + self.cues.required

    @property
    def ok(self) -> bool:
        """Whether nothing is missing and nothing is extra."""
        return not self.missing and not self.extra


class SlotChecker:
    """Checks sentences against their turns.

    Args:
        delexicalizer: finds values in sentences.
        cues: for a slot, the regular expressions that show a special value: `{slot: {"no": [pattern, ...]}}`;
            they are searched for in the lower-cased raw sentence.
    """

    def __init__(
        self, delexicalizer: Delexicalizer, cues: Mapping[str, Mapping[str, Sequence[str]]] | None = None
    ) -> None:
        self.delexicalizer = delexicalizer
        self._cues = {
            slot: {value: Cue(patterns) for value, patterns in values.items()} for slot, values in (cues or {}).items()
        }

    def check(self, turn: Turn, sentence: str) -> SlotReport:
        """Check a lexicalised sentence, by finding the turn's values in it."""
        tokens = self.delexicalizer.delexicalize(turn, sentence).tokens
        return SlotReport(self.tally(turn, tokens), self.check_cues(turn, sentence))

    def tally(self, turn: Turn, tokens: Iterable[str]) -> Tally:
        """Count placeholders in delexicalised tokens against those that the turn requires."""
        required = {item.placeholder: item.slot for item in self.delexicalizer.required(turn)}
        said = [strip_joiner(token) for token in tokens if "SLOT_" in token and is_placeholder(token)]
        if len(said) == len(required) and required.keys() == set(said):
            return _flawless(len(required))
        missing = tuple(str(slot) for placeholder, slot in required.items() if placeholder not in said)
        extra = tuple(
            str(required.get(placeholder, placeholder))
            for placeholder in dict.fromkeys(said)
            for _ in range(said.count(placeholder) - (placeholder in required))
        )
        return Tally(len(required), missing, extra)

    def required(self, turn: Turn) -> tuple[str, ...]:
        """Return the slots that are checked, as reports name them: values first, then special values with cues."""
        return tuple(str(item.slot) for item in self.delexicalizer.required(turn)) + self.special(turn)

    def special(self, turn: Turn) -> tuple[str, ...]:
        """Return the special values of a turn that cues can show, as reports name them: `kidsallowed=no`."""
        return tuple(f"{name}={value}" for name, value in self._cued(turn))

    def shown_cues(self, slot_name: str, sentence: str) -> tuple[str, ...]:
        """Return the special values of a slot whose cues show in a sentence."""
        text = " ".join(sentence.lower().split())
        return tuple(value for value, cue in self._cues.get(slot_name, {}).items() if cue.shows(text))

    def _cued(self, turn: Turn) -> list[tuple[str, str]]:
        """Return the turn's slots and special values that the cues can show."""
        asked = _special_values(turn)
        found = []
        for name, cues in self._cues.items():
            values = asked.get(name)
            # A question about the slot, or a choice between its values, may be worded either way.
            if values is not None and len(values) == 1 and (value := values[0]) is not None and value in cues:
                found.append((name, value))
        return found

    def check_cues(self, turn: Turn, sentence: str) -> Tally:
        """Look for the cues of special values: those the turn has must show, those it does not have must not."""
        if not self._cues:
            return Tally()
        text = " ".join(sentence.lower().split())
        asked, cued = _special_values(turn), self._cued(turn)
        missing = [f"{name}={value}" for name, value in cued if not self._cues[name][value].shows(text)]
        extra = []
        for slot_name, cues in self._cues.items():
            if slot_name in asked:
                continue
            made_up = (value for value, cue in cues.items() if value in ("yes", "no") and cue.shows(text))
            extra += [f"{slot_name}={value}" for value in made_up][:1]
        if not missing and not extra:
            return _flawless(len(cued))
        return Tally(len(cued), tuple(missing), tuple(extra))


@lru_cache(maxsize=1 << 8)
def _flawless(required: int) -> Tally:
    return Tally(required)


@lru_cache(maxsize=1 << 14)
def _special_values(turn: Turn) -> Mapping[str, tuple[str | None, ...]]:
    """Return for each slot of a turn its different special values; None stands for any other value, and for none."""
    asked: dict[str, dict[str | None, None]] = {}
    for _, slot in turn.slots():
        asked.setdefault(slot.name, {})[slot.special if slot.value is not None else None] = None
    return {name: tuple(values) for name, values in asked.items()}
