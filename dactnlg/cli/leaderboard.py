"""`dactnlg leaderboard`: the scores of runs side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

from dactnlg.cli import options


@click.command()
@click.argument(
    "runs", nargs=-1, metavar="[RUN]...", help="Run folders, or ids of published runs. [default: those in runs/]"
)
@click.option("--published", "with_published", is_flag=True, help="Show all published runs, besides RUN if given.")
@click.option(
    "--format",
    "output_format",
    type=click.Choice(["text", "markdown", "html"]),
    default="text",
    help="Write tables for a terminal, Markdown, or one HTML page.",
)
@click.option("--output", type=options.PATH, metavar="FILE", help="Write to FILE. [default: standard output]")
def leaderboard(
    *,
    runs: tuple[str, ...],
    with_published: bool,
    output_format: Literal["text", "markdown", "html"],
    output: Path | None,
) -> None:
    """Show the scores of runs side by side, ranked only where their hashes agree.

    There is one table for each test set and protocol, with one column for each score and hash; the best value of a
    column is marked. A run that `reproduce --output` made is shown below the run that it repeats.

    \b
    dactnlg leaderboard
    dactnlg leaderboard runs/* --format html --output leaderboard.html
    dactnlg leaderboard --published --format markdown
    """
    from dactnlg._utils.files import check_folders, written
    from dactnlg.experiments.leaderboard import collect
    from dactnlg.experiments.leaderboard_page import render

    check_folders(output)
    text = render(collect(list(runs) or None, with_published=with_published), output_format)
    if output:
        with written(output) as file:
            file.write(text + "\n")
    else:
        print(text)
