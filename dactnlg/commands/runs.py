"""Runs beside one another: `reproduce` and `leaderboard`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from dactnlg.commands.options import DataDir


def reproduce(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder with scores in its manifest.")],
    output: Annotated[Path | None, typer.Option(metavar="RUN", help="Keep the new run here.")] = None,
    data_dir: DataDir = None,
) -> None:
    """Train and evaluate a run again from its own commit, and compare the scores.

    \b
    dactnlg reproduce runs/trails-sclstm
    """
    from dactnlg.reproduction import reproduce as reproduce_run

    result = reproduce_run(run, output, data_dir)
    print(result.table())
    if not result.succeeded:
        raise typer.Exit(1)


def leaderboard(
    runs: Annotated[
        list[Path] | None, typer.Argument(metavar="[RUN]...", help="Run folders. [default: those in runs/]")
    ] = None,
    output_format: Annotated[Literal["text", "markdown", "html"], typer.Option("--format")] = "text",
    output: Annotated[Path | None, typer.Option(metavar="FILE", help="[default: standard output]")] = None,
) -> None:
    """Show the scores of runs side by side, ranked only where their hashes agree.

    \b
    dactnlg leaderboard
    dactnlg leaderboard runs/* --format html --output leaderboard.html
    """
    from dactnlg.files import check_folders
    from dactnlg.leaderboard import collect, render

    check_folders(output)
    text = render(collect(runs or None), output_format)
    if output:
        output.write_text(text + "\n", encoding="utf-8")
    else:
        print(text)
