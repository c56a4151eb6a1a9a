"""`dactnlg study export`: ratings for other programs."""

from __future__ import annotations

from pathlib import Path

import click

from dactnlg.cli import options, streams
from dactnlg.errors import UserError


@click.command()
@click.argument("study", type=options.PATH, metavar="STUDY|CSV")
@click.option(
    "--format",
    "form",
    type=click.Choice(["csv", "potato", "e2e", "json"]),
    default="csv",
    help="csv: one rating per row; potato: a Potato project; e2e: one table per criterion, as in the E2E challenge; "
    "json: the study with its ratings.",
)
@click.option(
    "--output",
    type=options.PATH,
    metavar="PLACE",
    help="A file, or, for potato and e2e, a new folder. [default: standard output]",
)
@click.option("--database", metavar="URL", help="Where the ratings are stored, if not in STUDY.")
def export(*, study: Path, form: str, output: Path | None, database: str | None) -> None:
    """Write the ratings of a study, or of a CSV file of ratings, for other programs.

    The long CSV has the columns item, system, rater, criterion, value, and page, corpus, output. Attention checks are
    left out. If several systems gave the same sentence, its rating counts for each of them (for pairs, for every such
    pair of systems): these copies are one judgement.

    \b
    dactnlg study export study > ratings.csv
    dactnlg study export study --format potato --output annotations
    dactnlg study export ratings.csv --format e2e --output tables
    """
    from dactnlg.studies.analyse import read_study_ratings
    from dactnlg.studies.exchange.convert import as_json
    from dactnlg.studies.exchange.e2e import write_e2e
    from dactnlg.studies.exchange.potato import write_potato
    from dactnlg.studies.study import Study

    study = Study.folder(study)
    if form in ("potato", "e2e") and output is None:
        raise UserError(f"--format {form} writes several files: name a new folder with --output")
    known = Study.load(study) if study.is_dir() else None
    if form == "json" and known is None:
        raise UserError(f"{study} is no study: --format json writes a study with its ratings")
    ratings = read_study_ratings(study, database)
    for note in ratings.notes:
        streams.tell(note)
    if form == "json" and known is not None:
        from dactnlg.cli.output import write_json

        write_json(str(output or "-"), as_json(known, ratings))
    elif form == "csv":
        ratings.write(output or Path("-"))
    elif output is not None:
        (write_e2e if form == "e2e" else write_potato)(ratings, output, known)
        streams.tell(f"{output}: {len(ratings.rows)} ratings of {len(ratings.names('rater'))} raters")
