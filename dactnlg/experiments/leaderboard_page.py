"""The leaderboard for readers: text for a terminal, Markdown, or one page of HTML."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Literal, NamedTuple

from dactnlg import __version__
from dactnlg._utils import tables
from dactnlg._utils.hashing import SHORT
from dactnlg._utils.tables import aligned
from dactnlg.evaluation.report.style import CSS
from dactnlg.evaluation.scores import LOWER_IS_BETTER
from dactnlg.experiments.leaderboard import Block, Column

LONG = 12
"""Characters of a score's name in one line of a page's heading."""
Format = Literal["text", "markdown", "html"]


class Line(NamedTuple):
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


def _lines(block: Block) -> list[Line]:
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
        found.append(Line(name, again, row.model, block.differing(row), values))
    return found


def _table(block: Block, best: str, again: str) -> list[list[str]]:
    """Return the cells of a block as text, the header first; `best` and `again` are formats."""
    lines = _lines(block)
    told = any(line.settings for line in lines)
    table = [["run", "model", *(["settings"] if told else []), *(name for name, _ in block.columns())]]
    for line in lines:
        values = [best.format(text) if is_best else text for text, is_best in line.values]
        name = again.format(line.run) if line.again else line.run
        table.append([name, line.model, *([line.settings] if told else []), *values])
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
    body = "\n".join(map(_section, blocks))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>dactnlg leaderboard</title>\n<style>{CSS}{_CSS}</style>\n</head>\n<body>\n<main>\n"
        "<h1>Leaderboard</h1>\n"
        '<p class="soft">Scores are ranked within a column only: one hash, one test set, one protocol. '
        "The best of each column is marked; a run done again stands below the first and wins nothing.</p>\n"
        f"{body}\n<footer>dactnlg {__version__}</footer>\n</main>\n</body>\n</html>"
    )


def _section(block: Block) -> str:
    heads = "".join(_head(column) for column in block.columns())
    lines = []
    for line in _lines(block):
        again = ' class="again"' if line.again else ""
        # Each setting stays in one piece where the line breaks.
        settings = " ".join(f"<span>{escape(setting)}</span>" for setting in line.settings.split())
        settings = f"<small>{settings}</small>" if settings else ""
        note = "<i>again</i> " if line.again else ""
        cells = "".join(f"<td{' class=best' if best else ''}>{escape(text)}</td>" for text, best in line.values)
        name = f'<th scope="row">{note}{escape(line.run)}{settings}</th>'
        lines.append(f"<tr{again}>{name}<td>{escape(line.model)}</td>{cells}</tr>")
    facts = f"<b>{escape(block.split)}</b> split, preset <b>{escape(block.preset)}</b>"
    return (
        f"<section>\n<h2>{escape(block.corpus)}</h2>\n"
        f'<p class="soft">{facts}, data <code title="{block.data}">{block.data[:SHORT]}</code></p>\n'
        '<div class="card wide"><table>\n<thead><tr><th scope="col">run</th><th scope="col">model</th>'
        f"{heads}</tr></thead>\n<tbody>\n" + "\n".join(lines) + "\n</tbody></table></div>\n</section>"
    )


def _head(column: Column) -> str:
    name, code = column
    lower = "<small>lower is better</small>" if name in LOWER_IS_BETTER else ""
    # A long name over short numbers would make the column twice as wide.
    broken = escape(name).replace("-", "-<br>") if len(name) > LONG else escape(name)
    return f'<th scope="col">{broken}{lower}<code title="{code}">{code[:SHORT]}</code></th>'


_CSS = """
main { max-width: 76rem; }
.wide { overflow-x: auto; padding: 0; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { padding: .45rem .8rem; text-align: right; border-top: 1px solid var(--line); white-space: nowrap;
  font-weight: 400; }
thead th { border-top: 0; border-bottom: 2px solid var(--line); vertical-align: bottom; font-weight: 600; }
th small, th code { display: block; color: var(--soft); font-weight: 400; line-height: 1.3; }
th small { font-size: .78rem; }
code { font: .74rem ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
th:first-child, td:nth-child(2), th:nth-child(2) { text-align: left; }
th span { white-space: nowrap; }
th:first-child { position: sticky; left: 0; z-index: 1; background: var(--card); min-width: 12rem; max-width: 20rem;
  white-space: normal; overflow-wrap: anywhere; }
tbody th { font-weight: 600; }
.best { font-weight: 700; color: var(--good); position: relative; }
.best::after { content: "*"; position: absolute; }
.again td { color: var(--soft); }
.again th { font-weight: 400; padding-left: 1.8rem; color: var(--soft); }
.again td, .again th { border-top-style: dashed; }
i { font-style: italic; }
@media (max-width: 40rem) {
  th, td { padding: .4rem .55rem; }
  th:first-child { min-width: 7.5rem; max-width: 9.5rem; }
  .again th { padding-left: 1.2rem; }
}
"""
