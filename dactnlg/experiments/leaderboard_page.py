"""The leaderboard as text for a terminal, Markdown, CSV, LaTeX, JSON or one page of HTML."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, NamedTuple

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
"""Names of scores with more characters than this are broken at hyphens in a page's table header."""
Format = Literal["text", "markdown", "csv", "latex", "html"]


class BoardLine(NamedTuple):
    """One displayed row; `again`: shown below the run that it repeats; `values`: (text, is best) per column."""

    run: str
    again: bool
    model: str
    settings: str
    values: list[tuple[str, bool]]


def render(blocks: Sequence[Block], output_format: Format = "text", width: int | None = None) -> str:
    """Return the blocks as text for a terminal, Markdown, CSV (one line per score), LaTeX, or one HTML page.

    Args:
        blocks: from `leaderboard.collect`.
        output_format: the format.
        width: columns at which tables of text are folded; None for no folding.
    """
    if output_format == "html":
        return _page(blocks)
    if output_format == "csv":
        header = ["corpus", "split", "preset", "data", "run", "model", "settings", "score", "value", "hash"]
        return tables.formatted([header, *(row for block in blocks for row in _long(block))], "csv")
    if output_format == "latex":
        return "\n\n".join(map(_latex, blocks))
    if output_format == "markdown":
        return "\n\n".join(map(_markdown, blocks))
    return "\n\n".join(_text(block, width) for block in blocks)


def to_json(blocks: Sequence[Block]) -> list[dict[str, Any]]:
    """Return the blocks as JSON data: the runs of each in order, with a value and a hash for each score."""
    return [
        {
            "corpus": block.corpus,
            "split": block.split,
            "preset": block.preset,
            "data": block.data,
            "runs": [
                {
                    "run": row.run,
                    "model": row.model,
                    "repeats": row.original or None,
                    "settings": block.differing(row),
                    "scores": [{"name": n, "hash": code, "value": value} for (n, code), value in row.scores.items()],
                }
                for row, _ in block.ordered()
            ],
        }
        for block in blocks
    ]


def _long(block: Block) -> Iterator[list[str]]:
    """Yield a block's scores, one per row; undefined ones are empty."""
    about = [block.corpus, block.split, block.preset, block.data]
    for row, _ in block.ordered():
        for (name, code), value in row.scores.items():
            shown = "" if value is None else f"{value:.6g}"
            yield [*about, row.run, row.model, block.differing(row), name, shown, code]


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
        again: format of the name of a run that repeats the one above.
        escaped: escapes texts that come from runs.
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


def _latex(block: Block) -> str:
    table = _table(block, "{}*", "again: {}")
    hashes = ", ".join(f"{name} {code[:SHORT]}" for name, code in block.columns())
    drawn = tables.formatted(table, "latex", len(table[0]) - len(block.columns()))
    return tables.with_notes(drawn, [block.title, f"*: the best; hashes: {hashes}"], "latex")


def _text(block: Block, width: int | None) -> str:
    table = _table(block, "{}*", "  again: {}")
    left = len(table[0]) - len(block.columns())
    table.insert(1, [""] * left + [code[:SHORT] for _, code in block.columns()])
    return "\n".join([printable(block.title), aligned(table, left, width=width)])


def _markdown(block: Block) -> str:
    table = _table(block, "**{}**", "again: {}", escape)
    count = len(block.columns())
    # If a score has several columns, hashes distinguish them.
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
    """Return a score's name as an escaped column heading; a long one breaks after each hyphen."""
    name = printable(name)
    return Markup("-<br>").join(name.split("-")) if len(name) > LONG else markupsafe.escape(name)
