"""Plots of training and validation loss by epoch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from dactnlg._utils.files import replace_file
from dactnlg.errors import UserError


def check_plot() -> None:
    """Check that a plot can be drawn.

    Raises:
        UserError: the extra is not installed.
    """
    if find_spec("matplotlib") is None:
        raise UserError("training.plot needs matplotlib: pip install 'dactnlg[plot]', or set training.plot=false")


def save_plot(path: Path, history: Sequence[Mapping[str, Any]], best_epoch: int) -> None:
    """Write a plot of a training.

    Args:
        path: the file to write, a PNG.
        history: one row per epoch.
        best_epoch: the epoch whose weights were kept.
    """
    # Not `pyplot`, which keeps figures in memory and looks for a display.
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    figure = Figure(figsize=(6.4, 4.0), layout="constrained")
    axes = figure.subplots()
    epochs = [row["epoch"] for row in history]
    axes.plot(epochs, [row["loss"] for row in history], label="training", color="#0072B2", linestyle="--")
    axes.plot(epochs, [row["valid_loss"] for row in history], label="validation", color="#D55E00")
    axes.axvline(best_epoch, color="0.6", linewidth=1, label=f"best epoch, {best_epoch}")
    axes.set(xlabel="epoch", ylabel="loss per token (nats)")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_ylim(bottom=0)
    axes.legend()
    with replace_file(path) as partial:
        figure.savefig(partial, format="png", dpi=150)
