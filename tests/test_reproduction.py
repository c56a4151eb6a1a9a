"""Runs done again, in a clone of this code with its own history: equal, within noise, different, refused."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dactnlg.errors import RunError
from dactnlg.reproduction import DIFFERENT, EQUAL, INCOMPARABLE, NOISE, check_reproducible, judge
from dactnlg.run import Run


def git(folder: Path, *arguments: str) -> None:
    who = ["-c", "user.name=Test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *who, "-C", str(folder), *arguments], capture_output=True, check=True)


def dactnlg(code: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(code)}
    command = [sys.executable, "-P", "-m", "dactnlg.cli", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=code)


@pytest.fixture(scope="module")
def clone(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """This code as a repository with one commit."""
    root = tmp_path_factory.mktemp("clone") / "code"
    root.mkdir()
    for name in ("dactnlg", "configs", "datasets"):
        shutil.copytree(repository / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    (root / ".gitignore").write_text("__pycache__/\n")
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "all")
    return root


@pytest.fixture(scope="module")
def run(clone: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of the embedded corpus, evaluated."""
    folder = tmp_path_factory.mktemp("runs") / "a run"
    assert dactnlg(clone, "train", "trails-random", "--output", folder).returncode == 0
    done = dactnlg(clone, "evaluate", "--model", folder, "--preset", "fair", "--preset", "single")
    assert done.returncode == 0, done.stderr
    # Scores that no segment has, asked for later, stand beside the others.
    done = dactnlg(clone, "evaluate", "--model", folder, "--preset", "single", "--metric", "diversity")
    assert done.returncode == 0, done.stderr
    return folder


def test_a_run_of_the_embedded_corpus_ends_in_equal(clone: Path, run: Path, tmp_path: Path) -> None:
    # The working tree has moved on since: the run's own commit is what counts.
    (clone / "dactnlg" / "later.py").write_text("")
    try:
        done = dactnlg(clone, "reproduce", run, "--output", tmp_path / "again")
    finally:
        (clone / "dactnlg" / "later.py").unlink()
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "equal"
    assert done.stdout.count(" equal\n") == 16, "BLEU-1 to BLEU-4 and SER, twice, and six of diversity"
    again = Run(tmp_path / "again").manifest()
    assert again["repeats"]["run"] == str(run)
    assert again["code"]["commit"] == Run(run).manifest()["code"]["commit"]
    listed = subprocess.run(["git", "-C", clone, "worktree", "list"], capture_output=True, text=True, check=True).stdout
    assert len(listed.splitlines()) == 1, "the scratch worktree is gone"


def test_another_value_is_told(clone: Path, run: Path, tmp_path: Path) -> None:
    copy = tmp_path / "edited"
    shutil.copytree(run, copy)
    manifest = Run(copy).manifest()
    scores = manifest["evaluations"][0]["scores"]
    scores["fair"]["BLEU-4"]["value"] += 0.2
    scores["fair"]["BLEU-3"]["value"] += 0.001
    scores["single"]["BLEU-4"]["hash"] = "0" * 64
    Run(copy).manifest_path.write_text(json.dumps(manifest))
    done = dactnlg(clone, "reproduce", copy)
    assert done.returncode == 1
    verdicts = {
        tuple(line.split()[2:4]): line.rpartition("  ")[2] for line in done.stdout.splitlines() if "trails" in line
    }
    assert verdicts["fair", "BLEU-4"] == DIFFERENT
    assert verdicts["fair", "BLEU-3"] == NOISE
    assert verdicts["single", "BLEU-4"] == INCOMPARABLE
    assert verdicts["single", "BLEU-1"] == EQUAL
    assert "single BLEU-4: corpus or references" in done.stdout


def changed(run: Path, folder: Path, change: object) -> Run:
    shutil.copytree(run, folder)
    manifest = Run(folder).manifest()
    change(manifest)  # type: ignore[operator]
    Run(folder).manifest_path.write_text(json.dumps(manifest))
    return Run(folder)


def test_what_cannot_be_reproduced_is_refused(run: Path, tmp_path: Path) -> None:
    assert check_reproducible(Run(run))["evaluations"]
    unclean = changed(run, tmp_path / "unclean", lambda m: m["code"].update(unclean=["models/secret.py", "a b.py"]))
    with pytest.raises(RunError, match="was trained with code that is in no commit.*\n  models/secret.py\n  a b.py"):
        check_reproducible(unclean)
    evaluated = changed(run, tmp_path / "e", lambda m: m["evaluations"][0]["code"].update(unclean=["x.py"]))
    with pytest.raises(RunError, match="was evaluated with code that is in no commit"):
        check_reproducible(evaluated)
    nowhere = changed(run, tmp_path / "nowhere", lambda m: m["code"].update(commit=None))
    with pytest.raises(RunError, match="outside of a git checkout"):
        check_reproducible(nowhere)
    with pytest.raises(RunError, match="no scores; make them with: dactnlg evaluate"):
        check_reproducible(changed(run, tmp_path / "bare", lambda m: m.update(evaluations=[])))
    with pytest.raises(RunError, match="no manifest"):
        check_reproducible(Run(tmp_path))


def test_an_untracked_module_is_refused_with_its_name(clone: Path, tmp_path: Path) -> None:
    module = clone / "dactnlg" / "untracked.py"
    module.write_text("")
    try:
        assert dactnlg(clone, "train", "trails-random", "--output", tmp_path / "run").returncode == 0
    finally:
        module.unlink()
    done = dactnlg(clone, "reproduce", tmp_path / "run")
    assert (done.returncode, done.stdout) == (2, "")
    assert "dactnlg/untracked.py" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_commit_that_is_nowhere(clone: Path, run: Path, tmp_path: Path) -> None:
    lost = changed(run, tmp_path / "lost", lambda m: m["code"].update(commit="1" * 40))
    done = dactnlg(clone, "reproduce", lost.path)
    assert done.returncode == 2
    assert f"the commit {'1' * 40} is not in this checkout" in done.stderr


def test_verdicts() -> None:
    score = {"value": 0.5, "hash": "h", "signature": "BLEU-4|preset:fair", "error": 0.01}
    assert judge(score, score)[0] == EQUAL
    assert judge(score, {**score, "value": 0.509})[0] == NOISE
    assert judge(score, {**score, "value": 0.52})[0] == DIFFERENT
    assert judge(score, {**score, "value": None})[0] == DIFFERENT
    assert judge({**score, "value": None}, {**score, "value": None})[0] == EQUAL
    assert judge({**score, "error": None}, {**score, "value": 0.501, "error": None})[0] == DIFFERENT
    assert judge(score, None)[0] == INCOMPARABLE
    other = {**score, "hash": "x", "signature": "BLEU-4|preset:single"}
    assert judge(score, other) == (INCOMPARABLE, "preset: fair against single")
