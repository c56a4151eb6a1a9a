"""Tables as text: aligned columns for a terminal, Markdown, CSV and LaTeX, drawn by `tabulate`."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal

from dactnlg._utils.markdown import escape
from dactnlg._utils.terminal import printable

Format = Literal["text", "markdown", "csv", "latex"]
GAP = 2
"""Spaces between the columns of a text table."""


def formatted(
    rows: Sequence[Sequence[str]],
    output_format: Format = "text",
    left: int = 1,
    *,
    rule: bool = False,
    width: int | None = None,
) -> str:
    """Return a table with its header in the first row. Cells may contain untrusted text.

    Args:
        rows: the cells; all rows have the same length, at least one.
        output_format: the format; CSV is comma-separated (RFC 4180), LaTeX a `tabular` for the package booktabs.
        left: number of leading columns aligned to the left; the others are aligned to the right.
        rule: whether a text table has a line of dashes below its header.
        width: a wider text table is folded to this width; None leaves it whole.
    """
    if output_format == "markdown":
        return "\n".join(markdown([escape(c) for c in rows[0]], ([escape(c) for c in row] for row in rows[1:]), left))
    if output_format == "csv":
        target = io.StringIO()
        csv.writer(target, lineterminator="\n").writerows([printable(cell) for cell in row] for row in rows)
        return target.getvalue().rstrip("\n")
    if output_format == "latex":
        from tabulate import tabulate

        cells = [[printable(cell) for cell in row] for row in rows]
        sides = ["left" if at < left else "right" for at in range(len(cells[0]))]
        return tabulate(cells[1:], cells[0], tablefmt="latex_booktabs", colalign=sides, disable_numparse=True)
    return aligned(rows, left, rule=rule, width=width)


def with_notes(table: str, notes: Iterable[str], output_format: Format = "text") -> str:
    """Return a table followed by notes: a list in Markdown, comments in LaTeX; CSV omits them."""
    if output_format == "csv":
        return table
    if output_format == "markdown":
        listed = [f"- {escape(note)}" for note in notes]
        return "\n".join([table, *(["", *listed] if listed else [])])
    return "\n".join([table, *(f"% {printable(n)}" if output_format == "latex" else printable(n) for n in notes)])


def aligned(
    rows: Iterable[Sequence[str]], left: int | None = 1, *, rule: bool = False, width: int | None = None
) -> str:
    """Return rows as lines of aligned columns, with two spaces between columns and none at the end of a line.

    Cells may contain untrusted text: they are made printable.

    Args:
        rows: the cells; all rows have the same length, at least one.
        left: number of leading columns aligned to the left, the others to the right; None aligns all to the left.
        rule: whether there is a line of dashes below the first row.
        width: a wider table is split into several, one below the other, each of which repeats the first column.
    """
    lines = [list(map(printable, row)) for row in rows]
    if not lines:
        return ""
    sides = ["left" if left is None or at < left else "right" for at in range(len(lines[0]))]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    drawn = []
    for part in [range(len(sides))] if width is None else _folded(widths, width):
        drawn.append(_drawn([[row[at] for at in part] for row in lines], [sides[at] for at in part], rule=rule))
    return "\n\n".join(drawn)


def _folded(widths: Sequence[int], most: int) -> Iterator[Sequence[int]]:
    """Yield the column indices of each table of a folded one: the first column, and at least one other if there is."""
    part, taken = [0], widths[0]
    for at in range(1, len(widths)):
        if taken + GAP + widths[at] > most and len(part) > 1:
            yield part
            part, taken = [0], widths[0]
        part.append(at)
        taken += GAP + widths[at]
    yield part


def _drawn(lines: list[Any], sides: Sequence[str], *, rule: bool) -> str:
    # Imported late: the import takes as long as computing the scores of a small table.
    from tabulate import SEPARATING_LINE, DataRow, Line, TableFormat, tabulate

    if rule:
        lines.insert(1, SEPARATING_LINE)
    row = DataRow("", " " * GAP, "")
    # The first row is not passed as a header, since tabulate makes headers two spaces wider than their columns.
    form = TableFormat(None, Line("", "-", " " * GAP, ""), None, None, row, row, padding=0, with_header_hide=None)
    return tabulate(lines, tablefmt=form, colalign=sides, disable_numparse=True, preserve_whitespace=True)


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]], left: int = 1) -> list[str]:
    """Return the lines of a Markdown table; the caller escapes the cells (`_utils.markdown`).

    Args:
        header: the names of the columns.
        rows: the cells.
        left: number of leading columns aligned to the left; the others are aligned to the right.
    """
    rule = [*(["---"] * left), *(["---:"] * (len(header) - left))]
    return [f"| {' | '.join(header)} |", f"|{'|'.join(rule)}|", *(f"| {' | '.join(row)} |" for row in rows)]
