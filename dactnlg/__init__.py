"""dactnlg: dialogue acts in, checked sentences out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dactnlg.acts import DialogueAct, Slot, Turn, parse

if TYPE_CHECKING:
    from dactnlg.generation import Generator

__version__ = "0.1.0"
__all__ = ["DialogueAct", "Generator", "Slot", "Turn", "__version__", "parse"]


def __getattr__(name: str) -> object:
    # Generator brings Keras with it; acts, scoring and hashing must not wait for that.
    if name == "Generator":
        from dactnlg.generation import Generator

        return Generator
    raise AttributeError(f"module 'dactnlg' has no attribute '{name}'")
