"""Readers of corpus formats, one module per format: `read(path, notes) -> list[Example]`.

A new format needs a module here, an entry in `readers`, and a name in `Card.format`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

from dactnlg.data.readers import bracket, dstc2, pairs, rnnlg
from dactnlg.text.example import Example

Reader = Callable[[Path, "Counter[str]"], list[Example]]
"""(file of one split, counter) -> its examples; repaired and skipped items are counted."""


def readers() -> dict[str, Reader]:
    """Return the reader for each `format` of a card."""
    return {"rnnlg": rnnlg.read, "dstc2": dstc2.read, "bracket": bracket.read, "pairs": pairs.read}
