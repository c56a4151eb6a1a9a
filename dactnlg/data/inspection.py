"""The audit of a corpus: what it holds, and where its sentences and acts disagree.

It is meant to be read before training: a value that is missing from its sentence cannot be learned as a placeholder, a
test act not seen in training needs more than memorisation, and a test pair that also occurs in training measures
nothing but memorisation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from dactnlg.acts import DialogueAct, Slot, Turn, special_value
from dactnlg.data.audit import NOT_ASKED, NOT_NAMED, Audit
from dactnlg.data.corpus import Corpus
from dactnlg.text.report_names import special_name
from dactnlg.text.slots import SlotChecker
from dactnlg.text.values.delexicalization import Delexicalizer


def skeleton(turn: Turn) -> Turn:
    """Return the delexicalised act: no ordinary values, special values in one spelling, slots sorted by name.

    `inform(name='red door cafe';kidsallowed=false)` becomes `inform(kidsallowed=no;name=_)`.
    """
    acts = []
    for act in turn:
        slots = [Slot(slot.name, slot.special or (slot.value and "_")) for slot in act.slots]
        acts.append(DialogueAct(act.act_type, tuple(sorted(slots, key=lambda slot: (slot.name, slot.value or "")))))
    return Turn(tuple(acts))


def audit(corpus: Corpus) -> Audit:
    """Audit every split of a corpus.

    Raises:
        CorpusError: a file is missing or damaged.
    """
    checker = corpus.style().checker()
    found = Audit(corpus.name)
    counts: dict[str, Counter[str]] = {"acts": Counter(), "slots": Counter(), "special_values": Counter()}
    for split in corpus.splits:
        _count(found, corpus, split, counts)
        _compare(found, corpus, split, checker)
        _check_cues(found, corpus, split, checker)
    found.acts, found.slots, found.special_values = (dict(counter.most_common()) for counter in counts.values())
    found.repairs = dict(corpus.repairs)
    cues = corpus.card.style().cues
    found.unchecked = {
        name: count
        for name, count in found.special_values.items()
        for slot, _, value in [name.partition("=")]
        if value != "?" and value not in cues.get(slot, {})
    }
    for fault in (found.values_not_found, found.cues):
        fault.by_slot = fault.worst()
    found.strangers = list(_strangers(corpus, checker.delexicalizer))
    if "test" in corpus.splits and "train" in corpus.splits:
        _compare_splits(found, corpus)
    return found


def _slots(corpus: Corpus, split: str) -> Iterator[tuple[DialogueAct, Slot]]:
    for example in corpus.split(split):
        yield from example.turn.slots()


def _strangers(corpus: Corpus, delexicalizer: Delexicalizer) -> Iterator[str]:
    """Yield what the card, or its file of forms, names although no example has it."""
    card = corpus.card
    every = {(act.act_type, slot) for split in corpus.splits for act, slot in _slots(corpus, split)}
    slots = {slot.name for _, slot in every}
    values = {(slot.name, part.folded) for _, slot in every for part in _parts(slot, delexicalizer)}
    for name, own in card.slots.items():
        # Cues for a special value that the data lack are not wrong: acts to be generated may have it.
        listed = [*own.aliases, *own.ordinary, *(value for value in own.cues if not special_value(value))]
        unknown = [f"{name}={value}" for value in dict.fromkeys(listed) if (name, value.casefold()) not in values]
        yield from unknown if name in slots else [name]
    said = {f"{act_type}.{slot.name}" for act_type, slot in every}
    yield from (name for name in card.silent if name not in said)
    if card.forms:
        yield from (f"forms.slots.{name}" for name in card.forms.slots if name not in slots)
        used = slots | {table.removesuffix(" _") for table in card.forms.slots.values()} | {*card.forms.slots}
        yield from (f"{name} in {card.forms.path}" for name in corpus.style().forms if name not in used)


def _parts(slot: Slot, delexicalizer: Delexicalizer) -> Iterator[Slot]:
    yield slot
    yield from delexicalizer.parts(slot)


def _count(audit: Audit, corpus: Corpus, split: str, counts: dict[str, Counter[str]]) -> None:
    """Count a split's examples, pairs, act types, slots and special values."""
    examples = corpus.split(split)
    pairs = Counter(corpus.pairs(split))
    audit.splits[split] = {"acts": len(examples), "pairs": sum(pairs.values())}
    if split in corpus.card.splits:
        audit.splits[split]["expected"] = corpus.card.splits[split]
    audit.delexicalized_acts[split] = len({skeleton(example.turn) for example in examples})
    audit.duplicates.out_of += sum(pairs.values())
    for (turn, sentence), count in pairs.items():
        for _ in range(count - 1):
            audit.duplicates.add(f"{turn} | {sentence}")
    for turn, _ in corpus.pairs(split):
        counts["acts"].update({act.act_type for act in turn})
        counts["slots"].update({slot.name for _, slot in turn.slots()})
        counts["special_values"].update({special_name(slot) for _, slot in turn.slots() if slot.special})


def _compare(audit: Audit, corpus: Corpus, split: str, checker: SlotChecker) -> None:
    """Compare each sentence of a split with the values of its act."""
    tally, delexicalizer = audit.values_not_found, checker.delexicalizer
    for turn, sentence in corpus.pairs(split):
        audit.ambiguous.out_of += 1
        audit.round_trips.out_of += 1
        result = delexicalizer.delexicalize(turn, sentence)
        worded = checker.worded(turn, result.tokens) if result.missing else set()
        missing = {item for item in result.missing if str(item.slot) not in worded}
        for item in delexicalizer.required(turn):
            tally.out_of += 1
            tally.note(f"{item.act_type}.{item.slot.name}", wrong=item in missing)
            if item in missing:
                tally.add(f"{item.slot} | {sentence}")
        if result.ambiguous:
            audit.ambiguous.add(f"{turn} | {sentence}")
        # Tokenisation reduces each run of white space to one space.
        if result.raw != " ".join(sentence.split()):
            audit.round_trips.add(f"{sentence} -> {result.raw}")


def _check_cues(audit: Audit, corpus: Corpus, split: str, checker: SlotChecker) -> None:
    """Compare each sentence of a split with the special values of its act."""
    for turn, sentence in corpus.pairs(split):
        tally = checker.check_cues(turn, sentence)
        missing = {fault.split("=")[0] for fault in tally.missing}
        times = Counter(slot.name for _, slot in turn.slots())
        for _, slot in turn.slots():
            cues = corpus.card.slots.get(slot.name)
            # A choice between values (`?select(x=yes;x=no)`) is worded in many ways, so it is not checked.
            if slot.special and cues and slot.special in cues.cues and times[slot.name] == 1:
                audit.cues.note(special_name(slot), wrong=slot.name in missing)
        special = checker.special(turn)
        for fault in tally.missing:
            if fault not in special:
                audit.cues.note(f"{fault.partition('=')[0]}{NOT_NAMED}", wrong=True)
        for fault in tally.extra:
            audit.cues.note(f"{fault}{NOT_ASKED}", wrong=True)
        if tally.required or tally.errors:
            audit.cues.out_of += 1
        if tally.errors:
            faults = [f"no {fault}" for fault in tally.missing] + [f"extra {fault}" for fault in tally.extra]
            audit.cues.add(f"{', '.join(faults)} | {sentence}")


def _compare_splits(audit: Audit, corpus: Corpus) -> None:
    """Count the test split's acts that are not in the train split, and its pairs that are."""
    skeletons = {skeleton(example.turn) for example in corpus.split("train")}
    for example in corpus.split("test"):
        audit.unseen_test_acts.out_of += 1
        if skeleton(example.turn) not in skeletons:
            audit.unseen_test_acts.add(str(skeleton(example.turn)))
    seen = set(corpus.pairs("train"))
    for turn, sentence in corpus.pairs("test"):
        audit.test_in_train.out_of += 1
        if (turn, sentence) in seen:
            audit.test_in_train.add(f"{turn} | {sentence}")
