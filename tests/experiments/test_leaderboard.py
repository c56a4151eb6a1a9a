"""The table of runs: blocks by test set and protocol, columns by hash, repetitions under what they repeat."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path
from zlib import crc32

import pytest

from dactnlg.acts import parse
from dactnlg.errors import RunError
from dactnlg.evaluation.hash_codes import FairData
from dactnlg.experiments.leaderboard import collect
from dactnlg.experiments.leaderboard_page import render, to_json
from dactnlg.metrics import perplexity
from dactnlg.runs.run import identity
from dactnlg.text.example import Example


def make(folder: Path, name: str, value: float | None, code: str = "a" * 64, **facts: object) -> Path:
    """Write a run folder that has no more than a manifest."""
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
    begun = f"{datetime.fromtimestamp(crc32(name.encode()), UTC):%FT%TZ}"  # a time of its own tells runs apart
    manifest = {"begun": begun, "config": {"model": {"name": "sclstm"}}, "evaluations": [entry], **facts}
    (folder / name / "manifest.json").write_text(json.dumps(manifest))
    return folder / name


def of(run: Path) -> dict[str, str]:
    """What the manifest of a run done again says about the first one."""
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


def test_diversity_is_shown_and_does_not_lead(tmp_path: Path) -> None:
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


def test_nothing_is_ranked_across_hashes(tmp_path: Path) -> None:
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


def test_a_repetition_stands_under_its_run_and_wins_nothing(tmp_path: Path) -> None:
    first = make(tmp_path, "first", 0.5)
    again = make(tmp_path, "again", 0.9, repeats=of(first))
    third = make(tmp_path, "third", 0.8, repeats=of(again))
    other = make(tmp_path, "other", 0.6)
    lost = make(tmp_path, "lost", 0.95, repeats={"run": "/nowhere/run", "identity": "0" * 64})
    # Wherever the folder lies now: a run is known by what its manifest says.
    first = first.rename(tmp_path / "first, moved")
    text = render(collect([third, again, first, other, lost]))
    lines = text.splitlines()[3:8]
    names = ["lost (repeats", "other", "first, moved", "again: third", "again: again"]
    assert all(line.strip().startswith(name) for line, name in zip(lines, names, strict=True)), text
    assert "repeats /nowhere/run" in lines[0]
    assert [("*" in line.split("0.", 1)[1][:7]) for line in lines] == [False, True, False, False, False]
    page = render(collect([third, again, first, other, lost]), "html")
    assert page.count('<tr class="again">') == 2


def test_a_repetition_with_other_options_stands_under_those(tmp_path: Path) -> None:
    first = make(tmp_path, "first", 0.5)
    manifest = json.loads((first / "manifest.json").read_text())
    entries = [{**manifest["evaluations"][0], "options": {"beam_width": width}} for width in (1, 5)]
    (first / "manifest.json").write_text(json.dumps({**manifest, "evaluations": entries}))
    again = make(tmp_path, "again", 0.5, options={"beam_width": 5}, repeats=of(first))
    shown = [row.run for block in collect([again, first]) for row, _ in block.ordered()]
    assert shown == ["first beam_width=1", "first beam_width=5", "again beam_width=5"]


class Cells(HTMLParser):
    """Collects cells and checks that tags close."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ("meta", "br", "html"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag != "html":
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def test_markdown_and_html_hold_the_same(tmp_path: Path) -> None:
    paths = [make(tmp_path, "a|b<i>", 0.25), make(tmp_path, "c", 0.75)]
    blocks = collect(paths)
    markdown = render(blocks, "markdown")
    assert "| a\\|b\\<i\\> | sclstm | 0.2500 | **0.2500** |" in markdown
    assert "|---|---|---:|---:|" in markdown
    page = Cells()
    page.feed(render(blocks, "html"))
    page.close()
    assert not page.open
    assert {"a|b<i>", "0.7500", "sclstm"} <= set(page.text)


def test_no_runs_no_scores(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="no manifest"):
        collect([tmp_path])
    (tmp_path / "manifest.json").write_text("{}")
    with pytest.raises(RunError, match="these runs have no scores"):
        collect([tmp_path])


def test_the_command(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    make(tmp_path / "runs", "a", 0.5)
    command = [sys.executable, "-m", "dactnlg", "leaderboard"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, done.stdout.split("\n")[3].split()) == (0, ["a", "sclstm", "0.5000", "0.5000"])
    page = [*command, "runs/a", "--format", "html", "--output", "board.html"]
    assert subprocess.run(page, cwd=tmp_path).returncode == 0
    assert (tmp_path / "board.html").read_text().startswith("<!doctype html>")
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path / "runs")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)


def test_what_is_no_run_is_passed_over_with_a_note(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    for name, value in (("a", 0.5), ("b", 0.25)):
        make(tmp_path / "runs", name, value)
    (tmp_path / "runs" / "half").mkdir()
    (tmp_path / "runs" / "notes.txt").touch()
    make(tmp_path / "runs", "odd[1]", None)
    command = [sys.executable, "-m", "dactnlg", "leaderboard"]
    # No shell expands it: as on Windows.
    for pattern in ("runs/*", str(tmp_path / "runs" / "*")):
        done = subprocess.run([*command, pattern], capture_output=True, text=True, cwd=tmp_path)
        assert done.returncode == 0
        assert [row[0] for row in rows(done.stdout)[3:]] == ["a", "b", "odd[1]"]
        assert done.stderr.count("is passed over") == 2 and "half is passed over" in done.stderr
    done = subprocess.run([*command, "runs/a", "runs/b", "./runs/*"], capture_output=True, text=True, cwd=tmp_path)
    assert [row[0] for row in rows(done.stdout)[3:]] == ["a", "b", "odd[1]"]
    done = subprocess.run([*command, "runs/odd[1]", "--json", "-"], capture_output=True, text=True, cwd=tmp_path)
    assert json.loads(done.stdout)[0]["runs"][0]["run"] == "odd[1]"
    for wrong, message in (("runs/half", "no manifest"), ("none/*", "nothing that matches none/*")):
        done = subprocess.run([*command, wrong], capture_output=True, text=True, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (2, "") and message in done.stderr


def test_tables_for_programs(tmp_path: Path) -> None:
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
    """Sentences in which some words are frequent and each has a rare one."""
    words = ("red", "blue", "green")
    return tuple(
        Example(parse(f"inform(name=n{i})"), (f"the {words[i % 3]} {noun} number{i // (i % 3 + 1)} is here .",))
        for i in range(count)
    )


@pytest.fixture
def ten_runs(tmp_path: Path) -> list[Path]:
    """Ten runs over two corpora and three T_min, with the hashes that such corpora have; the last repeats the first."""
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
    again = make(tmp_path / "others", "mine", 0.0, repeats=of(paths[0]))
    manifest = json.loads((again / "manifest.json").read_text())
    kept = {name: first[name] for name in ("config", "evaluations")}
    (again / "manifest.json").write_text(json.dumps({**manifest, **kept}))
    return [again, *paths]


def test_ten_runs_over_two_corpora_and_three_vocabularies(ten_runs: list[Path]) -> None:
    hotel, train = collect(ten_runs)
    assert [(block.corpus, len(block.rows)) for block in (hotel, train)] == [("hotel", 6), ("train", 4)]
    for block in (hotel, train):
        columns = [name for name, _ in block.columns()]
        assert columns == ["BLEU-4", "SER", "perplexity", *["perplexity-original"] * 3], "F differs, F with R does not"
        # The fair figure is ranked over all T_min, the original one within each.
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
    assert hotel.ordered()[-1][1], "the run done again stands last, under the worst"
    text = render([hotel, train])
    assert "min_count=4 seed=1" in text or "seed=1 min_count=4" in text
    page = render([hotel, train], "html")
    assert "prefers-color-scheme" in page and "<script" not in page
    assert "http" not in page.replace('http-equiv="Content-Security-Policy"', "", 1)
