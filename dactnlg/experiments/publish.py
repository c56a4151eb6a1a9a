"""Publishing complete runs, each under an id, in a store that others can read.

A published run is an MLflow run. Its parameters are the configuration, its metrics the scores and the losses of each
epoch, its tags the hashes and the origin of the run, and its artifacts, under `run/`, the run folder.
"""

from __future__ import annotations

import contextlib
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
from typing import Any, NamedTuple

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
"""How many entities MLflow accepts in one request."""


@dataclass(frozen=True, slots=True)
class Publication:
    """A published run.

    Attributes:
        id: its id in the store.
        store: the store's address.
        new: whether it was published now; False if the store already had the same files.
        replaces: the id of this run's previous state in the store.
    """

    id: str
    store: str
    new: bool
    replaces: str | None = None


class _Snapshot(NamedTuple):
    """A consistent copy of a run folder, and its manifest."""

    folder: Path
    manifest: dict[str, Any]


class _NamedScore(NamedTuple):
    """A score of a manifest, with its name in the store."""

    name: str
    score: Mapping[str, Any]


def publish(path: str | Path) -> Publication:
    """Publish a run folder; if the store already has the same files, return their id.

    A copy of the run folder is published, since scores may be added meanwhile. The folder itself is not changed.

    Raises:
        RunError: the run has no scores, or cannot be reproduced (see `check_reproducible`).
        StoreError: the store cannot be reached or is full, or MLflow is not installed; nothing is published.
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
    """Hold a lock in a run folder, or none if the folder is not writable."""
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):
            stack.enter_context(tracking.locked(lock, seconds))
        yield


@contextlib.contextmanager
def _snapshot(run: Run) -> Iterator[_Snapshot]:
    """Copy a run folder while its manifest is locked; delete the copy at the end."""
    scratch = Path(tempfile.mkdtemp(prefix="dactnlg-publish-"))
    try:
        with _alone(run.lock_path, LOCK_SECONDS):
            manifest = check_reproducible(run)
            ignored = shutil.ignore_patterns(".*", "*.tmp", "partial-*")
            try:
                shutil.copytree(run.path, scratch / RUN_FOLDER, ignore=ignored)
            except (OSError, shutil.Error) as error:
                raise RunError(f"cannot publish {run.path}: no copy of it can be made: {_why(error)}") from None
        yield _Snapshot(scratch / RUN_FOLDER, manifest)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _why(error: OSError) -> str:
    """Return the operating system's reason for a failed copy."""
    if isinstance(error, shutil.Error):
        # Its argument is a list of (source, target, reason).
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
    """Create the MLflow run and return its id; after a failure it is deleted. It counts only once it has its tags."""
    client = store.client
    begun, ended = (_milliseconds(manifest[moment]) for moment in ("begun", "ended"))
    run_id: str = client.create_run(experiment, start_time=begun, run_name=name).info.run_id
    done = False
    try:
        _log_values(client, run_id, manifest, tags, Run(folder).history())
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        for path in tqdm(files, desc="publishing", unit=" files", delay=2, leave=False, disable=None):
            inside = path.parent.relative_to(folder).as_posix()
            client.log_artifact(run_id, str(path), RUN_FOLDER if inside == "." else f"{RUN_FOLDER}/{inside}")
        with contextlib.redirect_stdout(io.StringIO()):
            # The client of a server prints an address, but standard output must contain only the id.
            client.set_terminated(run_id, end_time=ended)
        # Last of all, because these tags mark a complete run.
        client.set_tag(run_id, PUBLISHED, datetime.now(UTC).isoformat(timespec="microseconds"))
        client.set_tag(run_id, CONTENT, content)
        done = True
    finally:
        if not done:
            _delete(store, run_id)
    return run_id


def _delete(store: Store, run_id: str) -> None:
    """Delete an incomplete run, as far as the store allows it."""
    with contextlib.suppress(*tracking.failures()):
        # Files first: on a full disk, this makes room for marking the run as deleted.
        if store.artifacts:
            shutil.rmtree(Path(store.artifacts) / run_id, ignore_errors=True)
        store.client.delete_run(run_id)


def _log_values(
    client: Any, run_id: str, manifest: Mapping[str, Any], tags: Mapping[str, str], history: list[dict[str, float]]
) -> None:
    """Write parameters, metrics and tags, in as few requests as MLflow allows."""
    from mlflow.entities import Metric, Param, RunTag

    now = int(time.time() * 1000)
    entities: dict[str, list[Any]] = {
        "params": [Param(name, text[:_LONGEST_PARAMETER]) for name, text in flat(manifest["config"]).items()],
        "metrics": [Metric(name, value, now, 0) for name, value in metrics(manifest).items()],
        "tags": [RunTag(name, text[:_LONGEST_TAG]) for name, text in tags.items()],
    }
    for row in history:
        values = {name: row[name] for name in ("loss", "valid_loss", "learning_rate") if name in row}
        step = int(row["epoch"])
        entities["metrics"] += [Metric(f"training/{n}", v, now, step) for n, v in values.items() if math.isfinite(v)]
    for kind, rows in entities.items():
        for start in range(0, len(rows), _BATCH[kind]):
            client.log_batch(run_id, **{kind: rows[start : start + _BATCH[kind]]})


def metrics(manifest: Mapping[str, Any]) -> dict[str, float]:
    """Return the defined scores of a manifest by names valid in MLflow, such as `trails/test/single/BLEU-4`."""
    values = ((name, score["value"]) for name, score in _scores(manifest))
    return {name: float(value) for name, value in values if value is not None and math.isfinite(value)}


def _scores(manifest: Mapping[str, Any]) -> Iterator[_NamedScore]:
    for entry in manifest["evaluations"]:
        options = [f"{name}={value}" for name, value in entry["options"].items()]
        split = " ".join([entry["split"], *options])
        for preset, scores in entry["scores"].items():
            for name, score in scores.items():
                yield _NamedScore("/".join(map(_accepted, [entry["corpus"], split, preset, name])), score)


def _accepted(text: str) -> str:
    """Return a part of a metric's name in characters that MLflow accepts; a hash keeps changed names distinct."""
    plain = _FORBIDDEN.sub("-", text)[:_LONGEST_PART].strip(" .")
    return plain if plain == text else f"{plain}-{digest(text)[:SHORT]}"


def _tags(run: Run, manifest: Mapping[str, Any]) -> dict[str, str]:
    """Return the tags of a run: identity, origin, and the hashes of data, vocabulary and scores."""
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


def _milliseconds(moment: str) -> int:
    return int(datetime.fromisoformat(moment).timestamp() * 1000)
