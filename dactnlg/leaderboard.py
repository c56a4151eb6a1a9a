"""The table of runs: one block for each test set and protocol, ranked only where the hashes of scores agree.

Within a block a column is one score with one hash; a run whose score has another hash stands in a column of its own. A
run that repeats another one is shown under it, and wins nothing.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from dactnlg.errors import RunError
from dactnlg.hashing import SHORT
from dactnlg.metrics.registry import CORPUS_NAMES
from dactnlg.run import Run
from dactnlg.scores import LOWER_IS_BETTER, NEITHER_IS_BETTER

Format = Literal["text", "markdown", "html"]
Column = tuple[str, str]
"""A score's name and hash."""


@dataclass(slots=True)
class Row:
    """One run in one block: its scores by column; `repeats` is the run that it does again, if any."""

    run: str
    model: str
    place: str
    repeats: str
    scores: dict[Column, float | None]


@dataclass(slots=True)
class Block:
    """The runs scored on one test set under one protocol."""

    corpus: str
    split: str
    preset: str
    data: str
    rows: list[Row] = field(default_factory=list)

    @property
    def title(self) -> str:
        """Corpus, split and protocol, with the hash of the test set, which tells two versions of a corpus apart."""
        return f"{self.corpus}, {self.split}, {self.preset} (data {self.data[:SHORT]})"

    def columns(self) -> list[Column]:
        """Return the columns in the order in which scores were first seen; those of one name stand together."""
        found = dict.fromkeys(column for row in self.rows for column in row.scores)
        names = list(dict.fromkeys(name for name, _ in found))
        return sorted(found, key=lambda column: names.index(column[0]))

    def best(self, column: Column) -> float | None:
        """Return the best value of a column among runs that repeat no other one; None for fewer than two of them.

        Of mean length and vocabulary none is the best.
        """
        values = [row.scores[column] for row in self.rows if not row.repeats and column in row.scores]
        defined = [value for value in values if value is not None]
        if len(defined) < 2 or column[0] in NEITHER_IS_BETTER:
            return None
        return min(defined) if column[0] in LOWER_IS_BETTER else max(defined)

    def ordered(self) -> list[Row]:
        """Return the rows by the block's last score of what was said well, the best first.

        Error rates and scores that only a whole corpus has (diversity) do not lead; repetitions stand under what they
        repeat.
        """
        behind = LOWER_IS_BETTER.union(CORPUS_NAMES)
        leading = next((c for c in reversed(self.columns()) if c[0] not in behind), None)
        originals = [row for row in self.rows if not self._original(row)]
        originals.sort(key=lambda row: (-(row.scores.get(leading) or 0.0) if leading else 0.0, row.run))
        return [r for first in originals for r in (first, *(row for row in self.rows if self._original(row) is first))]

    def _original(self, row: Row) -> Row | None:
        return next(
            (other for other in self.rows if row.repeats and other is not row and other.place == row.repeats), None
        )


def collect(paths: Iterable[str | Path] | None = None) -> list[Block]:
    """Return the blocks of some runs, or of all runs in `runs/`.

    Raises:
        RunError: a folder without manifest, or no scores at all.
    """
    given = list(map(Path, paths)) if paths is not None else []
    if paths is None:
        given = sorted(path.parent for path in Path("runs").glob("*/manifest.json"))
    blocks: dict[tuple[str, ...], Block] = {}
    for path in given:
        run = Run(path)
        if not run.manifest_path.exists():
            raise RunError(f"{path} has no manifest: it is no run, or its training has not ended")
        _add(blocks, path, run.manifest())
    if not blocks:
        where = "these runs have" if given else "runs/ has"
        raise RunError(f"{where} no scores; make them with: dactnlg evaluate --model RUN")
    return sorted(blocks.values(), key=lambda block: block.title)


def _add(blocks: dict[tuple[str, ...], Block], path: Path, manifest: Mapping[str, Any]) -> None:
    model = str(manifest.get("config", {}).get("model", {}).get("name", ""))
    repeats = str(manifest.get("repeats", {}).get("run", ""))
    for entry in manifest.get("evaluations", []):
        options = "".join(f" {key}={value}" for key, value in entry["options"].items())
        for preset, scores in entry["scores"].items():
            key = (entry["corpus"], entry["split"], preset, entry["data"])
            columns = {(name, score["hash"]): score["value"] for name, score in scores.items()}
            row = Row(path.name + options, model, str(path.absolute()), repeats, columns)
            blocks.setdefault(key, Block(*key)).rows.append(row)


def render(blocks: Sequence[Block], output_format: Format = "text") -> str:
    """Return the blocks as text for a terminal, as Markdown, or as one HTML page."""
    if output_format == "html":
        return _PAGE.format(body="\n".join(map(_html, blocks)))
    return "\n\n".join(_plain(block, output_format == "markdown") for block in blocks)


def _cells(block: Block) -> list[list[tuple[str, bool]]]:
    """Return a header and a row a run, as (text, whether it is the best of its column)."""
    columns = block.columns()
    best = {column: block.best(column) for column in columns}
    twice = [name for name, _ in columns]
    heads = [name if twice.count(name) == 1 else f"{name} {code[:SHORT]}" for name, code in columns]
    table = [[("run", False), ("model", False), *((head, False) for head in heads)]]
    shown = {row.place for row in block.rows}
    for row in block.ordered():
        label = (
            f"  again: {row.run}"
            if row.repeats in shown
            else f"{row.run} (repeats {row.repeats})"
            if row.repeats
            else row.run
        )
        cells = [(label, False), (row.model, False)]
        for column in columns:
            value = row.scores.get(column)
            text = "" if column not in row.scores else "undefined" if value is None else f"{value:.4f}"
            cells.append((text, value is not None and value == best[column] and not row.repeats))
        table.append(cells)
    return table


def _plain(block: Block, markdown: bool) -> str:
    marked = [[f"**{t}**" if best and markdown else f"{t}*" if best else t for t, best in row] for row in _cells(block)]
    hashes = ", ".join(f"{name} {code[:SHORT]}" for name, code in block.columns())
    if markdown:
        rows = [[cell.strip().replace("|", "\\|") for cell in row] for row in marked]
        lines = ["| " + " | ".join(row) + " |" for row in rows]
        lines.insert(1, "|---|---|" + "---:|" * (len(rows[0]) - 2))
        return "\n".join([f"## {block.title}", "", *lines, "", f"Hashes: {hashes}"])
    widths = [max(map(len, column)) for column in zip(*marked, strict=True)]
    lines = [
        "  ".join(
            cell.ljust(w) if i < 2 else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, widths, strict=True))
        )
        for row in marked
    ]
    return "\n".join([block.title, *(line.rstrip() for line in lines), f"hashes: {hashes}"])


def _html(block: Block) -> str:
    header, *rows = _cells(block)
    codes = ["", "", *(code for _, code in block.columns())]
    heads = "".join(
        f'<th scope="col" title="{code}">{html.escape(text)}'
        + (f"<br><code>{code[:SHORT]}</code>" if code else "")
        + "</th>"
        for (text, _), code in zip(header, codes, strict=True)
    )
    lines = []
    for (label, _), *cells in rows:
        again = ' class="again"' if label.startswith("  ") else ""
        data = "".join(f"<td{' class=best' if best else ''}>{html.escape(text)}</td>" for text, best in cells)
        lines.append(f'<tr{again}><th scope="row">{html.escape(label.strip())}</th>{data}</tr>')
    table = f"<table>\n<thead><tr>{heads}</tr></thead>\n<tbody>\n" + "\n".join(lines) + "\n</tbody></table>"
    return f"<section>\n<h2>{html.escape(block.title)}</h2>\n{table}\n</section>"


_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>dactnlg leaderboard</title>
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; color: #1d1d1f; background: #fff; margin: 2rem auto; max-width: 72rem;
  padding: 0 1rem; }}
h1 {{ font-size: 1.5rem; }} h2 {{ font-size: 1.1rem; margin: 2rem 0 .5rem; }}
section {{ overflow-x: auto; }}
table {{ border-collapse: collapse; font-variant-numeric: tabular-nums; }}
th, td {{ padding: .35rem .8rem; text-align: right; border-bottom: 1px solid #ddd; white-space: nowrap; }}
th:first-child, td:nth-child(2), th:nth-child(2) {{ text-align: left; font-weight: 500; }}
thead th {{ vertical-align: bottom; border-bottom: 2px solid #888; }}
code {{ font-size: .75rem; color: #666; font-weight: 400; }}
.best {{ font-weight: 700; background: #e8f3e8; }}
.again th {{ padding-left: 2.2rem; font-weight: 400; }} .again {{ color: #666; }}
@media (prefers-color-scheme: dark) {{ body {{ background: #16181c; color: #e6e6e6; }}
  th, td {{ border-color: #444; }} code, .again {{ color: #aaa; }} .best {{ background: #23402a; }} }}
</style>
<h1>Leaderboard</h1>
<p>Scores are ranked within a column only: one hash, one test set, one protocol. The best of each is marked.</p>
{body}
</html>"""
