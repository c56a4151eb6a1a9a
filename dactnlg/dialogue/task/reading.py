"""How the simulated user reads: a fidelity report on a sentence, turned back into acts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from dactnlg.acts import DialogueAct, Slot, Turn, parse
from dactnlg.data.corpus import Corpus
from dactnlg.dialogue.task.schema import ROLES
from dactnlg.errors import ActError
from dactnlg.fidelity.checker import FidelityChecker
from dactnlg.fidelity.reports import FidelityReport
from dactnlg.text.report_names import act_name, question_name, special_name
from dactnlg.training.readers import learn_from

ASKING = frozenset(act_type for role in ("request", "select", "confirm", "reqmore") for act_type in ROLES[role])
"""Act types that ask: if one is read as another type, the user answers another question, or none."""


@dataclass(frozen=True)
class Reading:
    """What a user understood from a sentence.

    Attributes:
        heard: the acts as read; None if none of them was.
        required: number of slots that the sentence should say.
        errors: number of slots missing, contradicted, misplaced or invented, and of questions lost or read as another
            act.
    """

    heard: Turn | None
    required: int
    errors: int


class Reads(Protocol):
    """Anything that reads sentences for a user."""

    @property
    def name(self) -> str:
        """The name of the reader, for signatures."""

    def read(self, turn: Turn, sentence: str) -> Reading:
        """Return what a user understands from a sentence that should say `turn`."""


class Listener:
    """Reads with a fidelity checker: values in any spelling, cues of the data card, and the learned reader.

    Args:
        checker: the checker of the corpus.
        name: its name, for signatures.
    """

    def __init__(self, checker: FidelityChecker, name: str) -> None:
        self.checker, self.name = checker, name

    def read(self, turn: Turn, sentence: str) -> Reading:
        """Return what a user understands from a sentence that should say `turn`."""
        report = self.checker.check(turn, sentence)
        acts = [(act, _heard(act, report)) for act in self.checker.delexicalizer.prepared(turn)]
        understood = tuple(heard for _, heard in acts if heard is not None)
        required = sum(len(act.slots) for act in turn)
        faults = (report.missing, report.extra, report.contradicted, report.misplaced, report.questions)
        mistaken = [act for act, heard in acts if act.act_type in ASKING and heard and heard.act_type != act.act_type]
        errors = sum(map(len, (*faults, mistaken)))
        return Reading(Turn(understood) if understood else None, required, errors)


def corpus_listener(corpus: Corpus, *, progress: bool = True) -> Listener:
    """Return the listener trained on a corpus's own sentences, the same for all of the corpus's generators."""
    style = corpus.style()
    checker = FidelityChecker(style.checker(), learn_from(corpus, style, progress=progress))
    return Listener(checker, f"{corpus.name}@{corpus.digest()[:12]}")


def _heard(act: DialogueAct, report: FidelityReport) -> DialogueAct | None:
    """Return an act as read, by its type and slots in the report; None if nothing of it was read."""
    act_type = report.acts.get(act_name(act.act_type), act.act_type).removesuffix("()")
    found: list[Slot] = []
    for slot in act.slots:
        name = _name(act, slot)
        if name in report.missing or name in report.questions:
            continue
        if act.act_type in ASKING and slot.special is not None and name in report.unchecked:
            # Nothing in the sentence shows that this choice is asked for.
            continue
        if name in report.contradicted:
            found.append(_slot(report.contradicted[name]))
        elif slot.name in report.misplaced and slot.value is not None:
            found.append(Slot(report.misplaced[slot.name], slot.value))
        else:
            found.append(Slot(slot.name, slot.value))
    if act_name(act.act_type) in report.missing or (act.slots and not found):
        return None
    invented = [_slot(name) for name in report.extra if "=" in name and name.partition("=")[0].isidentifier()]
    known = {slot.name for slot in act.slots}
    return DialogueAct(act_type, (*found, *(slot for slot in invented if slot.special and slot.name not in known)))


def _name(act: DialogueAct, slot: Slot) -> str:
    """Return the name of an act's slot in reports."""
    if slot.value is None:
        return question_name(act.act_type, slot.name)
    return str(slot) if slot.delexicalizable else special_name(slot)


def _slot(name: str) -> Slot:
    """Return the slot for a name in a report: `food=thai`."""
    try:
        return parse(f"inform({name})").acts[0].slots[0]
    except ActError:
        # Reports give the values of closed classes without quotes.
        slot, _, value = name.partition("=")
        return Slot(slot, value)
