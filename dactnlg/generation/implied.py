"""Implied slots: the kind of thing that all of training is about, which an act may leave out and a sentence needs.

"There are no televisions with 2 HDMI ports" is `inform_no_match(hdmiport=2)` where there is nothing but televisions. A
model that has never seen the act without `type=television` has no word for what there are none of.
"""

from __future__ import annotations

from collections import Counter
from functools import cached_property

from dactnlg.acts import DialogueAct, Slot, Turn
from dactnlg.text.grammar.fluency import nouns
from dactnlg.text.placeholders import placeholder_name
from dactnlg.text.preprocessor import Preprocessor
from dactnlg.text.surface import plain, strip_joiner
from dactnlg.text.templates import act_types

LEAST = 20
"""Training sentences of an act type that all have a slot, at least."""


class ImpliedSlots:
    """Adds implied slots to acts. Several threads may use one.

    A slot is implied that has one value in all of training, a noun that has a plural there ("televisions"; a town has
    none), in act types that training never has without it.

    Args:
        preprocessor: of a run; one without a reader knows no values, and implies nothing.
    """

    def __init__(self, preprocessor: Preprocessor) -> None:
        self._preprocessor = preprocessor

    def completed(self, turn: Turn) -> Turn:
        """Return a turn with the slots that it implies."""
        if not self._nouns:
            return turn
        acts = [self._completed(act) for act in turn.acts]
        return turn if acts == list(turn.acts) else Turn(tuple(acts))

    def spelt_out(self, delexicalized: str, turn: Turn) -> str:
        """Return a delexicalised sentence with the nouns of what a turn lacks, in the place of their placeholders."""
        own = {item.placeholder for item in self._preprocessor.delexicalizer.required(turn)}
        nouns = {placeholder_name(slot.name): slot.value or "" for slots in self._nouns.values() for slot in slots}
        tokens = [(token, strip_joiner(token)) for token in delexicalized.split(" ")]
        return " ".join(t.replace(name, nouns[name]) if name in nouns.keys() - own else t for t, name in tokens)

    def _completed(self, act: DialogueAct) -> DialogueAct:
        own = {slot.name for slot in act.slots}
        more = [slot for slot in self._nouns.get(act.act_type, ()) if slot.name not in own]
        # What is said of nothing ("goodbye") needs no noun.
        return DialogueAct(act.act_type, (*more, *act.slots)) if more and act.slots else act

    @cached_property
    def _nouns(self) -> dict[str, list[Slot]]:
        """By act type the slots that are implied there."""
        reader, templates = self._preprocessor.reader, self._preprocessor.templates
        values = {} if reader is None else reader.values
        single = {placeholder_name(name): Slot(name, known[0]) for name, known in values.items() if len(known) == 1}
        counted = nouns(map(plain, templates.texts())) if single else ()
        single = {name: single[name] for name in counted if name in single}
        with_slot, total = Counter[tuple[str, str]](), Counter[str]()
        for key, sentences in templates.sentences.items() if single else ():
            for act_type in act_types(key):
                total[act_type] += len(sentences)
                for placeholder, slot in single.items():
                    with_slot[act_type, placeholder] += len(sentences) * (f"{act_type}|{slot.name}" in key)
        found: dict[str, list[Slot]] = {}
        for (act_type, placeholder), count in with_slot.items():
            if count == total[act_type] and count >= LEAST:
                found.setdefault(act_type, []).append(single[placeholder])
        return found
