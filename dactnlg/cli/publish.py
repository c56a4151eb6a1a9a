"""`dactnlg publish`: store a run in MLflow."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from dactnlg.cli import options, streams
from dactnlg.cli.output import show


@click.command()
@options.run(about="A run folder with scores in its manifest.")
@options.json_of("the id and the store")
def publish(*, run: Path, json_file: str | None) -> None:
    """Publish a run to MLflow and print its id there.

    This stores configuration, scores, hashes and the whole folder, in an SQLite file in the user's data folder or in
    the folder $DACTNLG_TRACK; $MLFLOW_TRACKING_URI names a team's server. A run that is already there, unchanged, is
    not stored again; its id is printed. Runs must have been made in a checkout of dactnlg: those that nobody could
    reproduce are refused.

    \b
    dactnlg publish runs/trails-sclstm
    dactnlg reproduce $(dactnlg publish runs/trails-sclstm)
    MLFLOW_TRACKING_URI=http://tracking.example.org:5000 dactnlg publish runs/trails-sclstm
    """
    from dactnlg._utils.files import check_folders
    from dactnlg.experiments.publish import publish as publish_run

    check_folders(json_file)
    found = publish_run(run)
    if not found.new:
        message = f"{run} is published already, unchanged, in {found.store}"
    elif found.replaces:
        message = f"{run} is published in {found.store}; it has changed since it was published as {found.replaces}"
    else:
        message = f"{run} is published in {found.store}"
    streams.tell(message)
    show(found.id, asdict(found), json_file)
