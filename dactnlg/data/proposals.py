"""Proposals: the parts of a card and a configuration that can be derived from the pairs of a data file.

Everything is derived from the training split alone. A proposal is a starting point for people to read and correct;
whatever is supported by too few pairs is listed.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache

from dactnlg.acts import Slot, Turn
from dactnlg.data.contrast import Contrast, is_bare
from dactnlg.data.corpus import Corpus
from dactnlg.data.division import FEWEST
from dactnlg.data.proposed_cues import CueFinder, ProposedCue
from dactnlg.text.cues import folded, masked
from dactnlg.text.placeholders import placeholder_name
from dactnlg.text.values.delexicalization import Delexicalized, Delexicalizer
from dactnlg.text.values.numerals import is_amount, is_time

MOST_SENTENCES = 6_000
"""Maximum number of training sentences examined, from the start of the file."""
RARE = 10
"""Fewer sentences of an act type or special value than this are too few."""
FOUND = 0.9
"""If a smaller share of a slot's values is found in their sentences, the slot is uncertain."""
MOST_CLOSED = 12
"""Maximum number of values of a slot that is lexicalised."""
_CHECKED = ("yes", "no", "dontcare", "none")


@dataclass(slots=True)
class SlotProposal:
    """What the pairs show about a slot.

    Attributes:
        name: the slot.
        values: ordinary value -> number of occurrences.
        lost: those of these occurrences that are not found in their sentences, neither literally nor in plain English
            nor as an alias.
        aliases: value -> other wordings.
        cues: special value, or code that sentences never have -> what indicates it.
    """

    name: str
    values: Counter[str] = field(default_factory=Counter)
    lost: Counter[str] = field(default_factory=Counter)
    aliases: dict[str, tuple[str, ...]] = field(default_factory=dict)
    cues: dict[str, ProposedCue] = field(default_factory=dict)

    @property
    def cases(self) -> int:
        """Number of occurrences of ordinary values."""
        return self.values.total()

    @property
    def found(self) -> int:
        """Number of occurrences of ordinary values in their sentences."""
        return self.cases - self.lost.total()

    @property
    def kind(self) -> str:
        """A short description of its values, such as "numbers" or "words and yes/no"."""
        kinds = Counter[str]()
        for value, count in self.values.items():
            number = re.fullmatch(r"\d+(?:\.\d+)?%?", value.strip())
            kind = "times" if is_time(value) else "amounts" if is_amount(value) else "numbers" if number else "words"
            kinds[kind] += count
        named = kinds.most_common(1)[0][0] if kinds else ""
        return " and ".join(filter(None, [named, "/".join(value for value in self.cues if value in _CHECKED)]))


@dataclass(slots=True)
class Proposal:
    """The parts of a card and a configuration derived from the pairs of a data file.

    Attributes:
        corpus: the data with a basic card.
        sentences: number of training sentences examined.
        slots: the slots, sorted by name.
        silent: "act.slot" combinations that sentences never express.
        lexicalized: slots of few values that the model should generate as words.
        acts: act type -> number of training sentences that have it.
        recombination: whether enough texts have several sentences that can be recombined into new texts.
    """

    corpus: Corpus
    sentences: int = 0
    slots: list[SlotProposal] = field(default_factory=list)
    silent: list[str] = field(default_factory=list)
    lexicalized: list[str] = field(default_factory=list)
    acts: Counter[str] = field(default_factory=Counter)
    recombination: bool = False

    def unsure(self) -> Iterator[str]:
        """Yield lines that say what a person should check."""
        if self.sentences < FEWEST and "valid" not in self.corpus.splits:
            yield f"{self.sentences} pairs are too few to train on: {FEWEST} are the least, and some hundreds are good"
        if self.corpus.card.language != "en":
            inflected = ", and forms if values are inflected" if any(map(_is_lost, self.slots)) else ""
            yield f"the sentences are not English, so that the rules of English are off; see language{inflected}"
        for slot in self.slots:
            if _is_lost(slot):
                remedy = "they are said in words (lexicalized)" if slot.name in self.lexicalized else "see aliases"
                count, example = slot.lost.total(), slot.lost.most_common(1)[0][0]
                lost = f"{count} of {slot.cases} values not found in their sentence, such as {example!r:.60}"
                yield f"{slot.name}: {lost}; {remedy}"
            for value, cue in slot.cues.items():
                if not (cue.out_of or cue.patterns):
                    yield f"{slot.name}={value}: only in choices between values of {slot.name}; no cue checks it"
                elif not cue.patterns:
                    reader = "only the reader that a run learns checks it"
                    yield f"{slot.name}={value}: no cue tells most of its {cue.out_of} sentences; {reader}"
                elif cue.covered < FOUND * cue.out_of or cue.out_of < RARE:
                    support = f"cues tell {cue.covered} of {cue.out_of} sentences"
                    yield f"{slot.name}={value}: {support}; read them, and add what is missing"
        for act, times in sorted(self.acts.items()):
            if times < RARE:
                yield f"{act}: only {times} training sentence{'s' * (times != 1)}; at least {RARE} are needed"
        for name in self.silent:
            yield f"{name}: no sentence has its values, so nothing asks for it (silent); other words are aliases"


@dataclass(slots=True)
class _Looked:
    turn: Turn
    result: Delexicalized
    masked: str


def propose(corpus: Corpus) -> Proposal:
    """Return what can be derived from a corpus's training pairs for its card and configuration.

    Args:
        corpus: a corpus with a card that has no slots yet.

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
    found = Proposal(corpus, len(rows))
    for row in rows:
        found.acts.update({act.act_type for act in row.turn})
    finder = CueFinder([row.turn for row in rows], [row.masked for row in rows], corpus.card.language)
    found.silent = _silent(rows, delexicalizer, finder.contrast)
    found.slots = _slots(rows, finder, frozenset(found.silent))
    found.lexicalized = [slot.name for slot in found.slots if _is_closed(slot)]
    several = sum(len(re.findall(r"[.?!](?= |$)", row.masked)) > 1 for row in rows)
    found.recombination = 3 * several >= len(rows)
    return found


def _silent(rows: Sequence[_Looked], delexicalizer: Delexicalizer, contrast: Contrast) -> list[str]:
    """Return the "act.slot" combinations whose values hardly any sentence contains, or expresses by other words."""
    cases, missing = Counter[str](), Counter[str]()
    lacking: dict[str, dict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
    for index, row in enumerate(rows):
        cases.update(f"{item.act_type}.{item.slot.name}" for item in delexicalizer.required(row.turn))
        sentence = row.result.raw.casefold()
        for item in row.result.missing:
            value = item.slot.folded
            # "İstanbul'da" and "l'entrée" contain a value, though not as separate words that delexicalisation finds.
            if value not in sentence:
                missing[f"{item.act_type}.{item.slot.name}"] += 1
                lacking[item.slot.name][value].add(index)
    silent = sorted(name for name, count in cases.items() if count >= RARE and missing[name] > 0.98 * count)

    @cache
    def is_worded(slot: str) -> bool:
        # A value that nearly all sentences have is told by chance, two are not: "cheap" and "steep" of price=1 and 3.
        told = (contrast.telling(indices, name=slot).phrases for indices in lacking[slot].values())
        return sum(map(bool, told)) > 1

    return [name for name in silent if not is_worded(name.rpartition(".")[2])]


def _slots(rows: Sequence[_Looked], finder: CueFinder, silent: frozenset[str]) -> list[SlotProposal]:
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
        own = {value: held for (slot, value), held in special.items() if slot == name}
        others = [(slot, held) for sets in (special, lost) for (slot, _), held in sets.items() if slot != name]
        found[name].cues = finder.cues(name, own, others)
    for (name, value), indices in sorted(lost.items()):
        holding = having[name, value]
        if indices == holding and _is_closed(found[name]):
            # "Cheap", "low-cost" and "for little money" of price=1: unlike aliases, cues may have any words. A number
            # alone, such as the 3 in "3 May", may be of anything.
            telling = finder.contrast.telling(indices, name=name, fits=lambda phrase: any(map(str.isalpha, phrase)))
            found[name].cues[value.casefold()] = ProposedCue.of(telling)
            continue
        telling = finder.contrast.telling(indices, holding - indices, share=0.25, least=5, fits=is_bare)
        sentences = [rows[index].masked for index in sorted(indices)]
        phrases = [phrase for phrase in telling.phrases if not _is_part(phrase, value, name)]
        wordings = tuple(form for phrase in phrases for form in _as_written(phrase, sentences))
        if wordings:
            found[name].aliases[value] = wordings
    for (name, value), indices in lost.items():
        # "Bursa'da" is a form of Bursa, which would lose its ending as a placeholder, rather than another wording.
        reworded = [form for form in found[name].aliases.get(value, ()) if value.casefold() not in form]
        found[name].lost[value] -= sum(any(form in rows[index].masked for form in reworded) for index in indices)
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
    known.lost[value] += slot in missing
    having[slot.name, value].add(index)
    if slot in missing:
        lost[slot.name, value].add(index)


def _is_part(phrase: str, value: str, slot_name: str) -> bool:
    """Return whether a phrase is just a part of a value, or the slot's name, rather than another wording."""
    return phrase in value.casefold() or placeholder_name(phrase) == placeholder_name(slot_name)


def _as_written(phrase: str, sentences: Sequence[str]) -> list[str]:
    """Return the spellings of a phrase in sentences ("non stop" or "non-stop"), since an alias is found literally."""
    written = re.compile(rf"(?<!\w){'[ -]+'.join(map(re.escape, phrase.split()))}(?!\w)")
    return [form for form, _ in Counter(form for text in sentences for form in written.findall(text)).most_common()]


def _is_lost(slot: SlotProposal) -> bool:
    """Return whether many sentences do not have the slot's values as the acts write them."""
    return slot.found < FOUND * slot.cases


def _is_closed(slot: SlotProposal) -> bool:
    """Return whether a slot has few values, which sentences often word differently, or which it has beside yes and no.

    "It has a garage" says `parking=garage`, but does not name the slot, as placeholders beside cues of yes and no must.
    """
    if not slot.cases or len(slot.values) > MOST_CLOSED or slot.cases < RARE * len(slot.values):
        return False
    worded = slot.kind.startswith("words") or slot.found < 0.5 * slot.cases
    return worded and (_is_lost(slot) or not {"yes", "no"}.isdisjoint(slot.cues))
