"""Tables as text: aligned columns for a terminal, by the `tabulate` library, and Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from dactnlg._utils.terminal import printable


def aligned(rows: Iterable[Sequence[str]], left: int | None = 1, *, rule: bool = False) -> str:
    """Return rows of cells as lines with aligned columns, two spaces between them, none at the end of a line.

    Cells may hold texts of others: they are made printable.

    Args:
        rows: the cells; all rows have the same number, at least one.
        left: how many of the first columns are aligned to the left, the others to the right; None for all.
        rule: whether a line of dashes stands below the first row.
    """
    # Late: its import takes as long as a small table's scores.
    from tabulate import SEPARATING_LINE, DataRow, Line, TableFormat, tabulate

    lines: list[Any] = [list(map(printable, row)) for row in rows]
    if not lines:
        return ""
    width = len(lines[0])
    if rule:
        lines.insert(1, SEPARATING_LINE)
    row = DataRow("", "  ", "")
    # The first row is no header to the library: its headers are two spaces wider than their columns.
    form = TableFormat(None, Line("", "-", "  ", ""), None, None, row, row, padding=0, with_header_hide=None)
    sides = ["left" if left is None or at < left else "right" for at in range(width)]
    return tabulate(lines, tablefmt=form, colalign=sides, disable_numparse=True, preserve_whitespace=True)


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]], left: int = 1) -> list[str]:
    """Return a Markdown table, a line a row; cells are escaped by the caller (`_utils.markdown`).

    Args:
        header: the names of the columns.
        rows: the cells.
        left: how many of the first columns are aligned to the left, the others to the right.
    """
    rule = [*(["---"] * left), *(["---:"] * (len(header) - left))]
    return [f"| {' | '.join(header)} |", f"|{'|'.join(rule)}|", *(f"| {' | '.join(row)} |" for row in rows)]
