"""The commands of README, CONTRIBUTING and the guides, and how tests run them."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from helpers import command, commands, lend_meteor

from dactnlg.cli.main import app

REPOSITORY = Path(__file__).resolve().parents[2]
PAGES = [REPOSITORY / "README.md", REPOSITORY / "CONTRIBUTING.md", *sorted((REPOSITORY / "docs/pages").rglob("*.md"))]
TEXT = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
SMALL = ["corpus.name=mine", "training.epochs=1", "model.hidden_size=8", "model.embedding_size=8"]
"""What a training of the README is reduced to; some of the embedded corpus stands for those that have to be fetched."""
THEIRS = ("MLFLOW_TRACKING_URI", "DACTNLG_DATA")
"""Variables of the user that no command of a test sees."""


def blocks(language: str, text: str = TEXT) -> list[str]:
    """Return the blocks of code in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)


def lines(text: str = TEXT) -> list[str]:
    """Return every line that a reader may copy into a shell, without its comment."""
    return [re.sub(r"\s+#.*", "", line) for block in blocks("sh", text) for line in block.splitlines()]


COMMANDS = list(dict.fromkeys(lines()))
DACTNLG = [line for line in COMMANDS if line.startswith("dactnlg ")]
SPECIAL = {
    "dactnlg corpora fetch": "the network: parsed, and the corpus has files to fetch",
    "dactnlg train e2e-sclstm": "several GPUs or machines: parsed; trained in tests/training/test_workers.py",
    "dactnlg train trails-gpt2": "a checkpoint that has to be fetched: from another in tests/models/test_gpt2.py",
    "dactnlg reproduce": "a run whose code is committed: in a test of its own",
    "dactnlg study serve": "a server, which serves until it is told to stop: as a process in tests/studies",
    "dactnlg chat serve": "the same: in tests/serving",
    "dactnlg serve": "a server: in a test of its own",
    "dactnlg leaderboard --published": "what that test has published",
}
PLAIN = [line for line in DACTNLG if not line.startswith(tuple(SPECIAL))]


def _in_a_shell() -> Iterator[str]:
    """Yield the first line of every command, and those that need a shell or start processes through Ray."""
    for words, _ in commands(app):
        begun = " ".join(("dactnlg", *words, ""))
        yield from [line for line in PLAIN if f"{line} ".startswith(begun)][:1]
    for line in PLAIN:
        unquoted = re.sub(r"\"[^\"]*\"|'[^']*'", "", line)
        if "--jobs" in line or re.search(r"[$*<>|&;]", unquoted):
            yield line


IN_A_SHELL = set(_in_a_shell())


def variables(folder: Path) -> dict[str, str]:
    """Return what makes `dactnlg` this code in a shell, and neither cache nor data the user's."""
    programs = folder / "bin"
    programs.mkdir(exist_ok=True)
    program = programs / "dactnlg"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -P -m dactnlg "$@"\n')
    program.chmod(0o755)
    lend_meteor(folder / "cache")
    there = {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(REPOSITORY)}
    return there | {"XDG_CACHE_HOME": str(folder / "cache"), "DACTNLG_TRACK": str(folder / "store")}


def environment(folder: Path) -> dict[str, str]:
    """Return all variables of a process."""
    return {name: value for name, value in os.environ.items() if name not in THEIRS} | variables(folder)


@contextmanager
def inside(folder: Path, **more: str) -> Iterator[None]:
    """Have this process work in a folder, with its variables."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name in THEIRS:
            patch.delenv(name, raising=False)
        for name, value in {**variables(folder), **more}.items():
            patch.setenv(name, value)
        yield


def shell(line: str, folder: Path, **more: str) -> str:
    """Run a line in a shell, as a reader would; return what it printed."""
    done = subprocess.run(
        ["sh", "-c", line],
        cwd=folder,
        env={**environment(folder), **more},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=500,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def here(line: str, folder: Path, **more: str) -> str:
    """Run a command without a shell, in this process; return what it printed."""
    _, *words = shlex.split(line)
    with inside(folder, **more):
        done = command(*words)
    assert done.returncode == 0, done.stderr
    return done.stdout


def run(line: str, folder: Path, **more: str) -> str:
    """Run a command of the pages, its training made small; return what it printed."""
    reduced = " ".join([line, *_reductions(line)])
    _remove_what_it_writes(line, folder)
    return shell(reduced, folder, **more) if line in IN_A_SHELL else here(reduced, folder, **more)


def _reductions(line: str) -> Iterator[str]:
    if line.startswith("dactnlg train"):
        given = [word.split("=")[0] for word in shlex.split(line)]
        own = any(name in line for name in ("mine", "flights", "mybot", "dailydialog"))
        settings = [setting for setting in SMALL[own:] if setting.split("=")[0] not in given]
        # So poor a model takes seconds for an act that it has never seen.
        settings += ["training.invention=0.02"] if "training.invention" in given else []
    elif line.startswith("dactnlg distil"):
        settings = SMALL[1:]
    elif line.startswith("dactnlg sweep"):
        yield "--samples 1"
        settings = SMALL[:2]
    else:
        settings = []
    if line.startswith(("dactnlg init", "dactnlg import")) and "--overwrite" not in line:
        yield "--overwrite"
    yield from (f"--set {setting}" for setting in settings)


def _remove_what_it_writes(line: str, folder: Path) -> None:
    """Remove a run or study that other commands read, so that this one can make it."""
    if line.startswith("dactnlg train") and "--overwrite" not in line:
        (path,) = re.findall(r"--output (\S+)", line) or [f"runs/{Path(shlex.split(line)[2]).stem}"]
    elif written := re.search(r"dactnlg (?:study|chat) .*--output ([\w-]+)$", line):
        path = written[1]
    else:
        return
    shutil.rmtree(folder / path, ignore_errors=True)
