"""Number of acts and raters that a study needs: power by simulation from the variances of a pilot."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dactnlg.errors import UnknownNameError
from dactnlg.studies.analysis.pilot import Variances
from dactnlg.studies.analysis.results import Result
from dactnlg.studies.ratings import RatingsError

ACTS = (10, 20, 30, 40, 60, 80, 100, 150, 200)
RATERS = (3, 5, 8, 12, 18, 25)
STUDIES = 1000
POWER = 0.8
ALPHA = 0.05
_PARTS = ("item", "rater", "item_rater", "item_system", "rater_system", "residual")
MOST_PAIRS = 250_000
"""Largest number of acts times raters in a design."""
_CELLS = 2_000_000
"""Largest number of simulated differences in memory at once (16 MiB)."""

Test = Literal["items", "raters", "both"]
TESTS = {
    "items": "paired t test over acts of two systems' means of raters; holds for these raters",
    "raters": "paired t test over raters of two systems' means of acts; holds for these acts",
    "both": "both paired t tests, over acts and over raters, must be significant",
}


@dataclass(frozen=True)
class SimulatedDesign:
    """A study of two systems, every rater rating all acts.

    Attributes:
        acts, raters: how many there are.
        ratings: number of ratings of both systems together.
        power: share of simulated studies with a difference that find it.
        error: Monte Carlo standard error of the power.
        false_positives: share of simulated studies without a difference that find one, with acts and raters drawn anew
            for each study; above alpha if the test generalises only over acts and raters differ in their preferences.
    """

    acts: int
    raters: int
    ratings: int
    power: float
    error: float
    false_positives: float


@dataclass(frozen=True)
class SampleSize(Result):
    """The power of a grid of designs.

    Attributes:
        difference: difference between the two systems' means, in units of the scale.
        power: the power wanted.
        variances: the variances of the simulation.
        designs: the grid.
        smallest: designs that reach the power, if no other one does with at most as many acts and raters.
        studies: number of simulated studies per design.
        method: test and simulation.
        reason: why `smallest` is empty.
    """

    difference: float
    power: float
    variances: Variances
    designs: tuple[SimulatedDesign, ...]
    smallest: tuple[SimulatedDesign, ...]
    studies: int
    method: str
    reason: str = ""


@dataclass(frozen=True)
class PowerPlan:
    """What is simulated.

    Attributes:
        acts, raters: the grid.
        test: a key of `TESTS`.
        power: the power wanted.
        studies: number of simulated studies per design, 10 or more.
        seed: of the simulation.
    """

    acts: Sequence[int] = ACTS
    raters: Sequence[int] = RATERS
    test: Test = "both"
    power: float = POWER
    studies: int = STUDIES
    seed: int = 1


def sample_size(
    variances: Variances,
    difference: float,
    plan: PowerPlan | None = None,
    progress: Callable[[int], object] | None = None,
) -> SampleSize:
    """Return the power of every design of a grid, and the smallest designs with enough power.

    Args:
        variances: variances of a pilot, or assumed ones.
        difference: difference between the two systems' means.
        plan: the grid and the test.
        progress: called with 1 after each design.

    Raises:
        RatingsError: the difference is 0, the variances do not permit a simulation, or the plan is invalid.
        UnknownNameError: the test is unknown.
    """
    plan = plan or PowerPlan()
    _check(variances, difference, plan)
    designs = []
    for acts in sorted(set(plan.acts)):
        for raters in sorted(set(plan.raters)):
            designs.append(_design(variances, difference, plan, acts, raters))
            if progress is not None:
                progress(1)
    enough = [design for design in designs if design.power >= plan.power]
    smallest = tuple(
        one
        for one in enough
        if not any(other != one and other.acts <= one.acts and other.raters <= one.raters for other in enough)
    )
    best = max(designs, key=lambda design: design.power)
    reason = (
        ""
        if enough
        else (
            f"no design reaches a power of {plan.power:g}: the best is {best.power:.2f} with {best.acts} acts and "
            f"{best.raters} raters"
        )
    )
    method = (
        f"{plan.studies} simulated studies a design, normal effects, every rater rates all acts of two "
        f"systems; {TESTS[plan.test]}, two-sided, alpha {ALPHA:g}"
    )
    return SampleSize(difference, plan.power, variances, tuple(designs), smallest, plan.studies, method, reason)


def _check(variances: Variances, difference: float, plan: PowerPlan) -> None:
    if plan.test not in TESTS:
        raise UnknownNameError("test", plan.test, TESTS)
    if not math.isfinite(difference) or difference == 0:
        raise RatingsError(f"a difference of {difference:g} between systems cannot be found; give another than 0")
    given = {name: getattr(variances, name) for name in _PARTS}
    if wrong := [f"{name} {value:g}" for name, value in given.items() if not 0 <= value < math.inf]:
        raise RatingsError(f"variances must be 0 or more: {', '.join(wrong)}")
    if not sum(given[name] for name in ("item_system", "rater_system", "residual")):
        raise RatingsError("without variance of ratings between systems every study finds every difference")
    if not plan.acts or not plan.raters or min(*plan.acts, *plan.raters, 2) < 2:
        raise RatingsError("a design needs two acts and two raters at least")
    if max(plan.acts) * max(plan.raters) > MOST_PAIRS:
        largest = f"{max(plan.acts):,} acts and {max(plan.raters):,} raters"
        raise RatingsError(f"a design of {largest} is too large to simulate: at most {MOST_PAIRS:,} pairs of the two")
    if not 0 < plan.power < 1 or plan.studies < 10:
        raise RatingsError(f"power must be between 0 and 1, and studies 10 or more: {plan.power:g}, {plan.studies}")


def _design(variances: Variances, difference: float, plan: PowerPlan, acts: int, raters: int) -> SimulatedDesign:
    # Each design has its own random stream, so its result does not depend on the rest of the grid.
    generator = np.random.default_rng([plan.seed, acts, raters])
    block = max(1, _CELLS // (acts * raters))
    found = np.zeros(2)
    done = 0
    while done < plan.studies:
        size = min(block, plan.studies - done)
        noise = _noise(variances, generator, (size, acts, raters))
        for at, true in enumerate((difference, 0.0)):
            found[at] += _significant(noise + true, plan.test).sum()
        done += size
    power, false = found / plan.studies
    error = math.sqrt(power * (1 - power) / plan.studies)
    return SimulatedDesign(acts, raters, 2 * acts * raters, float(power), error, float(false))


def _noise(variances: Variances, generator: np.random.Generator, shape: tuple[int, int, int]) -> NDArray[Any]:
    """Return simulated differences of two equal systems' ratings, (studies, acts, raters).

    What both systems' sentences share, the effects of acts, of raters and of raters' views of acts, cancels.
    """
    studies, acts, raters = shape
    total = np.zeros(shape)
    for variance, size in (
        (variances.item_system, (studies, acts, 1)),
        (variances.rater_system, (studies, 1, raters)),
        (variances.residual, shape),
    ):
        if variance:
            total += math.sqrt(2 * variance) * generator.standard_normal(size)
    return total


def _significant(differences: NDArray[Any], test: Test) -> NDArray[np.bool_]:
    """Return which studies find a difference, (studies,)."""
    from scipy.stats import ttest_1samp

    found = np.ones(len(differences), dtype=bool)
    for name, axis in (("items", 2), ("raters", 1)):
        if test in (name, "both"):
            means = differences.mean(axis=axis)
            # If all differences of a study are equal, there is no t test; it finds a difference if they are not 0.
            equal = np.ptp(means, axis=1) < 1e-12
            p = np.where(np.abs(means[:, 0]) > 1e-12, 0.0, 1.0)
            if not equal.all():
                p[~equal] = ttest_1samp(means[~equal], 0.0, axis=1).pvalue
            found &= p < ALPHA
    return found
