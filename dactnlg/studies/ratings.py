"""Ratings as a table with one row per judgement: item, system, rater, criterion, value."""

from __future__ import annotations

import contextlib
import csv
import io
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dactnlg._utils.files import written
from dactnlg._utils.reading import regular_file, short
from dactnlg.errors import UserError

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("item", "system", "rater", "criterion", "value")
CONTEXT = ("page", "corpus", "output")
"""Optional columns: the page, whose sentences a rater saw and judged together; the item's corpus; and the sentence."""
TableRows = Iterator[tuple[str, dict[str, str]]]
"""Rows of a CSV file, column -> cell, each after its place, such as `ratings.csv, line 2`."""
EXTRA = "studies need further packages: pip install 'dactnlg[studies]'"


class RatingsError(UserError):
    """Ratings that cannot be read or analysed."""


@dataclass(frozen=True)
class Ratings:
    """Judgements of people.

    A rater judges a system's sentence for an item once under each criterion. In a pairwise design, each judgement is
    two rows of one `page`: 1 for the system that won and 0 for the other, or .5 each for a tie.

    Attributes:
        rows: judgements, each with all columns of `COLUMNS` and those of `CONTEXT` that the table has; `value` is a
            finite number, all others are strings.
        notes: remarks for the user, such as how many rows without a value were skipped.
    """

    rows: Sequence[Mapping[str, Any]]
    notes: tuple[str, ...] = field(default=())

    @cached_property
    def table(self) -> pd.DataFrame:
        """The rows as a DataFrame, in the same order; strings have dtype object.

        Raises:
            RatingsError: pandas is not installed.
        """
        try:
            import pandas as pd
        except ImportError:
            raise RatingsError(EXTRA) from None
        return pd.DataFrame(list(self.rows), columns=self.columns).astype(
            {name: "float64" if name == "value" else object for name in self.columns}
        )

    @property
    def columns(self) -> list[str]:
        """The names of the columns, those of `COLUMNS` first."""
        return [*COLUMNS, *(name for name in CONTEXT if self.rows and name in self.rows[0])]

    def names(self, column: str) -> list[str]:
        """Return the distinct values of a column, in the order of their first rows.

        >>> Ratings([{"item": "1", "system": "a", "rater": "x", "criterion": "quality", "value": 5.0}]).names("system")
        ['a']
        """
        return list(dict.fromkeys(row[column] for row in self.rows))

    def where(self, **wanted: str) -> Ratings:
        """Return the judgements whose columns have these values, without notes: `where(criterion="quality")`."""
        return Ratings([row for row in self.rows if all(row[name] == value for name, value in wanted.items())])

    def without(self, column: str, values: Iterable[str]) -> Ratings:
        """Return the judgements whose column has none of these values, for example to leave out raters."""
        left_out = set(values)
        return Ratings([row for row in self.rows if row[column] not in left_out], self.notes)

    @classmethod
    def read(cls, path: Path) -> Ratings:
        """Read a CSV file (RFC 4180, UTF-8, a header with at least `COLUMNS` in any order).

        Columns that are neither in `COLUMNS` nor in `CONTEXT` are dropped, as are rows without a value.

        Raises:
            RatingsError: a column is missing, a value is not a finite number, a name is empty, a rater has judged the
                same sentence under the same criterion twice on one page, or there are no ratings.
            OSError: it cannot be read.
        """
        with open_table(path) as (header, table):
            return cls._parse(header, table, str(path))

    @classmethod
    def _parse(cls, header: Sequence[str], table: TableRows, where: str) -> Ratings:
        if missing := [name for name in COLUMNS if name not in header]:
            raise RatingsError(
                f"{where}: there is no column {', '.join(missing)}; ratings have the columns {', '.join(COLUMNS)}"
            )
        columns = [*COLUMNS, *(name for name in CONTEXT if name in header)]
        rows: list[dict[str, Any]] = []
        empty = 0
        for line, cells in table:
            if not cells["value"].strip():
                empty += 1
                continue
            row: dict[str, Any] = {name: cells[name] for name in columns}
            if blank := [name for name in COLUMNS if not cells[name].strip()]:
                raise RatingsError(f"{line}: {blank[0]} is empty")
            rows.append(row | {"value": finite(cells["value"], f"{line}: value")})
        if not rows:
            raise RatingsError(f"{where}: there are no ratings in it")
        check_repetition(rows, where)
        return cls(rows, (f"{empty} rows without a value were passed over",) if empty else ())

    def csv(self) -> str:
        """Return the ratings as CSV text that `read` can read."""
        target = io.StringIO()
        writer = csv.DictWriter(target, self.columns, lineterminator="\n", extrasaction="ignore")
        writer.writeheader()
        writer.writerows({**row, "value": f"{row['value']:.12g}"} for row in self.rows)
        return target.getvalue()

    def write(self, path: Path) -> None:
        """Write a CSV file; an existing file is replaced only once the new one is complete."""
        with written(path) as file:
            file.write(self.csv())


def check_repetition(rows: Sequence[Mapping[str, Any]], where: str) -> None:
    """Check that no rater has judged the same sentence under the same criterion twice on one page.

    Raises:
        RatingsError: one has; the message names the first.
    """
    seen = set()
    for row in rows:
        key = tuple(row.get(name, "") for name in ("page", "corpus", *COLUMNS[:4]))
        if key in seen:
            raise RatingsError(
                f"{where}: rater {row['rater']} has rated {row['system']}'s sentence for item {row['item']} under "
                f"{row['criterion']} twice"
            )
        seen.add(key)


@contextlib.contextmanager
def open_table(path: Path, delimiter: str = ",") -> Iterator[tuple[Sequence[str], TableRows]]:
    """Open a CSV file (RFC 4180, UTF-8), yield its header and its rows, and turn errors of reading into `RatingsError`.

    Raises:
        RatingsError: it is not such a file, or a row has more or fewer cells than the header.
        OSError: it cannot be read.
    """
    with regular_file(path).open(encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file, delimiter=delimiter, strict=True)
        try:
            yield reader.fieldnames or (), _whole(reader, path)
        except UnicodeDecodeError:
            raise RatingsError(f"{path}: it is not text in UTF-8") from None
        except csv.Error as error:
            raise RatingsError(f"{path}: it is not CSV: {error}") from None


def _whole(reader: csv.DictReader[str], path: Path) -> TableRows:
    for cells in reader:
        line = f"{path}, line {reader.line_num}"
        if None in cells or None in cells.values():
            raise RatingsError(f"{line}: it has more or fewer cells than the header")
        yield line, cells


def finite(text: str, where: str) -> float:
    """Return the number that a cell contains.

    Raises:
        RatingsError: it is not a finite number; the message begins with `where`, the cell's place.
    """
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise RatingsError(f"{where} {short(text)} is not a finite number")
    return value


def by(rows: Iterable[Mapping[str, Any]], *columns: str) -> Iterator[tuple[tuple[str, ...], list[Mapping[str, Any]]]]:
    """Yield groups of rows with equal values in some columns, and these values, in the order of their first rows."""
    groups: dict[tuple[str, ...], list[Mapping[str, Any]]] = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in columns), []).append(row)
    yield from groups.items()
