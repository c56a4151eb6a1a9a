"""How the user reads: what the fidelity room finds of an act in a sentence, as an act again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from dactnlg.acts import DialogueAct, Slot, Turn, parse
from dactnlg.data.corpus import Corpus
from dactnlg.dialogue.task.schema import ROLES
from dactnlg.errors import ActError
from dactnlg.fidelity.checker import FidelityChecker
from dactnlg.fidelity.facts import act_name, special_name
from dactnlg.fidelity.reports import FidelityReport
from dactnlg.training.readers import learn_from

ASKING = frozenset(act_type for role in ("request", "select", "confirm", "reqmore") for act_type in ROLES[role])
"""Act types that ask: who reads another one answers another question, or none."""


@dataclass(frozen=True)
class Reading:
    """What a user understood of a sentence.

    Attributes:
        heard: the acts as they were read; None if nothing of them was.
        required: the slots that the sentence should say.
        errors: slots missing, contradicted, misplaced or invented, questions lost, and those read as another act.
    """

    heard: Turn | None
    required: int
    errors: int


class Reads(Protocol):
    """Reads sentences."""

    @property
    def name(self) -> str:
        """Which reader, for signatures."""

    def read(self, turn: Turn, sentence: str) -> Reading:
        """Return what a user understands of a sentence that should say a turn."""


class Listener:
    """Reads with a fidelity checker: values in every spelling, cues of the data card, and what the reader has learned.

    Args:
        checker: of the corpus.
        name: which one, for signatures.
    """

    def __init__(self, checker: FidelityChecker, name: str) -> None:
        self.checker, self.name = checker, name

    def read(self, turn: Turn, sentence: str) -> Reading:
        """Return what a user understands of a sentence that should say a turn."""
        report = self.checker.check(turn, sentence)
        acts = [(act, _heard(act, report)) for act in self.checker.delexicalizer.prepared(turn)]
        understood = tuple(heard for _, heard in acts if heard is not None)
        required = sum(len(act.slots) for act in turn)
        faults = (report.missing, report.extra, report.contradicted, report.misplaced, report.questions)
        mistaken = [act for act, heard in acts if act.act_type in ASKING and heard and heard.act_type != act.act_type]
        errors = sum(map(len, (*faults, mistaken)))
        return Reading(Turn(understood) if understood else None, required, errors)


def corpus_listener(corpus: Corpus, *, progress: bool = True) -> Listener:
    """Return the listener that has learned from a corpus's own sentences, the same for every generator of it."""
    style = corpus.style()
    checker = FidelityChecker(style.checker(), learn_from(corpus, style, progress=progress))
    return Listener(checker, f"{corpus.name}@{corpus.digest()[:12]}")


def _heard(act: DialogueAct, report: FidelityReport) -> DialogueAct | None:
    """Return an act as it was read: of another type, perhaps, with what was read of its slots; None if nothing was."""
    act_type = report.acts.get(act_name(act.act_type), act.act_type).removesuffix("()")
    found: list[Slot] = []
    for slot in act.slots:
        name = _name(act, slot)
        if name in report.missing or name in report.questions:
            continue
        if act.act_type in ASKING and slot.special is not None and name in report.unchecked:
            # Nothing could show that this choice is asked for.
            continue
        if name in report.contradicted:
            found.append(_slot(report.contradicted[name]))
        elif slot.name in report.misplaced and slot.value is not None:
            found.append(Slot(report.misplaced[slot.name], slot.value))
        else:
            found.append(Slot(slot.name, slot.value))
    if act.slots and not found:
        return None
    invented = [_slot(name) for name in report.extra if "=" in name and name.partition("=")[0].isidentifier()]
    known = {slot.name for slot in act.slots}
    return DialogueAct(act_type, (*found, *(slot for slot in invented if slot.special and slot.name not in known)))


def _name(act: DialogueAct, slot: Slot) -> str:
    """Return how reports name a slot of an act."""
    if slot.value is None:
        return f"{act.act_type}({slot.name})"
    return str(slot) if slot.delexicalizable else special_name(slot)


def _slot(name: str) -> Slot:
    """Return the slot of a name in a report: `food=thai`."""
    try:
        return parse(f"inform({name})").acts[0].slots[0]
    except ActError:
        # The values of closed classes stand in reports without quotes.
        slot, _, value = name.partition("=")
        return Slot(slot, value)
