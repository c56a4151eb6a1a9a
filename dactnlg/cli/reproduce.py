"""`dactnlg reproduce`: train and evaluate a run again."""

from __future__ import annotations

from pathlib import Path

import click

from dactnlg.cli import options
from dactnlg.cli.output import show, width


@click.command()
@options.run(kind=str, about="A run folder with scores, or the id of a published run.")
@click.option("--output", type=options.PLACE, metavar="RUN", help="Keep the new run here. [default: it is deleted]")
@click.option(
    "--code", type=options.PATH, metavar="DIR", help="A checkout with the run's commit. [default: dactnlg's own]"
)
@options.json_of("the verdicts")
@options.data_dir
def reproduce(
    *, run: str, output: Path | None, code: Path | None, json_file: str | None, data_dir: Path | None
) -> None:
    """Train and evaluate a run again from its own commit, and compare the scores.

    This needs a checkout of dactnlg: the commit is looked up in yours, never in the run. A run made by an installed
    dactnlg is repeated with the same version, as it is installed here. What will be run is printed first.

    Each score is equal, within noise (its standard error over the test set), different or not comparable; the last
    line gives the worst verdict. The exit code is 1 if a score is different or not comparable.

    \b
    dactnlg reproduce runs/trails-sclstm
    dactnlg reproduce 4f0c7e21a95b4d3c8e6f1a2b3c4d5e6f --output runs/again
    """
    from dactnlg._utils.files import check_folders
    from dactnlg.experiments.reproduce import reproduce as reproduce_run

    check_folders(json_file)
    result = reproduce_run(run, output, data_dir, code=code)
    show(result.table(width()), result.to_json(), json_file)
    if not result.succeeded:
        raise click.exceptions.Exit(1)
