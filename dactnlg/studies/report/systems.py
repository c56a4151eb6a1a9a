"""Tables of systems: means, wins and losses, clusters."""

from __future__ import annotations

from dactnlg.studies.analysis.ranking import Ranking
from dactnlg.studies.analysis.systems import Share, SystemMeans, WinLossTie
from dactnlg.studies.report.parts import UNDEFINED, ReportTable, explained, interval, number, sentences

ALL = "all"


def means_table(found: SystemMeans) -> ReportTable:
    """Return the mean of each system with both intervals."""
    header = ["criterion", "corpus", "system", "mean", "90% interval", "95% interval", "ratings", "items", "raters"]
    rows = [
        [
            row.criterion,
            row.corpus or ALL,
            row.system,
            number(row.mean, 2),
            interval(row.interval90, 2) or UNDEFINED,
            interval(row.interval95, 2) or UNDEFINED,
            *(f"{count:,}" for count in (row.ratings, row.items, row.raters)),
        ]
        for row in found.rows
    ]
    return ReportTable(
        "systems",
        "Means of the systems",
        [header, *rows],
        found.method,
        sentences([*found.notes, *explained((row.mean, row.reason) for row in found.rows)]),
        left=3,
    )


def wins_table(found: WinLossTie) -> ReportTable:
    """Return how often each system was rated above, below and equal to another."""
    header = ["criterion", "corpus", "system", "against", "wins", "losses", "ties", "comparisons"]
    rows = [
        [
            row.criterion,
            row.corpus or ALL,
            row.first,
            row.second,
            *(_share(share) for share in (row.win, row.loss, row.tie)),
            f"{row.comparisons:,}",
        ]
        for row in found.rows
    ]
    title = "Wins, losses and ties, in per cent with 90% intervals"
    notes = sentences([*found.notes, *explained((row.win.share, row.reason) for row in found.rows)])
    return ReportTable("wins", title, [header, *rows], found.method, notes, left=4)


def ranking_table(found: Ranking) -> ReportTable:
    """Return the systems in order of skill, with cluster and range of ranks."""
    header = ["system", "cluster", "skill", "ranks", "comparisons"]
    rows = [
        [
            row.system,
            str(row.cluster),
            number(row.skill, 3, sign=True),
            f"{row.best}-{row.worst}" if row.best != row.worst else str(row.best),
            f"{row.comparisons:,}",
        ]
        for row in found.rows
    ]
    counted = f"{found.ties:,} of {found.comparisons:,} comparisons are ties"
    notes = sentences([*found.notes, counted], [found.reason])
    return ReportTable(
        f"clusters-{found.criterion}", f"Clusters: {found.criterion}", [header, *rows], found.method, notes
    )


def _share(found: Share) -> str:
    if found.share is None:
        return UNDEFINED
    middle = f"{100 * found.share:.1f}"
    if found.interval90 is None:
        return middle
    low, high = found.interval90
    return f"{middle} [{100 * low:.1f}, {100 * high:.1f}]"
