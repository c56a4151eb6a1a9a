"""The contents of a complete report, section by section."""

from __future__ import annotations

from collections.abc import Sequence

from dactnlg.errors import UnknownNameError
from dactnlg.studies.analyse import Analysis, MetricAnalysis
from dactnlg.studies.report.agreement import ambiguous_table, filter_table, kappa_table, reliability_table
from dactnlg.studies.report.metrics import correlation_table, difference_table, scatters
from dactnlg.studies.report.models import anova_table, mixed_tables
from dactnlg.studies.report.parts import ReportPart, sentences
from dactnlg.studies.report.systems import means_table, ranking_table, wins_table

MOST_PLOTS = 12
"""Most scatter plots in a report, unless metrics are chosen."""


def report_parts(found: Analysis, plots: Sequence[str] = ()) -> list[ReportPart]:
    """Return the sections of a report of an analysis.

    Args:
        found: the analysis.
        plots: metrics to draw scatter plots of; by default all metrics, up to `MOST_PLOTS` plots.

    Raises:
        UnknownNameError: there is no such metric.
    """
    lines = [
        f"{found.ratings:,} ratings: systems {found.systems}, items {found.items:,}, raters {found.raters:,}.",
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
        *([_metrics(found.metrics, plots)] if found.metrics else []),
        ReportPart("System against system", tables=[wins_table(found.wins)]),
        ReportPart("Models of the ratings", tables=models),
    ]


def _metrics(found: MetricAnalysis, plots: Sequence[str]) -> ReportPart:
    first, *others = found.levels
    tables = [correlation_table(first, found.halves), *map(correlation_table, others)]
    for one in found.differences:
        title = f"Metrics that Williams' test tells apart ({one.coefficient.capitalize()})"
        tables.append(difference_table(one, f"williams-{one.coefficient}", title))
    if found.permuted:
        tables.append(difference_table(found.permuted, "perm-both", "Metrics that PERM-BOTH tells apart (Pearson)"))
    # The plots for all corpora together, and with people's sentences, would repeat the same points.
    shown = [own for own in found.pairings if own.gold is not True]
    if len({own.corpus for own in shown}) > 1:
        shown = [own for own in shown if own.corpus is not None]
    known = list(dict.fromkeys(metric for own in shown for metric in own.metrics))
    for name in plots:
        if name not in known:
            raise UnknownNameError("metric", name, known)
    drawn, groups = scatters(shown, list(plots) or known)
    lines = [] if plots or len(drawn) <= MOST_PLOTS else [f"The first {MOST_PLOTS} of {len(drawn)} plots are drawn."]
    return ReportPart("Metrics against people", lines, tables, drawn if plots else drawn[:MOST_PLOTS], groups)
