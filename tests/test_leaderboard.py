"""The table of runs: blocks by test set and protocol, columns by hash, repetitions under what they repeat."""

from __future__ import annotations

import json
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from dactnlg.errors import RunError
from dactnlg.leaderboard import collect, render


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
    manifest = {"config": {"model": {"name": "sclstm"}}, "evaluations": [entry], **facts}
    (folder / name / "manifest.json").write_text(json.dumps(manifest))
    return folder / name


def rows(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines()]


def test_the_best_is_marked_for_scores_and_error_rates(tmp_path: Path) -> None:
    paths = [make(tmp_path, name, value) for name, value in (("low", 0.2), ("high", 0.7), ("none", None))]
    text = render(collect(paths))
    assert rows(text)[1:5] == [
        ["run", "model", "BLEU-4", "SER"],
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
    assert rows(text)[2] == ["dull", "sclstm", "0.7000*", "0.7000", "0.7000", "0.7000", "0.3000"]
    assert rows(text)[3] == ["lively", "sclstm", "0.2000", "0.2000*", "0.2000", "0.2000*", "0.8000*"]


def test_nothing_is_ranked_across_hashes(tmp_path: Path) -> None:
    paths = [make(tmp_path, "one", 0.2), make(tmp_path, "two", 0.7, code="b" * 64)]
    (block,) = collect(paths)
    assert len(block.columns()) == 4
    assert [block.best(column) for column in block.columns()] == [None] * 4
    text = render([block])
    assert "*" not in text
    assert "BLEU-4 aaaaaaaa" in text and "BLEU-4 bbbbbbbb" in text


def test_corpora_protocols_and_versions_of_data_are_blocks_of_their_own(tmp_path: Path) -> None:
    paths = [make(tmp_path, "a", 0.1), make(tmp_path, "b", 0.2, corpus="tv"), make(tmp_path, "c", 0.3, data="e" * 64)]
    assert [block.title for block in collect(paths)] == [
        "hotel, test, fair (data dddddddd)",
        "hotel, test, fair (data eeeeeeee)",
        "tv, test, fair (data dddddddd)",
    ]


def test_a_repetition_stands_under_its_run_and_wins_nothing(tmp_path: Path) -> None:
    first = make(tmp_path, "first", 0.5)
    again = make(tmp_path, "again", 0.9, repeats={"run": str(first)})
    other = make(tmp_path, "other", 0.6)
    lost = make(tmp_path, "lost", 0.95, repeats={"run": "/nowhere/run"})
    text = render(collect([again, first, other, lost]))
    lines = text.splitlines()[2:6]
    assert [line.split()[0] for line in lines] == ["lost", "other", "first", "again:"]
    assert "repeats /nowhere/run" in lines[0]
    assert [("*" in line.split("0.", 1)[1][:7]) for line in lines] == [False, True, False, False]


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
    assert "| a\\|b<i> | sclstm | 0.2500 | **0.2500** |" in markdown
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
    command = [sys.executable, "-m", "dactnlg.cli", "leaderboard"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, done.stdout.split("\n")[2].split()) == (0, ["a", "sclstm", "0.5000", "0.5000"])
    page = [*command, "runs/a", "--format", "html", "--output", "board.html"]
    assert subprocess.run(page, cwd=tmp_path).returncode == 0
    assert (tmp_path / "board.html").read_text().startswith("<!doctype html>")
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path / "runs")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
