"""Generation from file to file: complete after any interruption, and never mixed with another run's."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from act_files import write_acts

from dactnlg.cli.main import main
from dactnlg.generation.files.blocks import generate_block
from dactnlg.generation.files.worker import GenerationWorker
from dactnlg.generation.options import GenerationOptions
from dactnlg.runs.config import Constraint

REPOSITORY = Path(__file__).resolve().parents[2]
Generate = Callable[..., tuple[int, str]]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(REPOSITORY), "OMP_NUM_THREADS": "1"}
# Small blocks, and pauses between writing sentences and recording them, so that a kill can fall in between.
SLOWED = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
from dactnlg.generation.files import blocks, lines
from dactnlg.generation.files import bulk
from dactnlg.cli.main import main
blocks.BLOCK, blocks.CHUNK = 64, 16
def slow(method):
    def slowed(self, *arguments):
        time.sleep(0.005)
        return method(self, *arguments)
    return slowed
for name in ("_append", "_save"):
    setattr(bulk.SentenceFile, name, slow(getattr(bulk.SentenceFile, name)))
sys.exit(main(sys.argv[1:]))
"""


def command(run: Path, folder: Path, *more: str) -> list[str]:
    files = ["--input", str(folder / "acts.txt"), "--output", str(folder / "out.txt")]
    return [sys.executable, "-c", SLOWED, "generate", "--model", str(run), *files, *more]


@pytest.fixture
def generate(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> Generate:
    """Run the command in this process, on the files of `tmp_path`; gives exit code and message."""

    def run(folder: Path, *more: str) -> tuple[int, str]:
        code = main(command(folder, tmp_path, *more)[3:])
        told = capfd.readouterr()
        assert told.out == ""
        return code, told.err

    return run


def sentences(folder: Path) -> bytes:
    return (folder / "out.txt").read_bytes()


def test_a_killed_and_resumed_generation_equals_an_unbroken_one(
    poor_run: Callable[[str], Path], tmp_path: Path
) -> None:
    run = poor_run("sclstm")
    folders = [tmp_path / "whole", tmp_path / "broken"]
    for folder in folders:
        folder.mkdir()
        write_acts(folder, 300)
    # As JSON: scores show the last digit of what was computed.
    options = ["--format", "json", "--beam-width", "3"]
    subprocess.run(command(run, folders[0], *options), env=ENVIRONMENT, check=True)
    whole = sentences(folders[0])
    assert whole.count(b"\n") == 300
    chance, output, kills = random.Random(3), folders[1] / "out.txt", 0
    for _ in range(20):
        before = output.stat().st_size if output.exists() else 0
        with subprocess.Popen(command(run, folders[1], *options, "--resume"), env=ENVIRONMENT) as process:
            # Once it has written something, there is something to lose.
            while process.poll() is None and not (output.exists() and output.stat().st_size != before):
                time.sleep(0.001)
            if kills < 4:
                time.sleep(chance.random() * 0.05)
                process.kill()
        if process.returncode == 0:
            break
        kills += 1
        assert whole.startswith(sentences(folders[1]))
        if kills % 2:
            # As if the kill had left an incomplete line.
            with output.open("ab") as file:
                file.write(b'{"act": "good')
    assert kills >= 2
    assert sentences(folders[1]) == whole


def test_a_finished_file_is_kept_and_grows_with_its_input(random_run: Path, tmp_path: Path, generate: Generate) -> None:
    acts = write_acts(tmp_path, 100)
    assert generate(random_run) == (0, "")
    before = sentences(tmp_path)
    code, told = generate(random_run)
    assert code == 2 and told.count("\n") == 1
    assert "out.txt exists already" in told and "--resume" in told
    assert generate(random_run, "--resume") == (0, "")
    assert sentences(tmp_path) == before
    with acts.open("a") as file:
        file.write("goodbye()")
    assert generate(random_run, "--resume") == (0, "")
    assert sentences(tmp_path).startswith(before) and sentences(tmp_path).count(b"\n") == 101


@pytest.mark.parametrize("more", [[], ["--n-best", "2", "--seed", "4"], ["--format", "json"]])
def test_a_file_has_the_lines_of_standard_output(
    more: list[str], random_run: Path, tmp_path: Path, generate: Generate, capfd: pytest.CaptureFixture[str]
) -> None:
    write_acts(tmp_path, 300)
    assert generate(random_run, *more) == (0, "")
    assert main(["generate", "--model", str(random_run), "--input", str(tmp_path / "acts.txt"), *more]) == 0
    assert capfd.readouterr().out.encode() == sentences(tmp_path)


def test_a_pipe_is_resumed_when_it_brings_the_same_acts(random_run: Path, tmp_path: Path) -> None:
    acts = write_acts(tmp_path, 200).read_bytes().splitlines(keepends=True)
    piped = ["-" if part.endswith("acts.txt") else part for part in command(random_run, tmp_path, "--resume")]
    for count in (70, 200):
        # The first pipe breaks off, which looks like the end of its acts.
        subprocess.run(piped, input=b"".join(acts[:count]), env=ENVIRONMENT, check=True)
        assert sentences(tmp_path).count(b"\n") == count
    done = subprocess.run(piped, input=b"".join(acts[1:]), env=ENVIRONMENT, capture_output=True, text=False)
    assert done.returncode == 2 and b"standard input has changed, or is another file" in done.stderr


def test_resuming_with_other_acts_options_or_sentences_is_refused(
    random_run: Path, neural_run: Path, tmp_path: Path, generate: Generate
) -> None:
    acts = write_acts(tmp_path, 100)
    assert generate(random_run) == (0, "")
    before = sentences(tmp_path)

    def refused(message: str, run: Path = random_run, *more: str) -> None:
        code, told = generate(run, "--resume", *more)
        assert code == 2
        assert told.startswith("dactnlg: ") and told.count("\n") == 1
        assert message in told

    refused("another model", neural_run)
    refused("another format", random_run, "--format", "json")
    refused("another n_best and another seed", random_run, "--n-best", "2", "--seed", "3")
    lines = acts.read_text().splitlines()
    acts.write_text("\n".join(["goodbye()", *lines[1:]]))
    refused("acts.txt has changed")
    acts.write_text("\n".join(lines[:99]))
    refused("acts.txt has changed")
    assert sentences(tmp_path) == before
    acts.write_text("\r\n".join(lines))  # the same acts
    assert generate(random_run, "--resume") == (0, "")
    (tmp_path / "out.txt").write_bytes(before.replace(b"e", b"E", 1))
    refused("changed the sentences")
    (tmp_path / "out.txt").write_bytes(before[:-1])
    refused("changed the sentences")
    (tmp_path / "out.txt.state").write_text("{")
    refused("out.txt.state is damaged")
    (tmp_path / "out.txt.state").unlink()
    refused("no out.txt.state beside it")


def test_a_file_in_the_place_of_the_state_is_kept(
    random_run: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    acts, output = tmp_path / "out.txt.state", tmp_path / "out.txt"
    acts.write_text("goodbye()\n")
    assert main(["generate", "--model", str(random_run), "--input", str(acts), "--output", str(output)]) == 2
    assert "out.txt.state is no state of generate" in capfd.readouterr().err
    assert acts.read_text() == "goodbye()\n" and not output.exists()


def test_options_that_need_a_file_are_refused_without_it(
    random_run: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for more, message in (["--resume"], "--output"), (["--output", str(tmp_path / "x")], "--input"):
        assert main(["generate", "--model", str(random_run), "goodbye()", *more]) == 2
        assert message in capfd.readouterr().err
    assert not list(tmp_path.iterdir())


def test_ctrl_c_leaves_whole_lines_and_says_how_to_resume(random_run: Path, tmp_path: Path, generate: Generate) -> None:
    write_acts(tmp_path, 3000)
    process = subprocess.Popen(command(random_run, tmp_path), env=ENVIRONMENT, stderr=subprocess.PIPE, text=True)
    output = tmp_path / "out.txt"
    while process.poll() is None and not (output.exists() and output.stat().st_size):
        time.sleep(0.001)
    process.send_signal(signal.SIGINT)
    told = process.communicate(timeout=60)[1]
    assert process.returncode == 130
    assert len(told.strip().splitlines()) == 1 and "--resume" in told
    data = sentences(tmp_path)
    count = data.count(b"\n")
    # After an interruption in the first write the file is empty; otherwise it has whole lines.
    assert (not data or data.endswith(b"\n")) and f"first {count} acts" in told
    assert generate(random_run, "--resume") == (0, "")
    assert sentences(tmp_path).startswith(data) and sentences(tmp_path).count(b"\n") == 3000


def test_generation_stops_at_a_bad_line_and_resumes_once_it_is_corrected(
    random_run: Path, tmp_path: Path, generate: Generate
) -> None:
    acts = write_acts(tmp_path, 150)
    lines = acts.read_text().splitlines()
    for bad, message in ("inform(", "line 101, column"), ("inform(nmae=x)", "line 101: unknown slot"), ("", "blank"):
        acts.write_text("\n".join([*lines[:100], bad, *lines[101:]]))
        code, told = generate(random_run, "--resume")
        assert code == 2 and message in told
        assert sentences(tmp_path).count(b"\n") == 100
    acts.write_text("\n".join(lines))
    assert generate(random_run, "--resume") == (0, "")
    resumed = sentences(tmp_path)
    (tmp_path / "out.txt").unlink()
    assert generate(random_run) == (0, "")
    assert sentences(tmp_path) == resumed


@pytest.mark.parametrize("constraint", ["none", "rerank", "hard"])
def test_a_block_is_the_same_whatever_came_before(
    constraint: Constraint, poor_run: Callable[[str], Path], tmp_path: Path
) -> None:
    lines = write_acts(tmp_path, 120).read_bytes().splitlines(keepends=True)
    random.Random(3).shuffle(lines)
    options = GenerationOptions(constraint=constraint, beam_width=10)
    found = []
    for order in ((0, 1, 2), (2, 1, 0)):
        worker, data = GenerationWorker(poor_run("sclstm"), "numpy", "json", options), {}
        for block in order:
            first = 40 * block
            worker.forget()
            data[block] = generate_block(lines[first : first + 40], first, "acts", worker.generate).data
        found.append(data)
    assert found[0] == found[1]
