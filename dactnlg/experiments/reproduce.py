"""Doing a run again: the same commit in a scratch worktree, the same configuration and seeds, score by score."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dactnlg._utils.tables import aligned
from dactnlg.errors import RunError
from dactnlg.evaluation.comparable import differences
from dactnlg.experiments import published
from dactnlg.runs import provenance
from dactnlg.runs.run import Run, identity

EQUAL, NOISE, DIFFERENT, INCOMPARABLE = "equal", "within noise", "different", "not comparable"
_SETTLED = ("PYTHONHASHSEED", "KERAS_BACKEND", "TF_ENABLE_ONEDNN_OPTS")
"""What the run's own environment says, or that it said nothing, counts; not that of whoever does it again."""
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
"""What evaluates the new run: it is run by the code of the run's commit, whatever that called its arguments."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """One score of both runs; `why` says what differs where they cannot be compared."""

    corpus: str
    split: str
    preset: str
    name: str
    recorded: float | None
    found: float | None
    verdict: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class Reproduction:
    """What came of it: a verdict on each recorded score, and how this place differs from the run's."""

    verdicts: list[Verdict]
    notes: list[str]

    @property
    def succeeded(self) -> bool:
        """Whether every score is equal or within noise."""
        return all(item.verdict in (EQUAL, NOISE) for item in self.verdicts)

    @property
    def summary(self) -> str:
        """The worst verdict."""
        order = (INCOMPARABLE, DIFFERENT, NOISE, EQUAL)
        return next(kind for kind in order if any(item.verdict == kind for item in self.verdicts))

    def table(self) -> str:
        """Return the verdicts as text, notes below, the summary in the last line."""
        rows = [("corpus", "split", "preset", "score", "recorded", "found", "")]
        rows += [
            (v.corpus, v.split, v.preset, v.name, _shown(v.recorded), _shown(v.found), v.verdict) for v in self.verdicts
        ]
        lines = [aligned(rows, left=None)]
        lines += [f"{v.preset} {v.name}: {v.why}" for v in self.verdicts if v.why]
        return "\n".join([*lines, *self.notes, self.summary])


def reproduce(
    path: str | Path, output: str | Path | None = None, data_dir: str | Path | None = None, echo: bool = False
) -> Reproduction:
    """Train and evaluate a run again from its manifest, and compare the scores.

    Args:
        path: the run folder, or the id of a published run.
        output: where to keep the new run; without it, it is thrown away.
        data_dir: where to look for corpus files first.
        echo: let the commands' output through to standard error.

    Raises:
        RunError: the run has no manifest or no scores, its code was not clean (every file is named) or is not to be
            found, or a command fails.
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
        _execute(origin["run"], manifest, run, again, scratch / "code", data_dir, echo)
        found = again.manifest()
        if keep is not None:
            again.note(repeats={**origin, "identity": identity(manifest), "commit": commit, "begun": manifest["begun"]})
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
        if repository is not None:
            _git(repository, "worktree", "prune", check=False)
    return Reproduction(list(_verdicts(manifest, found)), _notes(manifest, found))


def check_reproducible(run: Run) -> dict[str, Any]:
    """Return a run's manifest, if it can be reproduced.

    Raises:
        RunError: no manifest, no scores, no commit, or code that was not clean: the files are named.
    """
    if not run.manifest_path.exists():
        raise RunError(f"{run.path} has no manifest: its training has not ended")
    manifest = run.manifest()
    states = [("was trained", manifest.get("code", {}))]
    states += [("was evaluated", entry.get("code", {})) for entry in manifest.get("evaluations", [])]
    states += [("was resumed", step.get("code", {})) for step in manifest.get("resumed", [])]
    for what, code in states:
        if not code.get("commit"):
            raise RunError(f"{run.path} {what} outside of a git checkout: nobody can tell with what code")
        if code.get("unclean"):
            files = "".join(f"\n  {name}" for name in code["unclean"])
            raise RunError(f"{run.path} {what} with code that is in no commit; commit it and do it again:{files}")
    if not manifest.get("evaluations"):
        raise RunError(f"{run.path} has no scores; make them with: dactnlg evaluate --model {run.path}")
    return manifest


def _execute(
    name: str,
    manifest: Mapping[str, Any],
    run: Run,
    again: Run,
    code: Path,
    data_dir: str | Path | None,
    echo: bool,
) -> None:
    # -P: the current folder may be another checkout, and must not come before the scratch worktree.
    python = [sys.executable, "-P"]
    variables = {k: v for k, v in os.environ.items() if k not in _SETTLED}
    recorded = {k: v for k, v in manifest.get("environment", {}).items() if k != "PYTHONPATH"}
    # With a log level of the user's own dactnlg leaves oneDNN, and thereby the last digits, as they are: so must we.
    variables |= {"TF_CPP_MIN_LOG_LEVEL": "3", **recorded, "PYTHONPATH": str(code)}
    folder = manifest["command"]["folder"]
    where = folder if Path(folder).is_dir() else str(Path.cwd())
    data = ["--data-dir", str(Path(data_dir).absolute())] if data_dir else []
    config = str(run.config_path.absolute())
    commands = [[*python, "-m", "dactnlg", "train", config, "--output", str(again.path), *data]]
    for entry in manifest["evaluations"]:
        wanted = {key: entry.get(key) for key in ("source", "split", "options", "scores", "vectors")}
        if wanted["vectors"] and not Path(wanted["vectors"]).exists():
            # Another machine: its own vectors, whose hash will tell whether they are the same.
            wanted["vectors"] = None
        commands.append([*python, "-c", _EVALUATE, str(again.path), json.dumps(wanted), *(data[1:] or [""])])
    for command in commands:
        done = subprocess.run(command, cwd=where, env=variables, capture_output=True, text=True)
        if echo or done.returncode:
            sys.stderr.write(done.stderr)
        if done.returncode:
            raise RunError(f"{name} cannot be reproduced: {' '.join(command[2:5])} ended with {done.returncode}")


def _verdicts(recorded: Mapping[str, Any], found: Mapping[str, Any]) -> Iterator[Verdict]:
    again = {_key(entry): entry["scores"] for entry in found.get("evaluations", [])}
    for entry in recorded["evaluations"]:
        for preset, scores in entry["scores"].items():
            for name, score in scores.items():
                other = again.get(_key(entry), {}).get(preset, {}).get(name)
                values = score["value"], None if other is None else other["value"]
                yield Verdict(entry["corpus"], entry["split"], preset, name, *values, *judge(score, other))


def judge(score: Mapping[str, Any], other: Mapping[str, Any] | None) -> tuple[str, str]:
    """Return the verdict on a recorded score and the one found, and the reason where they cannot be compared.

    Noise is the standard error of the score over the test set's segments: a smaller difference says nothing about the
    systems.
    """
    if other is None:
        return INCOMPARABLE, "it was not scored this time"
    if reasons := differences(score, other):
        return INCOMPARABLE, "; ".join(reasons)
    one, two = score["value"], other["value"]
    if one == two:
        return EQUAL, ""
    if one is None or two is None:
        return DIFFERENT, ""
    noise = max(score.get("error") or 0.0, other.get("error") or 0.0)
    return (NOISE if abs(one - two) <= noise else DIFFERENT), ""


def _notes(recorded: Mapping[str, Any], found: Mapping[str, Any]) -> list[str]:
    """Return how the place of the second run differs from that of the first, a line each."""
    notes = []
    for name, splits in recorded.get("corpora", {}).items():
        here = found.get("corpora", {}).get(name, {})
        notes += [f"data: {name}, {split} differs" for split, code in splits.items() if here.get(split) != code]
    then, now = recorded.get("packages", {}), found.get("packages", {})
    for name in ("tensorflow", "keras", "jax", "numpy", "sacrebleu"):
        if then.get(name) != now.get(name):
            notes.append(f"package: {name} {then.get(name, 'none')} then, {now.get(name, 'none')} now")
    if recorded.get("hardware", {}).get("processor") != found.get("hardware", {}).get("processor"):
        notes.append("machine: another processor")
    return notes


def _key(entry: Mapping[str, Any]) -> str:
    return json.dumps([entry[name] for name in ("corpus", "split", "options")], sort_keys=True)


def _repository(code: Mapping[str, Any]) -> Path:
    """Return a checkout that has the commit: the recorded one, this package's, or the current folder's."""
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
    done = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True)
    if check and done.returncode:
        raise RunError(f"git {' '.join(arguments[:2])}: {done.stderr.strip()}")
    return not done.returncode


def _shown(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.6f}"
