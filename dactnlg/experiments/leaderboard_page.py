"""The leaderboard for readers: text for a terminal, Markdown, or one page of HTML."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import markupsafe
from markupsafe import Markup

from dactnlg._utils import tables
from dactnlg._utils.hashing import SHORT
from dactnlg._utils.markdown import escape
from dactnlg._utils.tables import aligned
from dactnlg._utils.terminal import printable
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


def _table(block: Block, best: str, again: str, escaped: Callable[[str], str] = printable) -> list[list[str]]:
    """Return the cells of a block, the header first.

    Args:
        block: the block.
        best: format of the best values.
        again: format of the name of a run done again.
        escaped: makes what runs say of themselves plain text.
    """
    lines = _lines(block)
    has_settings = any(line.settings for line in lines)
    table = [["run", "model", *(["settings"] if has_settings else []), *(escaped(name) for name, _ in block.columns())]]
    for line in lines:
        values = [best.format(text) if is_best else text for text, is_best in line.values]
        run, model, settings = map(escaped, (line.run, line.model, line.settings))
        name = again.format(run) if line.again else run
        table.append([name, model, *([settings] if has_settings else []), *values])
    return table


def _text(block: Block) -> str:
    table = _table(block, "{}*", "  again: {}")
    left = len(table[0]) - len(block.columns())
    table.insert(1, [""] * left + [code[:SHORT] for _, code in block.columns()])
    return "\n".join([printable(block.title), aligned(table, left)])


def _markdown(block: Block) -> str:
    table = _table(block, "**{}**", "again: {}", escape)
    count = len(block.columns())
    # Where a score has several columns, hashes tell them apart.
    names = [name for name, _ in block.columns()]
    heads = [name if names.count(name) == 1 else f"{name} {code[:SHORT]}" for name, code in block.columns()]
    table[0][-count:] = map(escape, heads)
    lines = tables.markdown(table[0], table[1:], len(table[0]) - count)
    hashes = ", ".join(f"{name} {code[:SHORT]}" for name, code in block.columns())
    return "\n".join([f"## {escape(block.title)}", "", *lines, "", f"Hashes: {escape(hashes)}"])


def _page(blocks: Sequence[Block]) -> str:
    values = {"blocks": [(block, _lines(block)) for block in blocks], "lower": LOWER_IS_BETTER, "heading": heading}
    return html.page("dactnlg leaderboard", "leaderboard.html.j2", values, __package__, ["leaderboard.css"])


def heading(name: str) -> Markup:
    """Return a score's name, escaped; a long one, over short numbers, breaks after each hyphen."""
    name = printable(name)
    return Markup("-<br>").join(name.split("-")) if len(name) > LONG else markupsafe.escape(name)
