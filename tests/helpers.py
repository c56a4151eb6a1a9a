"""Functions that test files share: commands in this process and others, small data, and what may be missing."""

from __future__ import annotations

import io
import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click
import pytest

if TYPE_CHECKING:
    from dactnlg.acts import Turn
    from dactnlg.generation.candidates import Candidate
    from dactnlg.text.preprocessor import Preprocessor


def commands(group: click.Group, *above: str) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Yield every command of a group with its words, those of the groups inside it too."""
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, *above, name)
        else:
            yield (*above, name), command


def missing(what: str) -> NoReturn:
    """Skip a test for want of something, or fail it under CI."""
    # A continuous-integration run that silently tests nothing is worse than a red one.
    if os.environ.get("CI", "").lower() in ("true", "1"):
        pytest.fail(what, pytrace=False)
    pytest.skip(what)


def lend_meteor(cache: Path) -> None:
    """Let a cache that is not the user's have the user's index of METEOR: to make one takes minutes, and all are alike.

    Args:
        cache: the folder of all programs, `~/.cache`.
    """
    index = _meteor()
    if index and not (cache / "dactnlg" / index.name).exists():
        (cache / "dactnlg").mkdir(parents=True, exist_ok=True)
        (cache / "dactnlg" / index.name).symlink_to(index)


@cache
def _meteor() -> Path | None:
    from dactnlg.metrics.meteor.data import installed, load

    return load().folder if installed() else None


def write_part_of_trails(folder: Path) -> None:
    """Make a folder with the corpus of every seventh row of the embedded one: all act types and slots are in it."""
    from dactnlg._utils.resources import datasets_dir

    folder.mkdir()
    for path in (datasets_dir() / "trails").glob("*.jsonl"):
        rows = path.read_text(encoding="utf-8").splitlines(keepends=True)
        (folder / path.name).write_text("".join(rows[::7]), encoding="utf-8")


def table_rows(text: str) -> list[list[str]]:
    """Return the cells of all rows of the Markdown tables in a text, headers included."""
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def until(met: Callable[[], bool], seconds: float = 30) -> None:
    """Wait until a condition is met; fail if it is not in time."""
    end = time.monotonic() + seconds
    while not met():
        if time.monotonic() > end:
            pytest.fail(f"not met within {seconds:g} seconds")
        time.sleep(0.02)


def write_dialogues(data: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write dialogues in the format of DailyDialog, as all three splits of a data folder."""
    (data / "dialogues").mkdir(exist_ok=True)
    text = "".join(json.dumps(row) + "\n" for row in rows)
    for split in ("train", "valid", "test"):
        (data / "dialogues" / f"dailydialog-{split}.jsonl").write_text(text, encoding="utf-8")


def damage(database: Path, table: str) -> None:
    """Overwrite the first page of a table in a file of SQLite, as a bad disk might."""
    with closing(sqlite3.connect(database)) as plain:
        (size,) = plain.execute("PRAGMA page_size").fetchone()
        (root,) = plain.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", [table]).fetchone()
    stored = database.read_bytes()
    database.write_bytes(stored[: (root - 1) * size] + b"\xff" * size + stored[root * size :])


def git(folder: Path, *arguments: str) -> str:
    """Run git in a folder and return what it prints."""
    who = ["-c", "user.name=Test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false"]
    command = ["git", *who, "-C", str(folder), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def command(*words: str | Path, stdin: str | bytes = b"") -> subprocess.CompletedProcess[str]:
    """Run a command in this process, with a text or bytes on standard input; the answer is that of `subprocess.run`.

    A process of its own would take longer to import the package than most commands to run.
    """
    from dactnlg.cli.main import main

    arguments = [str(word) for word in words]
    out, err = io.BytesIO(), io.BytesIO()
    # A file, since some commands ask for the number of standard input.
    with tempfile.TemporaryFile() as file, pytest.MonkeyPatch.context() as patch:
        file.write(stdin.encode() if isinstance(stdin, str) else stdin)
        file.seek(0)
        for name, stream in (("stdin", file), ("stdout", out), ("stderr", err)):
            patch.setattr(sys, name, io.TextIOWrapper(stream, "utf-8", write_through=True))
        code = main(arguments)
        told = [stream.getvalue().decode() for stream in (out, err)]
    return subprocess.CompletedProcess(arguments, code, *told)


def dactnlg(
    code: Path, *arguments: str | Path, folder: Path | None = None, stdin: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run a command in a process of its own with the code in the folder `code`, there or in another folder."""
    environment = {**os.environ, "PYTHONPATH": str(code)}
    command = [sys.executable, "-P", "-m", "dactnlg", *map(str, arguments)]
    return subprocess.run(
        command, input=stdin, capture_output=True, encoding="utf-8", env=environment, cwd=folder or code
    )


def few_acts(path: Path, count: int) -> Path:
    """Write the first acts of the embedded corpus to a corpus file, which a test trains on faster, and return it."""
    whole = Path(__file__).resolve().parent.parent / "datasets" / "trails" / "train.jsonl"
    path.write_text("\n".join(whole.read_text(encoding="utf-8").splitlines()[:count]), encoding="utf-8")
    return path


class Page(HTMLParser):
    """The elements, attributes, policy and text of an HTML page, which must close every element."""

    _VOID = ("meta", "wbr", "br", "link", "img", "input")

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.texts: list[str] = []
        self.policy = ""
        self._open: list[str] = []
        self.feed(html)
        self.close()
        assert not self._open

    @property
    def text(self) -> str:
        return "".join(self.texts)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        if ("http-equiv", "Content-Security-Policy") in attrs:
            assert not self.policy
            self.policy = dict(attrs)["content"] or ""
        if tag not in self._VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def unreachable(page: str) -> list[str]:
    """Return the tags of elements that scroll sideways where the keyboard does not reach them."""
    return [tag for tag in re.findall(r'<div class="[^"]*wide"[^>]*>|<pre[^>]*>', page) if ' tabindex="0"' not in tag]


def preprocessor_of(pairs: Iterable[tuple[str, str]], **style: Any) -> Preprocessor:
    """Return the preprocessor of a few training pairs: acts and lower-case sentences with placeholders.

    Args:
        pairs: the acts, as they are written, and their sentences, tokens separated by spaces.
        style: arguments of `Style` that are not those of a plain English corpus.
    """
    from dactnlg.acts import parse
    from dactnlg.text.example import Pair
    from dactnlg.text.preprocessor import Preprocessor
    from dactnlg.text.style import Style
    from dactnlg.text.values.casing import Casing

    plain: dict[str, Any] = {"cased": False, "spaced": True, "aliases": {}, "cues": {}, "silent": ()}
    rows = [Pair(parse(act), None, tuple(text.split())) for act, text in pairs]
    return Preprocessor.build(rows, None, Casing(), Style(**{**plain, **style}))


def sentence_of(preprocessor: Preprocessor, turn: Turn, tokens: Iterable[str]) -> Candidate:
    """Return the sentence that tokens with placeholders are for a turn."""
    from dactnlg.generation.candidates import Candidate

    return Candidate(preprocessor, preprocessor.request(turn), tuple(tokens), None)
