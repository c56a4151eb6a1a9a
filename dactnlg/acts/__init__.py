"""Dialogue acts: the objects, and the notations they are written in.

`parse` reads a turn (one or more acts) in Cambridge, bracket or JSON notation; `str(turn)` is its canonical notation.
Every other room takes and returns these objects; nothing here depends on corpora, tokens or models.
"""

from dactnlg.acts.parsing import parse, turn_from_json
from dactnlg.acts.turn import SPECIAL_VALUES, DialogueAct, Slot, Turn, special_value

__all__ = ["SPECIAL_VALUES", "DialogueAct", "Slot", "Turn", "parse", "special_value", "turn_from_json"]
