"""Safe file names for raters and criteria, whose names may contain any character."""

from __future__ import annotations

import re
from collections.abc import Iterable

LONGEST = 100
_DEVICES = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)", re.IGNORECASE)


def file_names(names: Iterable[str]) -> dict[str, str]:
    """Return a file name for each name: valid on every platform, and unique even if case is ignored.

    >>> file_names(["r001", "../up", "R001", ""])
    {'r001': 'r001', '../up': 'up', 'R001': 'R001-2', '': 'x'}
    """
    found: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        plain = re.sub(r"[^A-Za-z0-9_.@-]+", "-", name).strip(".- ")[:LONGEST].rstrip(".- ") or "x"
        stem = free = f"{plain}-" if _DEVICES.match(plain) else plain
        number = 1
        while free.casefold() in taken:
            number += 1
            free = f"{stem}-{number}"
        taken.add(free.casefold())
        found[name] = free
    return found
