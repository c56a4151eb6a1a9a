"""Potato instances: one sentence or a pair, under a name that encodes item and systems."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qs, urlencode

from dactnlg._utils.reading import parse_json, regular_file, short
from dactnlg.studies.ratings import RatingsError

MOST_FIELDS = 8


class Instance(NamedTuple):
    """What a rater judges at once in Potato.

    Attributes:
        item: the item.
        systems: the system of the sentence, or the two of a pair in the order shown.
        corpus: the item's corpus; empty if unknown.
        number: which of the rater's pages with this item (for a pair, with this pair), from 1.
        outputs: the sentences, if known.
    """

    item: str
    systems: tuple[str, ...]
    corpus: str = ""
    number: int = 1
    outputs: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The instance's name in Potato.

        >>> Instance("trails-001", ("gold", "a & b")).name
        'item=trails-001&system=gold&system=a+%26+b'
        """
        fields = [("item", self.item), *(("system", name) for name in self.systems)]
        if self.corpus:
            fields.append(("corpus", self.corpus))
        if self.number > 1:
            fields.append(("number", str(self.number)))
        return urlencode(fields)


def parse_instance(name: str) -> Instance | None:
    """Return the instance with a name from `Instance.name`, or None for any other name."""
    try:
        fields = parse_qs(name, strict_parsing=True, max_num_fields=MOST_FIELDS, errors="strict")
        number = int(fields.get("number", ["1"])[0])
    except (ValueError, UnicodeDecodeError):
        return None
    systems = tuple(fields.get("system", ()))
    if not fields.get("item") or len(systems) not in (1, 2):
        return None
    return Instance(fields["item"][0], systems, fields.get("corpus", [""])[0], number)


def read_items(path: Path) -> dict[str, Instance]:
    """Read the data file of a Potato project: JSON Lines with `id`, `system`, `item` if it differs from the id, and
    optionally `text` and `corpus`.

    Raises:
        RatingsError: a line is not JSON, or has no id or no valid system.
        OSError: it cannot be read.
    """
    found: dict[str, Instance] = {}
    try:
        lines = regular_file(path).read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError:
        raise RatingsError(f"{path}: it is not text in UTF-8") from None
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        where = f"{path}, line {number}"
        try:
            row = parse_json(line)
        except ValueError as error:
            raise RatingsError(f"{where}: it is not JSON: {error}") from None
        if not isinstance(row, Mapping) or "id" not in row or "system" not in row:
            raise RatingsError(f'{where}: it has no "id" and "system", such as {{"id": "1", "system": "gold"}}')
        systems = row["system"] if isinstance(row["system"], list) else [row["system"]]
        if len(systems) not in (1, 2) or not all(isinstance(name, str) and name.strip() for name in systems):
            raise RatingsError(f"{where}: system must be a name, or two for a pair; got {short(row['system'])}")
        item = str(row.get("item", row["id"]))
        text = row.get("text", [])
        outputs = tuple(map(str, text if isinstance(text, list) else [text]))
        known = outputs if len(outputs) == len(systems) else ()
        found[str(row["id"])] = Instance(item, tuple(systems), str(row.get("corpus", "")), outputs=known)
    return found
