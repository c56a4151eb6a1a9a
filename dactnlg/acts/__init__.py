"""Dialogue acts: the objects, and the notations that they are written in."""

from dactnlg.acts.turn import SPECIAL_VALUES, DialogueAct, Slot, Turn, parse, turn_from_json

__all__ = ["SPECIAL_VALUES", "DialogueAct", "Slot", "Turn", "parse", "turn_from_json"]
