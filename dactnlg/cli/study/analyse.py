"""`dactnlg study analyse`: what ratings say about raters, systems and metrics."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from dactnlg.cli import options
from dactnlg.cli.output import width, write_json
from dactnlg.errors import UserError

if TYPE_CHECKING:
    from dactnlg._utils.tables import Format


@click.command()
@click.argument("study", type=options.PATH, metavar="STUDY|CSV")
@click.option("--criterion", "criteria", multiple=True, metavar="NAME", help="Analyse this criterion; may be repeated.")
@click.option(
    "--min-kappa",
    type=options.Number(-1, 1),
    metavar="K",
    help="Exclude raters until pairs exceed this Cohen's kappa (Sharma et al. 2017: 0.1). [default: keep all]",
)
@click.option(
    "--rule",
    type=click.Choice(["lowest-mean", "most-pairs", "mean-below"]),
    help="With --min-kappa, whom to exclude: one by one, the lowest mean, or most pairs not above K; or at once all "
    "means not above K. [default: lowest-mean]",
)
@click.option(
    "--normalize",
    type=click.Choice(["none", "z", "centred", "rank"]),
    default="none",
    help="How to normalise each rater's values before means and models.",
)
@click.option(
    "--over",
    type=click.Choice(["both", "items", "raters"]),
    default="both",
    help="What intervals of means generalise to: other items and raters, other items, or other raters.",
)
@click.option("--baseline", metavar="SYSTEM", help="Compare all others with this system. [default: every pair]")
@click.option(
    "--properties",
    type=options.PATH,
    metavar="CSV",
    help="A table with the column system and properties of systems: factors of an analysis of variance.",
)
@click.option(
    "--anova-type", type=click.Choice(["2", "3"]), help="With --properties, type of the sums of squares. [default: 2]"
)
@click.option(
    "--scores",
    multiple=True,
    metavar="FILE",
    help="Metrics of the sentences: a CSV with item, system and a column for each metric; or SYSTEM=FILE.json, as "
    "`score --json` writes it, in the order of the items. For a STUDY they are computed here.",
)
@click.option(
    "--people", multiple=True, metavar="SYSTEM", help="A system of human sentences: report metrics with and without it."
)
@click.option("--preset", metavar="NAME", help="For a STUDY: the protocol of the metrics. [default: nlg-eval]")
@click.option("--metric", "metrics", multiple=True, metavar="NAME", help="Use this metric; may be repeated.")
@click.option("--plot", "plots", multiple=True, metavar="METRIC", help="Plot this metric; may be repeated.")
@click.option(
    "--permutations",
    type=click.IntRange(0, 100_000),
    metavar="N",
    help="Number of permutations for PERM-BOTH; 0: none. [default: 200, or 20 per pair of metrics]",
)
@click.option(
    "--runs", type=click.IntRange(2, 100_000), default=1000, metavar="N", help="Number of TrueSkill tournaments."
)
@click.option("--seed", type=click.IntRange(min=0), default=1, metavar="N", help="Seed of everything random.")
@click.option("--database", metavar="URL", help="Where the ratings of STUDY are stored, if not in its folder.")
@click.option(
    "--report",
    type=options.PATH,
    metavar="FILE",
    help="Write a report to FILE: an HTML page if its name ends in .html, LaTeX if in .tex, otherwise Markdown.",
)
@options.table_format
@options.json_of("everything")
def analyse(
    *,
    study: Path,
    criteria: tuple[str, ...],
    min_kappa: float | None,
    rule: str | None,
    normalize: str,
    over: str,
    baseline: str | None,
    properties: Path | None,
    anova_type: str | None,
    scores: tuple[str, ...],
    people: tuple[str, ...],
    preset: str | None,
    metrics: tuple[str, ...],
    plots: tuple[str, ...],
    permutations: int | None,
    runs: int,
    seed: int,
    database: str | None,
    report: Path | None,
    output_format: Format,
    json_file: str | None,
) -> None:
    """Analyse ratings: how far raters agree, which system is best with what certainty, which metrics agree with people.

    The ratings are those in a study's folder, or in a CSV file with the columns item, system, rater, criterion, value
    (and page, corpus, output). Every table names its method; in a report that is an HTML page, each is also there as
    LaTeX.

    \b
    dactnlg study analyse study --people gold --report report.html
    dactnlg study analyse ratings.csv --scores metrics.csv --plot METEOR --report report.html
    dactnlg study analyse ratings.csv --min-kappa 0.1 --baseline gold --json -
    dactnlg study analyse ratings.csv --criterion quality --normalize z --format latex > tables.tex
    """
    from tqdm import tqdm

    from dactnlg._utils.files import check_folders
    from dactnlg.studies import analyse as analysis
    from dactnlg.studies.report import write
    from dactnlg.studies.report.content import report_parts

    if rule and min_kappa is None:
        raise UserError("--rule says whom --min-kappa excludes: give both")
    if anova_type and properties is None:
        raise UserError("--anova-type is for the analysis of variance of --properties: give both")
    check_folders(report, json_file)
    ratings = analysis.read_study_ratings(study, database)
    metric_scores = analysis.metric_scores(study, ratings, analysis.MetricSource(scores, preset, metrics))
    if metric_scores is None and (people or plots):
        raise UserError("--people and --plot are for metrics, and there are none: give them with --scores")
    wanted = analysis.AnalysisOptions(
        criteria=criteria,
        threshold=min_kappa,
        rule=rule or "lowest-mean",
        normalization=normalize,  # type: ignore[arg-type]
        over=over,  # type: ignore[arg-type]
        baseline=baseline,
        properties=analysis.read_properties(properties) if properties else {},
        anova_type=int(anova_type or 2),  # type: ignore[arg-type]
        runs=runs,
        seed=seed,
        scores=metric_scores,
        people=people,
        permutations=permutations,
    )
    with tqdm(total=analysis.steps(ratings, wanted), unit=" steps", delay=2, leave=False, disable=None) as bar:

        def show(step: str) -> None:
            bar.set_description(step)
            bar.update()

        found = analysis.analyse(ratings, wanted, show)
    parts, title = report_parts(found, plots), f"Ratings: {study.resolve().stem}"
    if report:
        write.write(report, title, parts)
    if json_file is not None:
        write_json(json_file, found.to_json())
    if "-" not in (json_file, str(report)):
        print(write.formatted(title, parts, output_format, width()))
