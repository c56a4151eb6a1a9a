"""What grows in `growth.py`, with the slopes of time and memory and an explanation of each."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

LAST = 3
"""How many points, at the end, a slope is fitted to."""
Point = dict[str, Any]


class Kind(NamedTuple):
    """Something that grows, with an explanation of what it costs.

    Attributes:
        title: for the tables.
        axis: the option that holds the sizes, and the panel's name.
        time: the slopes of time for which the explanation holds, the least and the greatest.
        memory: the same for memory.
        why: the explanation; `{x:...}` are measured figures, see `figures`.
    """

    title: str
    axis: str
    time: tuple[float, float]
    memory: tuple[float, float]
    why: str


KINDS = {
    "acts": Kind(
        "acts, from a file to a file",
        "acts",
        (0.7, 1.1),
        (-0.05, 0.1),
        "every block of 8,192 acts costs the same, since it has the same acts, each searched for once in every block, "
        "so time is linear (the slope is without the {start:.1f} s of start-up): {each:.2f} ms an act; memory is "
        "constant, since a block is read, generated and written before the next, and caches are bounded",
    ),
    "beam": Kind(
        "beam, an act",
        "beam",
        (0.15, 0.6),
        (0.2, 0.8),
        "for most acts the greedy sentence, which is one beam at any width, is the result, and for most others its "
        "score leaves few beams, so operations hardly grow (slope {operations:.2f}): a wider beam costs more only for "
        "acts so open that the score of the greedy sentence excludes nothing; memory is that of the greedy sentences "
        "up to a beam of 10, and of the open acts' beams beyond it",
    ),
    "search-vocabulary": Kind(
        "vocabulary, search, an act",
        "vocabulary",
        (0.75, 1.15),
        (0.8, 1.1),
        "each word adds a column of the output layer, and to every beam a logit to exponentiate and to choose from, "
        "both linear, and beyond 4H = 400 words they outgrow the recurrence; products are {last:.0%} of the time at "
        "the end, the rest is passes over the logits; memory is three arrays of logits, and for each word a row of "
        "4H + D gates and its vectors",
    ),
    "search-hidden": Kind(
        "hidden units, search, an act",
        "hidden",
        (0.9, 1.9),
        (0.6, 1.6),
        "the operations of H x 4H outgrow those of the output layer beyond H = V / 4 = 100 (slope {operations:.2f}, "
        "approaching 2), but products are only {first:.0%} of the time at first and {last:.0%} at the end; the rest is "
        "linear in H (gates) or does not depend on it (softmax, choice); memory is linear in the beams' gates and "
        "states until, at about 1,024, the H x 4H weights are as large",
    ),
    "train-vocabulary": Kind(
        "vocabulary, training, 1,000 tokens",
        "vocabulary",
        (0.6, 1.05),
        (0.5, 1.05),
        "each word adds a column of the output layer, once forward and twice backward, a probability of every token, "
        "and 200 weights for Adam to update: all linear, but at 1,000 words the recurrence, which does not depend on "
        "V, still counts; memory is the logits of all tokens and eight copies of the weights, beside states that do "
        "not depend on V",
    ),
    "train-hidden": Kind(
        "hidden units, training, 1,000 tokens",
        "hidden",
        (1.2, 2.0),
        (0.8, 1.9),
        "H x 4H forward, backward and for the gradients is quadratic (slope of all operations {operations:.2f}), and "
        "so is Adam's update; gates and output layer are linear, and products are {first:.0%} of the time at first and "
        "{last:.0%} at the end; memory is linear in the states of all tokens, which are kept for the backward pass, "
        "until eight copies of the quadratic weights outgrow them",
    ),
}


def memory(point: Point) -> float:
    """Return the growing memory of a point in MB; for acts from a file to a file, that of the whole process."""
    grown: float = point["peak"] - (0.0 if point["kind"] == "acts" else point["before"])
    # Memory is counted in pages, so that a small growth may not show.
    return max(grown, 0.1)


def cost(point: Point) -> float:
    """Return the growing processor seconds of a point: without the start-up of a process."""
    return max(point["processor"] - point.get("start", 0.0), 1e-6)


def slope(points: Sequence[Point], amount: Callable[[Point], float]) -> float:
    """Return the exponent of the power law that fits the last points best; NaN if there is only one size."""
    logs = [(math.log(point["size"]), math.log(amount(point))) for point in points][-LAST:]
    if len({size for size, _ in logs}) < 2:
        return math.nan
    return statistics.linear_regression(*zip(*logs, strict=True)).slope


def figures(points: Sequence[Point]) -> dict[str, float]:
    """Return the figures of one kind of points: slopes, the share of products at both ends, the cost of an act."""
    first, last = points[0], points[-1]
    found = {"time": slope(points, cost), "memory": slope(points, memory)}
    if "operations" in first:
        found["operations"] = slope(points, lambda point: point["operations"])
        found["first"], found["last"] = (point["products"] / point["processor"] for point in (first, last))
    else:
        found |= {"start": last["start"], "each": cost(last) / last["size"] * 1000}
    return found


def explained(points: Sequence[Point]) -> str:
    """Return the table row of one kind of points: slopes, explanation, and a note if it does not fit the slopes."""
    kind, found = KINDS[points[0]["kind"]], figures(points)
    why = kind.why.format(**found)
    for name, (low, high) in (("time", kind.time), ("memory", kind.memory)):
        if found[name] < low or found[name] > high:
            why += f" (NOT so here: the sentence is for a slope of {name} between {low} and {high})"
    slopes = [f"{found[name]:.2f}" if name in found else "" for name in ("time", "operations", "memory")]
    return f"| {' | '.join([kind.title, *slopes, why])} |"
