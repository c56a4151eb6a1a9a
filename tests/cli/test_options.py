"""The same options everywhere: how runs are named, tables written and folded, JSON kept."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import click
import pytest
from helpers import command, commands

from dactnlg._utils.tables import aligned, formatted
from dactnlg.cli.main import app, main
from dactnlg.generation.options import GenerationOptions
from dactnlg.metrics.presets import PRESETS
from dactnlg.metrics.registry import NAMES
from dactnlg.metrics.tokenizers.fair import tokenizer_names
from dactnlg.runs.config import DecodingConfig

ROWS = [["", "A & B", "C_1"], ["one", "1.5", "x"], ["two, three", "20", '"y"']]


def told(capsys: pytest.CaptureFixture[str], *words: str | Path, code: int = 0) -> str:
    assert main([str(word) for word in words]) == code
    captured = capsys.readouterr()
    return captured.err if code else captured.out


@pytest.mark.parametrize("name", ["evaluate", "tune", "export", "publish", "reproduce", "check"])
def test_a_run_is_named_once(name: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    more = ["--format", "onnx", "--output", str(tmp_path / "x")] if name == "export" else []
    twice = told(capsys, name, "nowhere", "--model", "elsewhere", *more, code=2)
    assert twice == "dactnlg: the run is named twice: give RUN or --model RUN, not both\n"
    assert "--model RUN" in told(capsys, name, *more, code=2)
    # Either way it is the run that is looked for.
    for named in (["nowhere"], ["--model", "nowhere"]):
        assert "nowhere" in told(capsys, name, *named, *more, code=2)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("score out ref --metric BLEU-4 --train lines", "--train is for novelty: request that with --metric novelty"),
        ("score out ref --metric SER --vectors v", "--vectors is for embedding: request that with --metric embedding"),
        ("score --input - --metric novelty --train -", "standard input (-) can be only one of the files"),
        ("check nowhere --data-dir data", "--data-dir is for the files of --corpus"),
        ("distil pairs.jsonl --output run --data-dir data", "--data-dir is for the files of --check-with"),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    words: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found = told(capsys, *words.split(), code=2)
    assert found.startswith(f"dactnlg: {message}") and found.count("\n") == 1


@pytest.mark.parametrize("value", ["nan", "inf", "-inf", "1e999"])
def test_options_take_only_finite_numbers(value: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = [
        (*words, parameter.opts[0])
        for words, one in commands(app)
        for parameter in one.params
        if isinstance(parameter.type, click.types.FloatParamType)
    ]
    assert {("serve", "--timeout"), ("generate", "--top-p"), ("study", "power", "--difference")} <= set(found)
    for *path, option in found:
        *_, message = told(capsys, *path, f"{option}={value}", "x", code=2).splitlines()
        assert message.startswith(f"Error: Invalid value for '{option}': ")
        assert "not a finite number" in message or "not in the range" in message


def test_csv_is_read_back(random_run: Path, tmp_path: Path) -> None:
    scores = tmp_path / "scores.json"
    presets = ["--preset", "single", "--preset", "nlg-eval"]
    done = command("evaluate", random_run, *presets, "--json", scores, "--format", "csv")
    data = json.loads(scores.read_text(encoding="utf-8"))
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert {row["score"] for row in rows} == set(data["presets"]["nlg-eval"]["scores"])
    for row in rows:
        for preset in ("single", "nlg-eval"):
            score = data["presets"][preset]["scores"].get(row["score"])
            assert row[preset] == ("" if score is None else f"{score['value']:.4f}")
            assert row[f"{preset} hash"] == ("" if score is None else score["hash"][:8])
    assert "sentences with any slot fault" in done.stderr and "dactnlg" not in done.stdout


def test_several_presets_are_each_as_if_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{"hypothesis": f"it is {n} km .", "references": [f"It is {n} km.", "so long ."]} for n in range(5)]
    pairs = tmp_path / "pairs.jsonl"
    pairs.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    words = ["score", "--input", pairs, "--json", "-"]
    alone = {name: json.loads(told(capsys, *words, "--preset", name)) for name in ("fair", "single")}
    both = json.loads(told(capsys, *words, "--preset", "fair", "--preset", "single", "--preset", "fair"))
    assert both.pop("presets") == alone and both == alone["fair"]
    assert "presets" not in alone["fair"]
    assert "unknown preset 'sngle'" in told(capsys, *words, "--preset", "fair", "--preset", "sngle", code=2)
    (tmp_path / "both.json").write_text(json.dumps({**both, "presets": alone}))
    told(capsys, "compare", tmp_path / "both.json", tmp_path / "both.json", "--resamples", "5")


def test_tables_in_every_form() -> None:
    assert list(csv.reader(io.StringIO(formatted(ROWS, "csv")))) == ROWS
    assert formatted(ROWS, "markdown").splitlines()[:2] == ["|  | A \\& B | C\\_1 |", "|---|---:|---:|"]
    latex = formatted(ROWS, "latex")
    assert "A \\& B" in latex and "C\\_1" in latex and latex.startswith("\\begin{tabular}{lrr}")
    assert formatted(ROWS) == aligned(ROWS)


@pytest.mark.parametrize("width", [1, 12, 20, 21, 40, 10_000])
def test_folded_tables_hold_every_cell_once(width: int) -> None:
    rows = [[f"{name}{column}" for column in range(9)] for name in ("head", "a", "long entry ")]
    parts = [part.splitlines() for part in aligned(rows, rule=True, width=width).split("\n\n")]
    if width == 10_000:
        assert parts == [aligned(rows, rule=True).splitlines()]
    cells = [[line.split("  ") for line in part] for part in parts]
    for at, row in enumerate(rows):
        line = at + (at > 0)  # below the rule
        found = [cell.strip() for part in cells for cell in part[line] if cell.strip()]
        assert [cell for cell in found if cell != row[0]] == row[1:]
        assert found.count(row[0]) == len(parts)
    for part in parts:
        # A table of two columns cannot be any narrower.
        assert max(map(len, part)) <= width or all(len(set(line.split("  ")) - {""}) <= 2 for line in part)


def test_a_terminal_folds_and_a_pipe_does_not(random_run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pty = pytest.importorskip("pty", reason="a terminal of one's own")
    words = ["evaluate", str(random_run), "--preset", "single", "--confidence"]
    monkeypatch.setenv("COLUMNS", "35")
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    ours, theirs = pty.openpty()
    program = [sys.executable, "-m", "dactnlg", *words]
    with subprocess.Popen(program, stdout=theirs, stderr=subprocess.DEVNULL) as process:
        os.close(theirs)
        shown = b""
        while True:
            try:
                data = os.read(ours, 4096)
            except OSError:
                break
            shown += data
            if not data:
                break
    os.close(ours)
    assert process.returncode == 0
    lines = [line for line in shown.decode().splitlines() if line.startswith(("BLEU", "---", "SER"))]
    assert lines and max(map(len, lines)) <= 35
    piped = command(*words).stdout
    assert len([line for line in lines if line.startswith("BLEU-4")]) > 1
    assert max(len(line) for line in piped.splitlines() if line.startswith("BLEU")) > 35


def test_lists_describe_every_name(capsys: pytest.CaptureFixture[str]) -> None:
    metrics, presets, configs = (json.loads(told(capsys, k, "list", "--json", "-")) for k in
                                 ("metrics", "presets", "configs"))  # fmt: skip
    listed = [name for entry in metrics for name in entry["names"]]
    assert {*NAMES, "SER", "perplexity"} <= set(listed) and len(set(listed)) == len(listed)
    assert [preset["name"] for preset in presets] == list(PRESETS)
    assert {"trails-sclstm", "e2e"} <= {config["name"] for config in configs}
    for kind, entries in (("metrics", metrics), ("presets", presets), ("configs", configs)):
        text = told(capsys, kind, "list")
        for entry in entries:
            assert entry["about"] and entry["about"] in text and len(entry["about"]) < 200


@pytest.mark.parametrize("name", ["", *(name for name, one in app.commands.items() if isinstance(one, click.Group))])
def test_help_of_groups_has_examples_too(name: str) -> None:
    assert f"\n  dactnlg {name}".rstrip() + " " in command(*name.split(), "--help").stdout


def test_help_names_what_an_option_takes() -> None:
    given = {(*words, one.name): getattr(one, "help", "") for words, each in commands(app) for one in each.params}
    assert all(name in given["corpora", "hash", "tokenizer"] for name in tokenizer_names())
    assert all(ending in given["study", "analyse", "report"] for ending in (".html", ".tex", "Markdown"))
    assert not any(" RANGE" in command(*words, "--help").stdout for words, _ in commands(app))


def test_options_that_turn_sampling_on_say_so() -> None:
    values = {"beam_width": 3, "n_best": 2, "seed": 1, "mbr": True, "sample": False, "length_normalization": 1.0}
    values |= {"temperature": 0.9, "top_k": 3, "top_p": 0.5}
    (given,) = ({one.name: one for one in each.params} for path, each in commands(app) if path == ("generate",))
    sampled = {
        name
        for name, value in values.items()
        if GenerationOptions(**{name: value}).resolve(DecodingConfig(), 1).sampling is not None  # type: ignore[arg-type]
    }
    assert sampled == {name for name in values if "Turn sampling on" in getattr(given[name], "help", "")} != set()
