"""`dactnlg study power`: how many acts and raters a study needs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from dactnlg.cli import options
from dactnlg.cli.output import show, width
from dactnlg.errors import UserError

if TYPE_CHECKING:
    from dactnlg._utils.tables import Format

TESTS = ["both", "items", "raters"]


@click.command()
@click.argument("pilot", type=options.PATH, metavar="STUDY|CSV")
@click.option("--criterion", metavar="NAME", help="The criterion to plan for. [default: the first]")
@click.option(
    "--difference",
    type=options.Number(min=0.0, min_open=True),
    required=True,
    metavar="D",
    help="The difference between two systems' means to detect, in units of the scale.",
)
@click.option("--power", type=options.Number(0.01, 0.999), default=0.8, metavar="P", help="The power wanted.")
@click.option(
    "--test",
    type=click.Choice(TESTS),
    default="both",
    help="What must be significant: the paired t test over acts, that over raters, or both.",
)
@click.option("--acts", metavar="N,...", help="Numbers of acts to try.")
@click.option("--raters", metavar="N,...", help="Numbers of raters to try.")
@click.option(
    "--studies", type=click.IntRange(50, 100_000), default=1000, metavar="N", help="Studies simulated for each size."
)
@click.option("--seed", type=click.IntRange(min=0), default=1, metavar="N", help="Seed of the simulation.")
@click.option("--database", metavar="URL", help="Where the ratings of STUDY are stored, if not in its folder.")
@options.table_format
@options.json_of("everything")
def power(
    *,
    pilot: Path,
    criterion: str | None,
    difference: float,
    power: float,
    test: str,
    acts: str | None,
    raters: str | None,
    studies: int,
    seed: int,
    database: str | None,
    output_format: Format,
    json_file: str | None,
) -> None:
    """Estimate from a pilot's ratings how many acts and raters are needed to detect a difference between two systems.

    The pilot's variances are estimated (of acts, of raters, and of the interactions of these and systems), studies of
    many sizes are simulated with them, and each is tested; the table says how often the difference was found. A
    pairwise pilot has no such variances.

    \b
    dactnlg study power pilot.csv --difference 0.3
    dactnlg study power study --criterion naturalness --difference 0.5 --acts 20,40,80 --raters 5,10,20
    """
    from tqdm import tqdm

    from dactnlg._utils.files import check_folders
    from dactnlg.studies.analyse import read_study_ratings
    from dactnlg.studies.analysis.pilot import pilot_variances
    from dactnlg.studies.analysis.sample_size import ACTS, RATERS, PowerPlan, sample_size
    from dactnlg.studies.report import write
    from dactnlg.studies.report.models import sample_tables
    from dactnlg.studies.report.parts import ReportPart

    check_folders(json_file)
    ratings = read_study_ratings(pilot, database)
    chosen = criterion or ratings.names("criterion")[0]
    plan = PowerPlan(
        acts=_numbers("--acts", acts) if acts else ACTS,
        raters=_numbers("--raters", raters) if raters else RATERS,
        test=test,  # type: ignore[arg-type]
        power=power,
        studies=studies,
        seed=seed,
    )
    variances = pilot_variances(ratings, chosen)
    total = len(set(plan.acts)) * len(set(plan.raters))
    with tqdm(desc="simulating", unit=" designs", total=total, delay=2, leave=False, disable=None) as bar:
        found = sample_size(variances, difference, plan, bar.update)
    title = f"Sample size: {chosen}"
    parts = [ReportPart(title, tables=sample_tables(found))]
    show(write.formatted(title, parts, output_format, width()), found.to_json(), json_file)


def _numbers(option: str, text: str) -> list[int]:
    try:
        found = [int(part) for part in text.split(",")]
    except ValueError:
        raise UserError(f"{option} {text[:40]!r}: write whole numbers, separated by commas") from None
    if not all(2 <= number <= 10_000 for number in found):
        raise UserError(f"{option} {text[:40]!r}: each is at least 2 and at most 10,000")
    return found
