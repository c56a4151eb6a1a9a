"""The results of an audit, its report, and a remedy for each fault."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

RARE = 10
"""Act types with fewer pairs are reported as rare."""
_EXAMPLES = 5
NOT_ASKED = " (not asked for)"
"""Suffix of a special value that a sentence expresses but its act lacks."""
NOT_NAMED = " (not named)"
"""Suffix of a yes/no slot that a sentence with another value of the slot does not name."""
_ESCAPED = re.compile(r"\\(.)")


@dataclass(slots=True)
class Fault:
    """How often one kind of fault occurs.

    Attributes:
        count: cases with the fault.
        out_of: cases checked.
        examples: the first few distinct cases with the fault.
        by_slot: `act.slot` or `slot=value` -> [cases with the fault, cases].
    """

    count: int = 0
    out_of: int = 0
    examples: list[str] = field(default_factory=list)
    by_slot: dict[str, list[int]] = field(default_factory=dict)

    def add(self, example: str) -> None:
        """Count a case with the fault, and keep it if it is one of the first few distinct ones."""
        self.count += 1
        if len(self.examples) < _EXAMPLES and example not in self.examples:
            self.examples.append(example)

    def note(self, key: str, *, wrong: bool) -> None:
        """Count one case under a key of `by_slot`, with the fault or without."""
        numbers = self.by_slot.setdefault(key, [0, 0])
        numbers[0] += wrong
        numbers[1] += 1

    def worst(self) -> dict[str, list[int]]:
        """Return the entries of `by_slot` that have the fault, most faults first."""
        return dict(sorted((i for i in self.by_slot.items() if i[1][0]), key=lambda item: (-item[1][0], item[0])))

    def __str__(self) -> str:
        return f"{self.count} of {self.out_of}" + (f" ({self.count / self.out_of:.2%})" if self.out_of else "")


@dataclass(slots=True)
class Audit:
    """The results of an audit; `str()` is the report for people, `to_json()` the one for programs.

    Attributes:
        name: the corpus.
        splits: for each split its number of examples (`acts`), of sentences (`pairs`) and of pairs as published
            (`expected`).
        acts: act type -> number of pairs that have it.
        slots: slot -> number of pairs that have it.
        special_values: `slot=value` -> number of pairs that have it.
        delexicalized_acts: split -> number of distinct turns without their values.
        repairs: what the reader repaired or left out, with counts.
        values_not_found: values missing from their sentence; `by_slot` is keyed by `act.slot`.
        ambiguous: sentences with a value that could belong to several slots.
        round_trips: sentences that cannot be restored from their delexicalised form.
        unseen_test_acts: test examples whose delexicalised act does not occur in training.
        test_in_train: test pairs (act and sentence) that also occur in training.
        duplicates: repetitions of a pair in its split.
        cues: sentences without a cue for a special value of the act, with one for a value that the act lacks, or that
            do not name a yes/no slot although they have another value of it; `by_slot` is keyed by `slot=value`.
        unchecked: special values for which the card has no cues -> number of pairs that have it.
        strangers: what the card, or its file of forms, names although no example has it: slots, values (`slot=value`),
            "act.slot" combinations under `silent`.
    """

    name: str
    splits: dict[str, dict[str, int]] = field(default_factory=dict)
    acts: dict[str, int] = field(default_factory=dict)
    slots: dict[str, int] = field(default_factory=dict)
    special_values: dict[str, int] = field(default_factory=dict)
    delexicalized_acts: dict[str, int] = field(default_factory=dict)
    repairs: dict[str, int] = field(default_factory=dict)
    values_not_found: Fault = field(default_factory=Fault)
    ambiguous: Fault = field(default_factory=Fault)
    round_trips: Fault = field(default_factory=Fault)
    unseen_test_acts: Fault = field(default_factory=Fault)
    test_in_train: Fault = field(default_factory=Fault)
    duplicates: Fault = field(default_factory=Fault)
    cues: Fault = field(default_factory=Fault)
    unchecked: dict[str, int] = field(default_factory=dict)
    strangers: list[str] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """Return the audit as plain data."""
        return asdict(self)

    def to_text(self) -> str:
        """Return the audit as a page of text."""
        return "\n".join(_report(self))

    def __str__(self) -> str:
        return self.to_text()


def _not_found(fault: Fault) -> str:
    name, (wrong, all_) = next(iter(fault.by_slot.items()), ("", [0, 0]))
    slot = name.rpartition(".")[2]
    if wrong == all_ and wrong >= RARE:
        return f"if sentences never say it: silent: [{name}] on the card"
    of_slot = (example.split(" | ")[0] for example in fault.examples)
    printed = next((v for n, _, v in (one.partition("=") for one in of_slot) if n == slot), "VALUE")
    value = _ESCAPED.sub(r"\1", printed[1:-1]) if printed.startswith("'") else printed
    alias = f"slots: {{{slot}: {{aliases: {{{_quoted(value)}: ['OTHER WORDING']}}}}}}"
    return f"an alias on the card: {alias}; or, for few values said in many ways, corpus.lexicalized: [{slot}]"


def _flagged(fault: Fault) -> str:
    name = next(iter(fault.by_slot), "")
    slot, _, value = name.removesuffix(NOT_ASKED).partition("=")
    if name.endswith(NOT_NAMED):
        slot = name.removesuffix(NOT_NAMED)
        return f"corpus.lexicalized: [{slot}], so that its values beside yes and no are learned and checked as words"
    if name.endswith(NOT_ASKED):
        return f"narrower cues for {slot}={value} on the card, if these sentences do not say it; else mend the acts"
    return f"a cue on the card for these sentences: {_cue(slot, value)}; else mend the acts"


def _cue(slot: str, value: str) -> str:
    return f"slots: {{{slot}: {{cues: {{{_quoted(value)}: ['PATTERN']}}}}}}"


def _quoted(value: str) -> str:
    """Return a value as a single-quoted YAML string."""
    return "'" + value.replace("'", "''") + "'"


_REMEDIES: tuple[Callable[[Fault], str], ...] = (
    _not_found,
    lambda _: "none needed if they are few: the slot whose name stands nearest gets the value",
    lambda _: "take the character U+FFED out of the data",
    lambda _: "more pairs, or training.recombination: 1, which makes texts for unseen combinations of slots",
    lambda _: "take them out of test: what training knows by heart measures memory; one file with divide has none",
    lambda _: "none needed if they are meant; training.repetition: 0.5 counts frequent pairs less",
    _flagged,
)
"""Remedies for the kinds of fault, in the order of the report."""


def _report(audit: Audit) -> Iterable[str]:
    """Yield the lines of the report."""
    yield f"corpus {audit.name}"
    for split, numbers in audit.splits.items():
        expected = numbers.get("expected", numbers["pairs"])
        remark = "" if expected == numbers["pairs"] else f" (published: {expected})"
        distinct = audit.delexicalized_acts[split]
        yield f"  {split:6} {numbers['acts']:6} acts, {numbers['pairs']:6} pairs{remark}, {distinct} delexicalised acts"
    for title, counts in (("act types", audit.acts), ("slots", audit.slots), ("special", audit.special_values)):
        listed = ", ".join(f"{name} {count}" for name, count in counts.items())
        yield f"{title} ({len(counts)}): {listed}"
    for note, count in audit.repairs.items():
        yield f"repaired: {note}: {count}"
    faults = {
        "values not found in their sentence": audit.values_not_found,
        "sentences with ambiguous values": audit.ambiguous,
        "round trips that fail": audit.round_trips,
        "test acts unseen in training (delexicalised)": audit.unseen_test_acts,
        "test pairs that also occur in training": audit.test_in_train,
        "duplicate pairs within a split": audit.duplicates,
        "sentences that their cues flag": audit.cues,
    }
    remedies = dict(zip(faults, _REMEDIES, strict=True))
    for title, fault in faults.items():
        yield f"{title}: {fault}"
        for key, (wrong, all_) in list(fault.by_slot.items())[:8]:
            yield f"    {key}: {wrong}" + (f" of {all_}" if all_ != wrong else "")
        for example in fault.examples:
            yield f"      e.g. {example}"
        if fault.count and (remedy := remedies[title](fault)):
            yield f"    remedy: {remedy}"
    if audit.unchecked:
        unchecked = ", ".join(f"{name} {count}" for name, count in audit.unchecked.items())
        yield f"special values without cues, which only the reader of a run checks: {unchecked}"
        slot, _, value = next(iter(audit.unchecked)).partition("=")
        yield f"    remedy: cues on the card: {_cue(slot, value)}; dactnlg init proposes those that tell nearly all"
    if audit.strangers:
        yield f"on the card alone: {', '.join(audit.strangers)}"
        yield "    remedy: write them as the acts do, or take them out of the card"
    if rare := [name for name, count in audit.acts.items() if count < RARE]:
        yield f"act types rarer than {RARE}: {', '.join(rare)}"
        yield "    remedy: more pairs of these acts; what training has a few times is not learned"
