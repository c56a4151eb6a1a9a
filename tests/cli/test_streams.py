"""Standard streams that are closed, full or broken, outputs that cannot be written: one line, nothing half done."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from dactnlg.cli.main import main

REPOSITORY = Path(__file__).resolve().parents[2]
FULL = Path("/dev/full")
PAIR = '{"hypothesis": "a b c d", "references": ["a b c e"]}\n'


def shell(folder: Path, run: Path, script: str) -> subprocess.CompletedProcess[str]:
    """Run a line of shell in which `dactnlg` is the command and $RUN a run."""
    (folder / "pairs.jsonl").write_text(PAIR)
    (folder / "acts.txt").write_text("goodbye()\n" * 5000)
    program = f'dactnlg() {{ "{sys.executable}" -m dactnlg "$@"; }}\n{script}'
    # Buffered, as it is for users.
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY), "RUN": str(run), "PYTHONUNBUFFERED": ""}
    command = ["bash", "-c", program]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)


@pytest.mark.skipif(not FULL.exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("generate --model $RUN 'goodbye()' > /dev/full", "standard output: No space left on device"),
        ("score --input pairs.jsonl --metric BLEU-4 > /dev/full", "standard output: No space left on device"),
        ("score --input pairs.jsonl --metric BLEU-4 --json /dev/full", "/dev/full: No space left on device"),
        ("corpora list > /dev/full", "standard output: No space left on device"),
        ("--version > /dev/full", "standard output: No space left on device"),
        ("generate --model $RUN 'goodbye()' >&-", "standard output: Bad file descriptor"),
        ("generate --model $RUN <&-", "standard input: Bad file descriptor"),
        ("score --input - --metric BLEU-4 <&-", "standard input: Bad file descriptor"),
        ("generate --model nowhere 'goodbye()' 2>&-", ""),
        ("generate --model nowhere 'goodbye()' 2>/dev/full", ""),
        ("generate --model $RUN 'goodbye()' >&- 2>&- <&-", ""),
    ],
)
def test_a_stream_that_fails_is_named(command: str, told: str, random_run: Path, tmp_path: Path) -> None:
    done = shell(tmp_path, random_run, f"dactnlg {command}")
    assert (done.returncode, done.stdout) == (2, "")
    lines = done.stderr.splitlines()
    assert len(lines) == (1 if told else 0)
    assert not told or (lines[0].startswith("dactnlg: ") and lines[0].endswith(told))


def test_messages_never_go_to_standard_output(random_run: Path, tmp_path: Path) -> None:
    # Python prints to standard output what is meant for a closed standard error.
    done = shell(tmp_path, random_run, "dactnlg generate --model $RUN 'goodbye()' --n-best 0 2>&-")
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "")


def test_a_broken_pipe_is_not_reported(random_run: Path, tmp_path: Path) -> None:
    script = "dactnlg generate --model $RUN --input acts.txt | head -1; echo ${PIPESTATUS[0]}"
    done = shell(tmp_path, random_run, script)
    assert done.stderr == ""
    sentence, code = done.stdout.splitlines()
    assert sentence and code == "1"


def test_a_file_on_standard_output_is_alone_there(
    random_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pairs.jsonl").write_text(PAIR)
    Path("acts.txt").write_text("goodbye()\n")
    assert main(["score", "--input", "pairs.jsonl", "--metric", "BLEU-4", "--gem", "-"]) == 0
    assert json.loads(capfd.readouterr().out)["submission_name"] == "pairs"
    assert main(["generate", "--model", str(random_run), "--input", "acts.txt", "--output", "-"]) == 0
    assert capfd.readouterr().out.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["acts.txt", "pairs.jsonl"]


def test_outputs_that_cannot_be_files_are_refused(
    random_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pairs.jsonl").write_text(PAIR)
    Path("acts.txt").write_text("goodbye()\n")
    os.mkfifo("fifo")
    Path("folder").mkdir()
    Path("folder", "x").touch()
    score = ["score", "--input", "pairs.jsonl", "--metric", "BLEU-4"]
    generate = ["generate", "--model", str(random_run), "--input", "acts.txt", "--output"]
    for words, told in (
        ([*score, "--json", ""], "--json is empty"),
        (["metrics", "list", "--json", ""], "--json is empty"),
        (["score", "--input", ""], "--input is empty"),
        (["score", "", "pairs.jsonl"], "files is empty"),
        (["check", str(random_run), "--input", ""], "--input is empty"),
        (["prompts", ""], "source is empty"),
        (["evaluate", str(random_run), "--corpus", ""], "--corpus is empty"),
        ([*score, "--json", "."], "cannot write .: it is a folder"),
        ([*score, "--gem", "-", "--json", "-"], "standard output (-) can be only one of the files"),
        ([*score, "--gem", "x", "--json", "x"], "x can be only one of the files"),
        ([*generate, "-", "--resume"], "--resume continues a file"),
        ([*score, "--report", "folder"], "cannot write folder: it is a folder"),
        ([*score, "--report", ""], "--report is empty"),
        ([*score, "--json", "pairs.jsonl/x"], "there is no folder pairs.jsonl"),
        ([*generate, ""], "--output is empty"),
        ([*generate, "."], "it is a folder"),
        ([*generate, "fifo"], "fifo is no file"),
        ([*generate, "fifo", "--resume"], "fifo is no file"),
        ([*generate, "/dev/null"], "/dev/null is no file"),
        (["generate", "--model", str(random_run), "--input", ""], "--input is empty"),
        (["train", "trails-random", "--output", ""], "--output is empty"),
        (["train", "trails-random", "--output", "folder"], "holds other files"),
        (["train", "trails-random", "--output", "fifo"], "is a file"),
        (["train", "trails-random", "--output", "pairs.jsonl/run"], "cannot write the run folder"),
    ):
        assert main(words) == 2, words
        out, err = capfd.readouterr()
        assert out == "" and err.startswith("dactnlg: ") and err.count("\n") == 1, words
        assert told in err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["acts.txt", "fifo", "folder", "pairs.jsonl"]


def test_a_disk_that_is_full_leaves_nothing_half_written(
    random_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pairs, acts = tmp_path / "pairs.jsonl", tmp_path / "acts.txt"
    pairs.write_text(PAIR * 100)
    acts.write_text("goodbye()\n" * 200)
    new = tmp_path / "new"
    score = ["score", "--input", str(pairs), "--metric", "BLEU-4"]
    commands = [
        [*score, "--json", str(new / "x.json")],
        [*score, "--report", str(new / "x.html")],
        ["generate", "--model", str(random_run), "--input", str(acts), "--output", str(new / "x"), "--format", "json"],
        ["train", "trails-random", "--output", str(new)],
    ]
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    for words in commands:
        for size in (0, 100, 3000):
            new.mkdir()
            # No file may be longer: the next byte fails as on a full disk.
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
            try:
                code = main(words)
            finally:
                resource.setrlimit(resource.RLIMIT_FSIZE, before)
            err = capsys.readouterr().err
            assert code == 2 and err.startswith("dactnlg: ") and err.count("\n") == 1, (words, size, err)
            names = {path.name for path in new.iterdir() if not path.name.startswith(".")}
            if words[0] == "generate":
                # Whole lines, and what tells where they end; at first nothing.
                assert names in ({"x", "x.state"}, set())
                assert not names or (new / "x").read_bytes().endswith(b"}\n")
            else:
                assert names <= {"begun.json"}
            # With room it is as if nothing had been.
            assert main([*words, *(["--resume"] if words[0] in ("generate", "train") else [])]) == 0
            capsys.readouterr()
            for path in sorted(new.rglob("*"), reverse=True):
                path.unlink()
            new.rmdir()


@pytest.mark.parametrize(
    "words", [["score", "--input"], ["generate", "--model", "{run}", "--input"]], ids=["score", "generate"]
)
def test_a_line_without_an_end_is_refused(
    words: list[str], random_run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*(word.replace("{run}", str(random_run)) for word in words), "/dev/zero"]) == 2
    told = capsys.readouterr()
    assert told.out == "" and "more than 16,777,216 bytes" in told.err and told.err.count("\n") == 1


@pytest.mark.parametrize("backend", ["nope", "openvino"])
def test_a_backend_that_keras_cannot_find_is_a_line(backend: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "dactnlg", "train", "trails-lstm", "--set", "training.backend=keras"]
    environment = {**os.environ, "KERAS_BACKEND": backend}
    run = tmp_path / "run"
    told = subprocess.run([*command, "--output", run], env=environment, capture_output=True, text=True, check=False)
    message = told.stderr.splitlines()[-1]
    assert (told.returncode, told.stdout) == (2, "") and "Traceback" not in told.stderr
    assert (
        message == f"dactnlg: KERAS_BACKEND is {backend}, which Keras cannot find: install it, or take another backend"
    )
    assert not run.exists()


@pytest.mark.parametrize(
    ("words", "missing", "extra"),
    [
        ("serve RUN", "fastapi", "serve"),
        ("serve RUN", "prometheus_client", "serve"),
        ("study serve study", "fastapi", "studies"),
        ("study analyse study", "sqlalchemy", "studies"),
        ("chat serve chats", "fastapi", "studies"),
        ("chat export chats --output said", "sqlalchemy", "studies"),
    ],
)
def test_a_command_whose_extra_is_not_installed_names_it(
    words: str, missing: str, extra: str, random_run: Path, tmp_path: Path
) -> None:
    run = str(random_run)
    assert main(["study", "create", "--corpus", "trails", "--systems", run, "--output", f"{tmp_path}/study"]) == 0
    assert main(["chat", "create", run, "--output", f"{tmp_path}/chats"]) == 0
    code = f"import sys; sys.modules['{missing}'] = None; from dactnlg.cli.main import main; sys.exit(main())"
    command = [sys.executable, "-c", code, *words.replace("RUN", run).split()]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    told = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60)
    assert (told.returncode, told.stdout) == (2, "")
    assert told.stderr == f"dactnlg: {missing} is not installed: pip install 'dactnlg[{extra}]'\n"
