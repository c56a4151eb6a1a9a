"""Published runs: finding one by id, or all, and fetching verified copies."""

from __future__ import annotations

import hashlib
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from dactnlg._utils.hashing import SHORT, digest
from dactnlg._utils.terminal import printable
from dactnlg.errors import RunError
from dactnlg.experiments import tracking
from dactnlg.experiments.tracking import Store, StoreError
from dactnlg.runs.manifest import read_manifest

RUN_FOLDER = "run"
"""The artifact folder with the files of the run folder; others may be added next to it."""
CONTENT, IDENTITY, PUBLISHED = "dactnlg.content", "dactnlg.identity", "dactnlg.published"
"""Tags: hash of the files (only completely published runs have it), identity of the run, time of publication."""
_ID = re.compile(r"[0-9a-f]{32}")


class NamedManifest(NamedTuple):
    """A manifest and the name of its run."""

    name: str
    manifest: dict[str, Any]


def is_published_id(name: str | Path) -> bool:
    """Return whether a name is the id of a published run rather than a folder."""
    return bool(_ID.fullmatch(str(name))) and not Path(name).exists()


def fetch(run_id: str, folder: Path) -> Path:
    """Copy a published run into a folder, and return the run folder there.

    Raises:
        StoreError: the store cannot be reached, has no such run, or its files are not those that were published.
    """
    with tracking.opened(f"cannot fetch {run_id}") as store:
        content = _get(store, run_id).data.tags[CONTENT]
        store.client.download_artifacts(run_id, RUN_FOLDER, str(folder))
    if content_hash(folder / RUN_FOLDER) != content:
        raise StoreError(
            f"cannot fetch {run_id}: its files in the store {store.where} are not those it was published with"
        )
    return folder / RUN_FOLDER


def manifests() -> list[NamedManifest]:
    """Return the manifest of every published run of the experiment, the latest state of each, oldest first.

    Damaged entries of the store are left out, with a message on standard error.

    Raises:
        StoreError: the store cannot be reached.
    """
    found = []
    with tracking.opened("cannot list the published runs") as store:
        latest = {run.data.tags[IDENTITY]: run for run in finished(store)}
        for run in latest.values():
            try:
                found.append(_manifest(store, run))
            except RunError as error:
                left_out(run.info.run_id, error)
    return found


def left_out(name: str, why: Exception) -> None:
    """Write to standard error that a run of the store is left out, and why."""
    print(f"dactnlg: left out: {printable(name)}: {printable(str(why))}", file=sys.stderr)


def manifest(run_id: str) -> NamedManifest:
    """Return the manifest of one published run.

    Raises:
        StoreError: the store cannot be reached, or has no such run.
    """
    with tracking.opened(f"cannot fetch {run_id}") as store:
        return _manifest(store, _get(store, run_id))


def content_hash(folder: Path) -> str:
    """Return the SHA-256 of the names and contents of all files in a folder."""
    found = []
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        with path.open("rb") as file:
            found.append([path.relative_to(folder).as_posix(), hashlib.file_digest(file, "sha256").hexdigest()])
    return digest(["files", sorted(found)])


def experiment_of(store: Store) -> str:
    """Return the id of the experiment named by `$MLFLOW_EXPERIMENT_NAME`, or `dactnlg`; create it if missing.

    Raises:
        StoreError: the experiment has been deleted.
    """
    name = _experiment_name()
    found = store.client.get_experiment_by_name(name)
    if found is not None:
        if found.lifecycle_stage != "active":
            raise StoreError(f"the experiment '{name}' of the store {store.where} has been deleted; restore it there")
        return str(found.experiment_id)
    try:
        return str(store.client.create_experiment(name, artifact_location=store.artifacts))
    except tracking.failures():
        # Another process may have created it meanwhile.
        found = store.client.get_experiment_by_name(name)
        if found is None:
            raise
        return str(found.experiment_id)


def finished(store: Store, which: str | None = None) -> list[Any]:
    """Return the completely published runs of the experiment, oldest first.

    Args:
        store: an open store.
        which: the identity of a run (`runs.run.identity`); by default the runs of all identities.
    """
    found: list[Any] = []
    experiment = store.client.get_experiment_by_name(_experiment_name())
    if experiment is None:
        return found
    token = None
    wanted = f"tags.`{CONTENT}` LIKE '%'" + (f" AND tags.`{IDENTITY}` = '{which}'" if which else "")
    while True:
        page = store.client.search_runs([experiment.experiment_id], wanted, page_token=token)
        found += page
        token = page.token
        if not token:
            found = [run for run in found if {CONTENT, IDENTITY, PUBLISHED} <= run.data.tags.keys()]
            return sorted(found, key=lambda run: (run.data.tags[PUBLISHED], run.info.run_id))


def _experiment_name() -> str:
    return os.environ.get("MLFLOW_EXPERIMENT_NAME") or "dactnlg"


def _get(store: Store, run_id: str) -> Any:
    try:
        run = store.client.get_run(run_id)
    except tracking.failures() as error:
        if getattr(error, "error_code", "") != "RESOURCE_DOES_NOT_EXIST":
            raise
        raise StoreError(f"no run {run_id} is published in {store.where}") from None
    if run.info.lifecycle_stage != "active" or CONTENT not in run.data.tags:
        raise StoreError(f"{run_id} in {store.where} is no run that dactnlg published, or it has been deleted")
    return run


def _manifest(store: Store, run: Any) -> NamedManifest:
    with tempfile.TemporaryDirectory(prefix="dactnlg-fetch-") as scratch:
        name = f"{RUN_FOLDER}/manifest.json"
        try:
            path = store.client.download_artifacts(run.info.run_id, name, scratch)
        except tracking.failures():
            if any(item.path == name for item in store.client.list_artifacts(run.info.run_id, RUN_FOLDER)):
                raise
            raise RunError(f"{run.info.run_id} in {store.where} has no manifest") from None
        found = read_manifest(Path(path))
    return NamedManifest(f"{run.info.run_name} {run.info.run_id[:SHORT]}", found)
