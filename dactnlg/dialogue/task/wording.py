"""The simulated user's acts in words: plain templates, the same for every corpus.

The policy receives the acts, not the words, which are for people who read the conversations and for the components.
"""

from __future__ import annotations

import re

from dactnlg.acts import DialogueAct, Slot, Turn
from dactnlg.dialogue.task.schema import DONTCARE, NAME

_WORDS = {
    "affirm": "Yes, that is right.",
    "negate": "No, that is wrong.",
    "bye": "Thank you, goodbye.",
}
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|_")


def user_text(turn: Turn) -> str:
    """Return a user turn in words."""
    return " ".join(_sentence(act) for act in turn)


def _sentence(act: DialogueAct) -> str:
    if act.act_type in _WORDS:
        return _WORDS[act.act_type]
    slot = act.slots[0]
    name = _CAMEL.sub(" ", slot.name).lower()
    if act.act_type == "request":
        return "What is it called?" if slot.name == NAME else f"What about the {name}?"
    return _wish(name, slot)


def _wish(name: str, slot: Slot) -> str:
    if slot.special == DONTCARE:
        return f"The {name} does not matter."
    return f"I want {name}: {slot.value}."
