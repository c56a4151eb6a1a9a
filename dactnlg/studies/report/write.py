"""Rendering a report: text for a terminal, Markdown, LaTeX or CSV tables, or an HTML page."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path

from dactnlg._utils import tables
from dactnlg._utils.files import written
from dactnlg._utils.markdown import escape
from dactnlg._utils.tables import Format
from dactnlg._utils.terminal import printable
from dactnlg.evaluation.report import html
from dactnlg.studies.report.parts import ReportPart, ReportTable, ticks

_HERE = "dactnlg.studies.report"
COLORS = 6
"""Number of colours in the style sheet; with more groups they repeat."""


def text(parts: Sequence[ReportPart], width: int | None = None) -> str:
    """Return a report as plain text, wrapped at a width if one is given."""
    found = []
    for part in parts:
        lines = [part.title, "=" * len(part.title), *_folded(part.lines, width)]
        for table in part.tables:
            drawn = tables.formatted(table.rows, left=table.left, rule=True, width=width)
            lines += ["", table.title, "", drawn, *_folded(_below(table), width)]
        found.append("\n".join(printable(line, "\n") for line in lines))
    return "\n\n\n".join(found)


def markdown(title: str, parts: Sequence[ReportPart]) -> str:
    """Return a report as Markdown, without plots."""
    found = [f"# {escape(title)}"]
    for part in parts:
        found += [f"## {escape(part.title)}", *map(escape, part.lines)]
        for table in part.tables:
            drawn = tables.formatted(table.rows, "markdown", table.left)
            found += [f"### {escape(table.title)}", drawn, *map(escape, _below(table))]
    return "\n\n".join(found)


def latex(parts: Sequence[ReportPart]) -> str:
    """Return all tables of a report as LaTeX `table`s with caption and label; they need the package booktabs."""
    return "\n\n".join(latex_table(table) for part in parts for table in part.tables)


def latex_table(table: ReportTable) -> str:
    """Return one table as LaTeX, with its method and notes in the caption."""
    caption = " ".join([f"{table.title}.", *_below(table)])
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            tables.formatted(table.rows, "latex", table.left),
            rf"\caption{{{_tex(caption)}}}",
            rf"\label{{tab:{table.label}}}",
            r"\end{table}",
        ]
    )


def csv(parts: Sequence[ReportPart]) -> str:
    """Return all tables of a report as CSV, each preceded by a line with its name and separated by empty lines."""
    found = [f"# {t.name}\n{tables.formatted(t.rows, 'csv', t.left)}" for part in parts for t in part.tables]
    return "\n\n".join(found)


def formatted(title: str, parts: Sequence[ReportPart], output_format: Format, width: int | None = None) -> str:
    """Return a report in a format."""
    if output_format == "markdown":
        return markdown(title, parts)
    if output_format == "text":
        return text(parts, width)
    return latex(parts) if output_format == "latex" else csv(parts)


def write(path: Path, title: str, parts: Sequence[ReportPart]) -> None:
    """Write a report in the format of the file's extension: HTML (`.html`, `.htm`), LaTeX (`.tex`), else Markdown."""
    ending = path.suffix.lower()
    if ending in (".html", ".htm"):
        page = html.page(title, "study.html.j2", _values(title, parts), _HERE, ["study.css"])
    else:
        page = (latex(parts) if ending == ".tex" else markdown(title, parts)) + "\n"
    with written(path) as file:
        file.write(page)


def _values(title: str, parts: Sequence[ReportPart]) -> dict[str, object]:
    return {"title": title, "parts": parts, "latex_table": latex_table, "ticks": ticks, "COLORS": COLORS}


def _folded(lines: Sequence[str], width: int | None) -> list[str]:
    if width is None:
        return list(lines)
    return [folded for line in lines for folded in textwrap.wrap(line, max(width, 20)) or [""]]


def _below(table: ReportTable) -> list[str]:
    return [*([f"Method: {table.method}."] if table.method else []), *table.notes]


_TEX = {sign: f"\\{sign}" for sign in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": "$<$",
    ">": "$>$",
}


def _tex(line: str) -> str:
    return "".join(_TEX.get(sign, sign) for sign in printable(line))
