"""Commands where Python lacks what Windows and macOS lack: no fork, few signals, no modules of Unix, no /dev/shm."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from helpers import command, write_part_of_trails

SCRIPT = """
import builtins, concurrent.futures, logging, multiprocessing, os, pathlib, random, signal, subprocess, sys, threading
import asyncio, ssl, tempfile, numpy, pooch, portalocker, safetensors, scipy.stats, tqdm  # what asks the system itself

GONE = {
    os: "fork forkpty getuid geteuid getgid getpgid setsid killpg sysconf mkfifo register_at_fork sched_getaffinity "
        "posix_fadvise getloadavg uname wait4 waitid O_NOFOLLOW O_DIRECTORY O_NONBLOCK O_CLOEXEC statvfs",
    signal: "SIGHUP SIGALRM SIGUSR1 SIGUSR2 SIGCHLD SIGPIPE SIGQUIT pthread_kill pthread_sigmask setitimer "
        "sigwait alarm pause",
}
for module, names in GONE.items():
    for name in names.split():
        if hasattr(module, name):
            delattr(module, name)
for name in ("fcntl", "resource", "pwd", "grp", "termios", "tty", "pty"):
    sys.modules[name] = None
opened = os.open
def without_shared_memory(path, *arguments, **more):
    if str(path).startswith("/dev/shm"):
        raise FileNotFoundError(path)
    return opened(path, *arguments, **more)
os.open = without_shared_memory

from dactnlg.cli.main import main
for line in pathlib.Path("commands.txt").read_text(encoding="utf-8").splitlines():
    code = main(line.split("\\t"))
    if code:
        sys.exit(f"{line}: {code}")
"""
SMALL = [word for setting in ("corpus.name=mine", "training.epochs=1") for word in ("--set", setting)]
COMMANDS = [
    ["train", "trails-sclstm", *SMALL, "--set", "model.hidden_size=8", "--output", "run"],
    ["train", "trails-sclstm", *SMALL, "--output", "run", "--overwrite"],
    ["generate", "--model", "run", "--input", "acts.txt", "--output", "said.txt"],
    ["generate", "--model", "run", "--sample", "goodbye()"],
    ["evaluate", "--model", "run", "--preset", "single", "--report", "report.html"],
    ["score", "said.txt", "said.txt", "--json", "scores.json"],
    ["check", "--model", "run", "--input", "pairs.jsonl"],
    ["selfplay", "run", "--conversations", "3", "--output", "talks"],
    ["leaderboard", "r*"],
    ["corpora", "inspect", "trails"],
    ["export", "run", "--output", "templates.jsonl", "--format", "templates"],
    ["init", "own.csv"],
]


def test_commands_need_nothing_of_unix(tmp_path: Path) -> None:
    (tmp_path / "commands.txt").write_text("\n".join("\t".join(words) for words in COMMANDS), encoding="utf-8")
    write_part_of_trails(tmp_path / "mine")
    (tmp_path / "acts.txt").write_text("goodbye()\n?request(region)\n")
    (tmp_path / "pairs.jsonl").write_text('{"act": "goodbye()", "hypothesis": "Bye."}\n')
    rows = "".join(f'"inform(name=n{number};price={number})",n{number} costs {number} euros.\n' for number in range(90))
    (tmp_path / "own.csv").write_text(f"act,text\n{rows}")
    done = subprocess.run([sys.executable, "-c", SCRIPT], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    assert len((tmp_path / "said.txt").read_text(encoding="utf-8").splitlines()) == 2
    for name in ("report.html", "scores.json", "templates.jsonl", "talks/selfplay.json", "own.yaml"):
        assert (tmp_path / name).is_file(), name


@pytest.mark.parametrize("end", ["\r\n", "\n"])
def test_files_with_the_line_ends_of_either(end: str, tmp_path: Path) -> None:
    """What Windows' editors write is read as what others write is."""
    card = ["name: mine", "format: pairs", "files: {train: {path: t.csv}}"]
    (tmp_path / "t.csv").write_bytes(end.join(["act,text", "inform(a=b),it is b.", "goodbye(),bye.", ""]).encode())
    (tmp_path / "mine.yaml").write_bytes(end.join([*card, ""]).encode("utf-8-sig" if end == "\r\n" else "utf-8"))
    done = command("corpora", "inspect", tmp_path / "mine.yaml", "--json", "-")
    assert json.loads(done.stdout)["acts"] == {"inform": 1, "goodbye": 1}
