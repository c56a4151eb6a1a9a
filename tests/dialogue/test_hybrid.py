"""Hybrid scores: the bot that is scored is left out of its fit; more corruption costs more success."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import pearsonr
from test_selfplay import ActReader, Printer, trails, won

from dactnlg.dialogue import hybrid
from dactnlg.dialogue.components.table import ComponentTable
from dactnlg.dialogue.pictures import draw_bars, draw_matrix, draw_trajectories
from dactnlg.dialogue.task.corruption import FAULTS, Corruption
from dactnlg.dialogue.task.goals import draw_goals
from dactnlg.dialogue.task.play import play
from dactnlg.dialogue.task.result import paired
from dactnlg.dialogue.trajectories import best_and_worst, trajectory
from dactnlg.errors import UserError


def made(bots: int = 6, each: int = 40, noise: float = 0.5) -> tuple[ComponentTable, np.ndarray, list[str]]:
    """Return components, ratings that depend on two of the three, and the bots, which differ in quality."""
    rng = np.random.default_rng(3)
    names = [f"bot {n}" for n in range(bots) for _ in range(each)]
    values = rng.normal(size=(bots * each, 3)) + np.repeat(rng.normal(size=(bots, 3)), each, axis=0)
    ratings = 3 + values[:, 0] - 0.5 * values[:, 1] + noise * rng.normal(size=len(names))
    return ComponentTable(("a", "b", "c"), values, {}), ratings, names


def test_least_squares_recover_the_weights() -> None:
    table, ratings, bots = made(noise=0.0)
    weights = hybrid.fit(table.names, table.values, ratings)
    np.testing.assert_allclose(weights.coefficients / weights.scale, [1, -0.5, 0], atol=1e-10)
    left = hybrid.leave_bot_out(table, ratings, bots)
    np.testing.assert_allclose(left.predictions, ratings, atol=1e-9)
    means = hybrid.by_bot(left.predictions, bots), hybrid.by_bot(ratings, bots)
    assert hybrid.pearson(*means).value == pytest.approx(1)


def test_the_bot_that_is_scored_is_not_in_its_fit() -> None:
    table, ratings, bots = made()
    left = hybrid.leave_bot_out(table, ratings, bots)
    own = np.array(bots) == "bot 2"
    # Its weights depend on neither its ratings nor its components, and its scores not on its ratings.
    spoiled = hybrid.leave_bot_out(table, np.where(own, 1e6, ratings), bots)
    np.testing.assert_array_equal(spoiled.predictions[own], left.predictions[own])
    assert not np.allclose(spoiled.predictions[~own], left.predictions[~own])
    values = np.where(own[:, None], 1e3 * table.values, table.values)
    scaled = hybrid.leave_bot_out(ComponentTable(table.names, values, {}), ratings, bots).folds["bot 2"]
    for part in ("coefficients", "centre", "scale"):
        np.testing.assert_array_equal(getattr(scaled, part), getattr(left.folds["bot 2"], part))


def test_missing_constant_and_duplicate_components_do_no_harm() -> None:
    table, ratings, bots = made()
    values = np.hstack([table.values, table.values[:, :1], np.ones((len(bots), 1)), np.full((len(bots), 1), np.nan)])
    values[::7, 1] = np.nan
    left = hybrid.leave_bot_out(ComponentTable(tuple("abcdef"), values, {}), ratings, bots)
    assert np.isfinite(left.predictions).all()
    for weights in left.folds.values():
        assert weights.coefficients[0] == pytest.approx(weights.coefficients[3])
        assert not weights.coefficients[4:].any()
    middle, low, high = left.coefficient_interval()
    assert (low <= middle).all() and (middle <= high).all()


def test_too_few_bots_or_conversations_are_refused() -> None:
    table, ratings, bots = made()
    with pytest.raises(UserError, match="two bots at least"):
        hybrid.leave_bot_out(table, ratings, ["one"] * len(bots))
    with pytest.raises(UserError, match="too few"):
        hybrid.fit(("a",), np.ones((1, 1)), np.ones(1))


def test_correlations_over_bots_are_those_of_scipy() -> None:
    rng = np.random.default_rng(5)
    first, second = rng.normal(size=(2, 9))
    found, expected = hybrid.pearson(first, second), pearsonr(first, second)
    interval = expected.confidence_interval(0.95)
    assert found == pytest.approx((expected.statistic, interval.low, interval.high, expected.pvalue, 9))
    # Bonett and Wright 2000, equation 3: tanh(atanh r +- 1.96 sqrt((1 + r^2 / 2) / (n - 3))).
    rank = hybrid.spearman(first, second)
    error = 1.959964 * np.sqrt((1 + rank.value**2 / 2) / 6)
    assert rank.high == pytest.approx(np.tanh(np.arctanh(rank.value) + error), abs=1e-6)
    assert np.isnan(hybrid.pearson(first, np.ones(9)).value)
    assert np.isnan(hybrid.pearson(first[:2], second[:2]).value)
    assert hybrid.pearson(np.append(first, np.nan), np.append(second, 1)) == found


@pytest.mark.parametrize("fault", FAULTS)
def test_more_corruption_costs_more_success(fault: str) -> None:
    goals = draw_goals(trails(), 100, 10, 1)
    shares = (0.0, 0.05, 0.1, 0.2)
    talks = [
        play(Printer(), trails(), goals, ActReader(), corruption=Corruption(fault, share), progress=False)  # type: ignore[arg-type]
        for share in shares
    ]
    assert [won(each) for each in talks] == sorted((won(each) for each in talks), reverse=True)
    for better, worse in zip(talks, talks[1:], strict=False):
        assert paired(better, worse).p_value < 0.05


def test_trajectories_average_the_turns_that_enough_conversations_have() -> None:
    series = [np.array([1.0, 2.0, np.nan])] * 3 + [np.array([3.0, 4.0])] * 3
    found = trajectory(series)
    np.testing.assert_allclose(found.mean, [2, 3])
    # Student's t, 5 degrees of freedom: 2.015.
    np.testing.assert_allclose(found.high - found.mean, 2.015048 * np.sqrt(1.2 / 6), rtol=1e-5)
    assert len(trajectory(series[:4]).mean) == 0
    assert best_and_worst(np.array([1, 5, 3, 4.0]), 1) == ([1], [0])
    assert best_and_worst(np.array([1, 5, 3.0]), 100) == ([1], [0])


@pytest.mark.needs("matplotlib", "pip install 'dactnlg[plot]'")
def test_plots_are_reproducible(tmp_path: Path) -> None:
    line = trajectory([np.arange(4.0) + n for n in range(6)])
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        draw_matrix(tmp_path / name / "m.svg", ["x", "y & <z>"], np.array([[1, np.nan], [np.nan, -1]]), "title")
        draw_bars(tmp_path / name / "b.svg", {"x": (0.5, 0.1, 0.8), "y": (np.nan,) * 3}, "title", "Pearson")
        draw_trajectories(tmp_path / name / "t.svg", {"words": {"best": line, "worst": line}})
    for file in ("m.svg", "b.svg", "t.svg"):
        text = (tmp_path / "a" / file).read_text()
        assert text == (tmp_path / "b" / file).read_text()
        assert "<svg" in text and len(text) > 5000


@pytest.mark.needs("matplotlib", "pip install 'dactnlg[plot]'")
def test_a_bar_without_an_interval_has_no_caps(tmp_path: Path) -> None:
    for name, interval in (("all", (0.1, 0.8)), ("one", (np.nan, np.nan))):
        draw_bars(tmp_path / name, {"x": (0.5, 0.1, 0.8), "y": (0.5, *interval)}, "title", "Pearson")
    drawn = {name: (tmp_path / name).read_text().count("<use") for name in ("all", "one")}
    # The two caps of one interval.
    assert drawn["all"] - drawn["one"] == 2
