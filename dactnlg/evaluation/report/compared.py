"""A comparison of two systems as text, tables, Markdown or one HTML page."""

from __future__ import annotations

import math
from pathlib import Path
from typing import NamedTuple

from dactnlg._utils import tables
from dactnlg._utils.files import written
from dactnlg._utils.markdown import escape
from dactnlg._utils.tables import Format
from dactnlg._utils.terminal import printable
from dactnlg.evaluation.comparison import Change, Difference, SystemComparison
from dactnlg.evaluation.report import html
from dactnlg.evaluation.scores import shown

TOP = 5
VERDICTS = "better: both tests give p < .05; one in twenty such findings is chance, and more scores find more."


class Section(NamedTuple):
    """A part of a comparison.

    Attributes:
        title: its heading; empty for the first parts.
        table: rows of cells, the header first; empty if there is none.
        lines: sentences below the table.
        items: a list, whose entries are a line and its sub-items.
    """

    title: str
    table: list[list[str]]
    lines: list[str]
    items: list[list[str]]


def sections(found: SystemComparison, top: int = TOP) -> list[Section]:
    """Return the parts of a comparison: scores with intervals and p-values, then acts and segments that changed."""
    parts = [
        Section("", [], [f"A: {found.labels[0]}", f"B: {found.labels[1]}"], []),
        Section("", _differences(found), [VERDICTS, *found.notes], []),
    ]
    if found.refused:
        parts.append(Section("Not ranked", [], [], [[reason] for reason in found.refused]))
    if not found.metric:
        return parts
    if found.acts:
        parts.append(Section(f"Acts that changed by {found.metric}", _acts(found), [], []))
    better = [change for change in found.segments if change.gain > 0]
    worse = [change for change in reversed(found.segments) if change.gain < 0]
    for title, changes in (("better", better), ("worse", worse)):
        shown_here = f", the first {top}" if len(changes) > top else ""
        heading = f"Segments that got {title} by {found.metric}: {len(changes)}{shown_here}"
        parts.append(Section(heading, [], [], [_segment(change) for change in changes[:top]]))
    return parts


def table(found: SystemComparison, output_format: Format = "text", top: int = TOP, width: int | None = None) -> str:
    """Return a comparison as text or Markdown, or only its differences as CSV or LaTeX; CSV omits the `notes`.

    Args:
        found: the comparison.
        output_format: the format.
        top: how many segments of each kind are listed.
        width: the width at which tables in text are wrapped; None does not wrap them.
    """
    if output_format == "markdown":
        return markdown(found, top)
    if output_format == "text":
        return text(found, top, width)
    header, *rows = _differences(found)
    differences = tables.formatted([["score", *header[1:]], *rows], output_format)
    labels = [f"A: {found.labels[0]}", f"B: {found.labels[1]}"]
    return tables.with_notes(differences, [*labels, *notes(found)], output_format)


def notes(found: SystemComparison) -> list[str]:
    """Return a sentence for each reason why scores were not tested or not ranked, which the table does not show."""
    return [*found.notes, *(f"not ranked: {reason}" for reason in found.refused)]


def text(found: SystemComparison, top: int = TOP, width: int | None = None) -> str:
    """Return a comparison as text; texts from files are made printable."""
    parts = []
    for section in sections(found, top):
        # Titles with a colon already end in a number.
        lines = [section.title + ":" * (": " not in section.title)] if section.title else []
        lines += tables.aligned(section.table, rule=True, width=width).split("\n") if section.table else []
        lines += section.lines
        for first, *others in section.items:
            lines += [f"  {first}", *(f"    {line}" for line in others)]
        parts.append("\n".join(map(printable, lines)))
    return "\n\n".join(parts)


def markdown(found: SystemComparison, top: int = TOP) -> str:
    """Return a comparison as Markdown."""
    parts = ["# Comparison"]
    for section in sections(found, top):
        parts += [f"## {escape(section.title)}"] if section.title else []
        parts += [tables.formatted(section.table, "markdown")] if section.table else []
        parts += [escape(line) for line in section.lines]
        listed = [
            line
            for first, *others in section.items
            for line in (f"- {escape(first)}", *(f"  - {escape(o)}" for o in others))
        ]
        parts += ["\n".join(listed)] if listed else []
    return "\n\n".join(parts)


def write(path: str | Path, found: SystemComparison, top: int = TOP) -> None:
    """Write a comparison: a self-contained HTML page if the name ends in `.html` or `.htm`, Markdown otherwise."""
    if Path(path).suffix.lower() in (".html", ".htm"):
        page = html.page("Comparison", "compared.html.j2", {"sections": sections(found, top)}, sheets=["table.css"])
    else:
        page = markdown(found, top) + "\n"
    with written(path) as file:
        file.write(page)


def _differences(found: SystemComparison) -> list[list[str]]:
    header = ["", "A", "B", "B - A", "95% interval", "p (bootstrap)", "p (randomisation)", "better"]
    several = len({item.preset for item in found.differences}) > 1
    return [header, *(_row(item, with_preset=several) for item in found.differences)]


def _row(item: Difference, *, with_preset: bool) -> list[str]:
    name = f"{item.preset} {item.name}" if with_preset else item.name
    test = item.test
    if test is None or not math.isfinite(test.difference):
        return [name, shown(item.first), shown(item.second), "", "", "", "", ""]
    interval = f"{test.low:+.4f} to {test.high:+.4f}" if math.isfinite(test.low) else ""
    tests = [f"{test.p_bootstrap:.4f}", f"{test.p_randomization:.4f}"]
    return [name, shown(item.first), shown(item.second), f"{test.difference:+.4f}", interval, *tests, item.better]


def _acts(found: SystemComparison) -> list[list[str]]:
    rows = [["act", "segments", "A", "B", "B - A", ""]]
    for act in found.acts:
        verdict = "better" if act.gain > 0 else "worse"
        numbers = [shown(act.first), shown(act.second), f"{act.second - act.first:+.4f}"]
        rows.append([act.act, str(act.size), *numbers, verdict])
    return rows


def _segment(change: Change) -> list[str]:
    texts = [f"A {change.first:.4f}  {change.texts[0]}", f"B {change.second:.4f}  {change.texts[1]}"]
    reference = [f"reference {change.reference}"] if change.reference else []
    return [f"{change.segment}  {change.act}".rstrip(), *(texts if any(change.texts) else []), *reference]
