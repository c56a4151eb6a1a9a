"""`dactnlg study datasheet`: what to report about a study."""

from __future__ import annotations

from pathlib import Path

import click

from dactnlg.cli import options


@click.command()
@click.argument("study", type=options.PATH, metavar="STUDY")
@click.option("--database", metavar="URL", help="Where the ratings are stored, if not in STUDY.")
@click.option("--output", type=options.PATH, metavar="FILE", help="Write to FILE. [default: standard output]")
def datasheet(*, study: Path, database: str | None, output: Path | None) -> None:
    """Write the study's Human Evaluation Datasheet (HEDS 2.0, Shimorina and Belz 2022) as Markdown.

    What the study knows is filled in; search for TO BE FILLED IN to find the rest.

    \b
    dactnlg study datasheet study --output heds.md
    """
    from dactnlg._utils.files import written
    from dactnlg.studies.heds import datasheet as sheet
    from dactnlg.studies.storage import NoRatingsError, read_ratings
    from dactnlg.studies.study import Study

    study = Study.folder(study)
    known = Study.load(study)
    try:
        ratings = read_ratings(study, database)
    except NoRatingsError:
        ratings = None
    with written(output or "-") as file:
        file.write(sheet(known, ratings))
