"""The configurations shipped with dactnlg, each with a description from its first comment."""

from __future__ import annotations

import re
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

from dactnlg._utils import resources


class ShippedConfig(NamedTuple):
    """A configuration shipped with dactnlg.

    Attributes:
        name: the name to pass to `dactnlg train` or `dactnlg sweep`.
        command: which of the two it is for: "train" or "sweep".
        about: the first sentence of its opening comment.
    """

    name: str
    command: str
    about: str


def shipped_configs() -> list[ShippedConfig]:
    """Return the configurations shipped with dactnlg, those of sweeps last."""
    folder = resources.configs_dir()
    kinds = ((folder, "train"), (folder / "sweeps", "sweep"))
    return [ShippedConfig(p.stem, command, _about(p)) for place, command in kinds for p in sorted(place.glob("*.yaml"))]


def _about(path: Path) -> str:
    lines = path.read_text(encoding="utf-8").splitlines()
    text = " ".join(line.lstrip("# ") for line in takewhile(lambda line: line.startswith("#"), lines))
    # "Sharma et al. 2017" does not end a sentence.
    return re.split(r"[.] (?=[A-Z])", text)[0].rstrip(".:")
