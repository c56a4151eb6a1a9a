"""dactnlg: dialogue acts in, checked sentences out."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dactnlg.acts import DialogueAct, Slot, Turn, parse
    from dactnlg.generation.generator import Generator

__version__ = "0.1.0"
__all__ = ["DialogueAct", "Generator", "Slot", "Turn", "__version__", "parse"]

_HOMES = {"Generator": "generation.generator", **dict.fromkeys(("DialogueAct", "Slot", "Turn", "parse"), "acts")}


def __getattr__(name: str) -> object:
    # Late: Generator brings Keras with it, and METEOR's helpers start without acts.
    if name not in _HOMES:
        raise AttributeError(f"module 'dactnlg' has no attribute '{name}'")
    from importlib import import_module

    return getattr(import_module(f"dactnlg.{_HOMES[name]}"), name)
