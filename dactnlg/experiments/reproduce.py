"""Reproducing a run: its commit in a scratch clone, with its configuration, its seeds and its evaluations.

A run made by an installed dactnlg is repeated by the same version installed here; all others need a checkout.

A run may be a stranger's. Its manifest can only select a commit of the user's own checkout, and options of `evaluate`;
it has no influence on which program runs, in which environment, or where it writes.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import dactnlg
from dactnlg._utils.terminal import printable
from dactnlg.errors import ConfigError, RunError
from dactnlg.experiments import published
from dactnlg.experiments.checkouts import checkout_with, clone
from dactnlg.experiments.evaluations import checked_evaluation
from dactnlg.experiments.verdicts import Reproduction, compare
from dactnlg.models.dialogue_sections import DIALOGUE
from dactnlg.runs import provenance, yamlfile
from dactnlg.runs.config import load_config
from dactnlg.runs.manifest import read_manifest
from dactnlg.runs.run import Run, identity

_SETTLED = {
    "PYTHONHASHSEED": r"random|[0-9]{1,10}",
    "KERAS_BACKEND": "tensorflow|jax|torch|numpy|openvino",
    "TF_ENABLE_ONEDNN_OPTS": "0|1|true|false",
}
"""Environment variables that are set, or unset, as when the run was made, and patterns of their allowed values."""
_TAKEN = {**_SETTLED, "CUDA_VISIBLE_DEVICES": r"-1|[0-9]{1,3}(,[0-9]{1,3})*|"}
"""All environment variables that are taken from a manifest."""
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
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
"""Evaluates the new run with the code of the run's commit, whichever signature `evaluate` had then."""


def reproduce(
    path: str | Path,
    output: str | Path | None = None,
    data_dir: str | Path | None = None,
    *,
    code: str | Path | None = None,
    echo: bool = False,
) -> Reproduction:
    """Train and evaluate a run again from its manifest, and compare the scores.

    The commands, and the code that they use, are written to standard error before they are run.

    Args:
        path: the run folder, or the id of a published run.
        output: a folder for the new run; by default it is deleted afterwards.
        data_dir: a folder to look for corpus files in first.
        code: the checkout that has the run's commit; by default the one that this package runs from, or, for a run made
            by an installed package, this installed package.
        echo: copy the commands' standard error to ours.

    Raises:
        RunError: the run has no manifest or no scores, its code was not clean (every file is named) or is not in the
            checkout, its manifest contains invalid values, or a command fails.
        StoreError: the store of published runs cannot be reached, or has no such run.
    """
    keep = Path(output).absolute() if output else None
    if keep is not None and os.path.lexists(keep):
        raise RunError(f"{keep} is there already; name a new folder with --output")
    scratch = Path(tempfile.mkdtemp(prefix="dactnlg-reproduce-"))
    try:
        origin = {"run": str(Path(path).absolute())}
        if published.is_published_id(path):
            origin = {"run": str(path), "published": str(path)}
            path = published.fetch(str(path), scratch / "published")
        run = Run(path)
        run.check()
        manifest = check_reproducible(run, as_installed=code is None)
        commit = manifest["code"]["commit"]
        repository = None if code is None and _as_installed(manifest) else checkout_with(commit, code)
        again, config = Run(keep or scratch / "run"), _trained_with(run, manifest, scratch)
        commands = _commands(manifest, config, again, Path(data_dir).absolute() if data_dir else None)
        place = Path(dactnlg.__file__).parent.parent if repository is None else scratch / "code"
        variables, folder = _environment(manifest, place), _folder(manifest, Path.cwd())
        folders = [folder, *(_folder(entry, folder) for entry in manifest["evaluations"])]
        what = f"commit {commit} of {repository}" if repository else f"dactnlg {dactnlg.__version__} as installed"
        _announce(origin["run"], what, commands, folders, manifest)
        if repository is not None:
            clone(repository, commit, place)
        _execute(origin["run"], commands[:1], folders[:1], variables, echo=echo)
        if config != run.config_path:
            shutil.copyfile(run.config_path, again.config_path)
            again.note(**{name: manifest[name] for name in ("config", "setting", "tuned")})
        _execute(origin["run"], commands[1:], folders[1:], variables, echo=echo)
        found = again.manifest()
        if keep is not None:
            again.note(repeats={**origin, "identity": identity(manifest), "commit": commit, "begun": manifest["begun"]})
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return compare(manifest, found)


def check_reproducible(run: Run, *, as_installed: bool = False) -> dict[str, Any]:
    """Return a run's manifest, if the run can be reproduced.

    Args:
        run: the run.
        as_installed: for a run made by an installed dactnlg, require the same installed version instead of a commit.

    Raises:
        RunError: the run has no manifest, no scores or no commit, its code was not clean (the files are named), or it
            was made by another version than the installed one.
    """
    if not run.manifest_path.exists():
        raise RunError(f"{run.path} has no manifest: its training has not ended")
    manifest = read_manifest(run.manifest_path)
    if (name := manifest.get("config", {}).get("model", {}).get("name")) in DIALOGUE:
        raise RunError(f"{run.path} answers contexts (model '{name}'); no scores of such runs are recorded")
    by_version = as_installed and _as_installed(manifest)
    for what, code in _states(manifest):
        (_check_version if by_version else _check_commit)(f"{run.path} {what}", code)
    if not manifest.get("evaluations"):
        raise RunError(f"{run.path} has no scores; make them with: dactnlg evaluate --model {run.path}")
    return manifest


def _states(manifest: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """Return what was done with a run, each step with the code that did it."""
    states = [("was trained", manifest.get("code", {}))]
    states += [("was evaluated", entry.get("code", {})) for entry in manifest.get("evaluations", [])]
    return [*states, *(("was resumed", step.get("code", {})) for step in manifest.get("resumed", []))]


def _as_installed(manifest: Mapping[str, Any]) -> bool:
    """Whether everything was done by an installed dactnlg rather than a checkout."""
    return all(code.get("package") for _, code in _states(manifest))


def _check_version(what: str, code: Mapping[str, Any]) -> None:
    here = provenance.installed()
    if code["package"] == here.get("package"):
        return
    version = code.get("version", "")
    if not here:
        raise RunError(f"{what} by an installed dactnlg {version}, and this one is a checkout: install that version")
    other = "other sources of that version" if version == here["version"] else f"dactnlg {here['version']}"
    raise RunError(f"{what} by an installed dactnlg {version}, and here are {other}: install the same")


def _check_commit(what: str, code: Mapping[str, Any]) -> None:
    if not code.get("commit"):
        raise RunError(
            f"{what} outside of a git checkout: its code is not known; a checkout of dactnlg is needed, in which it is "
            "trained and evaluated again"
        )
    if not _COMMIT.fullmatch(str(code["commit"])):
        raise RunError(f"{what} by no commit: '{code['commit']}' is not the hash of one")
    if code.get("unclean"):
        files = "".join(f"\n  {name}" for name in code["unclean"])
        raise RunError(f"{what} with code that is in no commit; commit it and do it again:{files}")


def _announce(
    name: str, what: str, commands: Sequence[Sequence[str]], folders: Sequence[Path], manifest: Mapping[str, Any]
) -> None:
    """Write to standard error what is about to be run, and in which folders."""
    lines = [f"reproducing {name} with {what}, in the folder {' and '.join(map(str, dict.fromkeys(folders)))}:"]
    recorded = manifest.get("environment", {})
    settings = [f"{key}={recorded[key]}" for key in _TAKEN if key in recorded]
    lines += [f"  {shlex.join([*settings, *_shown(command)])}" for command in commands]
    if others := sorted(set(recorded) - set(_TAKEN) - {"PYTHONPATH"}):
        lines.append(f"not set, though the run's manifest has them: {', '.join(others)}")
    for line in lines:
        print(printable(line if line.startswith(" ") else f"dactnlg: {line}"), file=sys.stderr, flush=True)


def _shown(command: Sequence[str]) -> list[str]:
    """Return a command without its `python -P -m dactnlg`; an evaluation, which is `python -c`, by its arguments."""
    return ["evaluate", *command[4:]] if command[2] == "-c" else list(command[4:])


def _environment(manifest: Mapping[str, Any], code: Path) -> dict[str, str]:
    """Return the environment variables for the run's commands, which import dactnlg from the folder `code`.

    Raises:
        RunError: a variable in the manifest has a value that is not allowed.
    """
    variables = {key: value for key, value in os.environ.items() if key not in _SETTLED}
    given = manifest.get("environment", {})
    recorded = {key: given[key] for key in _TAKEN if key in given}
    for key, value in recorded.items():
        if not isinstance(value, str) or not re.fullmatch(_TAKEN[key], value):
            raise RunError(f"the run's manifest sets {key} to {value!r:.60}, which no run is made with")
    # If the log level is set, dactnlg leaves oneDNN, and thereby the last digits, as configured, which is needed here.
    # PYTHONSAFEPATH: nothing may be imported from the current folder, not even in the commands' own workers.
    return {**variables, "TF_CPP_MIN_LOG_LEVEL": "3", **recorded, "PYTHONSAFEPATH": "1", "PYTHONPATH": str(code)}


def _folder(made: Mapping[str, Any], other: Path) -> Path:
    """Return the folder in which a run's training or evaluation was run, or another one if it does not exist here.

    Paths of corpora are relative to it.
    """
    folder = Path(made.get("command", {}).get("folder", ""))
    return folder if folder.is_absolute() and folder.is_dir() else other


def _trained_with(run: Run, manifest: Mapping[str, Any], scratch: Path) -> Path:
    """Return the path of the configuration that a run was trained with; `tune` may have changed the run's own since.

    Raises:
        RunError: it is not a valid configuration.
    """
    section = manifest.get("tuned", {}).get("trained_with")
    if section is None or section == manifest["config"].get("decoding"):
        return run.config_path
    section = dict(section) if isinstance(section, dict) else section
    path = scratch / run.config_path.name
    text = yamlfile.dump({**yamlfile.read(run.config_path).data, "decoding": section})
    path.write_text(text, encoding="utf-8")
    try:
        load_config(path)
    except ConfigError as error:
        raise RunError(f"{run.manifest_path}: tuned.trained_with is no section of a configuration: {error}") from None
    return path


def _commands(manifest: Mapping[str, Any], config: Path, again: Run, data_dir: Path | None) -> list[list[str]]:
    """Return the commands that train and evaluate the run again, the training first.

    Raises:
        RunError: an evaluation has an option that `evaluate` does not have.
    """
    # -P: the current folder may be another checkout, which must not take precedence over the scratch clone.
    python = [sys.executable, "-P"]
    data = ["--data-dir", str(data_dir)] if data_dir else []
    commands = [[*python, "-m", "dactnlg", "train", str(config.absolute()), "--output", str(again.path), *data]]
    for entry in manifest["evaluations"]:
        wanted = checked_evaluation(entry)
        commands.append([*python, "-c", _EVALUATE, str(again.path), json.dumps(wanted), str(data_dir or "")])
    return commands


def _execute(
    name: str,
    commands: Sequence[Sequence[str]],
    folders: Sequence[Path],
    variables: dict[str, str],
    *,
    echo: bool,
) -> None:
    for command, folder in zip(commands, folders, strict=True):
        done = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True)
        if echo or done.returncode:
            sys.stderr.write(printable(done.stderr, "\n\t"))
        if done.returncode:
            what = shlex.join(_shown(command)[:2])
            raise RunError(f"{name} cannot be reproduced: {what} ended with {done.returncode}")
