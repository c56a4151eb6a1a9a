"""Comparing two systems: which scores may be ranked, what differs, and where."""

from __future__ import annotations

import csv
import io
import json
import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers import unreachable

from dactnlg.acts import parse
from dactnlg.cli.main import main
from dactnlg.errors import MetricError, UnknownNameError, UserError
from dactnlg.evaluation.comparison import compare, load_system
from dactnlg.evaluation.report import compared
from dactnlg.evaluation.scoring import TextPair, score_pairs
from dactnlg.evaluation.stored import StoredScores, stored_scores

ACTS = ["inform(name=Ivy;food=thai)", "goodbye()", "request(area)"]


def pairs(fault: int = 0, count: int = 60) -> list[TextPair]:
    """Pairs of three acts; with a `fault` of n every n-th `inform` loses its last word."""
    found = []
    for number in range(count):
        act = ACTS[number % 3]
        text = {0: f"Ivy {number} serves good thai", 1: f"good bye then {number}", 2: f"which area do you {number}"}
        said = reference = text[number % 3]
        if fault and number % 3 == 0 and (number // 3) % fault == 0:
            said = " ".join(said.split()[:-1])
        found.append(TextPair(said, (reference,), parse(act)))
    return found


def stored(given: list[TextPair], *arguments: object) -> dict:
    return stored_scores(json.loads(json.dumps(score_pairs(given, *arguments).to_dict())), "x.json")


def test_the_better_system_is_named_with_the_acts_and_segments_that_differ() -> None:
    found = compare(stored(pairs(fault=2)), stored(pairs()))
    by_name = {item.name: item for item in found.differences}
    assert {name for name, item in by_name.items() if item.better == "B"} >= {"BLEU-4", "ROUGE-L", "SER"}
    assert by_name["SER"].test.difference < 0
    assert [act.act for act in found.acts] == ["inform"]
    assert found.acts[0].size == 20
    assert len(found.segments) == 10
    assert all(change.gain > 0 and change.act == str(parse(ACTS[0])) for change in found.segments)
    first = found.segments[0]
    assert (first.texts[1], first.reference) == ("Ivy 0 serves good thai", "Ivy 0 serves good thai")
    back = compare(stored(pairs()), stored(pairs(fault=2)))
    assert {item.name for item in back.differences if item.better == "A"} >= {"BLEU-4", "ROUGE-L", "SER"}
    text = compared.text(found, top=3)
    assert "Segments that got better by METEOR-1.5: 10, the first 3" in text
    assert "Segments that got worse by METEOR-1.5: 0" in text
    assert json.loads(json.dumps(found.to_json(top=3)))["segments"]["worse"] == []


def test_a_system_does_not_differ_from_itself() -> None:
    found = compare(stored(pairs(3)), stored(pairs(3)))
    assert not any(item.better for item in found.differences)
    assert not found.acts and not found.segments


def test_scores_that_do_not_follow_from_their_statistics_are_refused() -> None:
    result = score_pairs(pairs(2))
    data = json.loads(json.dumps(result.to_dict()))
    assert data["segments"][0]["statistics"]["SER"] == [2, 1, 0]
    data["scores"]["BLEU-4"]["value"] += 0.01
    with pytest.raises(MetricError, match=r"x.json: BLEU-4 is .*, but its segments give"):
        stored_scores(data, "x.json")


def test_a_score_file_whose_segments_partly_lack_keys_is_refused() -> None:
    data = json.loads(json.dumps(score_pairs(pairs(2)).to_dict()))
    del data["segments"][0]["key"]
    with pytest.raises(MetricError, match=r"x.json holds no scores"):
        stored_scores(data, "x.json")


def test_segments_that_cannot_be_paired_are_not_tested() -> None:
    def keyless(fault: int) -> dict[str, StoredScores]:
        data = json.loads(json.dumps(score_pairs(pairs(fault)[::-1], keep=False).to_dict()))
        assert "key" not in data["segments"][0]
        return stored_scores(data, "x.json")

    tested = {item.name: item for item in compare(stored(pairs(2)), stored(pairs(5))).differences}
    for first, second, without in ((stored(pairs(2)), keyless(5), "B"), (keyless(2), keyless(5), "A and B")):
        found = compare(first, second)
        assert {item.name: item.second for item in found.differences} == {
            name: pytest.approx(item.second) for name, item in tested.items()
        }
        assert all(item.test is None and not item.better for item in found.differences)
        assert not found.acts and not found.segments
        assert found.notes == [f"nlg-eval: not tested, since the segments of {without} have no keys to pair them by"]
        assert found.notes[0] in compared.text(found) and found.to_json()["notes"] == found.notes
    assert all(item.test for item in tested.values())


def test_another_variant_is_not_ranked() -> None:
    with pytest.raises(MetricError) as caught:
        compare(stored(pairs(), ["BLEU-4"], "nlg-eval"), stored(pairs(), ["BLEU-4"], "rnnlg"))
    message = str(caught.value)
    assert "may not be ranked" in message
    assert "variant is nlg-eval in A, rnnlg in B" in message
    assert "preset is nlg-eval in A, rnnlg in B" in message


def test_other_references_are_not_ranked() -> None:
    other = pairs()
    other[4] = other[4]._replace(references=("something else",))
    with pytest.raises(MetricError, match="references .or acts. differ in 1 of 60 segments, first in segment 5"):
        compare(stored(pairs()), stored(other))
    with pytest.raises(MetricError, match="A has 60 segments, B 30"):
        compare(stored(pairs()), stored(pairs(count=30)))


def test_a_score_of_one_system_only_is_named_and_the_rest_ranked() -> None:
    found = compare(stored(pairs(), ["BLEU-4", "ROUGE-L"]), stored(pairs(), ["BLEU-4"]))
    assert [item.name for item in found.differences] == ["BLEU-4"]
    assert found.refused == ["nlg-eval ROUGE-L: B was not scored with it"]
    with pytest.raises(MetricError, match=r"may not be ranked:\n  nlg-eval ROUGE-L: B was not scored with it$"):
        compare(stored(pairs(), ["BLEU-4", "ROUGE-L"]), stored(pairs(), ["BLEU-4"]), metric="ROUGE-L")


def test_the_deciding_metric_may_be_in_any_case_a_family_or_one_of_whole_corpora() -> None:
    systems = [stored(pairs(fault), ["BLEU", "ROUGE-L", "diversity"]) for fault in (2, 5)]
    assert compare(*systems, metric="rouge-l").metric == "ROUGE-L"
    assert compare(*systems, metric="bleu").metric == "BLEU-4"
    for name in ("distinct-1", "self-bleu", "diversity"):
        found = compare(*systems, metric=name)
        assert found.metric == "" and not found.segments and "distinct-1" in {item.name for item in found.differences}
    # As on the command line: `self` is no family, though there is a self-BLEU.
    for name, hint in (("BLEU-5", "did you mean 'BLEU-4'"), ("self", "did you mean 'self-BLEU'")):
        with pytest.raises(UnknownNameError, match=hint):
            compare(*systems, metric=name)


def test_the_order_of_segments_does_not_matter() -> None:
    straight = compare(stored(pairs(2)), stored(pairs(5)))
    shuffled = compare(stored(pairs(2)), stored(pairs(5)[::-1]))
    assert straight.segments == shuffled.segments and straight.acts == shuffled.acts
    for one, other in zip(straight.differences, shuffled.differences, strict=True):
        assert one.test == pytest.approx(other.test, abs=1e-9), one.name


@pytest.mark.parametrize("text", ["[]", "{}", "3", '{"scores": {}}', '{"scores": {"a": 1}, "segments": [{}]}', "{"])
def test_a_file_without_scores_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text(text)
    with pytest.raises(MetricError, match=r"bad.json( holds no scores|, line 1: not JSON)"):
        load_system(tmp_path / "bad.json")


def test_a_score_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(MetricError, match=r"cannot read .*absent"):
        load_system(tmp_path / "absent")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(MetricError, match=r"cannot read .*pipe: it is a pipe"):
        load_system(tmp_path / "pipe")


ODD = [10**400, -(10**25), 1e308, -1, 0.5, True, "x", None, [], {}, [1, 2], "\ud800"]
RAW = {"infinity": "1e999", "nan": "NaN", "digits": "9" * 5000, "deep": "[" * 5000}


def places(data: object, path: tuple = ()) -> Iterator[tuple]:
    """Yield the path of every value in JSON data."""
    for key, value in data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ():
        yield (*path, key)
        yield from places(value, (*path, key))


def test_odd_values_in_a_score_file_are_refused_or_read(tmp_path: Path) -> None:
    rng, path = random.Random(13), tmp_path / "scores.json"
    text = json.dumps(score_pairs(pairs(3, 12)).to_dict())
    path.write_text(text)
    sound, where = load_system(path), list(places(json.loads(text)))
    # These once gave tracebacks.
    known = [
        ("segments", 3, "statistics", "ROUGE-L", 0),
        ("segments", 11, "scores", "ROUGE-L"),
        ("segments", 2, "act"),
    ]
    chosen = [(place, value) for place in known for value in (10**400, 3)]
    refused = 0
    for place, value in [*chosen, *((rng.choice(where), rng.choice([*ODD, *RAW])) for _ in range(80))]:
        data = part = json.loads(text)
        for key in place[:-1]:
            part = part[key]
        part[place[-1]] = value
        written = json.dumps(data)
        for name, raw in RAW.items():
            written = written.replace(f'"{name}"', raw)
        path.write_text(written)
        try:
            found = compare(load_system(path), sound)
        except UserError as error:
            refused += 1
            assert "\n" not in str(error), place
        else:
            json.dumps(found.to_json(top=3), allow_nan=False)
    assert refused > 40


def test_runs_are_compared_as_they_are_evaluated(
    random_run: Path, neural_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "vectors.txt").write_text("the 1 0\nis 0 1\n", encoding="utf-8")
    words = ["compare", str(random_run), str(neural_run), "--preset", "single", "--resamples", "20"]
    words += ["--vectors", str(tmp_path / "vectors.txt"), "--metric", "embedding-average", "--constraint", "none"]
    words += ["--beam-width", "2", "--sampling-seed", "5", "--seed", "3", "--backend", "numpy"]
    assert main([*words, "--report", str(tmp_path / "c.html"), "--json", str(tmp_path / "c.json")]) == 0
    shown = capsys.readouterr().out
    assert "Acts that changed by embedding-average" in shown
    data = json.loads((tmp_path / "c.json").read_text())
    assert [item["name"] for item in data["differences"]][-2:] == ["embedding-average", "SER"]
    for manifest in (random_run / "manifest.json", neural_run / "manifest.json"):
        options = [entry["options"] for entry in json.loads(manifest.read_text())["evaluations"]]
        assert {"beam_width": 2, "constraint": "none", "seed": 5} in options
    page = (tmp_path / "c.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>") and page.count("<table>") == 2 and unreachable(page) == []
    assert "embedding-average" in page and "Segments that got better" in page and str(random_run) in page


def test_a_comparison_is_shown_in_every_table_format() -> None:
    found = compare(stored(pairs(fault=2)), stored(pairs()), ("a", "b"), "BLEU-4", 20, 20)
    rows = list(csv.reader(io.StringIO(compared.table(found, "csv"))))
    assert rows[0][:4] == ["score", "A", "B", "B - A"]
    assert rows[0][5:7] == ["p (bootstrap)", "p (randomisation)"]
    assert [row[0] for row in rows[1:]] == [item.name for item in found.differences]
    latex = compared.table(found, "latex")
    assert latex.endswith("% A: a\n% B: b") and "\\toprule" in latex
    assert compared.table(found, "markdown").startswith("# Comparison")
    assert compared.table(found) == compared.text(found)


def test_compare_takes_score_files_and_runs(
    random_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, fault in (("a", 2), ("b", 0)):
        lines = [
            json.dumps({"hypothesis": p.hypothesis, "references": p.references, "act": str(p.turn)})
            for p in pairs(fault)
        ]
        Path(f"{name}.jsonl").write_text("\n".join(lines), encoding="utf-8")
        assert main(["score", "--input", f"{name}.jsonl", "--json", f"{name}.json", "--confidence"]) == 0
        assert "95% interval" in capsys.readouterr().out
    words = ["compare", "a.json", "b.json", "--metric", "BLEU-4", "--resamples", "100"]
    assert main([*words, "--report", "c.md"]) == 0
    markdown = Path("c.md").read_text(encoding="utf-8")
    assert "Segments that got better by BLEU-4" in markdown and "a.json" in markdown
    told = capsys.readouterr()
    assert "Segments that got better by BLEU-4: 10" in told.out and told.err == ""
    assert main(["compare", "a.json", "b.json", "--json", "-", "--resamples", "100"]) == 0
    assert json.loads(capsys.readouterr().out)["systems"] == {"A": "a.json", "B": "b.json"}
    assert main(["compare", "a.json", str(random_run)]) == 2
    told = capsys.readouterr()
    assert told.out == "" and "the test sets differ: A has 60 segments, B 300" in told.err


def test_no_format_hides_that_scores_are_not_ranked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [tmp_path / "a.json", tmp_path / "b.json"]
    for file, names in zip(files, (["BLEU-4", "ROUGE-L"], ["BLEU-4"]), strict=True):
        file.write_text(json.dumps(score_pairs(pairs(), names, "single").to_dict()), encoding="utf-8")
    words = ["compare", *map(str, files), "--resamples", "20", "--format"]
    shown = {}
    for form in ("text", "markdown", "csv", "latex"):
        assert main([*words, form]) == 0
        shown[form] = capsys.readouterr()
        both = shown[form].out + shown[form].err
        assert both.replace("\\", "").count("single ROUGE-L: B was not scored with it") == 1
    # Programs read standard output: LaTeX has comments, CSV has none.
    assert [row[0] for row in csv.reader(io.StringIO(shown["csv"].out))] == ["score", "BLEU-4"]
    assert [form for form, told in shown.items() if told.err] == ["csv"]
    assert shown["latex"].out.splitlines()[-1].startswith("% not ranked: ")


@pytest.mark.parametrize("without", ["A", "B"])
def test_a_system_scored_without_acts_is_told_to_be_given_them(without: str) -> None:
    # The same sentences and references: what differs is only what else was given.
    given = pairs(fault=2)
    both = [given, [pair._replace(turn=None) for pair in given]]
    first, second = (stored(each, ["BLEU-4"], "single") for each in (both if without == "B" else both[::-1]))
    message = f"BLEU-4: {without} was scored without acts, which are part of the test set: give them to both"
    with pytest.raises(MetricError, match=message):
        compare(first, second)
    other = stored([pair._replace(references=("x",)) for pair in given], ["BLEU-4"], "single")
    with pytest.raises(MetricError, match=r"the references \(or acts\) differ in 60 of 60"):
        compare(stored(given, ["BLEU-4"], "single"), other)
