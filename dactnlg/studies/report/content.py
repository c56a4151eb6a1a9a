"""A whole report of a study: its questions in their order."""

from __future__ import annotations

from dactnlg.studies.analyse import Analysis
from dactnlg.studies.report.agreement import ambiguous_table, filter_table, kappa_table, reliability_table
from dactnlg.studies.report.models import anova_table, mixed_tables
from dactnlg.studies.report.parts import ReportPart, sentences
from dactnlg.studies.report.systems import means_table, ranking_table, wins_table


def report_parts(found: Analysis) -> list[ReportPart]:
    """Return what a report of an analysis consists of."""
    lines = [
        f"{found.ratings:,} ratings of {found.systems} systems on {found.items:,} items by {found.raters:,} raters.",
        *sentences(found.notes),
    ]
    agreement = [kappa_table(found.kappas)]
    agreement += [filter_table(found.filtered)] if found.filtered else []
    agreement += [reliability_table(found.reliabilities), ambiguous_table(found.ambiguous)]
    models = [table for model in found.models for table in mixed_tables(model)]
    models += [anova_table(found.anova)] if found.anova else []
    return [
        ReportPart("What was rated", lines),
        ReportPart("How much raters agree", tables=agreement),
        ReportPart("Systems", tables=[means_table(found.means), *map(ranking_table, found.rankings)]),
        ReportPart("System against system", tables=[wins_table(found.wins)]),
        ReportPart("Models of the ratings", tables=models),
    ]
