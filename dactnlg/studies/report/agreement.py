"""Tables of agreement: kappas of pairs, removed raters, alpha, intraclass correlation, ambiguous items."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from dactnlg.studies.analysis.agreement import Kappas, exceeding
from dactnlg.studies.analysis.ambiguous import Ambiguous
from dactnlg.studies.analysis.filtering import FilteredRaters
from dactnlg.studies.analysis.reliability import Reliability
from dactnlg.studies.report.parts import UNDEFINED, ReportTable, interval, number, p_value, sentences

MOST_AMBIGUOUS = 10
"""Number of items listed."""


def kappa_table(found: Sequence[Kappas]) -> ReportTable:
    """Return how many pairs of raters exceed each kappa threshold, by criterion (Sharma et al. 2017, Table 4)."""
    header = ["criterion", "pairs", "mean kappa", "linear", "quadratic"]
    thresholds = [row.threshold for row in exceeding(found[0])]
    rows = [[*header, *(f"> {threshold:g}" for threshold in thresholds)]]
    for one in found:
        counted = [f"{row.pairs}/{row.of}" if row.share is not None else UNDEFINED for row in exceeding(one)]
        means = [_mean([getattr(pair, name) for pair in one.pairs]) for name in ("plain", "linear", "quadratic")]
        rows.append([one.criterion, f"{len(one.pairs):,}", *means, *counted])
    notes = _notes(found)
    return ReportTable("kappa", "Cohen's kappa of pairs of raters", rows, found[0].method, notes)


def filter_table(found: FilteredRaters) -> ReportTable:
    """Return the effect of removing raters: how many pairs exceed each kappa threshold before and after."""
    rows = [["kappa", "pairs before", "share", "pairs after", "share"]]
    for before, after in zip(found.before, found.after, strict=True):
        shares = [UNDEFINED if one.share is None else f"{one.share:.1%}" for one in (before, after)]
        counts = [f"{one.pairs}/{one.of}" for one in (before, after)]
        rows.append([f"> {before.threshold:g}", counts[0], shares[0], counts[1], shares[1]])
    left = ", ".join(f"{one.rater} (mean kappa {number(one.mean, 2)})" for one in found.left) or "nobody"
    notes = [f"Left: {left}. Stayed: {len(found.kept)} raters.", *sentences(found.notes, [found.reason])]
    title = f"Raters who leave: kappa {found.threshold:g}, rule {found.rule}"
    return ReportTable("filter", title, rows, found.method, notes)


def reliability_table(found: Sequence[Reliability]) -> ReportTable:
    """Return Krippendorff's alpha and the intraclass correlations, by criterion."""
    rows = [["criterion", "statistic", "value", "95% interval", "p"]]
    for one in found:
        rows += [[one.criterion, f"alpha, {alpha.level}", number(alpha.value), "", ""] for alpha in one.alphas]
        rows += [
            [one.criterion, f"{icc.form}: {icc.meaning}", number(icc.value), interval(icc.interval), p_value(icc.p)]
            for icc in one.icc
        ]
    # The reason itself says that the ICC is undefined, or not computed.
    told = [text for one in found for text in (*one.notes, one.reason) if text]
    notes = sentences(told, [alpha.reason for one in found for alpha in one.alphas])
    title = "Krippendorff's alpha and intraclass correlation"
    return ReportTable("reliability", title, rows, found[0].method, notes, left=2)


def ambiguous_table(found: Sequence[Ambiguous]) -> ReportTable:
    """Return the items about which raters disagree most."""
    rows = [["criterion", "item", "standard deviation", "lowest", "highest", "ratings"]]
    for one in found:
        rows += [
            [
                one.criterion,
                spread.item,
                number(spread.deviation, 2),
                f"{spread.lowest:g}",
                f"{spread.highest:g}",
                f"{spread.ratings:,}",
            ]
            for spread in one.items[:MOST_AMBIGUOUS]
        ]
    title = "Items that people find ambiguous"
    return ReportTable("ambiguous", title, rows, found[0].method, _notes(found), left=2)


def _mean(values: Sequence[float | None]) -> str:
    known = [value for value in values if value is not None]
    return number(statistics.fmean(known)) if known else UNDEFINED


def _notes(found: Sequence[Kappas] | Sequence[Ambiguous]) -> list[str]:
    return sentences([note for one in found for note in one.notes], [one.reason for one in found])
