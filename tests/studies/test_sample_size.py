"""Power by simulation, compared with the closed form of the t test, and properties of grids of designs."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats
from test_system_means import study

from dactnlg.cli.main import main
from dactnlg.errors import UnknownNameError
from dactnlg.studies.analysis.pilot import Variances, pilot_variances
from dactnlg.studies.analysis.sample_size import PowerPlan, sample_size
from dactnlg.studies.ratings import Ratings, RatingsError


def variances(**given: float) -> Variances:
    plain = {"item": 0.2, "rater": 0.3, "item_rater": 0.4, "item_system": 0.0, "rater_system": 0.0, "residual": 0.8}
    return Variances(**(plain | given), method="supposed")


def power(difference: float, deviation: float, count: int) -> float:
    """The power of a two-sided paired t test at .05 (Cohen 1988, section 2.5), from the noncentral t distribution."""
    center = difference / deviation * math.sqrt(count)
    edge = stats.t.ppf(0.975, count - 1)
    return float(stats.nct.sf(edge, count - 1, center) + stats.nct.cdf(-edge, count - 1, center))


@pytest.mark.parametrize(("test", "count", "other"), [("items", 12, 5), ("raters", 5, 12)])
def test_simulated_power_is_that_of_the_t_test(test: Any, count: int, other: int) -> None:
    # A difference of two ratings has twice the residual variance, which the mean over a cluster divides.
    own = {"item_system" if test == "items" else "rater_system": 0.1}
    plan = PowerPlan(acts=[12], raters=[5], test=test, studies=4000)
    (found,) = sample_size(variances(**own), 0.5, plan).designs
    wanted = power(0.5, math.sqrt(2 * (0.1 + 0.8 / other)), count)
    assert abs(found.power - wanted) < 3.5 * math.sqrt(wanted * (1 - wanted) / 4000)
    assert abs(found.false_positives - 0.05) < 3.5 * math.sqrt(0.05 * 0.95 / 4000)
    assert found.error == pytest.approx(math.sqrt(found.power * (1 - found.power) / 4000))


def test_a_test_over_items_alone_has_false_positives() -> None:
    # Three raters with different preferences between two equal systems.
    own = variances(rater_system=0.2)
    found = {
        test: sample_size(own, 0.5, PowerPlan(acts=[60], raters=[3], test=test)).designs[0]  # type: ignore[arg-type]
        for test in ("items", "raters", "both")
    }
    assert found["items"].false_positives > 0.4
    assert found["raters"].false_positives < 0.08
    assert found["both"].false_positives < 0.08


def test_the_smallest_designs_with_enough_power_are_found() -> None:
    plan = PowerPlan(acts=[5, 10, 20, 40], raters=[2, 4, 8, 16], test="items", studies=300)
    found = sample_size(variances(), 0.4, plan)
    assert len(found.designs) == 16
    assert len(found.smallest) > 1
    for one in found.designs:
        within = any(small.acts <= one.acts and small.raters <= one.raters for small in found.smallest)
        assert within == any(
            other.power >= 0.8 and other.acts <= one.acts and other.raters <= one.raters for other in found.designs
        )


def test_a_grid_without_enough_power_has_a_reason() -> None:
    found = sample_size(variances(), 0.01, PowerPlan(acts=[4], raters=[2, 3], studies=50))
    assert found.smallest == ()
    assert found.reason.startswith("no design reaches a power of 0.8: the best is 0.")


def test_known_variances_of_a_pilot_are_recovered() -> None:
    generator = np.random.default_rng(3)
    values = (
        generator.normal(size=(40, 1, 1)) * math.sqrt(0.5)
        + generator.normal(size=(1, 18, 1)) * math.sqrt(0.7)
        + generator.normal(size=(40, 18, 1)) * math.sqrt(0.6)
        + generator.normal(size=(40, 1, 3)) * math.sqrt(0.2)
        + generator.normal(size=(1, 18, 3)) * math.sqrt(0.1)
        + generator.normal(size=(40, 18, 3))
    )
    found = pilot_variances(study(lambda i, r, s: float(values[i, r, s]), 3, 18, 40), "quality")
    assert found.notes == ()
    # Standard errors of variances: about v * sqrt(2 / levels).
    for name, true, levels in [
        ("item", 0.5, 40),
        ("rater", 0.7, 18),
        ("item_rater", 0.6, 720),
        ("item_system", 0.2, 80),
        ("rater_system", 0.1, 36),
        ("residual", 1.0, 1440),
    ]:
        assert abs(getattr(found, name) - true) < 3 * (true + 0.06) * math.sqrt(2 / levels), name


def test_variances_of_a_balanced_pilot_equal_those_of_mean_squares() -> None:
    # In balanced designs, restricted maximum likelihood gives the estimates of the analysis of variance (Searle,
    # Casella and McCulloch 1992, section 4.8) if none is negative: differences of mean squares.
    items, raters, systems = 14, 9, 3
    generator = np.random.default_rng(1)
    shapes = ((items, 1, 1), (1, raters, 1), (items, raters, 1), (items, 1, systems), (1, raters, systems))
    values = sum((generator.normal(size=shape) for shape in shapes), generator.normal(size=(items, raters, systems)))
    found = pilot_variances(study(lambda i, r, s: float(values[i, r, s]), systems, raters, items), "quality")

    def square(*kept: int) -> float:
        """The mean square of the interaction of these axes: what remains of their means without each one's mean."""
        own = values
        for axis in range(3):
            mean = own.mean(axis=axis, keepdims=True)
            own = own - mean if axis in kept else mean
        repeats = math.prod(size for axis, size in enumerate(values.shape) if axis not in kept)
        return float(repeats * (own**2).sum() / math.prod(values.shape[axis] - 1 for axis in kept))

    wanted = {"residual": (rest := square(0, 1, 2))}
    wanted |= {"item_rater": (square(0, 1) - rest) / systems, "item_system": (square(0, 2) - rest) / raters}
    wanted["rater_system"] = (square(1, 2) - rest) / items
    wanted["item"] = (square(0) - square(0, 1) - square(0, 2) + rest) / (raters * systems)
    wanted["rater"] = (square(1) - square(0, 1) - square(1, 2) + rest) / (items * systems)
    assert min(wanted.values()) > 0
    assert {name: getattr(found, name) for name in wanted} == pytest.approx(wanted, rel=1e-6)


def test_a_pilot_with_one_rating_of_each_sentence() -> None:
    # With one rating of each sentence the effect of item and system is the residual.
    ratings = study(lambda i, r, s: float((3 * i + 5 * s) % 7 + i % 3), 3, 1, 12)
    rows = [row | {"rater": f"r{place % 4}"} for place, row in enumerate(ratings.rows)]
    found = pilot_variances(Ratings(rows), "quality")
    assert (found.item_rater, found.item_system) == (0, 0)
    assert found.notes == tuple(f"item x {name} cannot be told from the residual" for name in ("rater", "system"))


def test_a_pilot_with_one_system_for_each_item() -> None:
    # Each item has a sentence of one system only.
    ratings = study(lambda i, r, s: float((3 * i + 5 * r) % 7 + r), 2, 6, 12)
    rows = [row for row in ratings.rows if (int(row["item"][1:]) % 2 == 0) == (row["system"] == "a")]
    found = pilot_variances(Ratings(rows), "quality")
    assert (found.item_rater, found.item_system) == (0, 0)
    assert found.notes == ("item x rater cannot be told from the residual", "item x system cannot be told from item")


def test_a_large_pilot_is_sampled() -> None:
    noise = np.random.default_rng(1).normal(size=(400, 8, 3))
    found = pilot_variances(study(lambda i, r, s: float(noise[i, r, s]), 3, 8, 400), "quality")
    # Besides 8 raters and their 24 pairs with systems, the limit leaves room for 80 items with 3 systems and 8 raters.
    assert found.notes == ("from 80 of 400 items, drawn at random: more take too long",)
    assert found.residual == pytest.approx(1, abs=0.1)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: sample_size(variances(), 0.0), "a difference of 0 between systems cannot be found"),
        (lambda: sample_size(variances(residual=-1), 1.0), "variances must be 0 or more: residual -1"),
        (lambda: sample_size(variances(residual=0.0), 1.0), "every study finds every difference"),
        (lambda: sample_size(variances(), 1.0, PowerPlan(acts=[1])), "two acts and two raters at least"),
        (lambda: sample_size(variances(), 1.0, PowerPlan(raters=[])), "two acts and two raters at least"),
        (
            lambda: sample_size(variances(), 1.0, PowerPlan(acts=[10_000], raters=[10_000])),
            "10,000 acts and 10,000 raters is too large to simulate",
        ),
        (lambda: sample_size(variances(), 1.0, PowerPlan(power=1.0)), "power must be between 0 and 1"),
        (
            lambda: sample_size(variances(), 1.0, PowerPlan(test="anova")),  # type: ignore[arg-type]
            "unknown test 'anova'; valid: both, items, raters",
        ),
    ],
)
def test_mistakes_of_plans_are_reported(call: Callable[[], object], told: str) -> None:
    with pytest.raises((RatingsError, UnknownNameError), match=told):
        call()


def test_a_file_that_cannot_be_written_is_reported_before_the_simulation(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["study", "power", "nothing.csv", "--difference", "0.3", "--json", "no/power.json"]) == 2
    assert "cannot write no/power.json" in capsys.readouterr().err
