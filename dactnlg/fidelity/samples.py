"""Training samples of the reader: delexicalised human sentences with the facts of their turns."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil

from dactnlg.acts import DialogueAct, Slot, Turn
from dactnlg.acts.act_types import INFORM
from dactnlg.fidelity.facts import Fact, atoms, facts, value_fact
from dactnlg.fidelity.features import folded
from dactnlg.fidelity.reader import Evidence
from dactnlg.text.cues import masked
from dactnlg.text.grammar.english import listed
from dactnlg.text.nearness import names_slot
from dactnlg.text.placeholders import Required, is_placeholder
from dactnlg.text.slots import Shown, SlotChecker
from dactnlg.text.values.delexicalization import Delexicalizer

PRECISE = 0.9
"""Minimum share of the sentences with a slot's word that are about the slot."""
STEM, STEM_SHARE = 4, 0.6
"""Minimum length of a stem that identifies a word, in letters and as a share of the word."""
_BETWEEN_WORDS = re.compile(r"(?:(?<=\w)-+)?[\s/]+(?:-+[\s/]+)*|(?<=\w)-+")
FUNCTION_WORDS = listed("""
    about also and any are been but can cannot could does doesn doesnt don dont for from had has have him his how its
    just neither never nor not our out that the their them then there these they this those very want was were what when
    which will with without would you your
""")
"""Words that occur beside slots but never name one."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A sentence with what it should say.

    Attributes:
        sentence: the evidence for the reader.
        facts: the facts of its turn, and a value fact for each ordinary value that is not found literally.
        slots: all slots of its turn.
        found: names of the value facts of ordinary values that are found literally.
    """

    sentence: Evidence
    facts: frozenset[Fact]
    slots: frozenset[str]
    found: frozenset[str]


def evidence(turn: Turn, tokens: Sequence[str], shown: Shown) -> Evidence:
    """Return the evidence for the reader from a turn's delexicalised sentence and the special values shown by cues."""
    return Evidence(tuple(folded(tokens)), shown, "&".join([act.act_type for act in turn.acts]))


def read_rows(pairs: Iterable[tuple[Turn, str]], checker: SlotChecker) -> list[Sample]:
    """Return the distinct samples of (turn, human sentence) pairs, in order of first appearance."""
    delexicalizer = checker.delexicalizer
    rows: dict[tuple[object, ...], Sample] = {}
    for turn, sentence in dict.fromkeys(pairs):
        turn = delexicalizer.prepared(turn)
        done = delexicalizer.delexicalize(turn, sentence)
        lost = [part for item in done.missing for part in unfound(delexicalizer, item, done.tokens)]
        missing = {value_fact(slot) for slot in lost}
        names = {value_fact(part).name for item in delexicalizer.required(turn) for part in atoms(item.slot)}
        found = frozenset(names - {fact.name for fact in missing})
        stated = frozenset([*facts(turn).values(), *missing])
        seen = evidence(turn, done.tokens, checker.shown(done.tokens))
        row = Sample(seen, stated, frozenset(slot.name for _, slot in turn.slots()), found)
        rows.setdefault((seen.words, stated, row.slots, found), row)
    return list(rows.values())


def joined(rows: Sequence[Sample], chance: random.Random) -> list[Sample]:
    """Return each sample with a random other one appended: a text that states what both state."""
    return [_join(row, chance.choice(rows)) for row in rows]


def _join(first: Sample, second: Sample) -> Sample:
    shown = {
        slot: tuple(dict.fromkeys((*first.sentence.shown.get(slot, ()), *second.sentence.shown.get(slot, ()))))
        for slot in (*first.sentence.shown, *second.sentence.shown)
    }
    acts = "&".join([first.sentence.acts, second.sentence.acts])
    sentence = Evidence((*first.sentence.words, *second.sentence.words), shown, acts)
    found = (first.found | second.found) - {fact.name for fact in first.facts | second.facts}
    return Sample(sentence, first.facts | second.facts, first.slots | second.slots, found)


def unfound(delexicalizer: Delexicalizer, item: Required, tokens: Sequence[str]) -> list[Slot]:
    """Return the parts of a value, which may be a list, that are not found literally in delexicalised tokens."""
    parts, text = list(atoms(item.slot)), masked(tokens)
    if len(parts) > 1:
        parts = [part for part in parts if delexicalizer.delexicalize(_about(part), text).missing]
    return [part for part in parts if not _plainly(part.value or "", text)]


def _plainly(value: str, text: str) -> bool:
    """Return whether a text has a value, ignoring hyphens and endings: "role playing", "Blizzard North's games"."""
    value, text = (" ".join(_BETWEEN_WORDS.split(each.casefold())) for each in (value, text))
    # A single word left literally is another slot's, or it would have been found: only its genitive counts.
    ending = "(?:['’]s?|s)?" if " " in value else "['’]s?"
    # A hyphen that is still there is a minus sign: "-5 km" is not 5 km.
    if re.search(rf"(?<![\w−-]){re.escape(value)}{ending}(?!\w)", text) is not None:
        return True
    stems = [_stem(word) for word in value.split()]
    return all(stems) and re.search(".*".join(rf"(?<!\w){stem}" for stem in stems), text) is not None


def _stem(word: str) -> str:
    """Return the start of a word that it shares with related words, "fight" for "fighting"; "" for a short word."""
    return word[: max(STEM, ceil(STEM_SHARE * len(word)))] if word.isalpha() and len(word) > STEM else ""


def _about(*slots: Slot) -> Turn:
    return Turn((DialogueAct(INFORM, slots),))


def other_values(delexicalizer: Delexicalizer, slot: Slot, known: Iterable[str], tokens: Sequence[str]) -> list[str]:
    """Return the known values of a slot, other than its own, that are found literally in delexicalised tokens."""
    own = [part.folded for part in (slot, *atoms(slot))]
    others = (value for value in known if not any(value in each or each in value for each in own))
    turn = _about(*(Slot(slot.name, value) for value in others))
    held = delexicalizer.delexicalize(turn, masked(tokens)).fillers
    return [item.slot.value or "" for item in delexicalizer.required(turn) if item.placeholder in held]


def learn_slot_words(rows: Sequence[Sample], slots: Iterable[str]) -> dict[str, list[str]]:
    """Return slot -> the words that occur in hardly any sentence not about it, and words of its name."""
    counts = Counter(word for row in rows for word in set(row.sentence.words) if not is_placeholder(word))
    found = {}
    for slot in slots:
        about = [row for row in rows if slot in row.slots]
        own = Counter(word for row in about for word in set(row.sentence.words) if not is_placeholder(word))
        least = max(3, 0.02 * len(about))
        lift = min(max(PRECISE, 2 * len(about) / len(rows)), 0.97)
        words = [w for w, n in own.items() if n >= least and n >= lift * counts[w] and w.isalpha() and len(w) > 2]
        named = [word for word in own if names_slot(word, slot) and own[word] >= 0.5 * counts[word]]
        found[slot] = sorted({*words, *named}.difference(FUNCTION_WORDS))
    return found


def known_values(pairs: Iterable[tuple[Turn, str]]) -> Iterator[tuple[str, str]]:
    """Yield the distinct ordinary values of turns as (slot, folded value), each part of a list separately."""
    found: dict[tuple[str, str], None] = {}
    for turn, _ in pairs:
        for _, slot in turn.slots():
            for part in atoms(slot) if slot.delexicalizable else ():
                found[part.name, part.folded] = None
    yield from found
