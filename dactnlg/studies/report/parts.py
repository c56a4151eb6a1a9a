"""Building blocks of a report: tables, which name the method behind their numbers, and scatter plots."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

UNDEFINED = "undefined"
MOST_POINTS = 2_000
"""Most points in one plot; of more, a sample is drawn."""
_JITTER = (0.025, 0.02)
"""Standard deviations as in Sharma et al. 2017, Figure 3: .1 on the people's axis, from 1 to 5, .02 on the metric's."""

_NOT_IN_LABELS = re.compile(r"[^A-Za-z0-9_.-]")


@dataclass(frozen=True)
class ReportTable:
    """A table of results.

    Attributes:
        name: the name that it is referred to by; it may contain a criterion, and so any characters.
        title: what it shows.
        rows: cells, the header first; all rows have the same length.
        method: the estimators of the numbers, with the library that computes them.
        notes: further remarks for the reader, one sentence each.
        left: how many of the first columns are left-aligned text.
    """

    name: str
    title: str
    rows: Sequence[Sequence[str]]
    method: str = ""
    notes: Sequence[str] = ()
    left: int = 1

    @property
    def label(self) -> str:
        """The name as a LaTeX label or an id in HTML: spaces, and what not every LaTeX package takes, are replaced."""
        # One sign for all letters of other scripts would give criteria in them the same label.
        return _NOT_IN_LABELS.sub(lambda sign: "-" if sign[0] == " " else f"u{ord(sign[0]):04x}", self.name)


class Point(NamedTuple):
    """A sentence in a scatter plot: people's and the metric's value, and the index of its system in the legend."""

    x: float
    y: float
    group: int = 0


@dataclass(frozen=True)
class Scatter:
    """A scatter plot of a metric's values against people's.

    Attributes:
        title: what it shows.
        x: what the horizontal axis shows.
        y: what the vertical axis shows.
        points: the sentences.
        x_range: ends of the horizontal axis.
        y_range: ends of the vertical axis.
    """

    title: str
    x: str
    y: str
    points: Sequence[Point]
    x_range: tuple[float, float]
    y_range: tuple[float, float]

    def drawn(self, seed: int = 1) -> list[Point]:
        """Return the points to draw, scaled to 0..1 on both axes, with noise that separates equal ones."""
        generator = np.random.default_rng(seed)
        points = list(self.points)
        if len(points) > MOST_POINTS:
            points = [points[at] for at in sorted(generator.choice(len(points), MOST_POINTS, replace=False))]
        noise = generator.normal(size=(len(points), 2)) * _JITTER
        return [
            Point(_place(p.x, self.x_range) + float(dx), _place(p.y, self.y_range) + float(dy), p.group)
            for p, (dx, dy) in zip(points, noise, strict=True)
        ]


def _place(value: float, ends: tuple[float, float]) -> float:
    width = ends[1] - ends[0]
    return (value - ends[0]) / width if width else 0.5


def ticks(ends: tuple[float, float]) -> list[tuple[float, float]]:
    """Return the ticks of an axis as (position in 0..1, value): at every point of a short scale, else at quarters.

    >>> [value for _, value in ticks((1, 6))], ticks((0, 1))[1]
    ([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], (0.25, 0.25))
    """
    width = ends[1] - ends[0]
    steps = int(width) if width in range(2, 11) else 4
    return [(at / steps, ends[0] + width * at / steps) for at in range(steps + 1)]


@dataclass(frozen=True)
class ReportPart:
    """A section of a report.

    Attributes:
        title: the heading.
        lines: sentences below it.
        tables: the tables.
        scatters: the scatter plots.
        groups: names of the groups of points, for the plots' legend.
    """

    title: str
    lines: Sequence[str] = ()
    tables: Sequence[ReportTable] = ()
    scatters: Sequence[Scatter] = ()
    groups: Sequence[str] = field(default=())


def number(value: float | None, digits: int = 3, *, sign: bool = False) -> str:
    """Format a number for a cell; None and NaN become `undefined`.

    >>> number(0.5), number(-0.0001), number(None), number(0.25, 2, sign=True)
    ('0.500', '0.000', 'undefined', '+0.25')
    """
    if value is None or math.isnan(value):
        return UNDEFINED
    # No minus sign before a zero.
    rounded = round(value, digits) + 0.0
    return f"{rounded:{'+' if sign else ''}.{digits}f}"


def p_value(value: float | None) -> str:
    """Format a p-value for a cell.

    >>> p_value(0.0300001), p_value(0.00001)
    ('0.030', '<0.001')
    """
    if value is None or math.isnan(value):
        return UNDEFINED
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def interval(bounds: tuple[float, float] | None, digits: int = 3) -> str:
    """Format an interval for a cell, in brackets; empty if there is none."""
    if bounds is None or any(math.isnan(end) for end in bounds):
        return ""
    return f"[{number(bounds[0], digits)}, {number(bounds[1], digits)}]"


def sentences(notes: Sequence[str], reasons: Sequence[str] = ()) -> list[str]:
    """Return notes, and reasons why numbers are undefined, as sentences without repetitions.

    >>> sentences(["few raters"], ["one item alone", "", "one item alone"])
    ['Few raters.', 'Undefined: one item alone.']
    """
    told = [*notes, *explained((None, reason) for reason in reasons)]
    return list(dict.fromkeys(f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}" for text in told))


def explained(values: Iterable[tuple[float | None, str]]) -> list[str]:
    """Return what reasons say about values: why one is undefined or, for a defined one, what else is missing.

    >>> explained([(None, "one item alone"), (0.5, "no interval: 3 items"), (0.5, "")])
    ['undefined: one item alone', 'no interval: 3 items']
    """
    return [reason if value is not None else f"{UNDEFINED}: {reason}" for value, reason in values if reason]
