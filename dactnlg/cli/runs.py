"""Runs that others read and do again: `publish`, `reproduce` and `leaderboard`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Literal

import click

from dactnlg.cli import options


@click.command()
@click.argument("run", type=options.PATH, metavar="RUN", help="A run folder with scores in its manifest.")
def publish(run: Path) -> None:
    """Publish a run to MLflow and print its id there.

    Configuration, scores, hashes and the whole folder are stored. The store is an SQLite file in the user's data folder
    or in the folder $DACTNLG_TRACK; a team's server is named by $MLFLOW_TRACKING_URI. A run that is there already,
    unchanged, is not stored again: its id is printed. Runs that nobody could reproduce are refused.

    \b
    dactnlg publish runs/trails-sclstm
    dactnlg reproduce $(dactnlg publish runs/trails-sclstm)
    MLFLOW_TRACKING_URI=http://tracking.example.org:5000 dactnlg publish runs/trails-sclstm
    """
    from dactnlg.experiments.publish import publish as publish_run

    found = publish_run(run)
    if not found.new:
        told = f"{run} is published already, unchanged, in {found.store}"
    elif found.replaces:
        told = f"{run} is published in {found.store}; it has changed since it was published as {found.replaces}"
    else:
        told = f"{run} is published in {found.store}"
    print(f"dactnlg: {told}", file=sys.stderr)
    print(found.id)


@click.command()
@click.argument("run", metavar="RUN", help="A run folder with scores, or the id of a published run.")
@click.option("--output", type=options.PATH, metavar="RUN", help="Keep the new run here.")
@options.data_dir
def reproduce(run: str, output: Path | None, data_dir: Path | None) -> None:
    """Train and evaluate a run again from its own commit, and compare the scores.

    Each score is equal, within noise (its standard error over the test set), different or not comparable; the last
    line is the worst of these. The exit code is 1 where a score is different or not comparable.

    \b
    dactnlg reproduce runs/trails-sclstm
    dactnlg reproduce 4f0c7e21a95b4d3c8e6f1a2b3c4d5e6f --output runs/again
    """
    from dactnlg.experiments.reproduce import reproduce as reproduce_run

    result = reproduce_run(run, output, data_dir)
    print(result.table())
    if not result.succeeded:
        raise click.exceptions.Exit(1)


@click.command()
@click.argument(
    "runs", nargs=-1, metavar="[RUN]...", help="Run folders, or ids of published runs. [default: those in runs/]"
)
@click.option("--published", "with_published", is_flag=True, help="Show all published runs, beside RUN if given.")
@click.option(
    "--format",
    "output_format",
    type=click.Choice(["text", "markdown", "html"]),
    default="text",
    help="For a terminal, Markdown, or one page.",
)
@click.option("--output", type=options.PATH, metavar="FILE", help="Write it here. [default: standard output]")
def leaderboard(
    runs: tuple[str, ...], with_published: bool, output_format: Literal["text", "markdown", "html"], output: Path | None
) -> None:
    """Show the scores of runs side by side, ranked only where their hashes agree.

    There is one table for each test set and protocol, and in it one column for each score and hash; the best of a
    column is marked. A run that `reproduce --output` made is shown below the run that it repeats.

    \b
    dactnlg leaderboard
    dactnlg leaderboard runs/* --format html --output leaderboard.html
    dactnlg leaderboard --published --format markdown
    """
    from dactnlg._utils.files import check_folders
    from dactnlg.experiments.leaderboard import collect
    from dactnlg.experiments.leaderboard_page import render

    check_folders(output)
    text = render(collect(list(runs) or None, with_published), output_format)
    if output:
        output.write_text(text + "\n", encoding="utf-8")
    else:
        print(text)
