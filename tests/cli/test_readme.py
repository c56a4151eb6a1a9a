"""The README's examples: they run, and name only what exists."""

from __future__ import annotations

import doctest
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from dactnlg.cli.main import main
from dactnlg.data.card import load_card
from dactnlg.runs.config import load_config

REPOSITORY = Path(__file__).resolve().parents[2]
README = (REPOSITORY / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, flags=re.MULTILINE | re.DOTALL)


COMMANDS = [line for block in blocks("sh") for line in block.splitlines() if line.startswith("dactnlg ")]


def test_the_sessions_say_what_they_show() -> None:
    sessions = [block for block in blocks("python") if ">>>" in block]
    assert sessions
    for session in sessions:
        test = doctest.DocTestParser().get_doctest(session, {}, "README", "README.md", 0)
        assert doctest.DocTestRunner().run(test).failed == 0


def test_the_programs_run(neural_run: Path) -> None:
    programs = [block for block in blocks("python") if ">>>" not in block]
    assert programs
    for program in programs:
        code = program.replace("runs/trails-sclstm", str(neural_run))
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=REPOSITORY)
        assert done.returncode == 0, done.stderr
        assert len(done.stdout.splitlines()) == 2


def test_the_configuration_is_valid(tmp_path: Path) -> None:
    for number, block in enumerate(blocks("yaml")):
        path = tmp_path / f"{number}.yaml"
        path.write_text(block, encoding="utf-8")
        load_config(path)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_commands_run(
    command: str, random_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    pair = {"hypothesis": "a b c", "references": ["a b c"]}
    (tmp_path / "pairs.jsonl").write_text(json.dumps(pair), encoding="utf-8")
    for name in ("out.txt", "ref0.txt", "ref1.txt"):
        (tmp_path / name).write_text("a b c d\n", encoding="utf-8")
    (tmp_path / "train.txt").write_text("a b c\n", encoding="utf-8")
    (tmp_path / "glove.6B.300d.txt").write_text("a 1 0\nb 0 1\n", encoding="utf-8")
    monkeypatch.setattr("dactnlg.metrics.embeddings.vectors.user_cache", lambda: tmp_path / "cache")
    (tmp_path / "acts.txt").write_text("goodbye()\n?request(region)\n", encoding="utf-8")
    for name in ("old.json", "new.json"):
        assert main(["score", "--input", "pairs.jsonl", "--json", name]) == 0
    capsys.readouterr()
    words = [str(random_run) if word.startswith("runs/trails-") else word for word in shlex.split(command)[1:]]
    if words[0] == "train":
        overrides = [words[at + 1] for at, word in enumerate(words) if word == "--set"]
        load_config(words[1], overrides)
    elif words[:2] == ["corpora", "fetch"]:
        assert load_card(words[2]).files
    else:
        assert main(words) == 0, capsys.readouterr().err
        assert capsys.readouterr().out
