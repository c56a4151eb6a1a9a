"""`dactnlg check`: lines in order, exit codes, messages, and runs without a reader."""

from __future__ import annotations

import csv
import json
import shutil
from functools import partial
from pathlib import Path

import pytest
from helpers import command

check = partial(command, "check")
LINES = [
    {"act": "inform(name='Ivy Cutting';dogsallowed=no)", "hypothesis": "No dogs at Ivy Cutting.", "references": ["x"]},
    {"act": "inform(name='Ivy Cutting';dogsallowed=no)", "hypothesis": "Dogs are welcome at Ivy Cutting."},
    {"act": "goodbye()", "hypothesis": "Goodbye, and enjoy the hills!"},
]


def lines(rows: list[dict[str, object]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def test_a_line_of_findings_for_each_line(random_run: Path, tmp_path: Path) -> None:
    (tmp_path / "pairs.jsonl").write_text(lines(LINES), encoding="utf-8")
    done = check("--model", random_run, "--input", tmp_path / "pairs.jsonl")
    assert (done.returncode, done.stderr) == (0, "")
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["slots_ok"] for row in found] == [True, False, True]
    assert found[1]["contradicted"] == {"dogsallowed=no": "dogsallowed=yes"}
    keys = ["act", "hypothesis", "slots_ok", "missing", "extra", "contradicted", "misplaced", "questions", "acts"]
    assert list(found[0]) == [*keys, "unchecked"]
    assert [row["hypothesis"] for row in found] == [row["hypothesis"] for row in LINES]


def test_a_run_without_a_reader_checks_by_cues(random_run: Path, tmp_path: Path) -> None:
    older = shutil.copytree(random_run, tmp_path / "older")
    (older / "reader.safetensors").unlink()
    manifest = json.loads((older / "manifest.json").read_text(encoding="utf-8"))
    del manifest["files"]["reader.safetensors"]
    (older / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    more = {"act": "recommend(name='Ivy Cutting';phone=dontcare)", "hypothesis": "Try Ivy Cutting."}
    done = check("--model", older, stdin=lines([*LINES, more]))
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["slots_ok"] for row in found] == [True, False, True, True]
    assert found[1]["missing"] == ["dogsallowed=no"]
    assert found[3]["unchecked"] == ["phone=dontcare"]


def test_a_table_is_checked_as_lines_are(random_run: Path, tmp_path: Path) -> None:
    table = tmp_path / "pairs.csv"
    table.write_text(
        "".join(f'"{row["act"]}","{row["hypothesis"]}"\n' for row in [{"act": "mr", "hypothesis": "output"}, *LINES])
    )
    found = check(random_run, stdin=lines(LINES)).stdout
    assert check(random_run, "--input", table).stdout == found != ""
    # A stream is read only once.
    assert (
        check(random_run, stdin=table.read_bytes()).stdout == check(random_run, stdin=f"\n{table.read_text()}").stdout
    )
    assert check(random_run, stdin=table.read_bytes()).stdout == found
    table.write_text("output,ref\nBye.,Goodbye!\n")
    done = check(random_run, "--input", table)
    assert (done.returncode, done.stdout) == (2, "")
    assert "pairs.csv: a table to check has columns of acts and of sentences" in done.stderr
    table.write_text('mr,ref\n"bye(",Bye!\n')
    # One place, not a line of the table and another of the act.
    assert "pairs.csv, line 2, column 5: expected" in check(random_run, "--input", table).stderr
    table.write_text("mr,ref\ngoodbye(),Goodbye!\ngoodbye(),\n")
    assert "pairs.csv, line 3: no sentence to check" in check(random_run, "--input", table).stderr


def test_lines_and_tables_of_a_corpus_are_checked(random_run: Path, tmp_path: Path) -> None:
    corpus = [{"act": row["act"], "text": row["hypothesis"]} for row in LINES]
    done = check("--model", random_run, stdin=lines(corpus))
    assert done.stdout == check("--model", random_run, stdin=lines(LINES)).stdout != ""
    texts = [row["hypothesis"] for row in LINES]
    (tmp_path / "pairs.jsonl").write_text(lines([{"act": LINES[0]["act"], "references": texts}]), encoding="utf-8")
    several = check("--model", random_run, "--input", tmp_path / "pairs.jsonl").stdout.splitlines()
    assert [json.loads(line)["hypothesis"] for line in several] == texts
    for name, columns in (("corpus.csv", "act,text"), ("CORPUS.CSV", "mr,ref")):
        with (tmp_path / name).open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([columns.split(","), *([row["act"], row["hypothesis"]] for row in LINES)])
        assert check("--model", random_run, "--input", tmp_path / name).stdout == done.stdout
    plain = check("--model", random_run, stdin="Bye.\n")
    assert (plain.returncode, plain.stdout) == (2, "")
    assert plain.stderr.startswith("dactnlg: standard input, line 1: not JSON (Expecting value); expected {")
    assert '"text"' in plain.stderr and "score" not in plain.stderr
    number = check("--model", random_run, stdin=lines([{"act": "goodbye()", "text": 5}]))
    assert (number.returncode, number.stderr) == (2, "dactnlg: standard input, line 1: 'text' must be text, not 5\n")


@pytest.mark.parametrize("basis", ["--model", "--corpus"])
def test_unknown_names_are_reported_once_and_checked(random_run: Path, basis: str) -> None:
    acts = ["inform(nmae='Ivy Cutting')", "infrom(name='Ivy Cutting';nmae=x)", "infrom(name='Ivy Cutting')"]
    rows: list[dict[str, object]] = [{"act": act, "hypothesis": "Try Ivy Cutting."} for act in acts]
    done = check(basis, random_run if basis == "--model" else "trails", stdin=lines([*LINES, *rows]))
    assert (done.returncode, len(done.stdout.splitlines())) == (0, 6)
    assert done.stderr.splitlines() == [
        "dactnlg: warning: standard input, pair 4: unknown slot 'nmae'; did you mean 'name'?",
        "dactnlg: warning: standard input, pair 5: unknown act type 'infrom'; did you mean 'inform'?",
    ]
    # Callers over HTTP see no warning, only the line.
    unchecked = [json.loads(line)["unchecked"] for line in done.stdout.splitlines()]
    assert unchecked == [[], [], [], [], ["infrom()"], ["infrom()"]]


@pytest.mark.parametrize("basis", ["--model", "--corpus"])
def test_invented_and_denied_values_are_found(random_run: Path, basis: str) -> None:
    act = "inform(name='Red Kite';region=north)"
    texts = [
        "Red Kite is in the north.",
        "Red Kite is not in the north.",
        "Red Kite is in the north, as is Pic du Vent.",
    ]
    rows: list[dict[str, object]] = [{"act": act, "hypothesis": text} for text in texts]
    done = check(basis, random_run if basis == "--model" else "trails", stdin=lines(rows))
    good, denied, invented = map(json.loads, done.stdout.splitlines())
    assert good["slots_ok"]
    assert denied["missing"] == ["region=north"]
    assert invented["extra"] == ["name='pic du vent'"]


def test_of_many_unknown_names_the_first_are_reported(random_run: Path) -> None:
    rows: list[dict[str, object]] = [{"act": f"inform(slot{n}=x)", "hypothesis": "x"} for n in range(50)]
    done = check(random_run, stdin=lines(rows))
    assert (done.returncode, len(done.stdout.splitlines())) == (0, 50)
    told = done.stderr.splitlines()
    assert len(told) == 21
    assert told[-1] == "dactnlg: warning: standard input, pair 21: more than 20 act types and slots are unknown"


def test_nothing_to_check_is_told(random_run: Path) -> None:
    done = check(random_run, stdin="\n")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == "dactnlg: warning: standard input holds nothing to check\n"


def test_the_lines_may_go_to_a_file(random_run: Path, tmp_path: Path) -> None:
    shown = check(random_run, stdin=lines(LINES))
    done = check(random_run, "--json", tmp_path / "found.jsonl", stdin=lines(LINES))
    assert (done.returncode, done.stdout) == (0, "")
    assert (tmp_path / "found.jsonl").read_text(encoding="utf-8") == shown.stdout
    # No incomplete file is left behind.
    done = check(random_run, "--json", tmp_path / "part.jsonl", stdin=lines(LINES[:1]) + "{\n")
    assert done.returncode == 2
    assert [path.name for path in tmp_path.iterdir()] == ["found.jsonl"]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('{"hypothesis": "x"}', "standard input, line 2: no 'act' to check the sentence against"),
        ('{"act": "goodbye()"}', "standard input, line 2: no 'hypothesis'"),
        ('{"act": "goodbye()", "references": []}', "standard input, line 2: no sentence to check"),
        ('{"act": "goodbye()", "references": [5]}', "standard input, line 2: 'references' must be a list of texts"),
        ('{"act": "goodbye(", "hypothesis": "x"}', "standard input, line 2"),
        ("[1]", "standard input, line 2: expected"),
        ("{", "standard input, line 2: not JSON"),
    ],
)
def test_a_line_that_cannot_be_checked_ends_with_a_message(random_run: Path, line: str, told: str) -> None:
    done = check("--model", random_run, stdin=lines(LINES[:1]) + line + "\n")
    assert (done.returncode, len(done.stdout.splitlines())) == (2, 1)
    assert done.stderr.startswith("dactnlg: ")
    assert told in done.stderr


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "RUN (or --model RUN), or --corpus NAME"),
        (["--model", "a", "--corpus", "b"], "RUN (or --model RUN), or --corpus NAME"),
        (["--model", "nowhere"], "nowhere does not exist"),
        (["--corpus", "trials"], "trails"),
        (["--corpus", "trails", "--input", "nothing.jsonl"], "nothing.jsonl"),
    ],
)
def test_a_wrong_use_is_a_message(arguments: list[str], told: str) -> None:
    done = check(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr


def test_a_missing_reader_is_a_message(random_run: Path, tmp_path: Path) -> None:
    incomplete = shutil.copytree(random_run, tmp_path / "incomplete")
    (incomplete / "reader.safetensors").unlink()
    done = check("--model", incomplete, stdin=lines(LINES))
    assert (done.returncode, done.stdout) == (2, "")
    assert "reader.safetensors" in done.stderr


def test_a_damaged_reader_is_refused(random_run: Path, tmp_path: Path) -> None:
    damaged = shutil.copytree(random_run, tmp_path / "damaged")
    content = bytearray((damaged / "reader.safetensors").read_bytes())
    content[-1] ^= 1
    (damaged / "reader.safetensors").write_bytes(content)
    done = check("--model", damaged, stdin=lines(LINES))
    assert (done.returncode, done.stdout) == (2, "")
    assert "reader.safetensors is not the file that training wrote" in done.stderr
