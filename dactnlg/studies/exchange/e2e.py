"""Ratings as published by the E2E NLG challenge (Dušek et al. 2020): one table per criterion, one row per page.

A row has the act (`mr`), the systems shown (`sys1`, `sys2`, ...), their sentences (`ref1`, ...), a value for each
(`quality1`, ...; for naturalness `natur1`, ...), and the rater's name (`_worker_id`). Nothing else about the raters,
such as their IP addresses, is read.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from dactnlg._utils.files import made_folder, written
from dactnlg.studies.exchange.names import file_names
from dactnlg.studies.ratings import Ratings, RatingsError, TableRows, by, finite, open_table
from dactnlg.studies.study import Study

SHORT = {"naturalness": "natur"}
"""Abbreviations of criteria in the challenge's column names."""
MOST_PLACES = 99
_OTHER = frozenset({"sys", "ref", "dupl_ref", "check"})
_NUMBERED = re.compile(r"(.*?)([1-9]\d?)")


def write_e2e(ratings: Ratings, folder: Path, study: Study | None = None) -> list[Path]:
    """Write a table for each criterion, `CRITERION.csv`, into a new folder.

    Args:
        ratings: the judgements; a row holds those of one page or, without pages, those of a rater for an item.
        folder: the folder, which must not exist.
        study: the study, whose items have the acts.

    Returns:
        The files.

    Raises:
        RatingsError: a criterion's columns would be mistaken for others, the folder exists, or a page has too many
            sentences.
    """
    criteria = ratings.names("criterion")
    for name in criteria:
        if name in _OTHER or name in SHORT.values() or name[-1:].isdigit():
            raise RatingsError(f"criterion {name!r} cannot be a column of the challenge's tables; give it another name")
    if folder.exists():
        raise RatingsError(f"{folder} is there already; name a new folder with --output")
    named = file_names(criteria)
    with made_folder(folder):
        for name in criteria:
            _write_table(ratings.where(criterion=name), SHORT.get(name, name), folder / f"{named[name]}.csv", study)
    return [folder / f"{named[name]}.csv" for name in criteria]


def _write_table(ratings: Ratings, prefix: str, path: Path, study: Study | None) -> None:
    keys = [name for name in ("page", "corpus", "item", "rater") if name in ratings.columns]
    pages = [rows for _, rows in by(ratings.rows, *keys)]
    most = max(len(rows) for rows in pages)
    if most > MOST_PLACES:
        raise RatingsError(f"{most} sentences on a page are more than a table of the challenge has ({MOST_PLACES})")
    places = range(1, most + 1)
    header = ["_unit_id", "_worker_id", *(f"{prefix}{at}" for at in places), "mr", "mr_id"]
    header += [f"{name}{at}" for name in ("ref", "sys") for at in places]
    with written(path) as file:
        writer = csv.DictWriter(file, header, restval="", lineterminator="\n")
        writer.writeheader()
        for number, rows in enumerate(pages, 1):
            first = rows[0]
            item = study.item_by_id.get(first["item"]) if study else None
            cells = {
                "_unit_id": first.get("page") or str(number),
                "_worker_id": first["rater"],
                "mr": item.act if item else first["item"],
                "mr_id": first["item"],
            }
            for at, row in enumerate(rows, 1):
                cells |= {f"{prefix}{at}": f"{row['value']:.12g}", f"sys{at}": row["system"]}
                cells[f"ref{at}"] = row.get("output", "")
            writer.writerow(cells)


def read_e2e(path: Path, study: Study | None = None) -> Ratings:
    """Read a table of the challenge, or one that `write_e2e` wrote.

    Items are named after their acts (`mr`), or as in the study if they are found there. Pages of the study keep their
    names; others are named after criterion, unit and row: `quality-1468391946-0`.

    Raises:
        RatingsError: it is not such a table.
        OSError: it cannot be read.
    """
    with open_table(path) as (header, table):
        return _parsed(header, table, str(path), _Names(study))


class _Names:
    """Names of a table's items and pages, as in a study if there is one."""

    def __init__(self, study: Study | None) -> None:
        acts = Counter(item.act for item in study.items) if study else Counter[str]()
        self._items = {item.act: item.id for item in study.items if acts[item.act] == 1} if study else {}
        self._items |= {item.id: item.id for item in study.items} if study else {}
        self._pages = {page.id for rater in study.raters for page in rater.pages} if study else set()

    def item(self, row: Mapping[str, str]) -> str:
        name, act = row.get("mr_id") or "", row["mr"]
        return self._items.get(name) or self._items.get(act) or act

    def page(self, row: Mapping[str, str], criterion: str, number: int) -> str:
        unit = row.get("_unit_id") or ""
        return unit if unit in self._pages else f"{criterion}-{unit}-{number}"


def _parsed(header: Sequence[str], table: TableRows, where: str, names: _Names) -> Ratings:
    if missing := [name for name in ("_worker_id", "mr", "sys1") if name not in header]:
        raise RatingsError(f"{where}: there is no column {', '.join(missing)}: it is no table of the E2E challenge")
    long = {short_name: name for name, short_name in SHORT.items()}
    columns = dict(_columns(header))
    if not columns:
        raise RatingsError(f"{where}: there is no column of ratings, such as quality1")
    rows: list[dict[str, Any]] = []
    empty = 0
    for number, (line, cells) in enumerate(table):
        for prefix, places in columns.items():
            criterion = long.get(prefix, prefix)
            page = names.page(cells, criterion, number)
            for at in places:
                if not cells[f"{prefix}{at}"].strip():
                    empty += bool(cells[f"sys{at}"].strip())
                    continue
                row = {"item": names.item(cells), "system": cells[f"sys{at}"], "rater": cells["_worker_id"]}
                row |= {"criterion": criterion, "page": page}
                if blank := next((name for name, text in row.items() if not text.strip()), None):
                    raise RatingsError(f"{line}: {blank} is empty beside a rating ({prefix}{at})")
                value = finite(cells[f"{prefix}{at}"], f"{line}: {prefix}{at}")
                rows.append({**row, "value": value, "output": cells.get(f"ref{at}", "")})
    return Ratings(rows, (f"{empty} sentences without a rating were passed over",) if empty else ())


def _columns(header: Sequence[str]) -> Iterator[tuple[str, list[int]]]:
    """Yield the prefix of each criterion's columns, and their numbers."""
    found: dict[str, list[int]] = {}
    for name in header:
        numbered = _NUMBERED.fullmatch(name)
        if numbered and numbered[1] and numbered[1] not in _OTHER and f"sys{numbered[2]}" in header:
            found.setdefault(numbered[1], []).append(int(numbered[2]))
    yield from found.items()
