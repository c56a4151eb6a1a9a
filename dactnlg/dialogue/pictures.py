"""SVG figures in the style of the paper's figures 3 and 5 to 8, drawn by matplotlib (extra `plot`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dactnlg.dialogue.trajectories import Trajectory
from dactnlg.errors import UserError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = NDArray[np.float64]
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00")
"""Colours that remain distinct for colour-blind readers (Okabe and Ito 2008)."""


def draw_matrix(path: Path, names: Sequence[str], values: Array, title: str) -> None:
    """Draw a correlation matrix, (N, N), with its values in the cells, as in figures 7 and 8.

    Raises:
        UserError: matplotlib is not installed.
    """
    size = max(4.0, 0.42 * len(names))
    figure = _figure(size + 2.0, size + 1.6)
    axes = figure.subplots()
    axes.imshow(np.ma.masked_invalid(values), cmap="RdBu_r", vmin=-1, vmax=1)
    axes.set_xticks(range(len(names)), names, rotation=90, fontsize=7)
    axes.set_yticks(range(len(names)), names, fontsize=7)
    for row, line in enumerate(values):
        for column, value in enumerate(line):
            text = "" if np.isnan(value) else f"{value:.2f}".replace("0.", ".", 1)
            colour = "white" if abs(value) > 0.6 else "black"
            axes.text(column, row, text, ha="center", va="center", fontsize=5, color=colour)
    axes.set_title(title, fontsize=9)
    _save(figure, path)


def draw_bars(path: Path, bars: Mapping[str, tuple[float, float, float]], title: str, x: str) -> None:
    """Draw horizontal bars with intervals, as in figures 5 and 6.

    Args:
        path: the file.
        bars: name -> value, lower and upper end; a bar or interval that is NaN is not drawn.
        title: title of the figure.
        x: label of the horizontal axis.

    Raises:
        UserError: matplotlib is not installed.
    """
    figure = _figure(6.8, 1.2 + 0.22 * len(bars))
    axes = figure.subplots()
    rows = np.array(list(bars.values())).reshape(-1, 3)
    places = np.arange(len(bars))
    axes.barh(places, np.nan_to_num(rows[:, 0]), color=COLOURS[0], height=0.7)
    known = ~np.isnan(rows).any(axis=1)
    errors = np.abs(rows[known, 1:] - rows[known, :1]).T
    axes.errorbar(rows[known, 0], places[known], xerr=errors, fmt="none", ecolor="0.2", capsize=2, linewidth=1)
    axes.axvline(0, color="0.2", linewidth=0.8)
    axes.set_yticks(places, list(bars), fontsize=7)
    axes.invert_yaxis()
    axes.set_xlabel(x)
    axes.set_title(title, fontsize=9)
    _save(figure, path)


def draw_trajectories(path: Path, panels: Mapping[str, Mapping[str, Trajectory]]) -> None:
    """Draw a panel per component with a line per group of conversations and shaded intervals, as in figure 3.

    Args:
        path: the file.
        panels: component -> group of conversations -> trajectory.

    Raises:
        UserError: matplotlib is not installed.
    """
    columns = 2
    lines = -(-len(panels) // columns)
    figure = _figure(4.2 * columns, 2.8 * lines)
    from matplotlib.ticker import MaxNLocator

    grid = figure.subplots(lines, columns, squeeze=False).ravel()
    for axes, (name, groups) in zip(grid, panels.items(), strict=False):
        for colour, (group, line) in zip(COLOURS, groups.items(), strict=False):
            turns = np.arange(1, len(line.mean) + 1)
            axes.plot(turns, line.mean, color=colour, label=group)
            axes.fill_between(turns, line.low, line.high, color=colour, alpha=0.2, linewidth=0)
        axes.set(xlabel="turn", ylabel=name)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.legend(fontsize=7)
    for axes in grid[len(panels) :]:
        axes.set_axis_off()
    _save(figure, path)


def _figure(width: float, height: float) -> Figure:
    if find_spec("matplotlib") is None:
        raise UserError("pictures need matplotlib: pip install 'dactnlg[plot]'")
    # Not `pyplot`, which keeps figures in memory and looks for a display.
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def _save(figure: Any, path: Path) -> None:
    import matplotlib

    # Equal data give equal bytes: no date, and reproducible element ids.
    with matplotlib.rc_context({"svg.hashsalt": "dactnlg"}):
        figure.savefig(path, format="svg", metadata={"Date": None})
