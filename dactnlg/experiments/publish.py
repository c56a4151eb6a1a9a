"""Runs in a store that others read: published whole, found again by their id.

A published run is an MLflow run: its parameters are the configuration, its metrics the scores and the losses of each
epoch, its tags the hashes and where the run comes from, and its artifacts, under `run/`, are the run folder.
"""

from __future__ import annotations

import contextlib
import csv
import getpass
import io
import math
import re
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tqdm import tqdm

from dactnlg._utils.hashing import SHORT, digest
from dactnlg.errors import RunError
from dactnlg.experiments import tracking
from dactnlg.experiments.published import (
    CONTENT,
    IDENTITY,
    PUBLISHED,
    RUN_FOLDER,
    content_hash,
    experiment_of,
    finished,
)
from dactnlg.experiments.reproduce import check_reproducible
from dactnlg.experiments.tracking import Store
from dactnlg.runs.run import LOCK_SECONDS, Run, flat, identity

_LONGEST_PART, _LONGEST_PARAMETER, _LONGEST_TAG = 50, 500, 5000
_FORBIDDEN = re.compile(r"[^A-Za-z0-9_. -]")
_BATCH = {"params": 100, "metrics": 1000, "tags": 100}
"""What MLflow takes at a time."""


@dataclass(frozen=True, slots=True)
class Publication:
    """A published run.

    Attributes:
        id: the id in the store.
        store: the store's address.
        new: whether it was published now; otherwise the same files were there already.
        replaces: the id under which an earlier state of this run was published.
    """

    id: str
    store: str
    new: bool
    replaces: str | None = None


def publish(path: str | Path) -> Publication:
    """Publish a run folder, once: where the same files are in the store, their id is returned.

    Nothing in the run folder is changed; a copy of it is what is published, for scores may be added meanwhile.

    Raises:
        RunError: the run has no scores, or nobody could reproduce it (see `check_reproducible`).
        StoreError: the store cannot be reached, is full, or MLflow is not installed; nothing is published.
    """
    run = Run(path)
    run.check()
    with (
        _alone(run.path / ".publishing", tracking.LOCK_SECONDS),
        _snapshot(run) as (folder, manifest),
        tracking.opened(f"cannot publish {path}", make=True) as store,
    ):
        content = content_hash(folder)
        experiment = experiment_of(store)
        older = finished(store, identity(manifest))
        for found in older:
            if found.data.tags[CONTENT] == content:
                return Publication(found.info.run_id, store.where, new=False)
        replaces = older[-1].info.run_id if older else None
        tags = {**_tags(run, manifest), **({"dactnlg.replaces": replaces} if replaces else {})}
        run_id = _log(store, experiment, run.path.resolve().name, folder, manifest, tags, content)
        return Publication(run_id, store.where, new=True, replaces=replaces)


@contextlib.contextmanager
def _alone(lock: Path, seconds: float) -> Iterator[None]:
    """Hold a lock in a run folder; in somebody else's, where it cannot be made, there is none."""
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):
            stack.enter_context(tracking.locked(lock, seconds))
        yield


@contextlib.contextmanager
def _snapshot(run: Run) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Give a copy of a run folder as it is at one moment, and its manifest."""
    scratch = Path(tempfile.mkdtemp(prefix="dactnlg-publish-"))
    try:
        with _alone(run.lock_path, LOCK_SECONDS):
            manifest = check_reproducible(run)
            ignored = shutil.ignore_patterns(".*", "*.tmp", "partial-*")
            try:
                shutil.copytree(run.path, scratch / RUN_FOLDER, ignore=ignored)
            except (OSError, shutil.Error) as error:
                raise RunError(f"cannot publish {run.path}: no copy of it can be made: {_why(error)}") from None
        yield scratch / RUN_FOLDER, manifest
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _why(error: OSError) -> str:
    if isinstance(error, shutil.Error):
        # It holds a list of (from, to, why).
        return str(error.args[0][0][2]).partition(" -> ")[0]
    return error.strerror or str(error)


def _log(
    store: Store,
    experiment: str,
    name: str,
    folder: Path,
    manifest: Mapping[str, Any],
    tags: dict[str, str],
    content: str,
) -> str:
    """Make the MLflow run. One that fails half way is taken back, and counts as unpublished in any case."""
    client = store.client
    begun, ended = (_milliseconds(manifest[moment]) for moment in ("begun", "ended"))
    run_id: str = client.create_run(experiment, start_time=begun, run_name=name).info.run_id
    done = False
    try:
        _log_values(client, run_id, manifest, tags, _history(folder))
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        for path in tqdm(files, desc="publishing", unit=" files", delay=2, leave=False, disable=None):
            inside = path.parent.relative_to(folder).as_posix()
            client.log_artifact(run_id, str(path), RUN_FOLDER if inside == "." else f"{RUN_FOLDER}/{inside}")
        with contextlib.redirect_stdout(io.StringIO()):
            # A server's client prints where to look; our standard output is the id alone.
            client.set_terminated(run_id, end_time=ended)
        # Last of all: it marks what is whole.
        client.set_tag(run_id, PUBLISHED, datetime.now(UTC).isoformat(timespec="microseconds"))
        client.set_tag(run_id, CONTENT, content)
        done = True
    finally:
        if not done:
            _take_back(store, run_id)
    return run_id


def _take_back(store: Store, run_id: str) -> None:
    """Delete what was written of a run, as far as the store lets us."""
    with contextlib.suppress(*tracking.failures()):
        # The files first: where the disk is full, that makes room to note the rest.
        if store.artifacts:
            shutil.rmtree(Path(store.artifacts) / run_id, ignore_errors=True)
        store.client.delete_run(run_id)


def _log_values(
    client: Any, run_id: str, manifest: Mapping[str, Any], tags: Mapping[str, str], history: list[dict[str, str]]
) -> None:
    from mlflow.entities import Metric, Param, RunTag

    now = int(time.time() * 1000)
    entities: dict[str, list[Any]] = {
        "params": [Param(name, text[:_LONGEST_PARAMETER]) for name, text in flat(manifest["config"]).items()],
        "metrics": [Metric(name, value, now, 0) for name, value in metrics(manifest).items()],
        "tags": [RunTag(name, text[:_LONGEST_TAG]) for name, text in tags.items()],
    }
    for row in history:
        values = {name: float(row[name]) for name in ("loss", "valid_loss", "learning_rate") if row.get(name)}
        step = int(row["epoch"])
        entities["metrics"] += [Metric(f"training/{n}", v, now, step) for n, v in values.items() if math.isfinite(v)]
    for kind, rows in entities.items():
        for start in range(0, len(rows), _BATCH[kind]):
            client.log_batch(run_id, **{kind: rows[start : start + _BATCH[kind]]})


def metrics(manifest: Mapping[str, Any]) -> dict[str, float]:
    """Return the defined scores of a manifest under names that MLflow takes, `trails/test/single/BLEU-4`."""
    values = ((name, score["value"]) for name, score in _scores(manifest))
    return {name: float(value) for name, value in values if value is not None and math.isfinite(value)}


def _scores(manifest: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for entry in manifest["evaluations"]:
        options = [f"{name}={value}" for name, value in entry["options"].items()]
        for preset, scores in entry["scores"].items():
            for name, score in scores.items():
                yield (
                    "/".join(map(_accepted, [entry["corpus"], " ".join([entry["split"], *options]), preset, name])),
                    score,
                )


def _accepted(text: str) -> str:
    """Return a part of a metric's name with other characters replaced; a hash keeps two such names apart."""
    plain = _FORBIDDEN.sub("-", text)[:_LONGEST_PART].strip(" .")
    return plain if plain == text else f"{plain}-{digest(text)[:SHORT]}"


def _tags(run: Run, manifest: Mapping[str, Any]) -> dict[str, str]:
    code, command = manifest["code"], manifest["command"]
    found = {
        IDENTITY: identity(manifest),
        "dactnlg.version": manifest["dactnlg"],
        "dactnlg.run": str(run.path.absolute()),
        "dactnlg.command": command["line"],
        "dactnlg.commit": code["commit"],
        "mlflow.source.git.commit": code["commit"],
        "mlflow.source.name": "dactnlg",
        "dactnlg.setting": manifest["setting"],
        "dactnlg.vocabulary": manifest["vocabulary"] or "",
    }
    with contextlib.suppress(OSError, KeyError):
        found["mlflow.user"] = getpass.getuser()
    for name, splits in manifest["corpora"].items():
        found |= {f"dactnlg.data/{_accepted(name)}/{split}": code or "" for split, code in splits.items()}
    found |= {f"dactnlg.hash/{name}": score["hash"] for name, score in _scores(manifest)}
    if repeats := manifest.get("repeats"):
        found["dactnlg.repeats"] = repeats.get("published") or repeats["run"]
    return found


def _history(folder: Path) -> list[dict[str, str]]:
    path = Run(folder).history_path
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _milliseconds(moment: str) -> int:
    return int(datetime.fromisoformat(moment).timestamp() * 1000)
