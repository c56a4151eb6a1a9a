"""Reports of a study: the same numbers in every format, and jitter only in the plot."""

from __future__ import annotations

import csv
import io
import math
import re
import subprocess
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from shutil import which

import numpy as np
import pytest
from helpers import unreachable

from dactnlg.studies.analysis.correlation import Coefficient, MetricCorrelation, MetricCorrelations, undefined
from dactnlg.studies.analysis.human import split_halves
from dactnlg.studies.analysis.metric_scores import MetricScores
from dactnlg.studies.analysis.reliability import reliability
from dactnlg.studies.analysis.systems import SystemMean, SystemMeans
from dactnlg.studies.analysis.williams import compare_metrics
from dactnlg.studies.ratings import Ratings
from dactnlg.studies.report import write
from dactnlg.studies.report.agreement import reliability_table
from dactnlg.studies.report.metrics import correlation_table, difference_table
from dactnlg.studies.report.parts import MOST_POINTS, Point, ReportPart, ReportTable, Scatter, interval, number, p_value
from dactnlg.studies.report.systems import means_table

TABLE = ReportTable(
    "kappa",
    "Pairwise kappa & more",
    [["kappa", "pairs"], ["> .1", "55/55"], ["50%_<b>x</b>", "8/55"]],
    "Cohen's kappa (statsmodels)",
    ["0/0 is undefined."],
)
PLOT = Scatter("METEOR", "quality", "METEOR", [Point(1, 0), Point(5, 1, 1), Point(3, 0.5)], (1, 5), (0, 1))
PARTS = [ReportPart("Agreement", ["Eleven raters \x1b[31mred."], [TABLE], [PLOT], ["gold", "lstm"])]


class Cells(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.tags: list[str] = []
        self._inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("th", "td"):
            self._inside = True
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("th", "td"):
            self._inside = False

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.rows[-1][-1] += data


def test_every_format_of_a_report_has_every_cell(tmp_path: Path) -> None:
    write.write(tmp_path / "report.html", "Study", PARTS)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    found = Cells()
    found.feed(page)
    assert found.rows == [list(row) for row in TABLE.rows]
    assert "script" not in found.tags
    assert "http" not in re.sub(r"http-equiv", "", page)
    assert page.count("<circle") == 3
    assert page.count("<table>") == 1 and unreachable(page) == []
    body = write.csv(PARTS).split("\n", 1)[1]
    assert list(csv.reader(io.StringIO(body))) == [list(row) for row in TABLE.rows]
    for drawn in (write.text(PARTS), write.markdown("Study", PARTS), write.latex(PARTS)):
        assert "55/55" in drawn
        assert "Cohen's kappa (statsmodels)" in drawn
        assert "\x1b" not in drawn


def test_latex_is_escaped() -> None:
    drawn = write.latex_table(TABLE)
    assert r"Pairwise kappa \& more" in drawn
    assert r"50\%\_" in drawn
    assert r"\label{tab:kappa}" in drawn
    if which("pdflatex"):
        document = rf"\documentclass{{article}}\usepackage{{booktabs}}\begin{{document}}{drawn}\end{{document}}"
        subprocess.run(["pdflatex", "-draftmode", "-halt-on-error"], input=document, text=True, check=True)


def test_labels_and_ids_have_no_special_characters_and_differ(tmp_path: Path) -> None:
    drawn = write.latex_table(replace(TABLE, name="mixed-50% of_{a}"))
    assert r"\label{tab:mixed-50u0025-of_u007bau007d}" in drawn
    tables = [replace(TABLE, name=f"mixed-{name}") for name in ("ease of reading", "точность", "качество")]
    write.write(tmp_path / "report.html", "Study", [ReportPart("Models", tables=tables)])
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    ids = re.findall(r'<section id="([^"]*)">', page)
    assert ids == re.findall(r"\\label\{tab:(.*)\}", page)
    assert len(set(ids)) == 3 and all(re.fullmatch(r"[\w.-]+", each, re.ASCII) for each in ids)


def test_reasons_are_noted_once_as_undefined_or_without_an_interval() -> None:
    row = {"criterion": "q", "corpus": None, "gold": None, "sentences": 9, "items": 3, "systems": 3}
    constant = Coefficient(None, reason=undefined(np.zeros(9), np.arange(9.0)))
    known = Coefficient(0.5, 0.1, reason="no interval: 3 items")
    rows = [
        MetricCorrelation("a", **row, spearman=constant, pearson=constant, kendall=constant),
        MetricCorrelation("b", **row, spearman=known, pearson=known, kendall=known),
    ]
    table = correlation_table(MetricCorrelations("segment", tuple(rows), "method"))
    assert table.notes == ["Undefined: the metric is constant over sentences.", "No interval: 3 items."]
    found = [SystemMean("q", None, name, 1.0, None, None, 1, 1, 1, "no interval: one rater alone") for name in "ab"]
    found.append(SystemMean("q", None, "c", None, None, None, 0, 0, 0, "no ratings"))
    notes = means_table(SystemMeans(tuple(found), "method")).notes
    assert notes == ["No interval: one rater alone.", "Undefined: no ratings."]
    scores = MetricScores({"m": {}, "n": {}})
    ratings = Ratings([{"item": "1", "system": "a", "rater": "r", "criterion": "q", "value": 1.0}])
    scores.values["m"]["", "1", "a"] = 1.0  # type: ignore[index]
    differences = difference_table(compare_metrics(ratings, scores), "name", "title")
    assert [note for note in differences.notes if "ndefined" in note] == ["Undefined: m: fewer than 3 sentences."]
    assert split_halves(ratings).rows[0].spearman.reason == "1 rater"
    agreement = reliability_table([reliability(ratings)])
    assert agreement.notes[0] == "ICC is undefined: there is one rater."
    assert all(note.lower().count("undefined") == 1 for note in agreement.notes)


def test_jitter_is_only_in_the_plot() -> None:
    drawn = np.array([point[:2] for point in PLOT.drawn()])
    assert np.allclose(drawn, [[0, 0], [1, 1], [0.5, 0.5]], atol=0.12)
    assert len({tuple(row) for row in drawn}) == 3
    assert PLOT.drawn() == PLOT.drawn()
    assert [point[:2] for point in PLOT.points] == [(1, 0), (5, 1), (3, 0.5)]


def test_the_jitter_is_that_of_the_paper() -> None:
    # N(0, .1) on a scale from 1 to 5, N(0, .02) on one from 0 to 1 (Sharma et al. 2017, Figure 3).
    many = Scatter("", "", "", [Point(3, 0.5)] * MOST_POINTS, (1, 5), (0, 1))
    spread = np.array([point[:2] for point in many.drawn()]).std(axis=0) * [4, 1]
    assert spread == pytest.approx([0.1, 0.02], rel=0.1)


def test_a_plot_has_a_limited_number_of_points() -> None:
    many = Scatter("", "", "", [Point(at, 0) for at in range(10_000)], (0, 10_000), (0, 0))
    assert len(many.drawn()) == MOST_POINTS


@pytest.mark.parametrize(
    ("shown", "wanted"),
    [
        (number(None), "undefined"),
        (number(math.nan), "undefined"),
        (number(-0.0001), "0.000"),
        (number(0.25, 2, sign=True), "+0.25"),
        (p_value(None), "undefined"),
        (p_value(0.00099), "<0.001"),
        (interval((0.1, math.nan)), ""),
        (interval((-0.1, 0.25), 2), "[-0.10, 0.25]"),
    ],
)
def test_numbers_are_formatted_for_cells(shown: str, wanted: str) -> None:
    assert shown == wanted
