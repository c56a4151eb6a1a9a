"""Output that several commands share."""

from __future__ import annotations

import json
import shutil
import sys
from typing import Any


def write_json(name: str, data: Any) -> None:
    """Write data as indented JSON to the file `name`; `-` is standard output."""
    from dactnlg._utils.files import written

    with written(name) as target:
        json.dump(data, target, ensure_ascii=False, indent=1)
        target.write("\n")


def show(text: str, data: Any, json_file: str | None) -> None:
    """Print a text, and write its data as JSON if a file is named; standard output takes only one of them."""
    if json_file is not None:
        write_json(json_file, data)
    if json_file != "-":
        print(text)


def width() -> int | None:
    """Return the number of columns of the terminal; None if standard output is a file or a pipe: lines stay whole."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None
