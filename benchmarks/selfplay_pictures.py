"""The figures of `selfplay.py hybrid`: Figures 3 and 5 to 8 of Ghandeharioun et al. 2019, with other bots."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dactnlg.dialogue import hybrid
from dactnlg.dialogue.conversations import Conversation
from dactnlg.dialogue.pictures import draw_bars, draw_matrix, draw_trajectories
from dactnlg.dialogue.trajectories import best_and_worst, trajectory

Array = NDArray[np.float64]
SHOWN = ("words -U", "sentiment -U", "average coherence -U/B", "question score -B")


class Rated(NamedTuple):
    """Rated conversations, with their components turn by turn."""

    bots: list[str]
    ratings: Array
    talks: list[Conversation]
    series: list[dict[str, Array]]


def draw(folder: Path, name: str, columns: dict[str, Array], left: hybrid.LeftOut, given: Rated) -> None:
    """Draw the figures of one set of rated dialogues."""
    folder.mkdir(parents=True, exist_ok=True)
    bots, ratings, talks, series = given
    people = hybrid.by_bot(ratings, bots)
    means = {label: hybrid.by_bot(values, bots) for label, values in columns.items()}
    bars = {label: hybrid.pearson(values, people)[:3] for label, values in means.items()}
    draw_bars(folder / f"{name}-figure-5.svg", bars, f"{name}: correlation with ratings, {len(people)} bots", "Pearson")
    middle, low, high = left.coefficient_interval()
    names = next(iter(left.folds.values())).names
    lines = {label: ends for label, *ends in zip(names, middle, low, high, strict=True)}
    draw_bars(folder / f"{name}-figure-6.svg", lines, f"{name}: coefficients over folds, 90%", "coefficient")  # type: ignore[arg-type]
    if "ratings" in talks[0].more:
        aspects = {key: np.array([float(talk.more["ratings"][key] or np.nan) for talk in talks])
                   for key in talks[0].more["ratings"]}  # fmt: skip
        draw_matrix(folder / f"{name}-figure-7.svg", list(aspects), matrix(list(aspects.values())), f"{name}: ratings")
    draw_matrix(folder / f"{name}-figure-8.svg", ["rating", *means], matrix([people, *means.values()]),
                f"{name}: components and ratings, means of {len(people)} bots")  # fmt: skip
    best, worst = best_and_worst(ratings)
    groups = {"best 100": best, "worst 100": worst}
    panels = {
        label: {group: trajectory([series[at][label] for at in places]) for group, places in groups.items()}
        for label in SHOWN
    }
    draw_trajectories(folder / f"{name}-figure-3.svg", panels)


def matrix(columns: Sequence[Array]) -> Array:
    """Return the correlations of all pairs of columns."""
    return np.array([[hybrid.pearson(one, other).value for other in columns] for one in columns])
