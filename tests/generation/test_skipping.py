"""`--skip-bad`: one line for every line; the error of a bad act takes the place of its sentence."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from dactnlg.cli.main import main
from dactnlg.generation.files import blocks
from dactnlg.generation.files.worker import ERROR, GenerationWorker
from dactnlg.generation.generation import Generation
from dactnlg.generation.options import GenerationOptions

GOOD = ["goodbye()", "?request(region)", "inform(name='Ivy Cutting';length='7 km')"]
BAD = [
    (b"inform(", "column 8: expected ';' or ')'"),
    (b"", "blank; every line must hold an act, since every line gets a sentence"),
    (b"\xff(x)", "not UTF-8 (byte 1 of the line)"),
    (b"inform(nmae=x)", "unknown slot 'nmae'; did you mean 'name'?"),
    (b'[{"act": 3}]', 'a JSON act is {"act": name, "slots": [[name, value], ...]}, not {\'act\': 3}'),
]
TOLD = "dactnlg: acts that were skipped: 5; the line of each says what is wrong with it\n"
Run = Callable[..., tuple[list[str], str]]


@pytest.fixture
def acts(tmp_path: Path) -> Path:
    """Good and bad lines alternately; the first and the last one are bad."""
    rows = [row for n, (bad, _) in enumerate(BAD) for row in ([bad] if n > 3 else [bad, GOOD[n % 3].encode()])]
    (tmp_path / "acts.txt").write_bytes(b"".join(row + b"\n" for row in rows))
    return tmp_path / "acts.txt"


@pytest.fixture
def generate(random_run: Path, capfd: pytest.CaptureFixture[str]) -> Run:
    def run(*more: str | Path, code: int = 0) -> tuple[list[str], str]:
        assert main(["generate", "--model", str(random_run), *map(str, more)]) == code
        told = capfd.readouterr()
        return told.out.splitlines(), told.err

    return run


def test_errors_take_the_places_of_their_sentences(generate: Run, acts: Path) -> None:
    lines, told = generate("--input", acts, "--skip-bad")
    assert told == TOLD
    assert len(lines) == 9
    assert [line for line in lines if line.startswith("# error: ")] == [f"# error: {why}" for _, why in BAD]
    # Random choices depend on the place of an act among all lines.
    alone = [generate("--input", acts, "--skip-bad", "--seed", "1")[0][place] for place in (1, 3, 5, 7)]
    assert alone == [lines[place] for place in (1, 3, 5, 7)]


def test_errors_in_json_name_their_acts(generate: Run, acts: Path) -> None:
    lines, told = generate("--input", acts, "--skip-bad", "--format", "json")
    rows = [json.loads(line) for line in lines]
    assert told == TOLD
    assert [row for row in rows if "error" in row] == [
        {"act": bad.decode(errors="backslashreplace"), "error": why} for bad, why in BAD
    ]
    assert [row["act"] for row in rows if "error" not in row] == [*GOOD, GOOD[0]]


def test_without_the_option_the_first_bad_line_is_fatal(generate: Run, acts: Path) -> None:
    lines, told = generate("--input", acts, code=2)
    assert lines == [] and "line 1, column 8" in told and "\n  inform(\n         ^" in told


def test_bad_arguments_are_skipped_too(generate: Run) -> None:
    lines, told = generate("--skip-bad", "goodbye()", "bad(", "\udcff()")
    assert lines[1:] == ["# error: column 5: expected ';' or ')'", "# error: not UTF-8 (character 1)"]
    assert "skipped: 2;" in told


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_file_has_the_same_lines_and_resumes_past_a_bad_one(
    form: str, generate: Run, acts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "BLOCK", 2)
    given = ["--input", acts, "--format", form]
    wanted, _ = generate(*given, "--skip-bad")
    whole, stopped = tmp_path / "whole", tmp_path / "stopped"
    assert generate(*given, "--skip-bad", "--output", whole) == ([], TOLD)
    assert whole.read_text(encoding="utf-8").splitlines() == wanted
    acts.write_bytes(b"goodbye()\n" + acts.read_bytes())
    generate(*given, "--output", stopped, code=2)
    assert stopped.read_bytes().count(b"\n") == 1
    assert generate(*given, "--skip-bad", "--resume", "--output", stopped) == ([], TOLD)
    generate(*given, "--skip-bad", "--output", tmp_path / "again")
    assert stopped.read_bytes() == (tmp_path / "again").read_bytes()


def test_files_may_have_only_bad_lines_or_none(generate: Run, tmp_path: Path) -> None:
    (tmp_path / "bad").write_text("x\ny\n")
    assert len(generate("--input", tmp_path / "bad", "--skip-bad")[0]) == 2
    (tmp_path / "none").touch()
    assert generate("--input", tmp_path / "none", "--skip-bad") == ([], "")


def test_no_sentence_looks_like_an_error() -> None:
    worker = GenerationWorker(Path("run"), "auto", "text", GenerationOptions(), skip_bad=True)
    said = Generation("a()", f"{ERROR}is its name.", "", "", None, slots_ok=True, missing=(), extra=())
    assert worker._line(said) == " # error: is its name."


def test_bad_options_are_fatal(generate: Run, acts: Path) -> None:
    lines, told = generate("--input", acts, "--skip-bad", "--top-p", "3", code=2)
    assert lines == [] and "--top-p" in told
