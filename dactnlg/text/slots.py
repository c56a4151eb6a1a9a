"""Slot checks: which slots a sentence expresses, for checking every generated sentence and for the slot error rate.

A delexicalisable slot is expressed if its placeholder (or its value, in a finished sentence) occurs once. A special
value (`kidsallowed=no`) is expressed if one of the surface cues on the corpus's data card matches; the values of the
turn are masked first, because the words of a name ("No Kids Street") say nothing but the name. Nothing expresses an
empty value.
Slot error rate (Wen et al. 2015, section 5.1): (missing + redundant) / required.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from dactnlg._utils.memory import Memory
from dactnlg._utils.patterns import Pattern, compile_pattern
from dactnlg.acts import Slot, Turn
from dactnlg.text.cues import MASK, blanked, combined, folded, masked, shows, spelled, without
from dactnlg.text.nearness import names_slot
from dactnlg.text.owners import left_open
from dactnlg.text.placeholders import Required, is_placeholder, slot_label
from dactnlg.text.report_names import question_name, special_name
from dactnlg.text.sentences import split_sentences
from dactnlg.text.surface import strip_joiner
from dactnlg.text.tallies import SlotReport, Tally
from dactnlg.text.values.delexicalization import Delexicalizer

REMEMBERED = 256, 1 << 18
"""Limits of the cache of what is expected of turns: number of turns, and bytes. Many texts for one are compared."""
Shown = Mapping[str, tuple[str, ...]]
"""The special values whose cues match a sentence, by slot."""
OPPOSITES = {"yes": "no", "no": "yes"}
"""Special values that exclude each other in a sentence."""
_BETWEEN_CLAUSES = re.compile(r"(?<=[.?!;])\s|(?<!\bnot)(?<!n't)(?<!\bto)\s(?=(?:has|have|is|are)\s(?!not\b))")


class CuedValue(NamedTuple):
    """A special value, or a lexicalised one, with the pattern that finds it."""

    slot: str
    value: str
    pattern: Pattern

    @property
    def name(self) -> str:
        """Its name in reports: `kidsallowed=no`."""
        return f"{self.slot}={self.value}"


class Expected(NamedTuple):
    """What cues can check of a turn.

    Attributes:
        wanted: its special values.
        others: values of slots that it does not have, or has with another value: they would be invented.
        opposites: special values of the turn, each with what would contradict it.
        unusual: ordinary values of slots that are otherwise yes or no (`dogsallowed=sometimes`): unless the sentence
            names the slot, it is unclear what they refer to.
    """

    wanted: tuple[CuedValue, ...]
    others: tuple[tuple[str, str], ...]
    opposites: tuple[tuple[CuedValue, CuedValue], ...]
    unusual: tuple[Required, ...]


class SlotChecker:
    """Checks sentences against their turns.

    Args:
        delexicalizer: finds values in sentences.
        cues: regular expressions that find a special value, or a lexicalised one, in the lower-cased raw sentence:
            `{slot: {"no": [pattern, ...]}}`.
    """

    def __init__(
        self, delexicalizer: Delexicalizer, cues: Mapping[str, Mapping[str, Sequence[str]]] | None = None
    ) -> None:
        self.delexicalizer = delexicalizer
        self._expected: Memory[Expected] = Memory(*REMEMBERED)
        patterns = {**(cues or {})}
        for name, values in delexicalizer.lexicalized.items():
            # The spellings of a value are its cues if it has no others.
            found = {value: spelled(delexicalizer.spellings(Slot(name, value))) for value in sorted(values)}
            patterns[name] = {**found, **patterns.get(name, {})}
        self._cues = {slot: combined(values) for slot, values in patterns.items()}
        # For slots that the turn lacks, only yes, no and values of a closed class count as invented: other cues are
        # words with many uses, as are those of values that people paraphrase.
        ordinary, given = delexicalizer.ordinary, cues or {}
        self._inventable = {
            name: [
                value
                for value in values
                if value in ("yes", "no")
                or (value in closed and (value in given.get(name, ()) or (name, value) not in ordinary))
            ]
            for name, values in self._cues.items()
            for closed in [delexicalizer.lexicalized.get(name, frozenset[str]())]
            if name not in delexicalizer.paraphrased
        }

    def check(self, turn: Turn, sentence: str) -> SlotReport:
        """Check a lexicalised sentence, by finding in it the turn's values or the words that the card has for them."""
        tokens = self.delexicalizer.delexicalize(turn, sentence).tokens
        tally = self.tally(turn, tokens)
        if tally.missing:
            worded = self.worded(turn, tokens)
            tally = replace(tally, missing=tuple(name for name in tally.missing if name not in worded))
        return SlotReport(tally, self.look(self.expected(turn), tokens))

    def worded(self, turn: Turn, tokens: Sequence[str]) -> set[str]:
        """Return the values of a turn that cues find, as named in reports."""
        text = folded(masked(tokens))
        slots = [item.slot for item in self.delexicalizer.required(turn) if item.slot.name in self._cues]
        return {str(slot) for slot in slots if slot.folded in self.shown_cues(slot.name, text)}

    def tally(self, turn: Turn, tokens: Iterable[str]) -> Tally:
        """Count the placeholders in delexicalised tokens against those that the turn requires.

        Silent slots may be said.
        """
        required = {item.placeholder: item.slot for item in self.delexicalizer.required(turn)}
        found = [strip_joiner(token) for token in tokens if "SLOT_" in token and is_placeholder(token)]
        if len(found) == len(required) and required.keys() == set(found):
            return Tally(len(required))
        unneeded = {item.placeholder for item in self.delexicalizer.silenced(turn)}
        counts = Counter(name for name in found if name not in unneeded)
        missing = tuple(str(slot) for placeholder, slot in required.items() if placeholder not in counts)
        extra = tuple(
            str(required.get(placeholder) or slot_label(placeholder))
            for placeholder, count in counts.items()
            for _ in range(count - (placeholder in required))
        )
        return Tally(len(required), missing, extra)

    def required(self, turn: Turn) -> tuple[str, ...]:
        """Return the slots that are checked, as named in reports: values, and special values with cues."""
        values = tuple(str(item.slot) for item in self.delexicalizer.required(turn))
        return values + self.special(turn)

    def special(self, turn: Turn) -> tuple[str, ...]:
        """Return the special values of a turn that cues can check, as named in reports: `kidsallowed=no`."""
        return tuple(cued.name for cued in self.expected(turn).wanted)

    def unchecked(self, turn: Turn) -> tuple[str, ...]:
        """Return what neither values nor cues can show of a turn: `toilets=none`, `request(food)`."""
        shown, silent = self.special(turn), self.delexicalizer.silent
        found: dict[str, None] = {}
        for act, slot in self.delexicalizer.prepared(turn).slots():
            name = question_name(act.act_type, slot.name) if slot.value is None else special_name(slot)
            if not slot.delexicalizable and name not in shown and f"{act.act_type}.{slot.name}" not in silent:
                found[name] = None
        return tuple(found)

    def values_with_cues(self, slot_name: str) -> Collection[str]:
        """Return the special values of a slot that have cues."""
        return self._cues.get(slot_name, {})

    def shown_cues(self, slot_name: str, sentence: str) -> tuple[str, ...]:
        """Return the special values of a slot whose cues match a sentence."""
        return self._shown(slot_name, folded(sentence))

    def shown(self, tokens: Sequence[str], slot_names: Container[str] | None = None) -> Shown:
        """Return the special values whose cues match delexicalised tokens, by slot; of all slots, or only some."""
        text = folded(masked(tokens))
        names = [name for name in self._cues if slot_names is None or name in slot_names]
        return {name: found for name in names if (found := self._shown(name, text))}

    def without_cues(self, turn: Turn, words: Sequence[str]) -> list[str]:
        """Return words, with placeholders, those masked by which cues find a turn's special values."""
        text = " ".join(MASK if is_placeholder(word) else strip_joiner(word) for word in words)
        for cued in self.expected(turn).wanted:
            text = blanked(cued.pattern, text)
        rest = text.split(" ") if words else []
        return [word if is_placeholder(word) else left for word, left in zip(words, rest, strict=True)]

    def _shown(self, slot_name: str, text: str) -> tuple[str, ...]:
        return tuple(v for v, cue in self._cues.get(slot_name, {}).items() if shows(compile_pattern(cue), text))

    def _contradictions(self, expected: Expected, missing: Sequence[str], text: str) -> Iterator[str]:
        """Yield the opposites that a folded sentence says in addition: "it allows dogs. It allows no dogs."

        If the wanted value is missing, an opposite in its place is the same fault, so it is not repeated.
        """
        for wanted, opposite in expected.opposites:
            # Mask the wanted words first: those of "no dogs" include those of "dogs".
            pattern = opposite.pattern
            if wanted.name not in missing and shows(pattern, without(wanted.pattern, text)):
                # A cue for whatever is not denied, such as "family" for yes, finds the rest of a masked denial:
                # "not family friendly" says yes nowhere, "pubs with no garden have a garden" does.
                parts = _BETWEEN_CLAUSES.split(text)
                if any(shows(pattern, part) and shows(pattern, without(wanted.pattern, part)) for part in parts):
                    yield opposite.name

    def _invented(self, expected: Expected, shown: Shown, text: str) -> list[str]:
        """Return the values that a folded sentence shows and the turn does not have, at most one per slot."""
        found: dict[str, str] = {}
        for name, value in expected.others:
            if name in found or value not in shown.get(name, ()):
                continue
            rest = text
            for wanted in expected.wanted:
                rest = without(wanted.pattern, rest) if wanted.slot == name else rest
            cued = self._cued(name, value)
            if rest is text or shows(cued.pattern, rest):
                found[name] = cued.name
        return list(found.values())

    def _cued(self, slot_name: str, value: str) -> CuedValue:
        return CuedValue(slot_name, value, compile_pattern(self._cues[slot_name][value]))

    def expected(self, turn: Turn) -> Expected:
        """Return what cues can check of a turn; it depends only on the delexicalised act."""
        found = self._expected.get(turn)
        if found is None:
            size = 2000 + sum([500 + len(slot.value or "") for _, slot in turn.slots()])
            found = self._expected.put(turn, self._expect(turn), size)
        return found

    def _expect(self, turn: Turn) -> Expected:
        asked: dict[str, set[str | None]] = {}
        turn = self.delexicalizer.prepared(turn)
        opened = left_open(turn)
        for _, slot in turn.slots():
            asked.setdefault(slot.name, set()).add(slot.special if slot.value is not None else None)
        unusual = tuple(item for item in self.delexicalizer.required(turn) if self._is_binary(item.slot.name))
        told = {item.slot.name for item in unusual if asked[item.slot.name] == {None}}
        wanted, closed = [], self.delexicalizer.lexicalized
        for name, cues in self._cues.items():
            # A question about the slot, or a choice between its values, may be worded as yes or as no.
            values = asked.get(name, set())
            stated = len(values) == 1 or (name not in opened and None not in values)
            for value in cues:
                if value in values and (stated or value in closed.get(name, ())):
                    wanted.append(self._cued(name, value))
        # Where "high" is a price and a rating, the word of the one that the turn has does not invent the other.
        shared, said = self.delexicalizer.shared, {value for values in asked.values() for value in values}
        others = tuple(
            (name, value)
            for name, values in self._inventable.items()
            if name not in asked or name in told or (name in closed and None not in asked[name])
            for value in values
            if value not in asked.get(name, ()) and not ((name, value) in shared and value in said)
        )
        return Expected(tuple(wanted), others, tuple(self._opposites(wanted)), unusual)

    def _is_binary(self, slot_name: str) -> bool:
        """Whether cues find both yes and no for a slot; one with a no alone may have any values (`pets=cats`)."""
        binary = OPPOSITES.keys() <= self._cues.get(slot_name, {}).keys()
        return binary and slot_name not in self.delexicalizer.lexicalized

    def _opposites(self, wanted: Collection[CuedValue]) -> Iterator[tuple[CuedValue, CuedValue]]:
        """Yield special values, each with what contradicts it, as `kidsallowed=no` contradicts `kidsallowed=yes`."""
        binary = [each for each in wanted if each.slot not in self.delexicalizer.lexicalized]
        said = {(each.slot, each.value) for each in binary}
        for each in binary:
            opposite = OPPOSITES.get(each.value, "")
            # An act that says both contradicts itself.
            if opposite in self._cues[each.slot] and (each.slot, opposite) not in said:
                yield each, self._cued(each.slot, opposite)

    def check_cues(self, turn: Turn, sentence: str) -> Tally:
        """Check special values by their cues: those of the turn must match, those that it does not have must not."""
        return self.look(self.expected(turn), self.delexicalizer.delexicalize(turn, sentence).tokens)

    def look(self, expected: Expected, tokens: Sequence[str], shown: Shown | None = None) -> Tally:
        """Check delexicalised tokens against what a turn expects; `check_cues` computes both and calls this.

        Args:
            expected: of the turn.
            tokens: the sentence, with placeholders.
            shown: what cues find in them, if already known.
        """
        shown, text = self.shown(tokens) if shown is None else shown, folded(masked(tokens))
        missing = tuple(cued.name for cued in expected.wanted if cued.value not in shown.get(cued.slot, ()))
        missing += tuple(str(item.slot) for item in expected.unusual if _is_nameless(item, tokens))
        extra = (*self._invented(expected, shown, text), *self._contradictions(expected, missing, text))
        return Tally(len(expected.wanted), missing, extra)


def _is_nameless(item: Required, tokens: Sequence[str]) -> bool:
    """Whether a value occurs in the sentence, but no sentence with it names its slot."""
    own = [words for words in split_sentences(tokens) if item.placeholder in map(strip_joiner, words)]
    return bool(own) and not any(names_slot(word.casefold(), item.slot.name) for words in own for word in words)


class ValueChecker:
    """Counts delexicalisable slots only: SER is about values; cues depend on wording and are counted separately."""

    def __init__(self, checker: SlotChecker) -> None:
        self._checker = checker

    def check(self, turn: Turn, sentence: str) -> Tally:
        """Return the tally of the values of a turn found in a finished sentence."""
        return self._checker.check(turn, sentence).values
