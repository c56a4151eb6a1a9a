"""Parsing: turns from text and JSON.

Notations:
    cambridge  `inform(name='red door cafe';kidsallowed=no)`, several acts joined by `&` or spaces
               (RNNLG, DSTC2; a trailing `;` and an act type with a leading `?` are allowed)
    bracket    `name[The Eagle], eatType[coffee shop]` (E2E: one `inform`) and
               `inform(name[X], genres[a, b])` (ViGGO)
    json       `[{"act": "inform", "slots": [["food", "thai"]]}]` (DSTC2's release; a slot may also be
               `{"name": "food", "value": "thai"}`)

`parse` detects which notation a text is in. `str(turn)` is the canonical Cambridge notation, and
`parse(str(turn)) == turn` holds for every turn.
"""

from __future__ import annotations

import json
import math
import reprlib
from functools import lru_cache
from typing import Any

from dactnlg.acts.notation import is_name, read_acts
from dactnlg.acts.turn import LONGEST, NAMED, DialogueAct, Slot, Turn
from dactnlg.errors import ActError, ActSyntaxError


def parse(text: str, where: str = "") -> Turn:
    """Parse one turn in any of the notations.

    >>> parse("inform(name='red door cafe';kidsallowed=false)").acts[0].slots[1].special
    'no'
    >>> str(parse("name[The Eagle], eatType[coffee shop]"))
    "inform(name='The Eagle';eatType='coffee shop')"

    Args:
        text: the act string: Cambridge notation (RNNLG, DSTC2), E2E's or ViGGO's brackets, or DSTC2's JSON.
        where: the location to give in error messages ("acts.txt, line 3"); by default the line within `text`.

    Returns:
        A `Turn` with one or more acts; `str(turn)` is its canonical Cambridge notation.

    Raises:
        ActSyntaxError: the text is not an act; the message shows the line and a caret.
        ActError: `text` is not a string, or is JSON of another structure.
    """
    if not isinstance(text, str):
        raise ActError(f"{where or 'this'} is no act: give a string, not {type(text).__name__}")
    stripped = text.lstrip()
    if stripped.startswith(("[", "{")):
        return _parse_json(text, where)
    acts = [(act_type, [_slot(name, value) for name, value in slots]) for act_type, slots in read_acts(text, where)]
    return Turn(tuple([DialogueAct(act_type, tuple(slots)) for act_type, slots in acts]))


_known_slot = lru_cache(maxsize=1 << 13)(Slot)


def _slot(name: str, value: str | None) -> Slot:
    return Slot(name, value) if value is not None and len(value) > LONGEST else _known_slot(name, value)


def _parse_json(text: str, where: str) -> Turn:
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise ActSyntaxError(f"not JSON ({error.msg})", text, error.pos, where) from None
    except RecursionError:
        raise ActSyntaxError("not JSON (nested too deeply)", text, 0, where) from None
    except ValueError:
        raise ActSyntaxError("not JSON (a number of too many digits)", text, 0, where) from None
    return turn_from_json(data, where)


def turn_from_json(data: object, where: str = "") -> Turn:
    """Return the turn that DSTC2's JSON describes.

    Args:
        data: a list of `{"act": name, "slots": [[name, value], ...]}`, or a single such object; see `Turn.to_json`.
        where: the location to give in error messages.

    Raises:
        ActError: the data has another structure.
    """
    try:
        return Turn(tuple([_json_act(item) for item in (data if isinstance(data, list) else [data])]))
    except ActError as error:
        raise ActError(f"{where}: {error}" if where else str(error)) from None


def _json_act(item: object) -> DialogueAct:
    # Without "slots", other keys hold what another notation calls them: they would be lost.
    plain = isinstance(item, dict) and isinstance(item.get("act"), str) and ("slots" in item or len(item) == 1)
    if not isinstance(item, dict) or not plain:
        raise ActError(f'a JSON act is {{"act": name, "slots": [[name, value], ...]}}, not {reprlib.repr(item)}')
    slots = item.get("slots", [])
    if not isinstance(slots, list) or not all(_is_json_slot(slot) for slot in slots):
        raise ActError(f"the slots of a JSON act are a list of [name] or [name, value], not {reprlib.repr(slots)}")
    return DialogueAct(item["act"], tuple([_json_slot(slot) for slot in slots]))


def _is_json_slot(slot: object) -> bool:
    if isinstance(slot, dict):
        parts = [slot.get("name"), slot.get("value")] if slot.keys() <= {"name", "value"} else []
    else:
        parts = slot if isinstance(slot, list) else []
    return 1 <= len(parts) <= 2 and isinstance(parts[0], str) and all(map(_is_json_value, parts[1:]))


def _is_json_value(value: object) -> bool:
    # Python's JSON parser accepts NaN, and reads 1e999 as infinity.
    return value is None or isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value))


def _json_slot(slot: list[Any] | dict[str, Any]) -> Slot:
    if isinstance(slot, dict):
        name, value = slot["name"], slot.get("value")
    else:
        name, value = slot[0], slot[1] if len(slot) == 2 else None
        # DSTC2 writes request(food) as the pair ["slot", "food"].
        if name == NAMED and isinstance(value, str) and is_name(value):
            return Slot(value)
    return Slot(name, None if value is None else str(value))
