"""One reader a corpus format: `read(path, notes) -> list[Example]`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

from dactnlg.data.readers import bracket, dstc2, pairs, rnnlg
from dactnlg.text.example import Example

Reader = Callable[[Path, "Counter[str]"], list[Example]]
"""Reads the file of one split; what it mended or left out goes into the counter."""


def readers() -> dict[str, Reader]:
    """Return the reader of each `format` that a card can name."""
    return {"rnnlg": rnnlg.read, "dstc2": dstc2.read, "bracket": bracket.read, "pairs": pairs.read}
