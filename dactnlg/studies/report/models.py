"""Tables of models of the ratings: mixed effects, analysis of variance, sample size."""

from __future__ import annotations

from dactnlg.studies.analysis.anova import Anova
from dactnlg.studies.analysis.mixed import MixedModel
from dactnlg.studies.analysis.sample_size import SampleSize
from dactnlg.studies.report.parts import ReportTable, interval, number, p_value, sentences


def mixed_tables(found: MixedModel) -> list[ReportTable]:
    """Return a mixed-effects model's means of systems, with its variances in the notes, and its contrasts."""
    notes = sentences(found.notes, [found.reason])
    effects = [["system", "mean", "standard error", "95% interval", "ratings"]]
    effects += [
        [
            row.system,
            number(row.mean, 2),
            number(row.standard_error, 3),
            interval(row.interval95, 2),
            f"{row.ratings:,}",
        ]
        for row in found.effects
    ]
    variances = {
        "items": found.item_variance,
        "sentences": found.sentence_variance,
        "raters": found.rater_variance,
        "residual": found.residual_variance,
    }
    known = [f"{name} {number(value)}" for name, value in variances.items() if value is not None]
    notes += [f"Variances: {', '.join(known)}."] if known else []
    title = f"Mixed-effects model: {found.criterion}"
    tables = [ReportTable(f"mixed-{found.criterion}", title, effects, found.method, notes)]
    if found.contrasts:
        contrasts = [["system", "against", "difference", "standard error", "z", "p", "p (Holm)"]]
        contrasts += [
            [
                row.first,
                row.second,
                number(row.difference, 2, sign=True),
                number(row.standard_error),
                number(row.z, 2, sign=True),
                p_value(row.p),
                p_value(row.p_holm),
            ]
            for row in found.contrasts
        ]
        name = f"contrasts-{found.criterion}"
        tables.append(ReportTable(name, f"Differences of systems: {found.criterion}", contrasts, found.method, left=2))
    return tables


def anova_table(found: Anova) -> ReportTable:
    """Return the table of an analysis of variance."""
    rows = [["effect", "sum of squares", "df", "F", "p", "partial eta squared"]]
    rows += [
        [
            row.term,
            number(row.sum_of_squares, 2),
            str(row.df),
            "" if row.f is None else number(row.f, 2),
            "" if row.p is None else p_value(row.p),
            "" if row.partial_eta_squared is None else number(row.partial_eta_squared),
        ]
        for row in found.rows
    ]
    notes = sentences(found.notes, [found.reason])
    return ReportTable("anova", f"Analysis of variance: {found.criterion}", rows, found.method, notes)


def sample_tables(found: SampleSize) -> list[ReportTable]:
    """Return the smallest designs with enough power, and the power of all designs."""
    grid: dict[int, dict[int, str]] = {}
    for design in found.designs:
        grid.setdefault(design.acts, {})[design.raters] = f"{design.power:.2f}"
    raters = sorted({design.raters for design in found.designs})
    rows = [["acts", *(f"{count} raters" for count in raters)]]
    rows += [[str(acts), *(powers.get(count, "") for count in raters)] for acts, powers in sorted(grid.items())]
    smallest = [["acts", "raters", "ratings", "power", "standard error", "found where there is none"]]
    smallest += [
        [
            str(design.acts),
            str(design.raters),
            f"{design.ratings:,}",
            number(design.power, 3),
            number(design.error, 3),
            number(design.false_positives, 3),
        ]
        for design in found.smallest
    ]
    title = f"Smallest designs that find a difference of {found.difference:g} with power {found.power:g}"
    notes = [f"None: {found.reason}."] if found.reason else []
    varied = found.variances
    notes.append(
        f"Variances: items {number(varied.item)}, raters {number(varied.rater)}, items x raters "
        f"{number(varied.item_rater)}, items x systems {number(varied.item_system)}, raters x systems "
        f"{number(varied.rater_system)}, residual {number(varied.residual)} ({varied.method})."
    )
    notes += sentences(varied.notes)
    return [
        ReportTable("smallest-designs", title, smallest, found.method, notes, left=0),
        ReportTable("power", "Power by acts and raters", rows, found.method, left=0),
    ]
