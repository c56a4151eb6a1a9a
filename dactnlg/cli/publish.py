"""`dactnlg publish`: store a run in MLflow."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from dactnlg.cli import options


@click.command()
@click.argument("run", type=options.PATH, metavar="RUN", help="A run folder with scores in its manifest.")
def publish(*, run: Path) -> None:
    """Publish a run to MLflow and print its id there.

    Stores configuration, scores, hashes and the whole folder, in an SQLite file in the user's data folder or in the
    folder $DACTNLG_TRACK; $MLFLOW_TRACKING_URI names a team's server. A run that is there already, unchanged, is not
    stored again: its id is printed. Runs that nobody could reproduce are refused.

    \b
    dactnlg publish runs/trails-sclstm
    dactnlg reproduce $(dactnlg publish runs/trails-sclstm)
    MLFLOW_TRACKING_URI=http://tracking.example.org:5000 dactnlg publish runs/trails-sclstm
    """
    from dactnlg.experiments.publish import publish as publish_run

    found = publish_run(run)
    if not found.new:
        message = f"{run} is published already, unchanged, in {found.store}"
    elif found.replaces:
        message = f"{run} is published in {found.store}; it has changed since it was published as {found.replaces}"
    else:
        message = f"{run} is published in {found.store}"
    print(f"dactnlg: {message}", file=sys.stderr)
    print(found.id)
