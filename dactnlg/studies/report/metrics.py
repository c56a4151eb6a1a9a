"""Metrics against people: Table 3 and Figure 3 of Sharma et al. 2017, and which metrics differ."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dactnlg.studies.analysis.correlation import Coefficient, MetricCorrelations
from dactnlg.studies.analysis.human import HalfCorrelation, SplitHalves
from dactnlg.studies.analysis.paired import PairedSentences
from dactnlg.studies.analysis.williams import MetricDifferences
from dactnlg.studies.report.parts import (
    Point,
    ReportTable,
    Scatter,
    explained,
    interval,
    number,
    p_value,
    sentences,
)

PEOPLE = "people (half against half)"
LEVEL_NAMES = {"segment": "sentences", "item": "sentences within items", "system": "systems"}
_IN = {None: "", True: "in", False: "out"}
"""Column `gold`: whether people's own sentences are included."""
_NAMES = ("spearman", "pearson", "kendall")


def correlation_table(found: MetricCorrelations, halves: SplitHalves | None = None) -> ReportTable:
    """Return each metric's correlation with people, and people's with each other (Sharma et al. 2017, Table 3)."""
    header = ["criterion", "corpus", "gold", "metric"]
    header += [cell for name in _NAMES for cell in (name.capitalize(), "95% interval", "p")]
    rows = [header]
    for row in found.rows:
        cells = [row.criterion, row.corpus or "all", _IN[row.gold], row.metric]
        rows.append([*cells, *(cell for name in _NAMES for cell in _cells(getattr(row, name)))])
    for half in halves.rows if halves else ():
        cells = [half.criterion, half.corpus or "all", _IN[half.gold], PEOPLE]
        rows.append([*cells, *(cell for name in _NAMES for cell in _halves(getattr(half, name)))])
    coefficients: list[Coefficient] = [getattr(row, name) for row in found.rows for name in _NAMES]
    told = explained((one.value, one.reason) for one in coefficients)
    notes = sentences([*found.notes, *(halves.notes if halves else ()), *told])
    if halves:
        notes += [f"People: {halves.method}; in the place of the interval the middle 95% of the splits."]
        notes += _corrected(halves)
    title = f"Correlation of metrics with people, of {LEVEL_NAMES[found.level]}"
    return ReportTable(f"correlations-{found.level}", title, rows, found.method, notes, left=4)


def difference_table(found: MetricDifferences, name: str, title: str) -> ReportTable:
    """Return the pairs of metrics that differ significantly; the notes say how many pairs were tested."""
    header = ["criterion", "corpus", "gold", "better", "than", "correlation", "correlation", "p", "p (Holm)"]
    apart = found.apart()
    rows = [
        [
            row.criterion,
            row.corpus or "all",
            _IN[row.gold],
            row.first,
            row.second,
            number(row.first_value),
            number(row.second_value),
            p_value(row.p),
            p_value(row.adjusted),
        ]
        for row in apart
    ]
    told = f"{len(apart)} of {len(found.rows)} pairs are told apart at 5% after Holm's correction"
    notes = sentences([told, *found.notes], [row.reason for row in found.rows])
    return ReportTable(name, title, [header, *rows], found.method, notes, left=5)


def scatters(pairings: Sequence[PairedSentences], metrics: Sequence[str]) -> tuple[list[Scatter], list[str]]:
    """Return scatter plots of metrics against people (Figure 3), and the names of the systems for their legend."""
    names = list(dict.fromkeys(name for own in pairings for name in own.system_names))
    plots = []
    for own in pairings:
        places = [names.index(name) for name in own.system_names]
        for metric in metrics:
            values = own.metrics[metric]
            known = np.flatnonzero(~np.isnan(values))
            if not len(known):
                continue
            points = [Point(float(own.people[at]), float(values[at]), places[own.systems[at]]) for at in known]
            title = " ".join(filter(None, [metric, f"({own.corpus})" if own.corpus else "", f"and {own.criterion}"]))
            ends = _ends(own.people), _ends(values[known])
            plots.append(Scatter(title, own.criterion, metric, points, *ends))
    return plots, names


def _ends(values: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> tuple[float, float]:
    low, high = float(values.min()), float(values.max())
    # Use 0..1, or whole numbers, as the ends of an axis.
    if low >= 0 and high <= 1:
        return 0.0, 1.0
    return (float(np.floor(low)), float(np.ceil(high))) if np.floor(low) < np.ceil(high) else (low - 1, high + 1)


def _cells(found: Coefficient) -> list[str]:
    return [number(found.value), interval(found.interval), p_value(found.p) if found.value is not None else ""]


def _halves(found: HalfCorrelation) -> list[str]:
    return [number(found.mean), interval(found.middle), ""]


def _corrected(halves: SplitHalves) -> list[str]:
    told = []
    for row in halves.rows:
        full = [f"{name} {number(half.full)}" for name in _NAMES if (half := getattr(row, name)).full is not None]
        where = " ".join(filter(None, [row.criterion, row.corpus or "", _IN[row.gold]]))
        told += (
            [f"All raters against as many others, by Spearman and Brown, {where}: {', '.join(full)}."] if full else []
        )
    return told
