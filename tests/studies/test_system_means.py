"""Ratings of systems: means and intervals, wins and losses, normalisation by rater."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

from dactnlg.errors import UnknownNameError
from dactnlg.studies.analysis.clustered import OVER, estimate
from dactnlg.studies.analysis.comparisons import compare_systems
from dactnlg.studies.analysis.normalization import normalize, scale_notes
from dactnlg.studies.analysis.systems import head_to_head, means
from dactnlg.studies.ratings import Ratings, RatingsError


def study(value: Callable[[int, int, int], float], systems: int = 2, raters: int = 5, items: int = 8) -> Ratings:
    """Return ratings of systems a, b, ... by every rater for every item; `value` takes item, rater and system."""
    return Ratings(
        [
            {"item": f"i{i}", "system": "abcdef"[s], "rater": f"r{r}", "criterion": "quality", "value": value(i, r, s)}
            for i in range(items)
            for r in range(raters)
            for s in range(systems)
        ]
    )


def random(seed: int, **sizes: int) -> Ratings:
    noise = np.random.default_rng(seed).normal(size=(100, 100, 6))
    return study(lambda i, r, s: float(noise[i, r, s] + noise[i, 0, 0] + noise[0, r, 0] + s / 2), **sizes)


def pairs(judgements: list[tuple[str, str, str, str, float]]) -> Ratings:
    """Return ratings of a pairwise design from item, rater, two systems, and the value of the first."""
    rows = []
    for page, (item, rater, first, second, value) in enumerate(judgements):
        for system, own in ((first, value), (second, 1 - value)):
            row: dict[str, Any] = {"item": item, "system": system, "rater": rater, "criterion": "quality"}
            rows.append(row | {"value": own, "page": f"p{page}"})
    return Ratings(rows)


@pytest.mark.parametrize(("over", "axis"), [("items", 1), ("raters", 0)])
def test_intervals_are_the_t_intervals_of_cluster_means(over: str, axis: int) -> None:
    # scipy.stats.t.interval of the means, which is what R's t.test gives.
    ratings = random(1, raters=6, items=9)
    rows = {row.system: row for row in means(ratings, over=over).rows}
    for system in "ab":
        values = np.array([row["value"] for row in ratings.rows if row["system"] == system]).reshape(9, 6)
        cluster = values.mean(axis=axis)
        assert rows[system].mean == pytest.approx(values.mean(), abs=1e-12)
        for level, found in ((0.9, rows[system].interval90), (0.95, rows[system].interval95)):
            wanted = stats.t.interval(level, len(cluster) - 1, cluster.mean(), stats.sem(cluster))
            assert found == pytest.approx(wanted, abs=1e-9)


def test_intervals_over_both_have_the_variance_of_the_two_way_formula() -> None:
    # Cameron, Gelbach and Miller 2011, equation 2.13: the variance over items, plus that over raters, less that of
    # single cells, each with its own factor G / (G - 1).
    values = np.random.default_rng(3).normal(size=(9, 6)) + np.arange(9)[:, None] / 4 + np.arange(6) / 3
    rest = values - values.mean()
    parts = [(rest.sum(axis=1) ** 2).sum() * 9 / 8, (rest.sum(axis=0) ** 2).sum() * 6 / 5, -(rest**2).sum() * 54 / 53]
    width = stats.t.ppf(0.975, 5) * np.sqrt(sum(parts)) / 54
    items, raters = np.divmod(np.arange(54), 6)
    found = estimate(values.ravel(), items, raters).interval95
    assert found == pytest.approx((values.mean() - width, values.mean() + width), abs=1e-9)


def test_intervals_over_both_contain_the_true_mean() -> None:
    # Every study draws items and raters anew; the coverage over 400 studies has a standard error of 1.1%.
    generator = np.random.default_rng(5)
    items, raters = np.divmod(np.arange(30 * 20), 20)
    held = dict.fromkeys(OVER, 0)
    for _ in range(400):
        values = generator.normal(size=30)[items] + generator.normal(size=20)[raters] + generator.normal(size=600)
        for over in OVER:
            low, high = estimate(values, items, raters, over).interval95 or (9, 9)
            held[over] += low < 0 < high
    assert 0.92 < held["both"] / 400 < 0.98
    assert held["items"] / 400 < 0.9 > held["raters"] / 400


def test_a_system_that_nobody_rated_is_in_the_table() -> None:
    other = [row | {"criterion": "fluency", "system": "unrated"} for row in random(1).rows]
    found = means(Ratings([*random(1).rows, *other]))
    (row,) = [row for row in found.rows if (row.criterion, row.system) == ("quality", "unrated")]
    assert (row.mean, row.interval95, row.reason) == (None, None, "no ratings")
    assert json.loads(json.dumps(found.to_json()))["rows"][2]["mean"] is None


@pytest.mark.parametrize(
    ("ratings", "told"),
    [
        (random(1, items=1), "interval over raters: one item alone"),
        (random(1, raters=1), "interval over items: one rater alone"),
        (random(1, raters=1, items=1), "no interval: one item alone and one rater alone"),
        (study(lambda i, r, s: 3.0), "no interval: all values are equal"),
    ],
)
def test_an_interval_that_cannot_be_computed_has_a_reason(ratings: Ratings, told: str) -> None:
    found = means(ratings)
    assert {row.reason for row in found.rows} == {told}
    assert all((row.interval95 is None) == told.startswith("no interval") for row in found.rows)


def test_means_are_given_for_all_and_for_each_corpus() -> None:
    ratings = random(2)
    rows = [row | {"corpus": "hotel" if row["item"] < "i4" else "restaurant"} for row in ratings.rows]
    found = means(Ratings(rows)).rows
    assert {(row.corpus, row.items) for row in found} == {(None, 8), ("hotel", 4), ("restaurant", 4)}


def test_the_same_item_name_in_two_corpora_is_two_items() -> None:
    ratings = random(2)
    rows = [row | {"corpus": corpus} for corpus in ("hotel", "restaurant") for row in ratings.rows]
    assert {row.items for row in means(Ratings(rows)).rows if row.corpus is None} == {16}
    assert {row.items for row in head_to_head(Ratings(rows)).rows if row.corpus is None} == {16}


def test_wins_losses_and_ties_are_counted() -> None:
    found = head_to_head(
        pairs([("1", "x", "a", "b", 1), ("2", "x", "b", "a", 0.5), ("1", "y", "b", "a", 1), ("2", "y", "a", "b", 1)])
    )
    (row,) = found.rows
    assert (row.first, row.second, row.comparisons) == ("a", "b", 4)
    assert (row.win.count, row.loss.count, row.tie.count) == (2, 1, 1)
    assert (row.win.share, row.loss.share, row.tie.share) == (0.5, 0.25, 0.25)


def test_likert_ratings_are_compared_within_a_rater() -> None:
    # Rater 0 prefers b, rater 1 a, everybody else sees no difference; no comparison is across raters.
    ratings = study(lambda i, r, s: {0: 1 + s, 1: 5 - s}.get(r, r), raters=4)
    (row,) = head_to_head(ratings).rows
    assert (row.win.count, row.loss.count, row.tie.count, row.comparisons) == (8, 8, 16, 32)


def test_values_of_different_pages_are_not_compared() -> None:
    # Magnitude estimation: on the second page the same rater has used another unit.
    rows = [
        {"page": page, "item": "1", "system": system, "rater": "x", "criterion": "quality", "value": value}
        for page, system, value in [("p", "a", 1.0), ("p", "b", 2.0), ("q", "b", 100.0), ("q", "c", 90.0)]
    ]
    found = compare_systems(Ratings(rows))
    assert found.pairs.tolist() == [[0, 1], [1, 2]]
    assert found.outcomes.tolist() == [-1, 1]
    # Where each page shows one sentence, comparisons are within an item.
    alone = compare_systems(Ratings([row | {"page": row["page"] + row["system"]} for row in rows]))
    assert (len(alone.pairs), alone.within) == (3, "item")


def test_intervals_of_shares_are_over_raters() -> None:
    generator = np.random.default_rng(2)
    outcomes = generator.choice([0.0, 0.5, 1.0], size=(7, 20), p=[0.3, 0.2, 0.5])
    (row,) = head_to_head(pairs([(str(i), str(r), "a", "b", outcomes[r, i]) for r in range(7) for i in range(20)])).rows
    for share, outcome in ((row.win, 1), (row.loss, 0), (row.tie, 0.5)):
        of_raters = (outcomes == outcome).mean(axis=1)
        wanted = stats.t.interval(0.9, 6, of_raters.mean(), stats.sem(of_raters))
        assert share.interval90 == pytest.approx(wanted, abs=1e-9)


def test_intervals_of_shares_are_between_0_and_1() -> None:
    one = pairs([("i", f"r{rater}", "a", "b", float(rater > 0)) for rater in range(4)])
    (row,) = head_to_head(one).rows
    assert row.win.interval90 is not None and row.loss.interval90 is not None
    assert row.win.interval90[1] == 1 and 0 < row.win.interval90[0] < 0.75
    assert row.loss.interval90[0] == 0 and 0.25 < row.loss.interval90[1] < 1


def test_a_baseline_is_second_in_every_pair() -> None:
    ratings = random(1, systems=4)
    found = {(row.first, row.second): row for row in head_to_head(ratings, "b").rows}
    assert list(found) == [("a", "b"), ("c", "b"), ("d", "b")]
    turned = {(row.first, row.second): row for row in head_to_head(ratings).rows}[("b", "c")]
    assert (found[("c", "b")].win, found[("c", "b")].loss) == (turned.loss, turned.win)


def test_systems_that_nobody_compared_have_no_shares() -> None:
    ratings = Ratings([row for row in random(1).rows if (row["system"] == "a") == (row["item"] < "i4")])
    (row,) = head_to_head(ratings).rows
    assert (row.win.share, row.comparisons, row.reason) == (None, 0, "no rater has judged both for one item")


def test_shares_of_ties_alone_have_no_interval() -> None:
    (row,) = head_to_head(study(lambda i, r, s: float(r))).rows
    assert (row.tie.share, row.tie.interval90, row.win.share) == (1.0, None, 0.0)
    assert row.reason == "no interval of a share of 0% or 100%"


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: means(Ratings([])), "there are no ratings"),
        (lambda: head_to_head(Ratings([])), "there are no ratings"),
        (lambda: head_to_head(random(1), "c"), "unknown baseline 'c'; valid: a, b"),
        (lambda: means(random(1), over="people"), "unknown kind of interval 'people'"),  # type: ignore[arg-type]
        (lambda: normalize(random(1), "minmax"), "unknown normalization 'minmax'"),  # type: ignore[arg-type]
        (lambda: normalize(study(lambda i, r, s: 3.0), "z"), "every rater has given one value alone"),
    ],
)
def test_mistakes_of_means_are_reported(call: Callable[[], object], told: str) -> None:
    with pytest.raises((RatingsError, UnknownNameError), match=told):
        call()


def test_normalized_ratings_equal_those_of_scipy() -> None:
    ratings = random(4)
    own = [row["value"] for row in ratings.rows if row["rater"] == "r2"]

    def found(way: Any) -> list[float]:
        return [row["value"] for row in normalize(ratings, way).ratings.rows if row["rater"] == "r2"]

    assert found("z") == pytest.approx(list(stats.zscore(own, ddof=1)))
    assert found("centred") == pytest.approx(list(np.array(own) - np.mean(own)))
    assert found("rank") == pytest.approx(list((stats.rankdata(own) - 0.5) / len(own)))
    assert found("none") == own


def test_a_constant_rater_is_left_out_and_noted() -> None:
    constant = study(lambda i, r, s: 4.0 if r == 1 else float(i + s))
    names = ("quality", "fluency")
    alone = [{"item": "i0", "system": "a", "rater": "late", "criterion": name, "value": 5.0} for name in names]
    found = normalize(Ratings([*constant.rows, *alone]), "z")
    assert found.left_out == ("r1 (quality)", "late (quality)", "late (fluency)")
    assert found.notes == (
        "3 times a rater gave one value alone under a criterion: left out r1 (quality), late (quality), late (fluency)",
    )
    assert "ratings" not in found.to_json()


def test_unequal_scales_of_raters_are_noted() -> None:
    def value(i: int, r: int, s: int) -> float:
        return float(1 + (i + r + s) % 5)

    assert scale_notes(study(value)) == ()
    (told,) = scale_notes(study(lambda i, r, s: value(i, r, s) * (20 if r == 0 else 1)))
    assert "from 1-5 to 20-100" in told
    assert told in means(study(lambda i, r, s: value(i, r, s) * (20 if r == 0 else 1))).notes
    # Strict and lenient raters of one scale do not have two scales.
    assert scale_notes(study(lambda i, r, s: float((i + s) % 3 + 1 + r % 3))) == ()


def test_ten_thousand_raters_are_analysed() -> None:
    rows = [
        {"item": f"i{(r + n) % 50}", "system": "ab"[n], "rater": f"r{r}", "criterion": "quality", "value": 1.0 + r % 5}
        for r in range(10_000)
        for n in range(2)
    ]
    assert means(Ratings(rows)).rows[0].raters == 10_000
    assert normalize(Ratings([*rows, rows[0] | {"value": 9.0, "item": "i49"}]), "rank").left_out
