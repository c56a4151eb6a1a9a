"""`dactnlg leaderboard`: the scores of runs side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from dactnlg.cli import options, streams
from dactnlg.cli.output import width, write_json

if TYPE_CHECKING:
    from dactnlg.experiments.leaderboard_page import Format


@click.command()
@click.argument(
    "runs",
    nargs=-1,
    type=options.FILE,
    metavar="[RUN]...",
    help="Run folders, patterns for them, or ids of published runs. [default: the runs in runs/]",
)
@click.option(
    "--model", "named_runs", type=options.FILE, multiple=True, metavar="RUN", help="Same as RUN; may be repeated."
)
@click.option(
    "--published", "with_published", is_flag=True, help="Show all published runs, in addition to any RUN given."
)
@click.option(
    "--format",
    "output_format",
    type=click.Choice(["text", "markdown", "csv", "latex", "html"]),
    default="text",
    help="Write tables for a terminal, Markdown, CSV with one score per line, LaTeX, or one HTML page.",
)
@click.option("--output", type=options.PATH, metavar="FILE", help="Write to FILE. [default: standard output]")
@options.json
def leaderboard(
    *,
    runs: tuple[str, ...],
    named_runs: tuple[str, ...],
    with_published: bool,
    output_format: Format,
    output: Path | None,
    json_file: str | None,
) -> None:
    """Show the scores of runs side by side, ranked only where their hashes agree.

    There is one table for each test set and protocol, with one column for each score and hash; the best value of a
    column is marked. A run made by `reproduce --output` is shown below the run that it repeats. If several folders are
    given, those that are not runs are skipped, with a note.

    \b
    dactnlg leaderboard
    dactnlg leaderboard runs/* --format html --output leaderboard.html
    dactnlg leaderboard --published --format markdown
    """
    from dactnlg._utils.files import check_folders, written
    from dactnlg.experiments.leaderboard import collect
    from dactnlg.experiments.leaderboard_page import render, to_json

    check_folders(output, json_file)
    blocks = collect([*runs, *named_runs] or None, with_published=with_published, warn=streams.tell)
    if json_file is not None:
        write_json(json_file, to_json(blocks))
    if output:
        with written(output) as file:
            file.write(render(blocks, output_format) + "\n")
    elif json_file != "-":
        print(render(blocks, output_format, width()))
