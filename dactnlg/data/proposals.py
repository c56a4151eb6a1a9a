"""Proposals: what the pairs of a data file say about its card and configuration.

Everything is worked out from the training part alone. What is proposed is a beginning that people read and mend; what
too few pairs support is named.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from dactnlg.acts import Slot, Turn
from dactnlg.data.contrast import LONGEST, Contrast, Telling, is_bare, merely_names, names
from dactnlg.data.corpus import Corpus
from dactnlg.data.division import FEWEST
from dactnlg.text.cues import folded, masked
from dactnlg.text.placeholders import placeholder_name
from dactnlg.text.values.delexicalization import Delexicalized, Delexicalizer
from dactnlg.text.values.numerals import is_amount, is_time

MOST_SENTENCES = 6_000
"""Training sentences that are looked at; the first ones of larger data."""
RARE = 10
"""Sentences of an act type or a special value that are few."""
FOUND = 0.9
"""Share of a slot's values found in their sentences below which it is unsure."""
MOST_CLOSED = 12
"""Values of a slot that is said in words."""
_CHECKED = ("yes", "no", "dontcare", "none")


@dataclass(slots=True)
class SlotProposal:
    """What the pairs say of a slot.

    Attributes:
        name: the slot.
        values: how often each ordinary value occurs.
        found: how many of those stand in their sentences, as they are or in plain English.
        aliases: value -> other wordings.
        cues: special value -> phrases that tell it.
        undenied: whether the phrases of yes tell it only where none of no stands.
    """

    name: str
    values: Counter[str] = field(default_factory=Counter)
    found: int = 0
    aliases: dict[str, tuple[str, ...]] = field(default_factory=dict)
    cues: dict[str, Telling] = field(default_factory=dict)
    undenied: bool = False

    @property
    def cases(self) -> int:
        """How many ordinary values it has, each as often as it occurs."""
        return self.values.total()

    @property
    def kind(self) -> str:
        """What its values are, in a word or two."""
        kinds = Counter[str]()
        for value, count in self.values.items():
            number = re.fullmatch(r"\d+(?:\.\d+)?%?", value.strip())
            kind = "times" if is_time(value) else "amounts" if is_amount(value) else "numbers" if number else "words"
            kinds[kind] += count
        named = kinds.most_common(1)[0][0] if kinds else ""
        return " and ".join(filter(None, [named, "/".join(self.cues)]))


@dataclass(slots=True)
class Proposal:
    """A card and a configuration for a data file, as far as its pairs say.

    Attributes:
        corpus: the data under the beginnings of a card.
        sentences: training sentences that were looked at.
        slots: the slots, in order of name.
        silent: "act.slot" combinations that sentences never express.
        lexicalized: slots of few values that the model had better say in words.
        acts: act type -> training sentences that have it.
        recombination: whether texts have several sentences, so that new texts can be made of theirs.
    """

    corpus: Corpus
    sentences: int = 0
    slots: list[SlotProposal] = field(default_factory=list)
    silent: list[str] = field(default_factory=list)
    lexicalized: list[str] = field(default_factory=list)
    acts: Counter[str] = field(default_factory=Counter)
    recombination: bool = False

    def unsure(self) -> Iterator[str]:
        """Yield what a person should look at, a line each."""
        if self.sentences < FEWEST and "valid" not in self.corpus.splits:
            yield f"{self.sentences} pairs are too few to train on: {FEWEST} are the least, and some hundreds are good"
        if self.corpus.card.language != "en":
            yield "the sentences are not English, so that the rules of English are off; see language"
        for slot in self.slots:
            if slot.cases and slot.found < FOUND * slot.cases:
                remedy = "they are said in words (lexicalized)" if slot.name in self.lexicalized else "see aliases"
                count = f"{slot.cases - slot.found} of {slot.cases}"
                yield f"{slot.name}: {count} values not found in their sentence; {remedy}"
            for value, cue in slot.cues.items():
                if not cue.phrases:
                    yield f"{slot.name}={value}: no phrase tells it in {cue.out_of} sentences; nothing will check it"
                elif cue.covered < FOUND * cue.out_of or cue.out_of < RARE:
                    support = f"cues tell {cue.covered} of {cue.out_of} sentences"
                    yield f"{slot.name}={value}: {support}; read them, and add what is missing"
        for act, times in sorted(self.acts.items()):
            if times < RARE:
                yield f"{act}: only {times} training sentence{'s' * (times != 1)}; at least {RARE} are needed"
        for name in self.silent:
            yield f"{name}: never said by a sentence, so nothing asks for it (silent)"


@dataclass(slots=True)
class _Looked:
    turn: Turn
    result: Delexicalized
    masked: str


def propose(corpus: Corpus) -> Proposal:
    """Return what a corpus's training pairs say about its card and configuration.

    Args:
        corpus: under a card that has no slots yet.

    Raises:
        CorpusError: a file cannot be read.
    """
    delexicalizer = Delexicalizer(english=corpus.card.language == "en")
    rows = []
    for turn, sentence in corpus.pairs("train"):
        result = delexicalizer.delexicalize(turn, sentence)
        rows.append(_Looked(turn, result, folded(masked(result.tokens))))
        if len(rows) == MOST_SENTENCES:
            break
    contrast = Contrast([row.masked for row in rows])
    found = Proposal(corpus, len(rows))
    for row in rows:
        found.acts.update({act.act_type for act in row.turn})
    found.silent = _silent(rows, delexicalizer)
    found.slots = _slots(rows, contrast, frozenset(found.silent))
    found.lexicalized = [slot.name for slot in found.slots if _is_closed(slot)]
    several = sum(len(re.findall(r"[.?!](?= |$)", row.masked)) > 1 for row in rows)
    found.recombination = 3 * several >= len(rows)
    return found


def _silent(rows: Sequence[_Looked], delexicalizer: Delexicalizer) -> list[str]:
    """Return the "act.slot" combinations of which next to no sentence has the value."""
    cases, missing = Counter[str](), Counter[str]()
    for row in rows:
        cases.update(f"{item.act_type}.{item.slot.name}" for item in delexicalizer.required(row.turn))
        sentence = row.result.raw.casefold()
        # "İstanbul'da" and "l'entrée" say a value, if not in words that are found.
        unsaid = [item for item in row.result.missing if (item.slot.value or "").casefold() not in sentence]
        missing.update(f"{item.act_type}.{item.slot.name}" for item in unsaid)
    return sorted(name for name, count in cases.items() if count >= RARE and missing[name] > 0.98 * count)


def _slots(rows: Sequence[_Looked], contrast: Contrast, silent: frozenset[str]) -> list[SlotProposal]:
    found: dict[str, SlotProposal] = {}
    lost: dict[tuple[str, str], set[int]] = defaultdict(set)
    having: dict[tuple[str, str], set[int]] = defaultdict(set)
    special: dict[tuple[str, str], set[int]] = defaultdict(set)
    for index, row in enumerate(rows):
        missing = {item.slot for item in row.result.missing}
        for act, slot in row.turn.slots():
            if slot.value is None:
                continue
            known = found.setdefault(slot.name, SlotProposal(slot.name))
            if slot.special in _CHECKED:
                special[slot.name, slot.special or ""].add(index)
            elif slot.delexicalizable and f"{act.act_type}.{slot.name}" not in silent:
                _note(known, slot, index, missing, having, lost)
    for name in dict.fromkeys(name for name, _ in special):
        own = {value: special[key] for key in special for n, value in [key] if n == name}
        _find_cues(found[name], own, [held for (n, _), held in special.items() if n != name], rows, contrast)
    for (name, value), indices in sorted(lost.items()):
        holding = having[name, value]
        telling = contrast.telling(indices, holding - indices, share=0.25, least=5, fits=is_bare)
        sentences = [rows[index].masked for index in sorted(indices)]
        phrases = [phrase for phrase in telling.phrases if not _is_part(phrase, value, name)]
        wordings = tuple(form for phrase in phrases for form in _as_written(phrase, sentences))
        if wordings:
            found[name].aliases[value] = wordings
    return [found[name] for name in sorted(found)]


def _note(
    known: SlotProposal,
    slot: Slot,
    index: int,
    missing: set[Slot],
    having: dict[tuple[str, str], set[int]],
    lost: dict[tuple[str, str], set[int]],
) -> None:
    value = slot.value or ""
    known.values[value] += 1
    known.found += slot not in missing
    having[slot.name, value].add(index)
    if slot in missing:
        lost[slot.name, value].add(index)


def _find_cues(
    known: SlotProposal,
    special: dict[str, set[int]],
    others: Sequence[set[int]],
    rows: Sequence[_Looked],
    contrast: Contrast,
) -> None:
    """Find the phrases of a slot's special values, beside the sentences with each value of the other slots."""

    def tell(indices: set[int], apart: set[int], *, short: bool) -> Telling:
        def fits(phrase: str) -> bool:
            # "It's not available" says that there is no Linux release where most with a Mac release have none.
            having = contrast.having([phrase])
            alike = any(len(having & held) >= len(having & indices) for held in others)
            return not alike if not names(phrase, known.name) else short or not merely_names(phrase, known.name)

        # A choice between values is worded in many ways.
        choices = {i for i in indices if sum(slot.name == known.name for _, slot in rows[i].turn.slots()) > 1}
        # "May or may not serve food" is not said by "serve food", but yes and no are short.
        words = 2 if short else LONGEST
        return contrast.telling(indices - choices - apart, choices | apart, name=known.name, words=words, fits=fits)

    # "You do not care whether it allows dogs" has the words of a yes.
    free = special.get("dontcare", set())
    for value, indices in sorted(special.items()):
        short = value in ("yes", "no")
        known.cues[value] = tell(indices, free - indices if short else set(), short=short)
    yes, no = known.cues.get("yes"), known.cues.get("no")
    if yes and no and no.phrases and yes.covered < FOUND * yes.out_of:
        # "Family friendly" says yes where it is not "not family friendly".
        plain = tell(special["yes"], free | contrast.having(no.phrases), short=True)
        if plain.covered > yes.covered:
            known.cues["yes"], known.undenied = plain._replace(out_of=yes.out_of), True


def _is_part(phrase: str, value: str, slot_name: str) -> bool:
    """Whether a phrase is no wording of a value, but a part of it, or the slot's name."""
    return phrase in value.casefold() or placeholder_name(phrase) == placeholder_name(slot_name)


def _as_written(phrase: str, sentences: Sequence[str]) -> list[str]:
    """Return how sentences write a phrase: "non stop" is "non-stop" in most, and an alias is found as it stands."""
    written = re.compile(rf"(?<!\w){'[ -]+'.join(map(re.escape, phrase.split()))}(?!\w)")
    return [form for form, _ in Counter(form for text in sentences for form in written.findall(text)).most_common()]


def _is_closed(slot: SlotProposal) -> bool:
    """Whether a slot has few values that sentences often say otherwise."""
    if not slot.cases or len(slot.values) > MOST_CLOSED or slot.cases < RARE * len(slot.values):
        return False
    return slot.kind.startswith("words") and slot.found < FOUND * slot.cases
