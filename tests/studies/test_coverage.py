"""Simulated studies: their true values are known, and intervals contain them."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
import ratings as benchmark
from simulated_coverage import coverage
from simulated_ratings import panel, simulate

from dactnlg.studies.analysis.correlation import DOUBTFUL, correlate
from dactnlg.studies.analysis.filtering import filter_raters
from dactnlg.studies.analysis.metric_scores import MetricScores
from dactnlg.studies.ratings import Ratings


def test_the_correlation_of_many_items_is_the_true_one() -> None:
    people = panel(4, 0)
    truth = people.truth(people.raters)
    study = simulate(people, 1500, 5)
    table = study.ratings.table
    means = table.groupby(["item", "system"]).value.mean()
    values = [study.scores.values["strong"]["simulated", item, system] for item, system in means.index]
    assert np.corrcoef(values, means)[0, 1] == pytest.approx(truth["strong", "pearson"], abs=0.015)
    assert people.truth(["r001"])["strong", "pearson"] < truth["strong", "pearson"]


def test_careless_raters_are_filtered_out() -> None:
    people = panel()
    found = filter_raters(simulate(people, 20, 1).ratings)
    assert [one.rater for one in found.left] and {one.rater for one in found.left} == set(people.raters[11:])
    assert found.after[0].share == 1


def test_intervals_of_correlations_contain_the_true_value() -> None:
    people = [panel(seed=seed) for seed in (1, 2)]
    found = coverage((people[study % 2], study) for study in range(60))
    # 540 intervals, which are not independent; the benchmark simulates a thousand studies.
    assert found.studies == 60 and 0.91 < (found.share("jackknife") or 0) < 0.99
    assert {row.metric for row in found.rows} == set(people[0].metrics)


def test_a_p_value_is_doubted_where_sentences_of_an_item_are_alike() -> None:
    generator = np.random.default_rng(0)
    found = []
    for alike in (0.0, 2.0):
        for _ in range(30):
            # People and the metric have nothing in common, but both depend on the item.
            items = alike * generator.normal(size=(2, 15, 1))
            people, metric = items + generator.normal(size=(2, 15, 4))
            rows = [
                {"item": str(i), "system": str(s), "rater": "r", "criterion": "q", "value": float(value)}
                for (i, s), value in np.ndenumerate(people)
            ]
            scores = MetricScores({"m": {("", str(i), str(s)): float(v) for (i, s), v in np.ndenumerate(metric)}})
            found.append(correlate(Ratings(rows), scores))
    small = [(one.rows[0].pearson.p or 0) < 0.05 for one in found]
    doubted = [DOUBTFUL in one.notes for one in found]
    assert sum(small[:30]) < 6 < sum(small[30:]) and sum(doubted[:30]) < 6 < sum(doubted[30:])
    study = simulate(panel(), 60, 1)
    assert DOUBTFUL not in correlate(study.ratings, study.scores.only(["strong"])).notes


def test_the_benchmark_of_ratings_prints_both_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    points = tmp_path / "points.csv"
    words = ["simulate", "--studies", "2", "--items", "12", "--points", str(points), "--kind", "jackknife"]
    monkeypatch.setattr("sys.argv", ["ratings.py", *words])
    benchmark.main()
    printed = capsys.readouterr().out
    assert "Table 4" in printed and "55/55" in printed and "undefined" in printed
    with points.open(encoding="utf-8", newline="") as file:
        assert len(list(csv.DictReader(file))) == 2 * 12 * 5 * 4
