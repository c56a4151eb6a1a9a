"""What several commands write."""

from __future__ import annotations

import json
from typing import Any


def write_json(name: str, data: Any) -> None:
    """Write data as indented JSON to the file `name`; `-` is standard output."""
    from dactnlg._utils.files import written

    with written(name) as target:
        json.dump(data, target, ensure_ascii=False, indent=1)
        target.write("\n")
