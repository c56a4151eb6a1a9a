"""Names in reports: `food=dontcare` of special values, `inform()` of act types, `request(food)` of questions."""

from __future__ import annotations

from dactnlg.acts import Slot


def special_name(slot: Slot) -> str:
    """Return the name of a special value, in its normalised spelling: `food=dontcare`."""
    return f"{slot.name}={slot.special}"


def act_name(act_type: str) -> str:
    """Return the name of an act type: `inform()`."""
    return f"{act_type}()"


def is_act_name(name: str) -> bool:
    """Whether a name is that of an act type."""
    return name.endswith("()")


def question_name(act_type: str, slot_name: str) -> str:
    """Return the name of a slot without a value: `request(food)`."""
    return f"{act_type}({slot_name})"
