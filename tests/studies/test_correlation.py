"""Correlations of metrics with ratings, compared with scipy on explicit resamples, psych, and all permutations."""

from __future__ import annotations

import json
import math
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from simulated_ratings import CONSTANT, join, panel, simulate

from dactnlg.errors import UnknownNameError
from dactnlg.studies.analysis.coefficients import NAMES, Name, of_rows, resampled
from dactnlg.studies.analysis.correlation import correlate
from dactnlg.studies.analysis.human import split_halves
from dactnlg.studies.analysis.intervals import METHODS, interval
from dactnlg.studies.analysis.metric_scores import MetricScores
from dactnlg.studies.analysis.permutation import permutation_p, permute_metrics
from dactnlg.studies.analysis.williams import compare_metrics, williams
from dactnlg.studies.ratings import Ratings, RatingsError

SCIPY = {"spearman": stats.spearmanr, "pearson": stats.pearsonr, "kendall": stats.kendalltau}


def by_scipy(name: Name, x: np.ndarray, y: np.ndarray) -> float:
    return float(SCIPY[name](x, y)[0]) if np.ptp(x) and np.ptp(y) else math.nan


@pytest.mark.parametrize("name", NAMES)
def test_weighted_coefficients_equal_those_of_repeated_sentences(name: Name) -> None:
    generator = np.random.default_rng(4)
    for size in (4, 30):
        for _ in range(25):
            x = generator.choice(5, size).astype(float)
            y = (x + generator.normal(size=size)).round(1)
            weights = np.array([np.bincount(generator.choice(size, size), minlength=size) for _ in range(6)])
            found = resampled(name, x, y)(weights.astype(float))
            expected = [by_scipy(name, np.repeat(x, row), np.repeat(y, row)) for row in weights]
            np.testing.assert_allclose(found, expected, atol=1e-9)
            rows = generator.choice(4, (2, 8, size)).astype(float)
            expected = [by_scipy(name, *pair) for pair in zip(*rows, strict=True)]
            np.testing.assert_allclose(of_rows(name, *rows), expected, atol=1e-12)


@pytest.mark.parametrize("kind", METHODS)
def test_intervals_of_independent_items_are_close_to_fishers(kind: str) -> None:
    generator = np.random.default_rng(1)
    x, y = generator.multivariate_normal([0, 0], [[1, 0.5], [0.5, 1]], 400).T
    bounds, reason = interval(resampled("pearson", x, y), np.arange(400), kind, 2000, 1)  # type: ignore[arg-type]
    expected = stats.pearsonr(x, y).confidence_interval()
    assert not reason and bounds == pytest.approx((expected.low, expected.high), abs=0.02)


def test_intervals_count_items_not_sentences() -> None:
    # Repeating the same hundred sentences ten times adds no information.
    generator = np.random.default_rng(1)
    x, y = generator.multivariate_normal([0, 0], [[1, 0.5], [0.5, 1]], 100).T
    once = interval(resampled("spearman", x, y), np.arange(100), "jackknife", 0, 1)[0]
    many = np.tile(x, 10), np.tile(y, 10)
    tenfold = interval(resampled("spearman", *many), np.tile(np.arange(100), 10), "jackknife", 0, 1)[0]
    assert once == pytest.approx(tenfold, abs=1e-3)


def test_segment_correlations_equal_those_of_scipy() -> None:
    people = panel()
    study = join([simulate(people, 15, 1, "a"), simulate(people, 15, 2, "b")])
    found = correlate(study.ratings, study.scores, gold=["gold"])
    assert [(row.corpus, row.gold) for row in found.rows[:: len(study.scores.metrics)]] == [
        (corpus, gold) for corpus in (None, "a", "b") for gold in (True, False)
    ]
    constant = [row for row in found.rows if row.metric == CONSTANT]
    assert all(row.spearman.value is None and "constant" in row.spearman.reason for row in constant)
    row = next(row for row in found.rows if (row.metric, row.corpus, row.gold) == ("strong", "a", False))
    assert (row.sentences, row.items, row.systems) == (60, 15, 4)
    # The same numbers, computed from the table of ratings.
    table = study.ratings.table.query("corpus == 'a' and system != 'gold'")
    means = table.groupby(["item", "system"]).value.mean()
    values = [study.scores.values["strong"]["a", item, system] for item, system in means.index]
    for coefficient, function in ((row.spearman, stats.spearmanr), (row.kendall, stats.kendalltau)):
        expected = function(values, means.to_numpy())
        assert (coefficient.value, coefficient.p) == pytest.approx(tuple(expected), abs=1e-9)
        assert coefficient.interval and coefficient.interval[0] < coefficient.value < coefficient.interval[1]
    json.dumps(found.to_json(), allow_nan=False)


def test_item_and_system_correlations_equal_those_of_scipy() -> None:
    study = simulate(panel(), 20, 3)
    means = study.ratings.table.groupby(["item", "system"]).value.mean().unstack()
    strong = study.scores.values["strong"]
    values = np.array([[strong["simulated", item, system] for system in means.columns] for item in means.index])
    within = correlate(study.ratings, study.scores.only(["strong"]), level="item").rows[0]
    rows = [stats.kendalltau(*pair)[0] for pair in zip(values, means.to_numpy(), strict=True)]
    assert within.kendall.value == pytest.approx(np.nanmean(rows))
    whole = correlate(study.ratings, study.scores.only(["strong"]), level="system").rows[0]
    assert whole.pearson.value == pytest.approx(stats.pearsonr(values.mean(axis=0), means.mean())[0])
    assert "percentile" in correlate(study.ratings, study.scores, level="system").method
    two = study.ratings.without("system", ["gold", "random", "LSTM"])
    assert "fewer than 3 systems" in correlate(two, study.scores, level="system").rows[0].spearman.reason


def test_mistakes_of_correlations_are_reported() -> None:
    study = simulate(panel(), 6)
    with pytest.raises(UnknownNameError, match="jackknife"):
        correlate(study.ratings, study.scores, kind="jacknife")  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError, match="did you mean 'gold'"):
        correlate(study.ratings, study.scores, gold=["godl"])
    with pytest.raises(RatingsError, match="no metric has a value"):
        correlate(study.ratings, MetricScores({"x": {("", "elsewhere", "gold"): 1.0}}))
    with pytest.raises(RatingsError, match="no ratings"):
        correlate(Ratings([]), study.scores)
    partly = MetricScores({"x": dict(list(study.scores.values["strong"].items())[:20])})
    found = correlate(study.ratings, partly)
    assert found.rows[0].sentences == 20 and found.notes == (
        "x has no value for 10 of 30 sentences, which are left out",
    )


def test_a_corpus_without_metric_values_is_undefined() -> None:
    scored, other = simulate(panel(), 15, 1, "a"), simulate(panel(), 15, 2, "b")
    ratings = join([scored, other]).ratings
    for level in ("segment", "item", "system"):
        found = correlate(ratings, scored.scores.only(["weak", "strong"]), level=level)  # type: ignore[arg-type]
        rows = {(row.corpus, row.metric): row for row in found.rows}
        assert rows[None, "strong"].pearson.value == rows["a", "strong"].pearson.value is not None
        assert (rows["b", "strong"].pearson.value, rows["b", "strong"].sentences) == (None, 0)
        assert rows["b", "strong"].pearson.reason
        assert "strong has no value for 75 of 75 sentences, which are left out" in found.notes
    for differences in (compare_metrics(ratings, scored.scores), permute_metrics(ratings, scored.scores, count=19)):
        assert {row.p for row in differences.rows if row.corpus == "b"} == {None}
        assert any(row.p is not None for row in differences.rows if row.corpus == "a")


def test_correlations_with_constant_ratings_are_undefined() -> None:
    rows = [{**row, "value": 3.0} for row in simulate(panel(), 6).ratings.rows]
    found = correlate(Ratings(rows), simulate(panel(), 6).scores)
    assert {row.pearson.value for row in found.rows} == {None}
    assert "people's values are constant" in found.rows[0].spearman.reason
    assert split_halves(Ratings(rows), splits=5).rows[0].spearman.mean is None


def test_correlations_of_halves_of_raters() -> None:
    # Two raters have one split: the correlation of halves is that of the raters.
    study = simulate(panel(2, 0), 20)
    values = study.ratings.table.pivot(index=["item", "system"], columns="rater", values="value").to_numpy().T
    found = split_halves(study.ratings, splits=20).rows[0]
    assert found.spearman.mean == pytest.approx(stats.spearmanr(*values)[0])
    assert found.spearman.deviation == pytest.approx(0, abs=1e-12) and found.sentences == 100
    # Spearman-Brown: from halves of 20 parallel raters to the reliability of all 20.
    noisy = np.random.default_rng(1)
    truth = noisy.normal(size=400)
    rows = [
        {"item": str(item), "system": "a", "rater": f"r{rater}", "criterion": "q", "value": float(value)}
        for rater in range(20)
        for item, value in enumerate(truth + noisy.normal(0, 3, 400))
    ]
    halves = split_halves(Ratings(rows), splits=100).rows[0].pearson
    assert halves.mean == pytest.approx(10 / 19, abs=0.06) and halves.full == pytest.approx(20 / 29, abs=0.06)
    # Two raters who disagree: the formula has no meaning below 0.
    turned = [row | {"value": -row["value"]} if row["rater"] == "r1" else row for row in rows]
    apart = split_halves(Ratings([row for row in turned if row["rater"] in ("r1", "r2")])).rows[0].pearson
    assert apart.mean is not None and apart.mean < 0 and apart.full is None
    one = split_halves(Ratings(rows).where(rater="r1")).rows[0].pearson
    assert one.mean is None and "1 rater" in one.reason


def test_williams_test_equals_that_of_psych() -> None:
    # R 4, psych 2.2.9: r.test(n=100, r12=.5, r13=.3, r23=.6) and r.test(n=23, r12=-.2, r13=.31, r23=.05).
    assert williams(0.5, 0.3, 0.6, 100) == pytest.approx((2.52977892494809, 0.0130242116655871), abs=1e-12)
    assert williams(-0.2, 0.31, 0.05, 23) == pytest.approx((-1.78579601228715, 0.0893050278610361), abs=1e-12)
    with pytest.raises(RatingsError, match="4 sentences"):
        williams(0.5, 0.3, 0.6, 3)
    with pytest.raises(RatingsError, match="leave nothing"):
        williams(0.9, -0.9, 0.9, 50)


def test_metrics_that_differ_are_told_apart() -> None:
    study = simulate(panel(), 60, 1)
    scores = study.scores
    turned = {**scores.values, "TER": {key: -value for key, value in scores.values["strong"].items()}}
    found = compare_metrics(study.ratings, MetricScores(turned), name="spearman")
    pairs = {frozenset((row.first, row.second)): row for row in found.rows}
    apart = {frozenset((row.first, row.second)) for row in found.apart()}
    assert {frozenset(("weak", "strong")), frozenset(("middling", "strong"))} <= apart
    # The sign of a metric whose low values are good is turned, which makes these two the same.
    assert "alike" in pairs[frozenset(("strong", "TER"))].reason
    assert pairs[frozenset(("TER", "weak"))].first == "TER"
    assert "constant" in pairs[frozenset(("weak", CONSTANT))].reason
    row = pairs[frozenset(("weak", "strong"))]
    assert row.first == "strong" and row.p is not None and row.adjusted is not None and row.p <= row.adjusted
    permuted = permute_metrics(study.ratings, scores, count=200)
    assert next(row for row in permuted.rows if {row.first, row.second} == {"weak", "strong"}).p == 1 / 201


def test_sampled_permutations_are_close_to_all_permutations() -> None:
    generator = np.random.default_rng(7)
    people = generator.normal(size=9)
    left, right = (stats.zscore(people * loading + generator.normal(size=9)) for loading in (1.5, 0.3))
    observed = abs(stats.pearsonr(left, people)[0] - stats.pearsonr(right, people)[0])
    large = []
    for mask in product([False, True], repeat=9):
        one, other = np.where(mask, right, left), np.where(mask, left, right)
        large.append(abs(stats.pearsonr(one, people)[0] - stats.pearsonr(other, people)[0]) >= observed - 1e-12)
    p = permutation_p((left, right), people, 20_000, 1)
    assert p == pytest.approx(np.mean(large), abs=0.01)


def test_the_permutation_test_keeps_its_level() -> None:
    generator = np.random.default_rng(2)
    values = []
    for seed in range(200):
        people = generator.normal(size=60)
        pair = [stats.zscore(people + generator.normal(size=60)) for _ in range(2)]
        values.append(permutation_p((pair[0], pair[1]), people, 99, seed))
    assert 0.01 <= np.mean(np.array(values) <= 0.05) <= 0.10


def test_pairwise_values_are_shares_of_wins() -> None:
    wins = {("a", "b"): [1, 1, 0], ("a", "c"): [1, 0.5, 1], ("b", "c"): [0, 1, 1]}
    rows = [
        {
            "item": item,
            "system": system,
            "rater": f"r{rater}",
            "criterion": "q",
            "value": value,
            "page": f"{pair}{item}",
        }
        for item in "123456"
        for pair, values in wins.items()
        for rater, value in enumerate(values)
        for system, value in ((pair[0], float(value)), (pair[1], 1 - float(value)))
    ]
    scores = MetricScores({"m": {("", item, system): ord(system) for item in "123456" for system in "abc"}})
    people = {"a": 4.5, "b": 1 + 2, "c": 0.5 + 1}
    row = correlate(Ratings(rows), scores).rows[0]
    expected = np.corrcoef([97, 98, 99], [people[system] / 6 for system in "abc"])[0, 1]
    assert row.sentences == 18 and row.pearson.value == pytest.approx(expected)


def test_halves_of_a_pairwise_study_correlate_over_sentences() -> None:
    # Nearly everybody prefers b to a and gold to both, so that halves agree with gold and without.
    rows = [
        {"item": f"i{item}", "system": name, "rater": f"r{rater}", "criterion": "q", "value": float(won), "page": page}
        for rater in range(8)
        for item in range(9)
        for low, high in (("a", "b"), ("a", "gold"), ("b", "gold"))
        for page in (f"r{rater}-{item}-{low}-{high}",)
        for name, won in ((low, item == rater), (high, item != rater))
    ]
    found = split_halves(Ratings(rows), gold=["gold"], splits=10).rows
    assert [(row.gold, row.sentences) for row in found] == [(True, 27), (False, 18)]
    assert all(row.pearson.mean is not None and row.pearson.mean > 0.5 for row in found)


def test_scores_are_read_from_csv(tmp_path: Path) -> None:
    table = tmp_path / "scores.csv"
    table.write_text("item,system,BLEU,TER\n1,a,0.5,\n1,b,0.25,nan\n2,a,1,3\n", encoding="utf-8")
    scores = MetricScores.read_csv(table)
    assert scores.metrics == ("BLEU", "TER") and scores.value("BLEU", ("any", "1", "b")) == 0.25
    assert math.isnan(scores.value("TER", ("", "1", "b"))) and scores.sign("TER") == -1
    assert scores.sign("perplexity-original (e2e)") == -1
    for text, message in (
        ("item,BLEU\n1,2\n", "no column system"),
        ("item,system\n1,a\n", "no column of a metric"),
        ("item,system,BLEU\n1,a,x\n", "line 2: BLEU 'x' is not a finite number"),
        ("item,system,BLEU\n1,a,inf\n", "not a finite number"),
        ("item,system,BLEU\n1,a,1\n1,a,1\n", "line 3: a's sentence for item 1 stands there twice"),
        ("item,system,BLEU\n1,a\n", "more or fewer cells"),
    ):
        table.write_text(text, encoding="utf-8")
        with pytest.raises(RatingsError, match=message):
            MetricScores.read_csv(table)


def test_scores_are_read_from_json(tmp_path: Path) -> None:
    from dactnlg import score

    files = {}
    for system, texts in (("a", ["it is cheap", "hello"]), ("b", ["it is dear", "good bye"])):
        files[system] = tmp_path / f"{system}.json"
        found = score(texts, ["it is cheap", "hello there"], metrics=["BLEU", "ROUGE-L"])
        files[system].write_text(json.dumps(found.to_dict()), encoding="utf-8")
    scores = MetricScores.read_json(files, ["x", "y"], "tv")
    assert scores.value("BLEU-1", ("tv", "x", "a")) == pytest.approx(1) and "ROUGE-L" in scores.metrics
    assert scores.value("BLEU-1", ("tv", "y", "b")) < 0.1
    with pytest.raises(RatingsError, match="2 segments, and there are 3 items"):
        MetricScores.read_json(files, ["x", "y", "z"])
    sources = [f"{system}={path}" for system, path in files.items()]
    assert MetricScores.read(sources, ["x", "y"]).value("BLEU-1", ("any", "x", "a")) == pytest.approx(1)
    for wrong, message in ((["a=x.json", "b"], "'b': give one CSV"), ([sources[0]] * 2, "scores of a already")):
        with pytest.raises(RatingsError, match=message):
            MetricScores.read(wrong, ["x", "y"])


def test_metrics_without_values_are_undefined() -> None:
    study = simulate(panel(), 6)
    empty = MetricScores({**study.scores.values, "empty": {}})
    for level in ("segment", "item", "system"):
        row = correlate(study.ratings, empty, level=level).rows[-1]  # type: ignore[arg-type]
        assert row.metric == "empty" and row.kendall.value is None and row.kendall.reason and row.sentences == 0
    assert {row.p for row in compare_metrics(study.ratings, empty).rows if "empty" in (row.first, row.second)} == {None}
    found = permute_metrics(study.ratings, empty, count=50)
    assert {row.p for row in found.rows if "empty" in (row.first, row.second)} == {None}
