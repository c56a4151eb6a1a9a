"""Reproducing a run: its commit in a scratch worktree, with its configuration, its seeds and its evaluations."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dactnlg.errors import RunError
from dactnlg.experiments import published
from dactnlg.experiments.verdicts import Reproduction, compare
from dactnlg.runs import provenance
from dactnlg.runs.run import Run, identity

_SETTLED = ("PYTHONHASHSEED", "KERAS_BACKEND", "TF_ENABLE_ONEDNN_OPTS")
"""Environment variables that are set, or unset, as they were when the run was made."""
_EVALUATE = """
import inspect, json, sys
try:
    from dactnlg.evaluation.evaluate import evaluate
except ModuleNotFoundError:  # code of 0.1.0
    from dactnlg.evaluation import evaluate
e = json.loads(sys.argv[2])
options = e["options"]
if inspect.signature(evaluate).parameters["options"].kind is not inspect.Parameter.VAR_KEYWORD:
    from dactnlg.generation.options import GenerationOptions
    options = {"options": GenerationOptions(**options)}
evaluate(
    sys.argv[1],
    corpus=e["source"],
    split=e["split"],
    presets=list(e["scores"]),
    data_dir=sys.argv[3] or None,
    metrics=list(dict.fromkeys(name for scores in e["scores"].values() for name in scores)),
    vectors=e["vectors"],
    **options,
)
"""
"""Evaluates the new run; the code of the run's commit runs it, whatever that called its arguments."""


def reproduce(
    path: str | Path, output: str | Path | None = None, data_dir: str | Path | None = None, *, echo: bool = False
) -> Reproduction:
    """Train and evaluate a run again from its manifest, and compare the scores.

    Args:
        path: the run folder, or the id of a published run.
        output: a folder for the new run; by default it is deleted.
        data_dir: a folder to look for corpus files in first.
        echo: copy what the commands write to standard error.

    Raises:
        RunError: the run has no manifest or no scores, its code was not clean (every file is named) or is in no
            checkout here, or a command fails.
        StoreError: the store of published runs cannot be reached, or has no such run.
    """
    keep = Path(output).absolute() if output else None
    if keep is not None and keep.exists():
        raise RunError(f"{keep} is there already; name a new folder with --output")
    scratch = Path(tempfile.mkdtemp(prefix="dactnlg-reproduce-"))
    repository = None
    try:
        origin = {"run": str(Path(path).absolute())}
        if published.is_published_id(path):
            origin = {"run": str(path), "published": str(path)}
            path = published.fetch(str(path), scratch / "published")
        run = Run(path)
        run.check()
        manifest = check_reproducible(run)
        commit = manifest["code"]["commit"]
        repository = _repository(manifest["code"])
        _git(repository, "worktree", "add", "--quiet", "--detach", str(scratch / "code"), commit)
        again = Run(keep or scratch / "run")
        commands = _commands(manifest, run, again, Path(data_dir).absolute() if data_dir else None)
        _execute(origin["run"], commands, _folder(manifest), _environment(manifest, scratch / "code"), echo=echo)
        found = again.manifest()
        if keep is not None:
            again.note(repeats={**origin, "identity": identity(manifest), "commit": commit, "begun": manifest["begun"]})
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
        if repository is not None:
            _git(repository, "worktree", "prune", check=False)
    return compare(manifest, found)


def check_reproducible(run: Run) -> dict[str, Any]:
    """Return a run's manifest, if the run can be reproduced.

    Raises:
        RunError: the run has no manifest, no scores or no commit, or its code was not clean: the files are named.
    """
    if not run.manifest_path.exists():
        raise RunError(f"{run.path} has no manifest: its training has not ended")
    manifest = run.manifest()
    states = [("was trained", manifest.get("code", {}))]
    states += [("was evaluated", entry.get("code", {})) for entry in manifest.get("evaluations", [])]
    states += [("was resumed", step.get("code", {})) for step in manifest.get("resumed", [])]
    for what, code in states:
        if not code.get("commit"):
            raise RunError(f"{run.path} {what} outside of a git checkout: its code is not known")
        if code.get("unclean"):
            files = "".join(f"\n  {name}" for name in code["unclean"])
            raise RunError(f"{run.path} {what} with code that is in no commit; commit it and do it again:{files}")
    if not manifest.get("evaluations"):
        raise RunError(f"{run.path} has no scores; make them with: dactnlg evaluate --model {run.path}")
    return manifest


def _environment(manifest: Mapping[str, Any], code: Path) -> dict[str, str]:
    """Return the environment variables for the run's commands, which import dactnlg from the folder `code`."""
    variables = {key: value for key, value in os.environ.items() if key not in _SETTLED}
    recorded = {key: value for key, value in manifest.get("environment", {}).items() if key != "PYTHONPATH"}
    # With a log level of the user's own dactnlg leaves oneDNN, and thereby the last digits, as they are: so must we.
    return {**variables, "TF_CPP_MIN_LOG_LEVEL": "3", **recorded, "PYTHONPATH": str(code)}


def _folder(manifest: Mapping[str, Any]) -> Path:
    """Return the folder that the run's command ran in, or the current one where that does not exist here."""
    folder = Path(manifest["command"]["folder"])
    return folder if folder.is_dir() else Path.cwd()


def _commands(manifest: Mapping[str, Any], run: Run, again: Run, data_dir: Path | None) -> list[list[str]]:
    """Return the commands that train and evaluate the run again."""
    # -P: the current folder may be another checkout, and must not come before the scratch worktree.
    python = [sys.executable, "-P"]
    data = ["--data-dir", str(data_dir)] if data_dir else []
    config = str(run.config_path.absolute())
    commands = [[*python, "-m", "dactnlg", "train", config, "--output", str(again.path), *data]]
    for entry in manifest["evaluations"]:
        wanted = {key: entry.get(key) for key in ("source", "split", "options", "scores", "vectors")}
        if wanted["vectors"] and not Path(wanted["vectors"]).exists():
            # On another machine its own vectors are used; their hash tells whether they are the same.
            wanted["vectors"] = None
        commands.append([*python, "-c", _EVALUATE, str(again.path), json.dumps(wanted), str(data_dir or "")])
    return commands


def _execute(
    name: str, commands: Sequence[Sequence[str]], folder: Path, variables: dict[str, str], *, echo: bool
) -> None:
    for command in commands:
        done = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True)
        if echo or done.returncode:
            sys.stderr.write(done.stderr)
        if done.returncode:
            raise RunError(f"{name} cannot be reproduced: {' '.join(command[2:5])} ended with {done.returncode}")


def _repository(code: Mapping[str, Any]) -> Path:
    """Return a checkout that has the commit: the recorded one, this package's, or the current folder's.

    Raises:
        RunError: none of them has it.
    """
    here = provenance.code()
    for root in (code.get("root"), here.get("root"), str(Path.cwd())):
        if (
            root
            and Path(root).is_dir()
            and _git(Path(root), "cat-file", "-e", f"{code['commit']}^{{commit}}", check=False)
        ):
            return Path(root)
    raise RunError(f"the commit {code['commit']} is not in this checkout; fetch it, or run this inside its checkout")


def _git(folder: Path, *arguments: str, check: bool = True) -> bool:
    """Run git, and return whether it succeeded; with `check`, a failure raises `RunError`."""
    done = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True)
    if check and done.returncode:
        raise RunError(f"git {' '.join(arguments[:2])}: {done.stderr.strip()}")
    return not done.returncode
