"""What a report of a study consists of: tables and scatter plots, each with the method that its numbers come from."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

UNDEFINED = "undefined"
MOST_POINTS = 2_000
"""Points of one picture; of more a sample is drawn."""
_JITTER = (0.025, 0.02)
"""Sharma et al. 2017, Figure 3: standard deviations .1 on the people's axis, from 1 to 5, and .02 on the metric's."""


@dataclass(frozen=True)
class ReportTable:
    """Numbers of one kind.

    Attributes:
        name: what the table is called where it is referred to, in lower case with hyphens: a LaTeX label.
        title: what it shows.
        rows: cells, the header first; all rows have the same number.
        method: which estimators give the numbers, with the library that computes them.
        notes: what a reader must know besides, a sentence each.
        left: how many of the first columns are texts.
    """

    name: str
    title: str
    rows: Sequence[Sequence[str]]
    method: str = ""
    notes: Sequence[str] = ()
    left: int = 1


class Point(NamedTuple):
    """One sentence in a scatter plot: what people and a metric give it, and the place of its system in the legend."""

    x: float
    y: float
    group: int = 0


@dataclass(frozen=True)
class Scatter:
    """A metric's values against people's.

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
        """Return the points as they are drawn, in 0..1 on both axes, with noise that makes equal ones visible."""
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
    """Return where an axis is marked: place in 0..1 and value; every point of a short scale, else quarters.

    >>> [value for _, value in ticks((1, 6))], ticks((0, 1))[1]
    ([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], (0.25, 0.25))
    """
    width = ends[1] - ends[0]
    steps = int(width) if width in range(2, 11) else 4
    return [(at / steps, ends[0] + width * at / steps) for at in range(steps + 1)]


@dataclass(frozen=True)
class ReportPart:
    """One question and its answer.

    Attributes:
        title: the heading.
        lines: sentences below it.
        tables: the numbers.
        scatters: the pictures.
        groups: what the groups of points are, for the pictures' legend.
    """

    title: str
    lines: Sequence[str] = ()
    tables: Sequence[ReportTable] = ()
    scatters: Sequence[Scatter] = ()
    groups: Sequence[str] = field(default=())


def number(value: float | None, digits: int = 3, *, sign: bool = False) -> str:
    """Return a number for a cell; None and NaN are `undefined`.

    >>> number(0.5), number(-0.0001), number(None), number(0.25, 2, sign=True)
    ('0.500', '0.000', 'undefined', '+0.25')
    """
    if value is None or math.isnan(value):
        return UNDEFINED
    # No minus before a zero.
    rounded = round(value, digits) + 0.0
    return f"{rounded:{'+' if sign else ''}.{digits}f}"


def p_value(value: float | None) -> str:
    """Return a p-value for a cell.

    >>> p_value(0.0300001), p_value(0.00001)
    ('0.030', '<0.001')
    """
    if value is None or math.isnan(value):
        return UNDEFINED
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def interval(bounds: tuple[float, float] | None, digits: int = 3) -> str:
    """Return an interval for a cell, in brackets; nothing where there is none."""
    if bounds is None or any(math.isnan(end) for end in bounds):
        return ""
    return f"[{number(bounds[0], digits)}, {number(bounds[1], digits)}]"


def sentences(notes: Sequence[str], reasons: Sequence[str] = ()) -> list[str]:
    """Return notes, and reasons why numbers are undefined, as sentences, each once.

    >>> sentences(["few raters"], ["one item alone", "", "one item alone"])
    ['Few raters.', 'Undefined: one item alone.']
    """
    told = [*notes, *(f"{UNDEFINED}: {reason}" for reason in reasons if reason)]
    return list(dict.fromkeys(f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}" for text in told))
