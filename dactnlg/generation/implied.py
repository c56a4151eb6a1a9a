"""Implied slots: the kind of entity that the whole corpus is about, which an act may omit but its sentence needs.

"There are no televisions with 2 HDMI ports" is `inform_no_match(hdmiport=2)` in a corpus about televisions only. A
model that has never seen the act without `type=television` has no word for "televisions" here.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cached_property

from dactnlg.acts import DialogueAct, Slot, Turn
from dactnlg.generation.generation import Generation
from dactnlg.generation.unseen.parts import renamed
from dactnlg.text.grammar.fluency import nouns
from dactnlg.text.placeholders import placeholder_name
from dactnlg.text.preprocessor import Preprocessor
from dactnlg.text.surface import strip_joiners
from dactnlg.text.traits import Trait, act_types

LEAST = 20
"""Minimum number of training sentences of an act type; all of them must have the slot for it to be implied."""


class ImpliedSlots:
    """Adds implied slots to acts. Several threads may use one.

    A slot is implied in act types that never occur without it in training, if it has a single value in the whole
    training data, and this is a noun that occurs in the plural there ("televisions"; a town has no plural).

    Args:
        preprocessor: the preprocessor of a run; without a reader it knows no values, and nothing is implied.
    """

    def __init__(self, preprocessor: Preprocessor) -> None:
        self._preprocessor = preprocessor

    def completed(self, turn: Turn) -> Turn:
        """Return the turn with its implied slots added; the same object if there are none."""
        if not self._nouns:
            return turn
        acts = [self._completed(act) for act in turn.acts]
        return turn if acts == list(turn.acts) else Turn(tuple(acts))

    def removed(self, said: Generation, turn: Turn) -> Generation:
        """Return a result for `turn` as the caller wrote it, without the implied slots that it lacks.

        Their placeholders are replaced by their values, and they are not missing. If one is said twice, it stays extra.
        """
        own = {item.placeholder for item in self._preprocessor.delexicalizer.required(turn)}
        implied = {slot for slots in self._nouns.values() for slot in slots if placeholder_name(slot.name) not in own}
        values = {placeholder_name(slot.name): slot.value or "" for slot in implied}
        # Reports name a slot without its value if this is said of another slot.
        names = {name for slot in implied for name in (slot.name, str(slot))}
        missing = tuple(name for name in said.missing if name not in names)
        return replace(
            said,
            delexicalized=" ".join(renamed(token, values) for token in said.delexicalized.split(" ")),
            slots_ok=not (missing or said.extra),
            missing=missing,
            n_best=tuple(self.removed(each, turn) for each in said.n_best),
        )

    def _completed(self, act: DialogueAct) -> DialogueAct:
        own = {slot.name for slot in act.slots}
        more = [slot for slot in self._nouns.get(act.act_type, ()) if slot.name not in own]
        # An act without slots ("goodbye") needs no noun.
        return DialogueAct(act.act_type, (*more, *act.slots)) if more and act.slots else act

    @cached_property
    def _nouns(self) -> dict[str, list[Slot]]:
        """The implied slots of each act type."""
        reader, templates = self._preprocessor.reader, self._preprocessor.templates
        values = {} if reader is None else reader.values
        single = {placeholder_name(name): Slot(name, known[0]) for name, known in values.items() if len(known) == 1}
        counted = nouns(map(strip_joiners, templates.texts())) if single else frozenset[str]()
        single = {name: slot for name, slot in single.items() if name in counted}
        with_slot, total = Counter[tuple[str, str]](), Counter[str]()
        for key, sentences in templates.sentences.items() if single else ():
            for act_type in act_types(key):
                total[act_type] += len(sentences)
                for placeholder, slot in single.items():
                    with_slot[act_type, placeholder] += len(sentences) * (str(Trait(act_type, slot.name)) in key)
        found: dict[str, list[Slot]] = {}
        for (act_type, placeholder), count in with_slot.items():
            if count == total[act_type] and count >= LEAST:
                found.setdefault(act_type, []).append(single[placeholder])
        return found
