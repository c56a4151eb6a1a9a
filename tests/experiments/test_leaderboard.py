"""The table of runs: blocks by test set and protocol, columns by hash, repetitions under the run that they repeat."""

from __future__ import annotations

import csv
import io
import json
from datetime import UTC, datetime
from pathlib import Path
from zlib import crc32

import pytest
from helpers import Page, unreachable

from dactnlg.acts import parse
from dactnlg.cli.main import main
from dactnlg.errors import RunError
from dactnlg.evaluation.hash_codes import FairData
from dactnlg.experiments.leaderboard import collect
from dactnlg.experiments.leaderboard_page import render, to_json
from dactnlg.metrics import perplexity
from dactnlg.runs.run import identity
from dactnlg.text.example import Example


def make(folder: Path, name: str, value: float | None, code: str = "a" * 64, **facts: object) -> Path:
    """Write a run folder with nothing but a manifest."""
    (folder / name).mkdir()
    entry = {
        "corpus": facts.pop("corpus", "hotel"),
        "split": "test",
        "options": facts.pop("options", {}),
        "data": facts.pop("data", "d" * 64),
        "scores": {
            "fair": {
                "BLEU-4": {"value": value, "hash": code, "signature": "BLEU-4|preset:fair"},
                "SER": {"value": value, "hash": code[::-1], "signature": "SER|preset:fair"},
            }
        },
    }
    # Runs are told apart by the time at which they began.
    begun = f"{datetime.fromtimestamp(crc32(name.encode()), UTC):%FT%TZ}"
    manifest = {"begun": begun, "config": {"model": {"name": "sclstm"}}, "evaluations": [entry], **facts}
    (folder / name / "manifest.json").write_text(json.dumps(manifest))
    return folder / name


def repeated(run: Path) -> dict[str, str]:
    """Return what the manifest of a repetition says about the run that it repeats."""
    return {"run": str(run), "identity": identity(json.loads((run / "manifest.json").read_text()))}


def rows(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines()]


def test_the_best_is_marked_for_scores_and_error_rates(tmp_path: Path) -> None:
    paths = [make(tmp_path, name, value) for name, value in (("low", 0.2), ("high", 0.7), ("none", None))]
    text = render(collect(paths))
    assert rows(text)[1:6] == [
        ["run", "model", "BLEU-4", "SER"],
        ["aaaaaaaa", "aaaaaaaa"],
        ["high", "sclstm", "0.7000*", "0.7000"],
        ["low", "sclstm", "0.2000", "0.2000*"],
        ["none", "sclstm", "undefined", "undefined"],
    ]


def test_diversity_is_shown_and_does_not_decide_the_order(tmp_path: Path) -> None:
    for name, value in (("dull", 0.7), ("lively", 0.2)):
        path = make(tmp_path, name, value) / "manifest.json"
        manifest = json.loads(path.read_text())
        found = manifest["evaluations"][0]["scores"]["fair"]
        for other in ("mean-length", "self-BLEU", "distinct-1"):
            found[other] = {"value": value if other != "distinct-1" else 1 - value, "hash": other, "signature": other}
        path.write_text(json.dumps(manifest))
    text = render(collect([tmp_path / "lively", tmp_path / "dull"]))
    assert rows(text)[3] == ["dull", "sclstm", "0.7000*", "0.7000", "0.7000", "0.7000", "0.3000"]
    assert rows(text)[4] == ["lively", "sclstm", "0.2000", "0.2000*", "0.2000", "0.2000*", "0.8000*"]


def test_scores_of_different_hashes_are_not_ranked(tmp_path: Path) -> None:
    paths = [make(tmp_path, "one", 0.2), make(tmp_path, "two", 0.7, code="b" * 64)]
    (block,) = collect(paths)
    assert len(block.columns()) == 4
    assert [block.best(column) for column in block.columns()] == [None] * 4
    text = render([block])
    assert "*" not in text
    assert rows(text)[1:3] == [["run", "model", *["BLEU-4"] * 2, *["SER"] * 2], ["aaaaaaaa", "bbbbbbbb"] * 2]
    assert "BLEU-4 aaaaaaaa | BLEU-4 bbbbbbbb" in render([block], "markdown")


def test_corpora_protocols_and_versions_of_data_are_blocks_of_their_own(tmp_path: Path) -> None:
    paths = [make(tmp_path, "a", 0.1), make(tmp_path, "b", 0.2, corpus="tv"), make(tmp_path, "c", 0.3, data="e" * 64)]
    assert [block.title for block in collect(paths)] == [
        "hotel, test, fair (data dddddddd)",
        "hotel, test, fair (data eeeeeeee)",
        "tv, test, fair (data dddddddd)",
    ]


def test_a_repetition_stands_under_its_run_and_is_never_the_best(tmp_path: Path) -> None:
    first = make(tmp_path, "first", 0.5)
    again = make(tmp_path, "again", 0.9, repeats=repeated(first))
    third = make(tmp_path, "third", 0.8, repeats=repeated(again))
    other = make(tmp_path, "other", 0.6)
    lost = make(tmp_path, "lost", 0.95, repeats={"run": "/nowhere/run", "identity": "0" * 64})
    # A run is recognised by its manifest, wherever its folder is now.
    first = first.rename(tmp_path / "first, moved")
    text = render(collect([third, again, first, other, lost]))
    lines = text.splitlines()[3:8]
    names = ["lost (repeats", "other", "first, moved", "again: third", "again: again"]
    assert all(line.strip().startswith(name) for line, name in zip(lines, names, strict=True)), text
    assert "repeats /nowhere/run" in lines[0]
    assert [("*" in line.split("0.", 1)[1][:7]) for line in lines] == [False, True, False, False, False]
    page = render(collect([third, again, first, other, lost]), "html")
    assert page.count('<tr class="again">') == 2


def test_a_repetition_stands_under_the_same_options_of_its_run(tmp_path: Path) -> None:
    first = make(tmp_path, "first", 0.5)
    manifest = json.loads((first / "manifest.json").read_text())
    entries = [{**manifest["evaluations"][0], "options": {"beam_width": width}} for width in (1, 5)]
    (first / "manifest.json").write_text(json.dumps({**manifest, "evaluations": entries}))
    again = make(tmp_path, "again", 0.5, options={"beam_width": 5}, repeats=repeated(first))
    shown = [row.run for block in collect([again, first]) for row, _ in block.ordered()]
    assert shown == ["first beam_width=1", "first beam_width=5", "again beam_width=5"]


def test_runs_of_one_name_are_told_apart_by_their_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in ("old", "new"):
        Path(folder).mkdir()
    paths = [make(Path("old"), "a", 0.25), make(Path("new"), "a", 0.75), make(Path("old"), "b", 0.5)]
    (block,) = collect(paths)
    assert [row.run for row, _ in block.ordered()] == [str(Path("new", "a")), "b", str(Path("old", "a"))]
    monkeypatch.chdir(paths[2])
    assert [row.run for row, _ in collect(["."])[0].ordered()] == ["b"]


def test_markdown_and_html_hold_the_same(tmp_path: Path) -> None:
    paths = [make(tmp_path, "a|b<i>", 0.25), make(tmp_path, "c", 0.75)]
    blocks = collect(paths)
    markdown = render(blocks, "markdown")
    assert "| a\\|b\\<i\\> | sclstm | 0.2500 | **0.2500** |" in markdown
    assert "|---|---|---:|---:|" in markdown
    page = render(blocks, "html")
    assert {"a|b<i>", "0.7500", "sclstm"} <= set(Page(page).texts)
    assert unreachable(page) == []


def test_folders_without_a_manifest_or_scores_are_refused(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="no manifest"):
        collect([tmp_path])
    (tmp_path / "manifest.json").write_text("{}")
    with pytest.raises(RunError, match="these runs have no scores"):
        collect([tmp_path])


def test_the_command_shows_the_runs_of_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("runs").mkdir()
    make(Path("runs"), "a", 0.5)
    assert main(["leaderboard"]) == 0
    assert rows(capsys.readouterr().out)[3] == ["a", "sclstm", "0.5000", "0.5000"]
    assert main(["leaderboard", "runs/a", "--format", "html", "--output", "board.html"]) == 0
    assert Path("board.html").read_text().startswith("<!doctype html>")
    monkeypatch.chdir("runs")
    capsys.readouterr()
    assert main(["leaderboard"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_what_is_not_a_run_is_skipped_with_a_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("runs", "half").mkdir(parents=True)
    Path("runs", "notes.txt").touch()
    for name, value in (("a", 0.5), ("b", 0.25), ("odd[1]", None)):
        make(Path("runs"), name, value)
    # Patterns that no shell has expanded, as on Windows.
    for pattern in ("runs/*", str(tmp_path / "runs" / "*")):
        assert main(["leaderboard", pattern]) == 0
        shown = capsys.readouterr()
        assert [row[0] for row in rows(shown.out)[3:]] == ["a", "b", "odd[1]"]
        assert shown.err.count("is passed over") == 2 and "half is passed over" in shown.err
    assert main(["leaderboard", "runs/a", "runs/b", "./runs/*"]) == 0
    assert [row[0] for row in rows(capsys.readouterr().out)[3:]] == ["a", "b", "odd[1]"]
    assert main(["leaderboard", "runs/odd[1]", "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["runs"][0]["run"] == "odd[1]"
    for wrong, message in (
        ("runs/half", "no manifest"),
        ("runs/c", "runs/c does not exist"),
        ("none/*", "nothing that matches none/*"),
    ):
        assert main(["leaderboard", wrong]) == 2
        shown = capsys.readouterr()
        assert shown.out == "" and message in shown.err


def test_csv_latex_and_json_hold_the_scores(tmp_path: Path) -> None:
    blocks = collect([make(tmp_path, name, value) for name, value in (("one", 0.5), ("none", None))])
    found = list(csv.DictReader(io.StringIO(render(blocks, "csv"))))
    assert [(row["run"], row["score"], row["value"]) for row in found] == [
        ("one", "BLEU-4", "0.5"),
        ("one", "SER", "0.5"),
        ("none", "BLEU-4", ""),
        ("none", "SER", ""),
    ]
    assert {row["hash"] for row in found} == {"a" * 64}
    latex = render(blocks, "latex")
    assert latex.count("\\begin{tabular}") == 1 and "% hotel, test, fair" in latex
    (block,) = to_json(blocks)
    assert [run["scores"][0]["value"] for run in block["runs"]] == [0.5, None]


def examples(noun: str, count: int) -> tuple[Example, ...]:
    """Return sentences of frequent words with one rare word each."""
    words = ("red", "blue", "green")
    return tuple(
        Example(parse(f"inform(name=n{i})"), (f"the {words[i % 3]} {noun} number{i // (i % 3 + 1)} is here .",))
        for i in range(count)
    )


@pytest.fixture
def ten_runs(tmp_path: Path) -> list[Path]:
    """Ten runs on two corpora with three T_min, with the hashes of such corpora; the first repeats the second."""
    paths = []
    for number in range(9):
        noun, min_count = ("hotel", "train")[number % 2], (1, 2, 4)[number % 3]
        splits = {"train": examples(noun, 30), "test": examples(noun, 12)}
        data = FairData(splits, "whitespace", min_count)
        pairs = [(str(e.turn), [list(r.split()) for r in e.references][0]) for e in splits["test"]]
        hashes = perplexity.hashes(pairs, "whitespace", data.vocabulary)
        signatures = perplexity.signatures("whitespace", data.vocabulary)
        config = {"model": {"name": "lstm"}, "training": {"seed": number // 6}, "corpus": {"min_count": min_count}}
        path = make(tmp_path, f"{noun}-{number}", 0.3 + number / 20, corpus=noun, data=noun[0] * 64, code=noun[1] * 64)
        manifest = json.loads((path / "manifest.json").read_text())
        found = manifest["evaluations"][0]["scores"]["fair"]
        for name, code in hashes.items():
            value = 20.0 - number - (min_count if name == "perplexity-original" else 0)
            found[name] = {"value": value, "hash": code, "signature": signatures[name]}
        (path / "manifest.json").write_text(json.dumps({**manifest, "config": config}))
        paths.append(path)
    first = json.loads((paths[0] / "manifest.json").read_text())
    (tmp_path / "others").mkdir()
    again = make(tmp_path / "others", "mine", 0.0, repeats=repeated(paths[0]))
    manifest = json.loads((again / "manifest.json").read_text())
    kept = {name: first[name] for name in ("config", "evaluations")}
    (again / "manifest.json").write_text(json.dumps({**manifest, **kept}))
    return [again, *paths]


def test_perplexities_are_ranked_where_their_vocabularies_allow_it(ten_runs: list[Path]) -> None:
    hotel, train = collect(ten_runs)
    assert [(block.corpus, len(block.rows)) for block in (hotel, train)] == [("hotel", 6), ("train", 4)]
    for block in (hotel, train):
        columns = [name for name, _ in block.columns()]
        assert columns == ["BLEU-4", "SER", "perplexity", *["perplexity-original"] * 3], "F differs, F with R does not"
        # The fair perplexity is ranked over all T_min, the original one within each.
        firsts = [row for row in block.rows if not row.repeats]
        for column in block.columns():
            held = [row for row in firsts if column in row.scores]
            if column[0] == "perplexity":
                assert held == firsts
                assert block.best(column) == min(row.scores[column] for row in held)
            if column[0] == "perplexity-original":
                assert len({row.config["corpus.min_count"] for row in held}) == 1
                expected = min(row.scores[column] for row in held) if len(held) > 1 else None
                assert block.best(column) == expected
        names = [row.run for row, _ in block.ordered()]
        assert names == sorted(names, key=lambda name: -int(name[-1]) if name[-1].isdigit() else 0)
    assert hotel.ordered()[-1][1], "the repetition stands last, under the worst run"
    text = render([hotel, train])
    assert "seed=1 min_count=4" in text
    page = render([hotel, train], "html")
    assert "prefers-color-scheme" in page and "<script" not in page
    assert "http" not in page.replace('http-equiv="Content-Security-Policy"', "", 1)
