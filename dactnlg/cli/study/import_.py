"""`dactnlg study import`: ratings from other programs."""

from __future__ import annotations

from pathlib import Path

import click

from dactnlg.cli import options, streams


@click.command("import")
@click.argument("files", nargs=-1, required=True, type=options.PATH, metavar="FILE...")
@click.option(
    "--format",
    "form",
    type=click.Choice(["csv", "potato", "e2e"]),
    required=True,
    help="csv: one rating per row; potato: a Potato project, file or export; e2e: a table of the E2E challenge.",
)
@click.option("--study", type=options.PATH, metavar="STUDY", help="Check against this study, and use its names.")
@click.option("--items", type=options.PATH, metavar="JSONL", help='For potato: lines {"id", "system", "item"}.')
@click.option("--keep-raters", is_flag=True, help="Keep rater names that are not of the form r001.")
@click.option("--output", type=options.PATH, metavar="CSV", help="Write to this file. [default: standard output]")
def import_(
    *,
    files: tuple[Path, ...],
    form: str,
    study: Path | None,
    items: Path | None,
    keep_raters: bool,
    output: Path | None,
) -> None:
    """Convert ratings from other programs to the long CSV that `dactnlg study analyse` reads.

    Raters' names from elsewhere may be personal, so raters are renumbered; from a table with addresses and countries
    only the ratings are kept. Give all files of one rating campaign together.

    \b
    dactnlg study import annotations --format potato --study study --output ratings.csv
    dactnlg study import quality.csv naturalness.csv --format e2e --output e2e.csv
    """
    from dactnlg.errors import UserError
    from dactnlg.studies.exchange.convert import import_ratings
    from dactnlg.studies.exchange.instances import read_items
    from dactnlg.studies.study import Study

    if items is not None and form != "potato":
        raise UserError("--items is the data file of a Potato project: it goes with --format potato")
    known = Study.load(Study.folder(study)) if study else None
    named = read_items(items) if items else None
    found = import_ratings(files, form, known, named, keep_raters=keep_raters)  # type: ignore[arg-type]
    for note in found.notes:
        streams.tell(note)
    found.write(output or Path("-"))
