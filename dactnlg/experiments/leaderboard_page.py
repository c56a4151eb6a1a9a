"""The leaderboard for readers: text for a terminal, Markdown, or one page of HTML."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from markupsafe import Markup, escape

from dactnlg._utils import tables
from dactnlg._utils.hashing import SHORT
from dactnlg._utils.tables import aligned
from dactnlg.evaluation.report import html
from dactnlg.evaluation.scores import LOWER_IS_BETTER
from dactnlg.experiments.leaderboard import Block

LONG = 12
"""Characters of a score's name in one line of a page's heading."""
Format = Literal["text", "markdown", "html"]


class BoardLine(NamedTuple):
    """One row as it is shown: the run, whether it stands below the run that it repeats, and (text, best) a column."""

    run: str
    again: bool
    model: str
    settings: str
    values: list[tuple[str, bool]]


def render(blocks: Sequence[Block], output_format: Format = "text") -> str:
    """Return the blocks as text for a terminal, as Markdown, or as one HTML page."""
    if output_format == "html":
        return _page(blocks)
    return "\n\n".join(map(_markdown if output_format == "markdown" else _text, blocks))


def _lines(block: Block) -> list[BoardLine]:
    columns = block.columns()
    best = {column: block.best(column) for column in columns}
    found = []
    for row, again in block.ordered():
        name = f"{row.run} (repeats {row.original})" if row.repeats and not again else row.run
        values = []
        for column in columns:
            value = row.scores.get(column)
            text = "" if column not in row.scores else "undefined" if value is None else f"{value:.4f}"
            values.append((text, value is not None and value == best[column] and not row.repeats))
        found.append(BoardLine(name, again, row.model, block.differing(row), values))
    return found


def _table(block: Block, best: str, again: str) -> list[list[str]]:
    """Return the cells of a block as text, the header first; `best` and `again` are formats."""
    lines = _lines(block)
    has_settings = any(line.settings for line in lines)
    table = [["run", "model", *(["settings"] if has_settings else []), *(name for name, _ in block.columns())]]
    for line in lines:
        values = [best.format(text) if is_best else text for text, is_best in line.values]
        name = again.format(line.run) if line.again else line.run
        table.append([name, line.model, *([line.settings] if has_settings else []), *values])
    return table


def _text(block: Block) -> str:
    table = _table(block, "{}*", "  again: {}")
    left = len(table[0]) - len(block.columns())
    table.insert(1, [""] * left + [code[:SHORT] for _, code in block.columns()])
    return "\n".join([block.title, aligned(table, left)])


def _markdown(block: Block) -> str:
    table = _table(block, "**{}**", "again: {}")
    count = len(block.columns())
    # Where a score has several columns, hashes tell them apart.
    names = [name for name, _ in block.columns()]
    heads = [name if names.count(name) == 1 else f"{name} {code[:SHORT]}" for name, code in block.columns()]
    table[0][-count:] = heads
    table = [[cell.replace("|", "\\|") for cell in row] for row in table]
    lines = tables.markdown(table[0], table[1:], len(table[0]) - count)
    hashes = ", ".join(f"{name} {code[:SHORT]}" for name, code in block.columns())
    return "\n".join([f"## {block.title}", "", *lines, "", f"Hashes: {hashes}"])


def _page(blocks: Sequence[Block]) -> str:
    values = {"blocks": [(block, _lines(block)) for block in blocks], "lower": LOWER_IS_BETTER, "heading": heading}
    return html.page("dactnlg leaderboard", "leaderboard.html.j2", values, __package__, ["leaderboard.css"])


def heading(name: str) -> Markup:
    """Return a score's name, escaped; a long one, over short numbers, breaks after each hyphen."""
    return Markup("-<br>").join(name.split("-")) if len(name) > LONG else escape(name)
