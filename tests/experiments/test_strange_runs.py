"""Reproducing and publishing strangers' runs: these choose no program, no environment and no other folder."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from helpers import dactnlg, git

from dactnlg.errors import RunError
from dactnlg.experiments.evaluations import checked_evaluation
from dactnlg.experiments.publish import publish
from dactnlg.experiments.reproduce import reproduce
from dactnlg.runs.run import Run


@pytest.fixture
def changed(scored_run: Path, tmp_path: Path) -> Callable[..., Path]:
    """Give a function that copies the scored run, with other facts in its manifest."""

    def change(**facts: Any) -> Path:
        folder = Path(shutil.copytree(scored_run, tmp_path / "strange"))
        path = folder / "manifest.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), **facts}))
        return folder

    return change


@pytest.fixture
def trap(clone: Path, tmp_path: Path) -> Path:
    """A clone of the user's checkout whose hook, filter, monitor and code leave a mark."""
    root = tmp_path / "trap"
    git(tmp_path, "clone", "-q", str(clone), str(root))
    mark = f"touch '{tmp_path / 'mark'}'"
    hook = root / ".git" / "hooks" / "post-checkout"
    hook.write_text(f"#!/bin/sh\n{mark}\n")
    hook.chmod(0o755)
    monitor = root / ".git" / "monitor"
    monitor.write_text(f"#!/bin/sh\n{mark}\n")
    monitor.chmod(0o755)
    git(root, "config", "core.fsmonitor", str(monitor))
    git(root, "config", "filter.trap.smudge", f"{mark}; cat")
    (root / ".git" / "info" / "attributes").write_text("* filter=trap\n")
    for name in ("sitecustomize.py", "numpy.py", "dactnlg.py"):
        (root / name).write_text(f"open({str(tmp_path / 'mark')!r}, 'w')\n")
    return root


def test_a_manifest_sets_no_environment_and_chooses_no_code(
    clone: Path, scored_run: Path, trap: Path, changed: Callable[..., Path], tmp_path: Path
) -> None:
    manifest = Run(scored_run).manifest()
    # The loader of Linux writes a file with the second of these, as it would load a library with LD_PRELOAD.
    environment = {"LD_DEBUG": "statistics", "LD_DEBUG_OUTPUT": str(tmp_path / "mark"), "PYTHONPATH": str(trap)}
    command = {**manifest["command"], "folder": str(trap)}
    run = changed(
        environment={**manifest["environment"], **environment, "\x1b[2J": "x"},
        code={**manifest["code"], "root": str(trap)},
        command=command,
        evaluations=[{**each, "command": command} for each in manifest["evaluations"]],
    )
    done = dactnlg(clone, "reproduce", run)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "equal"
    assert not list(tmp_path.glob("mark*"))
    first, *commands, others = done.stderr.splitlines()
    commit = manifest["code"]["commit"]
    assert first == f"dactnlg: reproducing {run} with commit {commit} of {clone}, in the folder {trap}:"
    assert [next(w for w in line.split() if "=" not in w) for line in commands] == ["train", "evaluate"]
    assert others == ("dactnlg: not set, though the run's manifest has them: \\u001b[2J, LD_DEBUG, LD_DEBUG_OUTPUT")


def test_a_commit_of_a_shipped_repository_is_not_run(clone: Path, trap: Path, changed: Callable[..., Path]) -> None:
    git(trap, "add", "-A", "--force")
    git(trap, "commit", "-qm", "more")
    commit = git(trap, "rev-parse", "HEAD").strip()
    (trap.parent / "mark").unlink(missing_ok=True)
    run = changed(code={"commit": commit, "unclean": [], "root": str(trap)})
    # Not even from within that repository.
    done = dactnlg(clone, "reproduce", run, folder=trap)
    assert (done.returncode, done.stdout) == (2, "")
    assert (
        done.stderr
        == f"dactnlg: the commit {commit} is not in the checkout {clone}; fetch it, or name another with --code\n"
    )
    assert not list(trap.parent.glob("mark*"))


def test_of_a_named_checkout_only_the_commit_is_used(clone: Path, scored_run: Path, trap: Path, tmp_path: Path) -> None:
    done = dactnlg(clone, "reproduce", scored_run, "--code", trap)
    assert done.returncode == 0, done.stderr
    assert f"of {trap}, in the folder" in done.stderr
    assert not list(tmp_path.glob("mark*"))


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"code": {"commit": "--upload-pack=touch mark"}}, "is not the hash of one"),
        ({"code": {"commit": "HEAD"}}, "is not the hash of one"),
        ({"environment": {"PYTHONHASHSEED": "0; touch mark"}}, "sets PYTHONHASHSEED"),
        ({"environment": {"KERAS_BACKEND": "../evil"}}, "sets KERAS_BACKEND"),
        ({"environment": {"TF_ENABLE_ONEDNN_OPTS": "1 "}}, "sets TF_ENABLE_ONEDNN_OPTS"),
        ({"environment": {"CUDA_VISIBLE_DEVICES": "0\n"}}, "sets CUDA_VISIBLE_DEVICES"),
        ({"tuned": {"trained_with": [3]}}, r"tuned\.trained_with is no section"),
    ],
)
def test_invalid_facts_of_a_manifest_are_refused(
    changed: Callable[..., Path], facts: dict[str, Any], message: str, monkeypatch: pytest.MonkeyPatch, clone: Path
) -> None:
    monkeypatch.setattr("dactnlg.experiments.reproduce.checkout_with", lambda *_: clone)
    monkeypatch.setattr("dactnlg.experiments.reproduce._execute", lambda *_, **__: pytest.fail("it was run"))
    with pytest.raises(RunError, match=message):
        reproduce(changed(**facts))


@pytest.mark.parametrize(
    "odd",
    [
        {"options": {"report": "/tmp/page.html"}},
        {"options": {"beam_width": {"a": 1}}},
        {"options": []},
        {"split": "../test"},
        {"source": ["trails"]},
        {"scores": {"single": {"--json=/tmp/x": {}}}},
        {"scores": {"../single": {}}},
        {"scores": []},
    ],
)
def test_an_evaluation_of_a_manifest_has_only_options_of_evaluate(odd: dict[str, Any]) -> None:
    entry = {"source": "trails", "split": "test", "options": {"beam_width": 2}, "scores": {"single": {"BLEU-4": {}}}}
    assert checked_evaluation({**entry, "vectors": "/nowhere"})["vectors"] is None
    with pytest.raises(RunError, match="the run's manifest has"):
        checked_evaluation({**entry, **odd})


@pytest.mark.parametrize("name", [".lock", ".publishing", "partial-manifest.json", "manifest.json", "deep/notes.txt"])
def test_a_run_with_links_out_of_it_is_refused(scored_run: Path, tmp_path: Path, name: str) -> None:
    secret = tmp_path / "secret"
    secret.write_text("mine")
    run = Path(shutil.copytree(scored_run, tmp_path / "run"))
    (run / name).parent.mkdir(exist_ok=True)
    (run / name).unlink(missing_ok=True)
    (run / name).symlink_to(secret)
    # As every command that reads a run does first.
    with pytest.raises(RunError, match="is a link to .*secret, out of its folder"):
        Run(run).check()
    with pytest.raises(RunError, match="is a link to .*secret, out of its folder"):
        publish(run)
    assert secret.read_text() == "mine"


def test_a_run_with_a_pipe_is_refused(scored_run: Path, tmp_path: Path) -> None:
    run = Path(shutil.copytree(scored_run, tmp_path / "run"))
    os.mkfifo(run / "weights.safetensors")
    with pytest.raises(RunError, match="weights.safetensors is neither a file nor a folder"):
        Run(run).check()


def test_links_within_a_run_and_to_a_run_are_followed(scored_run: Path, tmp_path: Path) -> None:
    run = Path(shutil.copytree(scored_run, tmp_path / "run"))
    (run / "again.yaml").symlink_to("config.yaml")
    (tmp_path / "latest").symlink_to(run)
    assert Run(tmp_path / "latest").check().model.name == "random"
