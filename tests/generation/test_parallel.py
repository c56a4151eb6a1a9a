"""Several processes, through Ray Data, write what one writes, byte for byte, and each resumes the other's file."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from dactnlg._utils import cluster
from dactnlg.cli.main import main
from dactnlg.data.corpus import load_corpus
from dactnlg.generation.files import blocks

pytestmark = pytest.mark.needs("ray", "pip install 'dactnlg[ray]'")
Generate = Callable[..., str]
COUNT = 280


@pytest.fixture(scope="module", autouse=True)
def ray() -> Iterator[object]:
    """Ray on two cores for all tests of this file, since starting it takes longer than they do."""
    with cluster.started(2) as ray:
        yield ray


@pytest.fixture
def generate(
    poor_run: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Generate:
    """Write a file of sentences as JSON, whose scores show the last digit; returns the message."""
    model = str(poor_run("sclstm"))
    capfd.readouterr()  # what TensorFlow says when training imports it
    monkeypatch.setattr(blocks, "BLOCK", 40)
    monkeypatch.chdir(tmp_path)

    def run(output: str, *more: str, code: int = 0) -> str:
        words = ["generate", "--model", model, "--input", "acts.txt", "--output", output]
        assert main([*words, "--format", "json", "--beam-width", "3", *more]) == code
        told = capfd.readouterr()
        assert told.out == ""
        return told.err

    return run


def write_acts(count: int = COUNT) -> list[str]:
    turns = [str(example.turn) for example in load_corpus("trails").split("test")]
    acts = [*(turns[n % len(turns)] for n in range(count - 1)), "inform(name='Höhenweg \N{SNOWMAN}\u2028';length=3)"]
    Path("acts.txt").write_text("".join(f"{act}\n" for act in acts), encoding="utf-8")
    return acts


def test_a_bad_line_stops_both_alike_and_each_resumes_the_other(generate: Generate) -> None:
    # Under the hard constraint, which has the most to compute; test_bulk shows for each that blocks are independent.
    acts = write_acts()
    bad = [*acts[:204], "inform(nmae=x)", *acts[205:]]
    Path("acts.txt").write_text("".join(f"{act}\n" for act in bad), encoding="utf-8")
    alone, told = (generate(f"{jobs}.txt", "--jobs", jobs, code=2) for jobs in ("1", "2"))
    assert told == alone
    assert told.startswith("dactnlg: acts.txt, line 205: unknown slot 'nmae'") and told.count("\n") == 1
    assert Path("2.txt").read_bytes() == Path("1.txt").read_bytes()
    assert Path("2.txt").read_bytes().count(b"\n") == 204
    write_acts()
    # Each resumes the file that the other began.
    assert generate("1.txt", "--jobs", "2", "--resume") == generate("2.txt", "--jobs", "1", "--resume") == ""
    assert Path("2.txt").read_bytes() == Path("1.txt").read_bytes()
    assert Path("2.txt.state").read_bytes() == Path("1.txt.state").read_bytes()
    assert Path("1.txt").read_bytes().count(b"\n") == COUNT


def test_bad_lines_are_skipped_alike(generate: Generate) -> None:
    acts = write_acts()
    for place, bad in ((3, "inform(nmae=x)"), (60, ""), (204, "inform("), (205, "nothing")):
        acts[place] = bad
    Path("acts.txt").write_text("".join(f"{act}\n" for act in acts), encoding="utf-8")
    alone, told = (generate(f"{jobs}.txt", "--skip-bad", "--jobs", jobs) for jobs in ("1", "2"))
    assert told == alone == "dactnlg: acts that were skipped: 4; the line of each says what is wrong with it\n"
    assert Path("2.txt").read_bytes() == Path("1.txt").read_bytes()
    assert Path("2.txt.state").read_bytes() == Path("1.txt.state").read_bytes()
    lines = Path("2.txt").read_text(encoding="utf-8").split("\n")
    assert [n for n, line in enumerate(lines[:-1]) if '"error"' in line] == [3, 60, 204, 205]
    assert len(lines) == COUNT + 1


def test_a_few_acts_cause_no_warning_of_ray(generate: Generate) -> None:
    write_acts(3)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        assert generate("two.txt", "--jobs", "2") == ""
    assert not [each for each in told if "concurren" in str(each.message)]
    assert Path("two.txt").read_bytes().count(b"\n") == 3


def test_an_empty_file_gives_an_empty_file(generate: Generate) -> None:
    Path("acts.txt").touch()
    assert generate("two.txt", "--jobs", "2") == ""
    assert Path("two.txt").read_bytes() == b""


def test_ray_sends_no_usage_statistics() -> None:
    from ray._common.usage import usage_lib

    assert os.environ["RAY_USAGE_STATS_ENABLED"] == "0"
    assert not usage_lib.usage_stats_enabled()


@pytest.mark.parametrize("more", [["--input", "acts.txt"], ["--output", "x"], ["--input", "-", "--output", "x"]])
def test_several_processes_need_files(more: list[str], neural_run: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["generate", "--model", str(neural_run), "--jobs", "2", *more]) == 2
    assert "--input and --output" in capfd.readouterr().err


@pytest.mark.parametrize("command", ["generate", "sweep"])
def test_without_ray_one_line_says_what_to_install(
    command: str,
    neural_run: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("acts.txt").write_text("goodbye()\n")
    for module in ("ray", "ray.data", "ray.tune"):
        monkeypatch.setitem(sys.modules, module, None)
    words = {
        "generate": ["--model", str(neural_run), "--input", "acts.txt", "--output", "x", "--jobs", "2"],
        "sweep": ["trails-sclstm", "--output", "y"],
    }[command]
    assert main([command, *words]) == 2
    told = capfd.readouterr().err
    assert told.startswith("dactnlg: ") and told.count("\n") == 1 and "dactnlg[ray]" in told
    assert sorted(path.name for path in tmp_path.iterdir()) == ["acts.txt"]


def test_an_unreachable_cluster_is_an_error() -> None:
    # In another process, because Ray is already running in this one.
    code = "from dactnlg._utils import cluster\nwith cluster.started(2): pass"
    environment = {**os.environ, "RAY_ADDRESS": "127.0.0.1:1"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60)
    assert "dactnlg.errors.UserError: no Ray at RAY_ADDRESS=127.0.0.1:1: " in done.stderr
