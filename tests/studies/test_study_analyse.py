"""`study analyse`: from ratings to a report, metrics of a study's own sentences, and odd or wrong input."""

from __future__ import annotations

import csv
import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dactnlg.cli.main import main
from dactnlg.evaluation.scoring import score
from dactnlg.studies.analyse import MetricSource, metric_scores, read_study_ratings
from dactnlg.studies.metric_values import study_scores
from dactnlg.studies.ratings import Ratings
from dactnlg.studies.study import Study

Rate = Callable[[Path, Callable[[int, int, int], float]], None]
HEADER = ["item", "system", "rater", "criterion", "value"]


def write(path: Path, rows: list[tuple[Any, ...]], header: list[str] = HEADER) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    return path


def simulated(systems: str = "abc", items: int = 8, raters: int = 5, seed: int = 1) -> list[tuple[Any, ...]]:
    draw = random.Random(seed)
    skill = {name: -at for at, name in enumerate(systems)}
    return [
        (f"i{i}", name, f"r{r}", "quality", min(5, max(1, round(4 + skill[name] + draw.gauss(0, 0.7)))))
        for i in range(items)
        for name in systems
        for r in range(raters)
    ]


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory, random_run: Path, rate_study: Rate) -> Path:
    folder = tmp_path_factory.mktemp("study") / "study"
    words = ["--corpus", "trails", "--acts", "10", "--systems", "gold", f"random={random_run}", "--raters", "6"]
    assert main(["study", "create", *words, "--output", str(folder)]) == 0
    rate_study(folder, lambda rater, page, question: 1.0 + (3 * page + question + rater // 2) % 5)
    return folder


def test_a_study_is_analysed_into_a_report(study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--people", "gold", "--runs", "50", "--min-kappa", "-1", "--permutations", "20"]
    words += ["--metric", "BLEU", "--metric", "ROUGE-L", "--metric", "SER"]
    files = [tmp_path / name for name in ("report.html", "report.tex", "found.json")]
    assert main(["study", "analyse", str(study), *words, "--report", str(files[0]), "--json", str(files[2])]) == 0
    printed = capsys.readouterr().out
    assert main(["study", "analyse", str(study), *words, "--report", str(files[1]), "--json", "-"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found == json.loads(files[2].read_text(encoding="utf-8"))
    page, latex = (file.read_text(encoding="utf-8") for file in files[:2])
    for row in found["means"]["rows"]:
        mean = f"{row['mean']:.2f}"
        assert re.search(rf"{row['criterion']} +all +{row['system']} +{mean}", printed)
        assert mean in page
        assert mean in latex
    for row in found["metrics"]["levels"][0]["rows"]:
        if row["spearman"]["value"] is not None:
            assert f"{row['spearman']['value']:.3f}" in page
    # Every table names its method, and the plots are in the page.
    assert page.count("Method: ") >= page.count("<section id=")
    assert page.count("<circle") > 100
    assert found["metrics"]["halves"]["rows"]
    assert found["filtered"]["kept"] and "ratings" not in found["filtered"] and "pairings" not in found["metrics"]
    assert "people (half against half)" in printed
    assert "gold" not in found["metrics"]["levels"][0]


def test_a_sentence_is_not_scored_against_itself(study: Path) -> None:
    found = Study.load(study)
    scores = study_scores(found, metrics=["BLEU-4"])
    for item in found.items:
        for system, sentence in item.sentences.items():
            others = [text for text in item.references if text.strip() != sentence.strip()]
            key = (item.corpus, item.id, system)
            if not others:
                assert key not in scores.values["BLEU-4"]
                continue
            alone = score([sentence], [others], metrics=["BLEU-4"])
            assert scores.values["BLEU-4"][key] == pytest.approx(alone.segments[0, 0], abs=1e-9)


def test_a_study_may_be_given_by_its_file(study: Path) -> None:
    for source in (MetricSource(), MetricSource(metrics=["ROUGE-L"])):
        scores = [metric_scores(path, read_study_ratings(path), source) for path in (study, study / "study.json")]
        assert scores[0] is not None and scores[0] == scores[1]


def test_every_command_takes_a_study_by_its_file(
    study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dactnlg.studies.server.session.serve", lambda *_found, **_named: None)
    ratings = tmp_path / "ratings.csv"
    assert main(["study", "export", str(study), "--output", str(ratings)]) == 0
    words: list[list[str | Path]] = [["export"], ["datasheet"], ["serve", "--port", "0", "--new-links"]]
    words.append(["import", ratings, "--format", "csv", "--study"])
    for command in words:
        printed = []
        for path in (study, study / "study.json"):
            assert main(["study", *map(str, command), str(path)]) == 0
            printed.append(re.sub(r"http\S+|token \S+", "", capsys.readouterr().out))
        assert printed[0] == printed[1] != ""


def test_stored_scores_are_matched_by_the_order_of_a_study_s_items(study: Path, tmp_path: Path) -> None:
    items = [item for item in Study.load(study).items if item.check is None]
    stored = tmp_path / "random.json"
    pairs = tmp_path / "pairs.jsonl"
    lines = [{"hypothesis": item.sentences["random"], "references": item.references} for item in items]
    pairs.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    assert main(["score", "--input", str(pairs), "--metric", "BLEU-1", "--json", str(stored)]) == 0
    alone = score([item.sentences["random"] for item in items], [item.references for item in items], metrics=["BLEU-1"])
    # The order of the ratings is another one.
    ratings = read_study_ratings(study)
    ratings = Ratings(ratings.rows[::-1])
    scores = metric_scores(study, ratings, MetricSource([f"random={stored}"]))
    assert scores is not None
    (name,) = scores.metrics
    for item, value in zip(items, alone.segments[:, 0], strict=True):
        assert scores.value(name, (item.corpus, item.id, "random")) == pytest.approx(value)


def test_stored_scores_need_one_order_of_items_in_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pairs = tmp_path / "pairs.jsonl"
    lines = [{"hypothesis": f"say {word}", "references": ["say one"]} for word in ("one", "two", "three")]
    pairs.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    assert main(["score", "--input", str(pairs), "--metric", "BLEU-1", "--json", str(tmp_path / "a.json")]) == 0
    own = {"x": ["i0", "i1", "i2"], "y": ["i0", "i2"]}
    for last, code in (["i1", "i2"], 0), (["i2", "i1"], 2):
        rows = [
            (item, "a", rater, "q", place)
            for rater, items in (own | {"z": last}).items()
            for place, item in enumerate(items)
        ]
        ratings = write(tmp_path / "ratings.csv", rows)
        words = ["study", "analyse", str(ratings), "--scores", f"a={tmp_path / 'a.json'}", "--permutations", "0"]
        assert main([*words, "--runs", "2"]) == code
    told = capsys.readouterr().err
    assert "z's ratings have another order" in told and "a CSV file of scores (item, system, METRIC)" in told
    scores = write(tmp_path / "s.csv", [(f"i{at}", "a", at) for at in range(3)], ["item", "system", "m"])
    assert metric_scores(ratings, Ratings.read(ratings), MetricSource([str(scores)])) is not None


def test_metrics_may_come_from_a_csv_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = simulated()
    ratings = write(tmp_path / "ratings.csv", rows)
    means: dict[tuple[str, str], list[float]] = {}
    for item, system, _, _, value in rows:
        means.setdefault((item, system), []).append(value)
    metric = [(item, system, sum(values), 0.5) for (item, system), values in means.items()]
    scores = write(tmp_path / "scores.csv", metric, ["item", "system", "perfect", "constant"])
    words = [str(ratings), "--scores", str(scores), "--runs", "20", "--permutations", "0", "--json", "-"]
    assert main(["study", "analyse", *words]) == 0
    levels = json.loads(capsys.readouterr().out)["metrics"]["levels"]
    by_name = {row["metric"]: row for row in levels[0]["rows"]}
    assert by_name["perfect"]["pearson"]["value"] == pytest.approx(1)
    assert by_name["perfect"]["spearman"]["value"] == pytest.approx(1)
    # The correlation is undefined, not 0.
    assert by_name["constant"]["spearman"]["value"] is None
    assert "constant" in by_name["constant"]["spearman"]["reason"]


def test_a_corpus_may_have_no_metric_values(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [(*row, corpus) for corpus in ("x", "y") for row in simulated()]
    ratings = write(tmp_path / "ratings.csv", rows, [*HEADER, "corpus"])
    metric = [("x", f"i{i}", name, i % 3 + "abc".index(name)) for i in range(8) for name in "abc"]
    scores = write(tmp_path / "scores.csv", metric, ["corpus", "item", "system", "m"])
    words = ["--scores", str(scores), "--people", "a", "--runs", "5", "--report", str(tmp_path / "r.html")]
    assert main(["study", "analyse", str(ratings), *words, "--json", "-"]) == 0
    levels = json.loads(capsys.readouterr().out)["metrics"]["levels"]
    assert {row["corpus"] for row in levels[0]["rows"] if row["pearson"]["value"] is not None} == {None, "x"}


def test_every_table_finds_the_order_of_systems(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ratings = write(tmp_path / "ratings.csv", simulated(items=15))
    properties = write(
        tmp_path / "p.csv", [("a", "new", "x"), ("b", "new", "y"), ("c", "old", "x")], ["system", "m", "n"]
    )
    assert (
        main(["study", "analyse", str(ratings), "--properties", str(properties), "--runs", "100", "--json", "-"]) == 0
    )
    found = json.loads(capsys.readouterr().out)
    assert [row["system"] for row in found["rankings"][0]["rows"]] == ["a", "b", "c"]
    assert [row["system"] for row in found["means"]["rows"]] == ["a", "b", "c"]
    assert [row["system"] for row in found["models"][0]["effects"]] == ["a", "b", "c"]
    assert found["anova"]["reason"]
    for wins in found["wins"]["rows"]:
        assert wins["win"]["share"] > wins["loss"]["share"]


@pytest.mark.parametrize(
    ("rows", "words", "told"),
    [
        ([], [], "there are no ratings"),
        ([("i", "a", "r", "q", "nan")], [], "line 2: value 'nan' is not a finite number"),
        ([("i", "a", "r", "q", "inf")], [], "not a finite number"),
        ([("i", "a", "r", "q", "five")], [], "'five' is not a finite number"),
        ([("i", "", "r", "q", "5")], [], "line 2: system is empty"),
        ([("i", "a", "r", "q", "5")] * 2, [], "twice"),
        ([("i", "a", "r", "q", "5", "6")], [], "more or fewer cells than the header"),
        ([("i", "a", "r", "q", "5")], ["--criterion", "quality"], "unknown criterion 'quality'"),
        ([("i", "a", "r", "q", "5")], ["--baseline", "b"], "unknown baseline 'b'"),
        ([("i", "a", "r", "q", "5")], ["--metric", "BLEU-4"], "give the metrics with --scores"),
        ([("i", "a", "r", "q", "5")], ["--people", "a"], "--people and --plot are for metrics, and there are none"),
        ([("i", "a", "r", "q", "5")], ["--plot", "BLEU-4"], "--people and --plot are for metrics, and there are none"),
        (
            [("i", "a", "r", "q", "5")],
            ["--database", "sqlite://"],
            "is not the folder of a study: leave out --database",
        ),
        ([("i", "a", "r", "q", "5")], ["--scores", "nowhere.csv"], "nowhere.csv"),
        ([("i", "a", "r", "q", "5")], ["--report", "no/such/folder.html"], "there is no folder no/such"),
    ],
)
def test_mistakes_of_an_analysis_are_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], rows: list[tuple[Any, ...]], words: list[str], told: str
) -> None:
    path = write(tmp_path / "ratings.csv", rows)
    assert main(["study", "analyse", str(path), "--runs", "2", *words]) == 2
    assert told in capsys.readouterr().err


@pytest.mark.parametrize(
    "rows",
    [
        [("i", "a", "r", "q", 5)],
        [(f"i{at}", "a", "r", "q", at) for at in range(5)],
        [("i", name, f"r{at}", "q", 3) for at in range(4) for name in "ab"],
        [(f"i{at}", "ab"[at % 2], f"r{at}", "q", at % 5) for at in range(12)],
        [*simulated(), ("i0", "a", "alone", "quality", 5)],
        [*simulated(), *((f"i{at}", "a", "percent", "quality", 20.0 * at) for at in range(5))],
        [*simulated("ab"), ("elsewhere", "c", "r9", "quality", 1)],
        [(f"i{i}", s, f"r{r}", "q", 4) for i in range(4) for s in "ab" for r in range(3)],
        [*simulated(), ("i0", "a", "r0", "other", 1)],
        [("x" * 300, "<b>", "r\x1b", "q|\\", 1), ("x" * 300, "&amp;", "r\x1b", "q|\\", 2)],
    ],
    ids=["one", "one-rater", "all-ties", "nothing-shared", "a-rater-of-one", "scales", "apart", "constant", "c", "odd"],
)
def test_odd_ratings_are_analysed_or_called_undefined(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], rows: list[tuple[Any, ...]]
) -> None:
    path = write(tmp_path / "ratings.csv", rows)
    assert main(["study", "analyse", str(path), "--runs", "5", "--report", str(tmp_path / "r.html")]) == 0
    printed = capsys.readouterr()
    assert "nan" not in printed.out.lower().replace("nanc", "")
    assert "\x1b" not in printed.out
    assert "Traceback" not in printed.err
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "<b>" not in re.sub(r"</?b>(?=[\w ])|(?<=\w)</b>", "", page)


def test_a_constant_criterion_does_not_stop_normalisation(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [*simulated(), *((*row[:3], "fluency", 5) for row in simulated())]
    path = write(tmp_path / "ratings.csv", rows)
    assert main(["study", "analyse", str(path), "--runs", "5", "--normalize", "z", "--json", "-"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [model["criterion"] for model in found["models"]] == ["quality"]
    assert any("left out r0 (fluency), r1 (fluency)" in note for note in found["notes"])


def test_ten_thousand_raters_are_analysed_by_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    draw = random.Random(1)
    rows = [(f"i{r % 50}", s, f"r{r}", "q", draw.randint(1, 5)) for r in range(10_000) for s in "ab"]
    path = write(tmp_path / "ratings.csv", rows)
    assert main(["study", "analyse", str(path), "--runs", "5", "--min-kappa", "0.1"]) == 0
    assert "10,000 raters" in capsys.readouterr().out


def test_the_command_prints_the_power_of_designs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path / "pilot.csv", simulated("ab", items=12, raters=6))
    words = [str(path), "--difference", "1", "--acts", "5,20", "--raters", "3,10", "--studies", "200"]
    assert main(["study", "power", *words]) == 0
    assert "Power by acts and raters" in capsys.readouterr().out
    assert main(["study", "power", *words, "--json", "-"]) == 0
    designs = {(d["acts"], d["raters"]): d["power"] for d in json.loads(capsys.readouterr().out)["designs"]}
    assert designs[20, 10] >= designs[5, 3]
    assert main(["study", "power", str(path), "--difference", "1", "--acts", "1"]) == 2
    assert "at least 2" in capsys.readouterr().err


def test_power_says_what_the_pilot_cannot_tell(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # Each item has a sentence of one system alone, whose variance between items is therefore taken for 0.
    rows = [row for row in simulated("ab", items=12) if (int(row[0][1:]) % 2 == 0) == (row[1] == "a")]
    path = write(tmp_path / "pilot.csv", rows)
    assert main(["study", "power", str(path), "--difference", "1", "--acts", "5", "--raters", "3"]) == 0
    assert "Item x system cannot be told from item." in capsys.readouterr().out
