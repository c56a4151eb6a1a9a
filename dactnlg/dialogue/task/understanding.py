"""What a person types, as the acts that the policy hears: values and slots, found by the fidelity reader.

The reader is built to tell what a sentence says of a known act. Here it is asked about all values of the schema at
once, in every spelling; cues and learned n-grams tell special values; and words of a slot's name tell what a question
is about. A person who is not understood hears the policy's last question or offer once more.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from dactnlg.acts import DialogueAct, Slot, Turn
from dactnlg.dialogue.task.schema import NAME, Schema
from dactnlg.dialogue.task.user import AFFIRM, BYE, DONTCARE, NEGATE, inform, request
from dactnlg.fidelity.checker import FidelityChecker
from dactnlg.fidelity.samples import evidence
from dactnlg.text.nearness import related, stems

NOTHING = DialogueAct("null")
"""What is heard where nothing is understood."""
_BYE = re.compile(r"\b(?:good)?bye\b|\bsee you\b|\bthat(?:'s| is| was) (?:all|it)\b|^(?:many )?thank(?:s| you)[^?]*$")
_ANY = re.compile(
    r"\bany(?:thing|where| time| one)?\b|\b(?:does not|doesn't|don't|do not) (?:matter|care|mind)\b"
    r"|\bno preference\b|\bwhatever\b|\bdon't know\b|\beither\b"
)
_YES = re.compile(r"^\W*(?:yes|yeah|yep|yup|sure|right|correct|of course|exactly|ok|okay|please)\b")
_NO = re.compile(r"^\W*(?:no|nope|nah|not really|wrong)\b")
_NOT = re.compile(r"\b(?:no|not|without|never)\b|n't\b")
_QUESTION = re.compile(r"\?|^\W*(?:what|which|how|when|where|who|does|do|is|are|can|could|may|tell me|give me)\b")
_CALLED = re.compile(r"\b(?:name|called)\b")
_WORD = re.compile(r"[^\W\d_]+")
_FUNCTION = frozenset(
    re.findall(
        r"\w+",
        "about all and are but can did does for from get had has have her him his how its let may not one our out see "
        "she some tell than that the them then there they this too use was way what when where which who why will with "
        "you",
    )
)
"""Words that name no slot, though the name of one may begin so."""
_ASKED = {"phone": ("number", "call", "telephone"), "near": ("close", "nearby"), "price": ("cost", "much", "expensive")}
"""Words that people use for slots whose name they do not say; of slots whose name begins so."""


class Understanding:
    """Reads what people type.

    Args:
        schema: what can be talked about.
        checker: of its corpus.
    """

    def __init__(self, schema: Schema, checker: FidelityChecker) -> None:
        self._schema, self._checker = schema, checker
        self._slots = sorted({slot for entity in schema.entities for slot in entity.values})
        self._closed = [slot for slot in self._slots if set(schema.values(slot)) <= {"yes", "no"}]
        # All values at once: the longest wins, and a name keeps the words in it for itself.
        names = [NAME, *(slot for slot in self._slots if slot not in self._closed)]
        slots = [Slot(slot, value) for slot in names for value in schema.values(slot)]
        self._values = checker.delexicalizer.prepared(Turn((DialogueAct("inform", tuple(slots)),)))

    def read(self, text: str, before: Turn | None) -> Turn:
        """Return what a person says.

        Args:
            text: what they typed.
            before: the system's turn that they answer; None at the beginning.
        """
        folded = " ".join(text.casefold().replace("’", "'").split())
        asked = self._asked(before)
        offered = any(slot.name == NAME for act in before or () for slot in act.slots)
        found, rest = self._found(text)
        question = _QUESTION.search(folded) is not None
        named = [slot for slot in self._slots if slot not in found and self._named(slot, rest)]
        acts = [inform(slot, value) for slot, value in found.items() if slot in self._schema.informable]
        if _ANY.search(folded):
            # What was asked does not matter, unless another slot is named.
            acts += [inform(slot, DONTCARE) for slot in dict.fromkeys(named or ([] if found else asked))]
        else:
            acts += self._of_named(named, folded, question=question, offered=offered)
        if question and _CALLED.search(folded):
            acts.append(request(NAME))
        if not acts:
            acts = self._short(folded, before, asked)
        return Turn(tuple(acts) or ((BYE,) if _BYE.search(folded) else (NOTHING,)))

    def _found(self, text: str) -> tuple[dict[str, str], list[str]]:
        """Return the values that stand in a text, by slot, and the words around them."""
        checker = self._checker
        done = checker.delexicalizer.delexicalize(self._values, text)
        missing = {item.slot for item in done.missing}
        found: dict[str, str] = {}
        for item in checker.delexicalizer.required(self._values):
            if item.slot not in missing and item.slot.value is not None:
                found.setdefault(item.slot.name, item.slot.value)
        seen = evidence(Turn((DialogueAct("inform"),)), done.tokens, checker.checker)
        for slot, shown in seen.shown.items():
            values = [value for value in shown if value in (*self._schema.values(slot), DONTCARE)]
            if slot in self._slots and len(values) == 1:
                found.setdefault(slot, values[0])
        if checker.reader is not None:
            for name, logit in checker.reader.logits(seen).items():
                fact = checker.reader.facts[name]
                value = fact.kind.removeprefix("=")
                if fact.slot in self._closed and value in ("yes", "no") and logit > checker.reader.limits[name].most:
                    found.setdefault(fact.slot, value)
        plain = [token for token in done.tokens if not token.isupper()]
        return found, [word for token in plain for word in _WORD.findall(token.casefold())]

    def _named(self, slot: str, words: Iterable[str]) -> bool:
        more = next((more for start, more in _ASKED.items() if slot.casefold().startswith(start)), ())
        name = slot.casefold()
        known = [word for word in words if len(word) > 2 and word not in _FUNCTION]
        return any(word in more or any(related(word, stem, name) for stem in stems(name)) for word in known)

    def _of_named(self, named: list[str], folded: str, *, question: bool, offered: bool) -> list[DialogueAct]:
        """Return what is said of slots that are named without a value: questions about what is offered, or wishes."""
        closed = [slot for slot in named if slot in self._closed and slot in self._schema.informable]
        if closed and not (question and offered):
            wish = "no" if _NOT.search(folded) else "yes"
            return [inform(slot, wish) for slot in closed]
        return [request(slot) for slot in named]

    def _short(self, folded: str, before: Turn | None, asked: list[str]) -> list[DialogueAct]:
        """Return what a plain yes or no says, which only the system's question tells."""
        answer = "yes" if _YES.search(folded) else "no" if _NO.search(folded) else None
        if answer is None or before is None:
            return []
        if before.acts[0].act_type == self._schema.roles.get("reqmore"):
            return [BYE] if answer == "no" else []
        closed = [slot for slot in dict.fromkeys(asked) if slot in self._closed]
        return [inform(slot, answer) for slot in closed] or [AFFIRM if answer == "yes" else NEGATE]

    def _asked(self, before: Turn | None) -> list[str]:
        """Return the slots that a system's turn asks for; of one that finds nothing, the wish that it names last."""
        roles = self._schema.roles
        found = []
        for act in before or ():
            if act.act_type in (roles.get("request"), roles.get("select")):
                found += [slot.name for slot in act.slots]
            elif act.act_type == roles.get("no_match"):
                found += [slot.name for slot in act.slots[-1:]]
        return found
