"""Novikova et al. 2017, "Why We Need New Evaluation Metrics for NLG": correlations of the columns of their file."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
import ratings_novikova as novikova

CRITERIA = ("informativeness", "naturalness", "quality")


def ranks(values: list[float]) -> list[float]:
    """Return ranks by counting; ties have their mean rank."""
    return [sum(other < one for other in values) + (sum(other == one for other in values) + 1) / 2 for one in values]


def product_moment(x: list[float], y: list[float]) -> float:
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    both = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    return float(both / (sum((a - mean_x) ** 2 for a in x) * sum((b - mean_y) ** 2 for b in y)) ** 0.5)


def test_correlations_equal_those_computed_from_the_columns(data_dir: Path) -> None:
    path = data_dir / "ratings" / "novikova2017.csv"
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    found = novikova.by_system(*novikova.read(path))
    assert len(found) == 4 * 3 * 11
    blocks = {}
    for corpus, system, row in found:
        own = blocks.setdefault(
            (corpus, system), [one for one in rows if (one["dataset"], one["system"]) == (corpus, system)]
        )
        for name in (row.metric, row.criterion):
            if (corpus, system, name) not in blocks:
                blocks[corpus, system, name] = ranks([float(one[name]) for one in own])
        expected = product_moment(blocks[corpus, system, row.metric], blocks[corpus, system, row.criterion])
        assert row.spearman.value == pytest.approx(expected, abs=1e-9)
        plain = [[float(one[name]) for one in own] for name in (row.metric, row.criterion)]
        assert row.pearson.value == pytest.approx(product_moment(*plain), abs=1e-9)
        assert row.sentences == len(own)
    # Their finding: no metric has even a moderate correlation with the ratings.
    assert max(abs(row.spearman.value) for *_, row in found if row.criterion == "quality") < 0.4
    assert max(abs(end) for *_, row in found if row.criterion == "quality" for end in row.spearman.interval) < 0.4


def test_our_metrics_correlate_with_ratings_as_theirs_do(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(novikova, "DATA", data_dir)
    ratings, theirs = novikova.read(data_dir / "ratings" / "novikova2017.csv")
    ours = novikova.own_scores()
    sentences = list(ours.values["BLEU-4"])
    assert len(sentences) == 1095
    people = {(row["criterion"], (row["corpus"], row["item"], row["system"])): row["value"] for row in ratings.rows}
    for name, other in novikova.OWN.items():
        values = [
            ranks([scores.value(metric, one) for one in sentences])
            for scores, metric in ((ours, name), (theirs, other))
        ]
        for criterion in CRITERIA:
            judged = ranks([people[criterion, one] for one in sentences])
            # CIDEr's word weights come from references that are not in the file; see the benchmark.
            within = 0.04 if name == "CIDEr" else 0.03
            assert product_moment(values[0], judged) == pytest.approx(product_moment(values[1], judged), abs=within)
